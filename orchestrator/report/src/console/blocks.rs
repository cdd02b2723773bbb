//! The blocks at the end of a run: divergences, flaky sessions, counts, where the reports are.

use packtrain_model::Outcome;

use super::{Layout, MANY_TRAILS, grid};
use crate::again::again;
use crate::compare::{Cluster, Comparison};
use crate::headline::{counts, facts, headline, lacks_a_driver, notes};
use crate::mark::Mark;
use crate::notes::StepNote;
use crate::view::{AttemptView, RunView, SessionView, TrailView};
use crate::wording;

/// How many devices of a cluster are named.
const MOST_NAMED: usize = 6;
/// How many lines of a failure's log are shown.
const MOST_LOG: usize = 6;

/// How many notes of steps are shown.
const MOST_NOTES: usize = 8;

/// A report that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLink {
    /// `html`, `junit` ...
    pub kind: String,
    /// Where it is.
    pub path: String,
}

/// Everything a person reads when a run has ended: trails that did not pass, with their grids and
/// divergences; flaky sessions; counts; where the reports are.
pub fn summary(view: &RunView, reports: &[ReportLink], layout: Layout) -> String {
    let mut text = String::new();
    let mut trails: Vec<&TrailView> = view.trails.iter().collect();
    // The worst last: it is what stands above the prompt.
    trails.sort_by_key(|trail| std::cmp::Reverse(trail.mark()));
    for trail in trails {
        if matches!(trail.mark(), Mark::Passed | Mark::Flaky | Mark::Skipped) {
            continue;
        }
        let comparison = Comparison::of(trail);
        text.push_str(&title(trail, layout));
        if let Some(grid) = grid(trail, &comparison, layout) {
            text.push_str(&grid);
        }
        text.push_str(&divergences(view, trail, &comparison, layout));
        text.push('\n');
    }
    let flaky = flaky(view, layout);
    if !flaky.is_empty() {
        text.push_str(&flaky);
        text.push('\n');
    }
    let notes_of_steps = step_notes(view, layout);
    if !notes_of_steps.is_empty() {
        text.push_str(&notes_of_steps);
        text.push('\n');
    }
    for note in notes(view) {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&super::closing::failures(view, layout));
    text.push_str(&verdict(view, layout));
    let kinds = reports.iter().map(|report| report.kind.chars().count());
    let width = kinds.max().unwrap_or(0);
    for ReportLink { kind, path } in reports {
        text.push_str(&format!("  {}  {path}\n", super::paint::pad(kind, width)));
    }
    text
}

/// Where devices left the way, by cluster; empty when all went well.
pub fn divergences(
    view: &RunView,
    trail: &TrailView,
    comparison: &Comparison,
    layout: Layout,
) -> String {
    let all = trail.sessions.len();
    let mut diverged = comparison.divergences();
    let mut text = match (diverged.next(), all) {
        (None, _) => return String::new(),
        (Some(_), 1) => String::new(),
        (Some(cluster), _) if cluster.sessions.len() == all => {
            let devices = match all {
                2 => "Both devices".to_owned(),
                all => format!("All {all} devices"),
            };
            let ended = match cluster.mark {
                Mark::Failed => "failed",
                _ => "ended",
            };
            format!("{devices} {ended} the same way:\n")
        }
        (Some(_), _) => "Divergences:\n".to_owned(),
    };
    for cluster in comparison.divergences() {
        text.push_str(&divergence(trail, cluster, layout));
        let first = cluster.sessions.first();
        let first = first.and_then(|&place| trail.sessions.get(place));
        // A run of many trails closes with these.
        if let Some(session) = first.filter(|_| view.trails.len() <= MANY_TRAILS) {
            let command = again(view, trail, session);
            text.push_str(&layout.dim(&format!("     {command}")));
            text.push('\n');
        }
    }
    text
}

