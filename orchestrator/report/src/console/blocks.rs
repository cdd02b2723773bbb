//! The blocks at the end of a run: problems, flaky sessions, the headline, where the reports are.

use packtrain_compare::answer::{ClusterKind, Comparison};
use packtrain_model::StepIndex;

use super::{Layout, MANY_TRAILS, grid};
use crate::again::again;
use crate::facts::{counts, facts, lacks_a_driver, mark, notes};
use crate::mark::Mark;
use crate::notes::StepNote;
use crate::problem::{Names, Problem};
use crate::view::{AttemptView, RunView, TrailView};
use crate::wording;

/// How many devices of a problem are named.
const MOST_NAMED: usize = 6;
/// How many lines of a failure's log are shown.
const MOST_LOG: usize = 6;

/// How many differences are shown.
const MOST_DIFFERENCES: usize = 8;

/// A report that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLink {
    /// `html`, `junit` ...
    pub kind: String,
    /// Where it is.
    pub path: String,
}

/// Everything a person reads when a run has ended: trails that did not pass, with their grids and
/// problems; flaky sessions; what differs; the headline; where the reports are.
pub fn summary(
    view: &RunView,
    comparison: &Comparison,
    reports: &[ReportLink],
    layout: Layout,
) -> String {
    let mut text = String::new();
    let names = Names::of(view, comparison);
    let mut trails: Vec<&TrailView> = view.trails.iter().collect();
    // The worst last: it is what stands above the prompt.
    trails.sort_by_key(|trail| std::cmp::Reverse(trail.mark()));
    for trail in trails {
        if matches!(trail.mark(), Mark::Passed | Mark::Flaky | Mark::Skipped) {
            continue;
        }
        let problems = Problem::of(trail, comparison);
        text.push_str(&title(trail, layout));
        if let Some(grid) = grid(trail, &problems, &names, layout) {
            text.push_str(&grid);
        }
        for problem in &problems {
            text.push_str(&told(view, trail, problem, &names, layout));
        }
        text.push('\n');
    }
    for block in [flaky(view, &names, layout), differences(comparison, layout)] {
        if !block.is_empty() {
            text.push_str(&block);
            text.push('\n');
        }
    }
    for note in notes(view, false) {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&super::closing::failures(view, &names, layout));
    text.push_str(&verdict(view, &comparison.sentence, layout));
    let kinds = reports.iter().map(|report| report.kind.chars().count());
    let width = kinds.max().unwrap_or(0);
    for ReportLink { kind, path } in reports {
        text.push_str(&format!("  {}  {path}\n", super::paint::pad(kind, width)));
    }
    text
}

