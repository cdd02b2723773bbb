//! One trail: what went wrong, and the grid of its steps and sessions.

use packtrain_compare::answer::Comparison;
use packtrain_model::StepKind;
use serde::Serialize;

use super::{MarkText, density, session_time};
use crate::html::data;
use crate::mark::Mark;
use crate::notes::StepNote;
use crate::problem::{Names, Problem};
use crate::reported::Reported;
use crate::view::{SessionView, StepView, TrailView};
use crate::wording;

/// How many devices of a problem are named.
const MOST_NAMED: usize = 12;

#[derive(Serialize)]
pub(in crate::html) struct Section {
    pub(in crate::html) place: usize,
    mark: MarkText,
    title: String,
    path: String,
    pub(in crate::html) facts: Vec<String>,
    pub(in crate::html) problems: Vec<ProblemRow>,
    pub(in crate::html) notes: Vec<Note>,
    density: &'static str,
    columns: Vec<Column>,
    pub(in crate::html) rows: Vec<Row>,
}

/// A problem as reported.
#[derive(Serialize)]
pub(in crate::html) struct ProblemRow {
    letter: String,
    mark: MarkText,
    what: String,
    who: String,
    step: String,
    message: Option<String>,
    hint: Option<String>,
    href: String,
    /// Ids, separated by spaces.
    sessions: String,
    devices: Vec<Link>,
    more: usize,
}

#[derive(Serialize)]
pub(in crate::html) struct Note {
    step: String,
    text: String,
    who: String,
    href: String,
    /// Ids, separated by spaces.
    sessions: String,
}

#[derive(Serialize)]
pub(super) struct Link {
    href: String,
    name: String,
}

#[derive(Serialize)]
pub(super) struct Column {
    session: String,
    mark: MarkText,
    name: String,
    /// The device's id, model and system.
    title: String,
    time: String,
    /// How many attempts, when more than one.
    tries: Option<usize>,
}

