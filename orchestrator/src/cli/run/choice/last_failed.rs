//! What did not pass the last time.

use std::collections::BTreeSet;
use std::path::Path;

use packtrain_engine::{Plan, Planned};
use packtrain_model::trail::Trail;
use packtrain_record::{JournalReader, RunState};
use packtrain_report::comparison::commands;
use packtrain_report::{Mark, RunView, SessionView, TrailView};

use super::times::plain;
use crate::cli::{Context, report};
use crate::exit::CliError;
use crate::render;
use crate::trails::LoadedTrail;

/// How many runs are looked at.
const MOST_RUNS: usize = 100;
/// How many devices a hint names.
const MOST_NAMED: usize = 6;

/// Keeps the sessions that did not pass in the latest run of any of the plan's trails; none when all
/// did, and that is said.
///
/// # Errors
/// When there is no such run, or what failed in it is not in the plan.
pub(super) fn keep(plan: &mut Plan, root: &Path, context: &Context) -> Result<(), CliError> {
    let here = context.working_directory.display().to_string();
    let trails: Vec<_> = plan.trails.iter().map(|trail| &**trail).collect();
    let Some(view) = latest(&trails, root, &here)? else {
        return Err(CliError::misuse("no earlier run has these trails")
            .cause(format!("none of the runs in {} has them", root.display()))
            .hint("run once without --last-failed"));
    };
    let run = view.run.clone();
    let trails = view.trails.iter().filter(|trail| {
        let mut ours = plan.trails.iter();
        ours.any(|known| is_same(&view, trail, known.source.name(), &here))
    });
    let sessions = trails.flat_map(|trail| trail.sessions.iter().map(move |one| (trail, one)));
    let mut bad: Vec<_> = sessions.collect();
    let all = bad.len();
    bad.retain(|(_, session)| is_bad(session));
    if bad.is_empty() {
        plan.sessions.clear();
        render::say(&format!(
            "nothing to run: all {all} sessions passed in run {run}"
        ));
        return Ok(());
    }
    let is_wanted = |plan: &Plan, planned: &Planned| {
        let path = plan.trails[planned.trail].source.name();
        bad.iter().any(|(trail, session)| {
            let device = session.device.as_ref();
            is_same(&view, trail, path, &here)
                && session.cell == planned.cell
                && device.is_none_or(|device| planned.devices.contains(device))
        })
    };
    plan.keep(is_wanted);
    let count = bad.len();
    if plan.sessions.is_empty() {
        let names = bad.iter().map(|(_, session)| session.device_name());
        let names = names.collect::<BTreeSet<_>>().into_iter();
        let names: Vec<_> = names.take(MOST_NAMED).collect();
        return Err(
            CliError::misuse(format!("nothing that failed in run {run} is planned now"))
                .hint(format!("it was on {}", names.join(", "))),
        );
    }
    let taken = plan.sessions.len();
    render::say(&format!(
        "last failed: {count} of {all} sessions did not pass in run {run}; {taken} run again"
    ));
    Ok(())
}

/// What `-d` would take for the devices on which the latest run of any of the trails did not pass; empty
/// when there is none.
///
/// # Errors
/// When the runs cannot be listed.
pub(in crate::cli::run) fn devices(
    trails: &[LoadedTrail],
    root: &Path,
    context: &Context,
) -> Result<Vec<String>, CliError> {
    let here = context.working_directory.display().to_string();
    let trails = trails.iter().flat_map(LoadedTrail::files);
    let trails: Vec<_> = trails.map(|trail| &**trail).collect();
    let Some(view) = latest(&trails, root, &here)? else {
        return Ok(Vec::new());
    };
    let commands = commands(&view);
    let bad = view.sessions().filter(|(_, session)| is_bad(session));
    let devices = bad.filter_map(|(_, session)| session.device.as_ref());
    let words = devices.map(|id| commands.chosen_by(&id.to_string()));
    Ok(words.collect::<BTreeSet<_>>().into_iter().collect())
}

/// The newest run that is over and has one of the trails.
fn latest(trails: &[&Trail], root: &Path, here: &str) -> Result<Option<RunView>, CliError> {
    let mut runs = report::runs(root)?;
    // Names tell seconds apart, and runs may be quicker.
    runs.sort_by_key(|run| {
        std::cmp::Reverse(run.summary.as_ref().ok().map(|summary| summary.started))
    });
    let names: Vec<_> = trails.iter().map(|trail| trail.summary().name).collect();
    let over = runs.into_iter().take(MOST_RUNS).filter(|run| {
        run.summary.as_ref().is_ok_and(|summary| {
            !matches!(summary.state, RunState::Running)
                && summary.trails.iter().any(|name| names.contains(name))
        })
    });
    for run in over {
        let Ok(reader) = JournalReader::open(&run.folder) else {
            continue;
        };
        let view = RunView::from_events(reader.map_while(Result::ok));
        let has_one = view.trails.iter().any(|trail| {
            let mut ours = trails.iter();
            ours.any(|known| is_same(&view, trail, known.source.name(), here))
        });
        if has_one {
            return Ok(Some(view));
        }
    }
    Ok(None)
}

fn is_bad(session: &SessionView) -> bool {
    match session.mark() {
        Mark::Passed | Mark::Flaky | Mark::Skipped => false,
        Mark::Failed
        | Mark::Infrastructure
        | Mark::NeedsAgent
        | Mark::Unfinished
        | Mark::Cancelled
        | Mark::NotRun => true,
    }
}

/// Whether a trail of a run is the one at a path: by its path as given, or where that leads.
fn is_same(view: &RunView, trail: &TrailView, path: &str, here: &str) -> bool {
    let there = &trail.summary.path;
    let absolute = |folder: &str, path: &str| Path::new(folder).join(plain(path));
    plain(there) == plain(path)
        || absolute(&view.options.working_directory, there) == absolute(here, path)
}