fn told(
    view: &RunView,
    trail: &TrailView,
    problem: &Problem,
    names: &Names<'_>,
    layout: Layout,
) -> String {
    let letter = match problem.letter.as_str() {
        "" => "   ".to_owned(),
        letter => format!("{}  ", layout.bold(letter)),
    };
    let (sign, what) = (layout.sign(problem.mark), problem.what());
    let what = layout.mark(problem.mark, &what);
    let mut first = format!("{letter}{sign} {what} {}", problem.who(trail));
    first.truncate(first.trim_end().len());
    if let Some(step) = problem.step.and_then(|step| trail.step(step)) {
        first.push_str(&layout.dim(&format!(": {}", wording::one_line(&step.text))));
    }
    let mut lines = vec![first];
    if let Some(message) = &problem.message {
        lines.extend(wording::lines(message).map(|line| format!("   {line}")));
    }
    if let Some(hint) = &problem.hint {
        lines.push(format!("   hint: {}", wording::one_line(hint)));
    }
    if let Some(at) = &problem.at {
        lines.push(layout.dim(&format!("   at {}", wording::one_line(at))));
    }
    for line in problem.log.iter().take(MOST_LOG) {
        lines.push(layout.dim(&format!("   - {}", wording::one_line(line))));
    }
    if trail.sessions.len() > 1 {
        let names = names.some(trail, &problem.sessions, MOST_NAMED);
        lines.push(layout.dim(&format!("   {}", names.join(", "))));
    }
    // A run of many trails closes with these.
    let session = problem.first(trail);
    if let Some(session) = session.filter(|_| view.trails.len() <= MANY_TRAILS) {
        lines.push(layout.dim(&format!("   {}", again(view, trail, session))));
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// What differs between sessions, a line each; empty when nothing that has a pattern does.
fn differences(comparison: &Comparison, layout: Layout) -> String {
    let all = comparison.clusters.iter();
    let all = all.filter(|one| one.kind != ClusterKind::Failure && one.has_pattern());
    let lines = all.map(|cluster| {
        let place = match cluster.place.as_str() {
            "" => String::new(),
            place => format!(", {place}"),
        };
        let first = cluster.occurrences.first();
        let trail = first.and_then(|one| comparison.trails.get(one.trail));
        let at = trail.zip(first).map_or_else(String::new, |(trail, one)| {
            format!(" ({}, {})", trail.title, wording::step(StepIndex(one.step)))
        });
        let said = format!("{}{place}{at}", cluster.title);
        let letter = layout.bold(&cluster.letter);
        format!("  {letter}  {}\n", wording::one_line(&said))
    });
    let mut lines: Vec<String> = lines.collect();
    if let Some(more) = wording::more(lines.len(), MOST_DIFFERENCES) {
        lines.truncate(MOST_DIFFERENCES);
        lines.push(format!("  {more} in the report\n"));
    }
    headed("Differences", lines.concat())
}

/// Lines below a heading, where there are some.
fn headed(heading: &str, lines: String) -> String {
    match lines.as_str() {
        "" => lines,
        _ => format!("{heading}:\n{lines}"),
    }
}

/// Sessions that passed only after a failed attempt, and what that cost; empty without any.
pub fn flaky(view: &RunView, names: &Names<'_>, layout: Layout) -> String {
    let mut text = String::new();
    for (trail, session) in view.sessions().filter(|(_, session)| session.flaky) {
        text.push_str(&format!(
            "  {} {} on {}: passed on attempt {}, retries cost {}\n",
            layout.sign(Mark::Flaky),
            wording::one_line(&trail.summary.title),
            names.get(session),
            session.attempts.len(),
            wording::duration(session.retry_cost()),
        ));
        for attempt in session.earlier() {
            text.push_str(&layout.dim(&format!("    attempt {}: ", attempt.number.0)));
            text.push_str(&attempt_trouble(attempt));
            text.push('\n');
        }
    }
    headed("Flaky", text)
}

/// How many things calls noticed, and where they are reported; empty without any.
fn noticed(view: &RunView) -> Option<String> {
    let count = view.trails.iter().map(|trail| StepNote::of(trail).len());
    let count = Some(count.sum::<usize>()).filter(|count| *count > 0)?;
    let notes = wording::count(count, "note", "notes");
    Some(notes + " on steps in the report, or with --lines tools")
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
    let sign = layout.sign(trail.mark());
    let title = layout.bold(&wording::one_line(&trail.summary.title));
    let (path, ones) = (wording::one_line(&trail.summary.path), trail.ones());
    let count = wording::count(trail.sessions.len(), ones.trim_end_matches('s'), ones);
    format!(
        "{sign} {title} {}\n",
        layout.dim(&format!("{path} × {count}"))
    )
}

/// The last lines: the headline, how many ended how, how long it took.
fn verdict(view: &RunView, headline: &str, layout: Layout) -> String {
    let mark = mark(view);
    let headline = layout.bold(&layout.mark(mark, headline));
    let mut text = format!("{} {headline}\n", layout.sign(mark));
    if lacks_a_driver(view) {
        text.push_str(
            "  hint: choose devices that the pinned drivers drive, or another driver with --driver\n",
        );
    }
    let counts = counts(view).into_iter();
    let counts = counts.map(|(mark, count)| layout.sign(mark) + " " + &mark.counted(count));
    let counts: Vec<String> = counts.collect();
    // A single count is what the headline says.
    if counts.len() > 1 {
        text.push_str(&format!("  {}\n", counts.join("   ")));
    }
    text.push_str(&format!("  {}\n", layout.dim(&facts(view).join(" · "))));
    if let Some(noticed) = noticed(view) {
        text.push_str(&format!("  {}\n", layout.dim(&noticed)));
    }
    text
}