fn divergence(trail: &TrailView, cluster: &Cluster, layout: Layout) -> String {
    let mut lines = Vec::new();
    let who = cluster.who(trail);
    let mut first = format!(
        "{}  {} {}",
        layout.bold(&cluster.letter),
        layout.sign(cluster.mark),
        layout.mark(cluster.mark, &cluster.what()),
    );
    if !who.is_empty() {
        first.push(' ');
        first.push_str(&who);
    }
    if !cluster.shared.is_empty() {
        first.push_str(&format!(", only {}", cluster.shared.join(", ")));
    }
    if let Some(step) = cluster.step.and_then(|step| trail.step(step)) {
        first.push_str(&layout.dim(&format!(": {}", wording::one_line(&step.text))));
    }
    lines.push(first);
    if let Some(message) = &cluster.message {
        lines.extend(wording::lines(message).map(|line| format!("   {line}")));
    }
    if let Some(hint) = &cluster.hint {
        lines.push(format!("   hint: {}", wording::one_line(hint)));
    }
    if let Some(at) = &cluster.at {
        lines.push(layout.dim(&format!("   at {}", wording::one_line(at))));
    }
    let log = failure_log(trail, cluster);
    for line in log.iter().take(MOST_LOG) {
        lines.push(layout.dim(&format!("   - {}", wording::one_line(line))));
    }
    if trail.sessions.len() > 1 {
        let mut names: Vec<String> = cluster
            .sessions
            .iter()
            .filter_map(|&place| trail.sessions.get(place))
            .take(MOST_NAMED)
            .map(SessionView::name)
            .collect();
        if cluster.sessions.len() > MOST_NAMED {
            names.push(format!("{} more", cluster.sessions.len() - MOST_NAMED));
        }
        lines.push(layout.dim(&format!("   {}", wording::one_line(&names.join(", ")))));
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// What was tried before the first of a cluster failed.
fn failure_log<'a>(trail: &'a TrailView, cluster: &Cluster) -> &'a [String] {
    cluster
        .sessions
        .first()
        .and_then(|&place| trail.sessions.get(place)?.last()?.first_bad_step())
        .and_then(|step| match step.status.outcome()? {
            Outcome::Failed(failure) => Some(&failure.log[..]),
            Outcome::Passed
            | Outcome::Skipped { .. }
            | Outcome::NeedsAgent { .. }
            | Outcome::Infrastructure { .. }
            | Outcome::Cancelled { .. } => None,
        })
        .unwrap_or_default()
}

/// Sessions that passed only after a failed attempt, and what that cost; empty without any.
pub fn flaky(view: &RunView, layout: Layout) -> String {
    let mut text = String::new();
    for (trail, session) in view.sessions().filter(|(_, session)| session.flaky) {
        text.push_str(&format!(
            "  {} {} on {}: passed on attempt {}, retries cost {}\n",
            layout.sign(Mark::Flaky),
            wording::one_line(&trail.summary.title),
            wording::one_line(&session.name()),
            session.attempts.len(),
            wording::duration(session.retry_cost()),
        ));
        let before = session.attempts.len().saturating_sub(1);
        for attempt in &session.attempts[..before] {
            text.push_str(&layout.dim(&format!("    attempt {}: ", attempt.number.0)));
            text.push_str(&attempt_trouble(attempt));
            text.push('\n');
        }
    }
    if text.is_empty() {
        text
    } else {
        format!("Flaky:\n{text}")
    }
}

/// What calls noticed, each once for all devices of a trail; empty without any.
pub fn step_notes(view: &RunView, layout: Layout) -> String {
    let mut lines = Vec::new();
    for trail in &view.trails {
        for note in StepNote::of(trail) {
            let who = match note.who(trail) {
                who if who.is_empty() => who,
                who => layout.dim(&format!(" ({who})")),
            };
            lines.push(format!(
                "  {}, {}: {}{who}\n",
                wording::one_line(&trail.summary.title),
                wording::step(note.step),
                wording::one_line(&note.text),
            ));
        }
    }
    if let Some(more) = lines.len().checked_sub(MOST_NOTES).filter(|more| *more > 0) {
        lines.truncate(MOST_NOTES);
        let more = wording::count(more, "more note", "more notes");
        lines.push(format!("  and {more} in the report\n"));
    }
    if lines.is_empty() {
        String::new()
    } else {
        format!("Notes:\n{}", lines.concat())
    }
}

fn attempt_trouble(attempt: &AttemptView) -> String {
    let (place, status) = match attempt.first_bad_step() {
        Some(step) => (format!("{}: ", wording::step(step.step)), &step.status),
        None => (String::new(), &attempt.status),
    };
    let message = status.message().unwrap_or_default();
    format!("{place}{}", wording::one_line(&message))
}

fn title(trail: &TrailView, layout: Layout) -> String {
    format!(
        "{} {} {}\n",
        layout.sign(trail.mark()),
        layout.bold(&wording::one_line(&trail.summary.title)),
        layout.dim(&format!(
            "{} × {}",
            wording::one_line(&trail.summary.path),
            wording::count(trail.sessions.len(), "device", "devices")
        )),
    )
}

/// The last lines: the answer, how many ended how, how long it took.
fn verdict(view: &RunView, layout: Layout) -> String {
    let (mark, headline) = headline(view);
    let mut text = format!(
        "{} {}\n",
        layout.sign(mark),
        layout.bold(&layout.mark(mark, &headline))
    );
    if lacks_a_driver(view) {
        text.push_str(
            "  hint: choose devices that the pinned drivers drive, or another driver with --driver\n",
        );
    }
    let counts: Vec<String> = counts(view)
        .into_iter()
        .map(|(mark, count)| format!("{} {}", layout.sign(mark), mark.counted(count)))
        .collect();
    // A single count is what the headline says.
    if counts.len() > 1 {
        text.push_str(&format!("  {}\n", counts.join("   ")));
    }
    text.push_str(&format!("  {}\n", layout.dim(&facts(view).join(" · "))));
    text
}
