//! One trail: what diverged, and the grid of its steps and devices.

use packtrain_model::StepKind;
use serde::Serialize;

use super::{Head, MarkText, density, session_time};
use crate::compare::{Cluster, Comparison, Standing};
use crate::html::data;
use crate::html::label::labels;
use crate::mark::Mark;
use crate::notes::StepNote;
use crate::reported::Reported;
use crate::view::{SessionView, StepView, TrailView};
use crate::wording;

/// How many devices of a cluster are named.
const MOST_NAMED: usize = 12;

#[derive(Serialize)]
pub(in crate::html) struct Section {
    pub(in crate::html) place: usize,
    mark: MarkText,
    title: String,
    path: String,
    pub(in crate::html) facts: Vec<String>,
    pub(in crate::html) divergences: Vec<Divergence>,
    pub(in crate::html) notes: Vec<Note>,
    density: &'static str,
    columns: Vec<Column>,
    pub(in crate::html) rows: Vec<Row>,
}

#[derive(Serialize)]
pub(in crate::html) struct Divergence {
    letter: String,
    mark: MarkText,
    what: String,
    who: String,
    shared: String,
    step: String,
    /// Its number.
    index: Option<u32>,
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
    head: Head,
    time: String,
    /// How many attempts, when more than one.
    tries: Option<usize>,
    /// Whether another cluster begins here.
    edge: bool,
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
    time: String,
    letter: Option<String>,
    noisy: bool,
    edge: bool,
}

impl Section {
    pub(super) fn new(place: usize, trail: &TrailView, comparison: &Comparison) -> Self {
        let columns: Vec<(usize, &Cluster, bool)> = comparison
            .clusters
            .iter()
            .flat_map(|cluster| {
                let first = cluster.sessions.first().copied();
                cluster
                    .sessions
                    .iter()
                    .map(move |&session| (session, cluster, Some(session) == first))
            })
            .collect();
        let names = labels(trail);
        let mut heads: Vec<Head> = columns
            .iter()
            .map(|(session, ..)| Head::of(&trail.sessions[*session]))
            .collect();
        Head::tell_apart(&mut heads);
        let rows = trail
            .summary
            .steps
            .iter()
            .zip(&comparison.spreads)
            .map(|(step, spread)| Row {
                number: match step.kind {
                    StepKind::Trailhead => String::new(),
                    StepKind::Step | StepKind::Verify => step.step.to_string(),
                },
                kind: data::kind(step.kind),
                text: step.text.clone(),
                spread: spread.filter(|spread| spread.count > 1).map(|spread| {
                    let fastest = wording::duration(spread.fastest);
                    let slowest = wording::duration(spread.slowest);
                    if fastest == slowest {
                        fastest
                    } else {
                        format!("{fastest} – {slowest}")
                    }
                }),
                cells: columns
                    .iter()
                    .enumerate()
                    .map(|(column, (session, cluster, first))| {
                        let session = &trail.sessions[*session];
                        let letter = (cluster.standing == Standing::Diverged
                            && cluster.step == Some(step.step))
                        .then(|| cluster.letter.clone());
                        Cell::new(session, session.step(step.step), step.step.0, letter)
                            .edge(*first && column > 0)
                    })
                    .collect(),
            })
            .collect();
        Self {
            place,
            mark: trail.mark().into(),
            title: trail.summary.title.clone(),
            path: trail.summary.path.clone(),
            facts: section_facts(trail, comparison),
            divergences: comparison
                .divergences()
                .map(|cluster| Divergence::new(trail, cluster, &names))
                .collect(),
            notes: StepNote::of(trail)
                .iter()
                .map(|note| Note::new(trail, note))
                .collect(),
            density: density(columns.len()),
            columns: columns
                .iter()
                .zip(heads)
                .enumerate()
                .map(|(column, ((session, _, first), head))| {
                    Column::new(&trail.sessions[*session], head, *first && column > 0)
                })
                .collect(),
            rows,
        }
    }
}

