//! What the page shows at once: headline, problems, grids. Failures first: trails, and within a trail
//! the sessions that failed.

mod section;

use chrono::SecondsFormat;
use packtrain_compare::answer::Comparison;
use serde::Serialize;

pub(super) use self::section::{Note, ProblemRow, Section};
use crate::facts::{counts, facts, mark, notes};
use crate::mark::Mark;
use crate::problem::Names;
use crate::view::{RunView, SessionView};
use crate::wording;

/// Up to this many devices, columns are wide; up to the next, they still hold a time.
const WIDE: usize = 6;
const MEDIUM: usize = 14;

#[derive(Serialize)]
pub(super) struct Page<'a> {
    #[serde(flatten)]
    pub(super) heading: Heading,
    trails: Vec<Section>,
    legend: Vec<MarkText>,
    #[serde(skip)]
    pub(super) names: Names<'a>,
}

/// What stands above everything else.
#[derive(Serialize)]
pub(super) struct Heading {
    run: String,
    packtrain: String,
    headline: String,
    headline_mark: MarkText,
    facts: Vec<String>,
    counts: Vec<Count>,
    notes: Vec<String>,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct MarkText {
    key: &'static str,
    sign: &'static str,
    word: &'static str,
}

impl From<Mark> for MarkText {
    fn from(mark: Mark) -> Self {
        Self {
            key: mark.key(),
            sign: mark.sign(),
            word: mark.word(),
        }
    }
}

#[derive(Serialize)]
struct Count {
    mark: MarkText,
    count: usize,
    word: &'static str,
}

impl<'a> Page<'a> {
    pub(super) fn new(view: &'a RunView, comparison: &Comparison, is_live: bool) -> Self {
        let mut about = Vec::new();
        if let Some(started) = view.started {
            let started = started.to_rfc3339_opts(SecondsFormat::Secs, true);
            about.push(started.replace('T', " ").replace('Z', " UTC"));
        }
        about.extend(facts(view));
        about.push(view.run.to_string());
        let mut order: Vec<usize> = (0..view.trails.len()).collect();
        order.sort_by_key(|&place| view.trails[place].mark());
        let counts = counts(view).into_iter().map(|(mark, count)| Count {
            mark: mark.into(),
            count,
            word: mark.word_for(count),
        });
        let heading = Heading {
            run: view.run.to_string(),
            packtrain: view.packtrain.clone(),
            headline: comparison.sentence.clone(),
            headline_mark: mark(view).into(),
            facts: about,
            counts: counts.collect(),
            notes: notes(view, is_live),
        };
        let names = Names::of(view, comparison);
        let trails = order.into_iter();
        let trails = trails.map(|at| Section::new(at, &view.trails[at], comparison, &names));
        Self {
            heading,
            trails: trails.collect(),
            legend: Mark::ALL.into_iter().map(MarkText::from).collect(),
            names,
        }
    }

    /// What there is to say of each trail, in the run's order.
    pub(super) fn sections(&self) -> Vec<&Section> {
        let mut sections: Vec<&Section> = self.trails.iter().collect();
        sections.sort_by_key(|section| section.place);
        sections
    }
}

/// What its last attempt took; nothing when it had none worth the name.
fn session_time(session: &SessionView) -> String {
    let took = session.last().map(|attempt| attempt.duration);
    let took = took.filter(|took| !took.is_zero());
    took.map_or_else(String::new, wording::duration)
}

const fn density(columns: usize) -> &'static str {
    match columns {
        0..=WIDE => "wide",
        _ if columns <= MEDIUM => "medium",
        _ => "compact",
    }
}