#[derive(Serialize)]
pub(in crate::html) struct Row {
    number: String,
    kind: &'static str,
    text: String,
    pub(in crate::html) spread: Option<String>,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
pub(super) struct Cell {
    href: String,
    mark: MarkText,
    sign: &'static str,
    time: String,
    letter: Option<String>,
    noisy: bool,
}

impl Section {
    pub(super) fn new(
        place: usize,
        trail: &TrailView,
        comparison: &Comparison,
        names: &Names<'_>,
    ) -> Self {
        let problems = Problem::of(trail, comparison);
        let of = |at: usize| problems.iter().position(|one| one.sessions.contains(&at));
        let mut columns: Vec<usize> = (0..trail.sessions.len()).collect();
        columns.sort_by_key(|&at| (trail.sessions[at].mark(), of(at)));
        let letter = |at: usize, step: &StepView| {
            let problem = &problems[of(at)?];
            (problem.step == Some(step.step)).then(|| problem.letter.clone())
        };
        let rows = trail.summary.steps.iter().map(|step| Row {
            number: match step.kind {
                StepKind::Trailhead => String::new(),
                StepKind::Step | StepKind::Verify => step.step.to_string(),
            },
            kind: data::kind(step.kind),
            text: step.text.clone(),
            spread: trail.spread(step.step).map(|(fastest, slowest, _)| {
                let took = |one: &SessionView| one.step(step.step).map(|step| step.duration);
                let words = [fastest, slowest].into_iter().map(took);
                let words = words.map(|took| took.map_or_else(String::new, wording::duration));
                let mut words: Vec<String> = words.collect();
                words.dedup();
                words.join(" – ")
            }),
            cells: (columns.iter().map(|&at| (at, &trail.sessions[at])))
                .map(|(at, session)| {
                    let own = session.step(step.step);
                    let letter = own.and_then(|own| letter(at, own));
                    Cell::new(session, own, step.step.0, letter)
                })
                .collect(),
        });
        let notes = StepNote::of(trail);
        let notes = notes.iter().map(|note| Note::new(trail, note));
        let own = columns
            .iter()
            .map(|&at| Column::new(&trail.sessions[at], names));
        let told = problems.iter();
        let told = told.map(|problem| ProblemRow::new(trail, problem, names));
        Self {
            place,
            mark: trail.mark().into(),
            title: trail.summary.title.clone(),
            path: trail.summary.path.clone(),
            facts: facts(trail),
            rows: rows.collect(),
            notes: notes.collect(),
            density: density(columns.len()),
            columns: own.collect(),
            problems: told.collect(),
        }
    }
}

impl Column {
    fn new(session: &SessionView, names: &Names<'_>) -> Self {
        let info = session.info.as_ref();
        let told = info.map(|info| [info.model.clone(), info.system.clone()]);
        let title = told.into_iter().flatten().chain([session.name()]);
        Self {
            session: session.id.0.clone(),
            mark: session.mark().into(),
            name: names.get(session).to_owned(),
            title: title.collect::<Vec<_>>().join(" · "),
            time: session_time(session),
            tries: Some(session.attempts.len()).filter(|&tries| tries > 1),
        }
    }
}

impl Cell {
    fn new(
        session: &SessionView,
        step: Option<&StepView>,
        index: u32,
        letter: Option<String>,
    ) -> Self {
        let mark = step.map_or(Mark::NotRun, StepView::mark);
        Self {
            // A session without an attempt has no steps to open.
            href: match session.last() {
                Some(attempt) => format!("{}-{index}", attempt.id),
                None => session.id.0.clone(),
            },
            mark: mark.into(),
            sign: step.map_or(mark.sign(), StepView::sign),
            time: step.map(data::step_time).unwrap_or_default(),
            letter,
            noisy: step.is_some_and(is_noisy),
        }
    }
}

impl ProblemRow {
    fn new(trail: &TrailView, problem: &Problem, names: &Names<'_>) -> Self {
        let href = |session: &SessionView| match (session.last(), problem.step) {
            (Some(attempt), Some(step)) => format!("{}-{}", attempt.id, step.0),
            (_, _) => session.id.0.clone(),
        };
        let step = problem.step.and_then(|step| trail.step(step));
        let first = trail.at(&problem.sessions).take(MOST_NAMED);
        let devices = first.map(|session| Link {
            href: href(session),
            name: names.get(session).to_owned(),
        });
        Self {
            letter: problem.letter.clone(),
            mark: problem.mark.into(),
            what: problem.what(),
            who: problem.who(trail),
            step: step.map_or_else(String::new, |step| step.text.clone()),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            href: problem.first(trail).map(href).unwrap_or_default(),
            sessions: ids(trail.at(&problem.sessions)),
            devices: devices.collect(),
            more: problem.sessions.len().saturating_sub(MOST_NAMED),
        }
    }
}

impl Note {
    fn new(trail: &TrailView, note: &StepNote) -> Self {
        let mut sessions = trail.at(&note.sessions).peekable();
        let attempt = sessions.peek().and_then(|session| session.last());
        Self {
            step: wording::step(note.step),
            text: note.text.clone(),
            who: note.who(trail),
            href: attempt.map_or_else(String::new, |one| format!("{}-{}", one.id, note.step.0)),
            sessions: ids(sessions),
        }
    }
}

fn ids<'a>(sessions: impl Iterator<Item = &'a SessionView>) -> String {
    let ids: Vec<&str> = sessions.map(|session| &*session.id.0).collect();
    ids.join(" ")
}

/// Whether the device reported something that hints at a fault.
fn is_noisy(step: &StepView) -> bool {
    let mut reports = step.reports.iter();
    reports.any(|event| Reported::of(event).is_trouble)
}

/// `10 steps`, how many passed, were skipped or cancelled, or had errors reported.
fn facts(trail: &TrailView) -> Vec<String> {
    let mut facts = vec![wording::count(trail.summary.steps.len(), "step", "steps")];
    let all = trail.sessions.len();
    facts.push(match (trail.passed().count(), all) {
        (0, _) => String::new(),
        (1, 1) => "passed".to_owned(),
        (some, all) if some == all => format!("all {all} passed"),
        (some, all) => format!("{some} of {all} passed"),
    });
    use Mark::{Cancelled, Flaky, NotRun, Skipped, Unfinished};
    let order = [Flaky, Unfinished, Cancelled, NotRun, Skipped];
    let counts = Mark::counts(order, &trail.sessions);
    facts.extend(counts.map(|(mark, count)| mark.counted(count)));
    let is_noisy = |one: &&SessionView| {
        let last = one.last();
        last.is_some_and(|last| last.steps.iter().any(is_noisy))
    };
    let noisy = trail.sessions.iter().filter(is_noisy).count();
    if noisy > 0 {
        let ones = trail.ones();
        let on = wording::count(noisy, ones.trim_end_matches('s'), ones);
        facts.push(format!("errors reported on {on}"));
    }
    if !trail.summary.tags.is_empty() {
        facts.push(format!("tagged {}", trail.summary.tags.join(", ")));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}