impl Column {
    fn new(session: &SessionView, head: Head, edge: bool) -> Self {
        Self {
            session: session.id.0.clone(),
            mark: session.mark().into(),
            head,
            time: session_time(session),
            tries: Some(session.attempts.len()).filter(|&tries| tries > 1),
            edge,
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
        let attempt = session.last().map_or(&session.id, |attempt| &attempt.id);
        let mark = step.map_or(Mark::NotRun, StepView::mark);
        Self {
            // A session without an attempt has no steps to open.
            href: match session.last() {
                Some(_) => format!("{attempt}-{index}"),
                None => session.id.0.clone(),
            },
            mark: mark.into(),
            time: step.map(data::step_time).unwrap_or_default(),
            letter,
            noisy: step.is_some_and(is_noisy),
            edge: false,
        }
    }

    const fn edge(mut self, edge: bool) -> Self {
        self.edge = edge;
        self
    }
}

impl Divergence {
    /// `names` are those of the trail's devices.
    fn new(trail: &TrailView, cluster: &Cluster, names: &[String]) -> Self {
        let sessions = || {
            cluster
                .sessions
                .iter()
                .filter_map(|&place| trail.sessions.get(place))
        };
        let href = |session: &SessionView| match (session.last(), cluster.step) {
            (Some(attempt), Some(step)) => format!("{}-{}", attempt.id, step.0),
            (_, _) => session.id.0.clone(),
        };
        let step = cluster.step.and_then(|step| trail.step(step));
        Self {
            letter: cluster.letter.clone(),
            mark: cluster.mark.into(),
            what: cluster.what(),
            who: cluster.who(trail),
            shared: cluster.shared.join(", "),
            step: step.map_or_else(String::new, |step| step.text.clone()),
            index: cluster.step.map(|step| step.0),
            message: cluster.message.clone(),
            hint: cluster.hint.clone(),
            href: sessions().next().map(href).unwrap_or_default(),
            sessions: sessions()
                .map(|session| session.id.0.as_str())
                .collect::<Vec<_>>()
                .join(" "),
            devices: sessions()
                .zip(
                    cluster
                        .sessions
                        .iter()
                        .filter_map(|&place| names.get(place)),
                )
                .take(MOST_NAMED)
                .map(|(session, name)| Link {
                    href: href(session),
                    name: name.clone(),
                })
                .collect(),
            more: cluster.sessions.len().saturating_sub(MOST_NAMED),
        }
    }
}

impl Note {
    fn new(trail: &TrailView, note: &StepNote) -> Self {
        let sessions: Vec<&SessionView> = note
            .sessions
            .iter()
            .filter_map(|&position| trail.sessions.get(position))
            .collect();
        let attempt = sessions.first().and_then(|session| session.last());
        Self {
            step: wording::step(note.step),
            text: note.text.clone(),
            who: note.who(trail),
            href: attempt.map_or_else(String::new, |attempt| {
                format!("{}-{}", attempt.id, note.step.0)
            }),
            sessions: sessions
                .iter()
                .map(|session| session.id.0.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// Whether the device reported something that hints at a fault.
fn is_noisy(step: &StepView) -> bool {
    step.reports
        .iter()
        .any(|event| Reported::of(event).is_trouble)
}

fn section_facts(trail: &TrailView, comparison: &Comparison) -> Vec<String> {
    let mut facts = vec![wording::count(trail.summary.steps.len(), "step", "steps")];
    if let Some(reference) = comparison.reference() {
        facts.push(match (reference.sessions.len(), trail.sessions.len()) {
            (1, 1) => "passed".to_owned(),
            (some, all) if some == all => format!("passed on all {all} devices"),
            (some, all) => format!("passed on {some} of {all} devices"),
        });
    }
    for cluster in &comparison.clusters {
        if cluster.standing == Standing::Open {
            facts.push(cluster.mark.counted(cluster.sessions.len()));
        }
    }
    let flaky = trail
        .sessions
        .iter()
        .filter(|session| session.mark() == Mark::Flaky)
        .count();
    if flaky > 0 {
        facts.push(format!("{flaky} flaky"));
    }
    let noisy = trail
        .sessions
        .iter()
        .filter(|session| {
            session
                .last()
                .is_some_and(|last| last.steps.iter().any(is_noisy))
        })
        .count();
    if noisy > 0 {
        let devices = wording::count(noisy, "device", "devices");
        facts.push(format!("errors reported by {devices}"));
    }
    if !trail.summary.tags.is_empty() {
        facts.push(format!("tagged {}", trail.summary.tags.join(", ")));
    }
    facts
}
