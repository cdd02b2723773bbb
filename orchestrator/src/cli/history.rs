//! `packtrain runs --trail`: how a trail went over the runs, cell by cell.

use std::collections::BTreeMap;
use std::path::Path;

use packtrain_compare::runs::history::{History, Past, PastOutcome, histories};
use packtrain_model::{Exit, Outcome};
use packtrain_report::{RunView, SessionView, Status};
use serde_json::json;

use super::{Format, listed, report};
use crate::exit::CliError;
use crate::{render, reports};

/// Runs that are read, newest first.
const MAX_RUNS: usize = 50;

/// Shows the history of a trail.
pub(super) fn run(root: &Path, trail: &str, format: Format) -> Result<Exit, CliError> {
    let runs = report::runs(root)?;
    let mut past = Vec::new();
    let mut unread = Vec::new();
    let of_trail = runs.iter().filter(|run| match &run.summary {
        Ok(summary) => summary.trails.iter().any(|name| name == trail),
        Err(_) => true,
    });
    for run in of_trail.take(MAX_RUNS) {
        match reports::read(&run.folder) {
            Ok((view, _)) => past.extend(went(&view, trail)),
            Err(_) => unread.push(run.id.0.clone()),
        }
    }
    if past.is_empty() && unread.is_empty() {
        return Err(CliError::misuse(format!("no run has trail `{trail}`"))
            .hint("`packtrain runs` lists the trails of each"));
    }
    let histories = histories(&past);
    match format {
        Format::Json => {
            let shown: Vec<_> = histories.iter().map(as_json).collect();
            listed::data(json!({ "histories": shown, "unread": unread }));
        }
        Format::Text => {
            let heading = ["CELL", "NOW", "RUNS", "FAILED", "FLAKY", "TOOK", "SPEED"];
            let rows: Vec<_> = histories.iter().map(row).collect();
            render::out(&listed::columns(&heading, &rows));
            for run in unread {
                render::say(&format!(
                    "warning: run {run} cannot be read and is left out"
                ));
            }
        }
    }
    Ok(Exit::Passed)
}

/// How a trail went in each cell of a run, repeats together.
fn went(view: &RunView, trail: &str) -> Vec<Past> {
    let mut cells: BTreeMap<String, Vec<&SessionView>> = BTreeMap::new();
    let trails = view.trails.iter().filter(|one| one.summary.name == trail);
    for session in trails.flat_map(|one| &one.sessions) {
        let values = session.cell.0.iter();
        let values = values.map(|(axis, value)| format!(" {axis}={value}"));
        let name = format!("{}{}", session.cell_device(), values.collect::<String>());
        cells.entry(name).or_default().push(session);
    }
    let cells = cells.into_iter().map(|(cell, sessions)| {
        let count = |is: &dyn Fn(&Outcome) -> bool| {
            let ended = sessions.iter().filter_map(|one| one.status.outcome());
            ended.filter(|outcome| is(outcome)).count()
        };
        let passed = count(&|outcome| matches!(outcome, Outcome::Passed));
        let failed = count(&|outcome| matches!(outcome, Outcome::Failed(_)));
        let is_flaky = sessions.iter().any(|session| session.flaky);
        let went_through = sessions.iter().filter_map(|session| {
            let attempt = session.last()?;
            (session.status == Status::Ended(Outcome::Passed)).then_some(attempt.duration)
        });
        let mut took: Vec<_> = went_through.collect();
        took.sort_unstable();
        let middle = took.get(took.len().saturating_sub(1) / 2);
        Past {
            run: view.run.0.clone(),
            trail: trail.to_owned(),
            cell,
            went: match (passed, failed) {
                (0, 0) => PastOutcome::Unknown,
                (0, _) => PastOutcome::Failed,
                (_, 0) if !is_flaky => PastOutcome::Passed,
                (_, _) => PastOutcome::Flaky,
            },
            duration_ms: middle.map_or(0, |took| {
                u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
            }),
        }
    });
    cells.collect()
}

fn row(history: &History) -> [String; 7] {
    let ms = |ms: u64| packtrain_report::duration(std::time::Duration::from_millis(ms));
    let slower = history.slower_by_ms().map(|by| match by {
        by if by < 0 => format!("{} faster", ms(by.unsigned_abs())),
        by => format!("{} slower", ms(by.unsigned_abs())),
    });
    [
        history.cell.clone(),
        match history.runs {
            0 => "never ran",
            _ => history.trend.word(),
        }
        .to_owned(),
        history.runs.to_string(),
        history.failed.to_string(),
        format!("{:.0}%", history.flake_rate * 100.0),
        history.newest_ms.map(ms).unwrap_or_default(),
        slower.unwrap_or_default(),
    ]
}

fn as_json(history: &History) -> serde_json::Value {
    let mut shown = serde_json::to_value(history).unwrap_or_default();
    if let Some(by) = history.slower_by_ms() {
        shown["slower_by_ms"] = json!(by);
    }
    shown
}
