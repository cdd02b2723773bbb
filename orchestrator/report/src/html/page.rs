//! What the page shows at once: headline, overview, divergences, grids. Failures first: trails,
//! and within a trail the devices that left the way.

mod overview;
mod section;

use std::collections::HashMap;

use chrono::SecondsFormat;
use serde::Serialize;

use self::overview::Overview;
pub(super) use self::section::{Divergence, Note, Section};
use crate::compare::Comparison;
use crate::headline::{counts, facts, headline, notes};
use crate::mark::Mark;
use crate::view::{RunView, SessionView};
use crate::wording;

/// Up to this many devices, columns are wide; up to the next, they still hold a time.
const WIDE: usize = 6;
const MEDIUM: usize = 14;

#[derive(Serialize)]
pub(super) struct Page {
    #[serde(flatten)]
    pub(super) heading: Heading,
    overview: Option<Overview>,
    trails: Vec<Section>,
    legend: Vec<MarkText>,
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
struct MarkText {
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

#[derive(Serialize)]
struct Head {
    id: String,
    model: String,
    system: String,
    /// The line below the model that tells devices apart: the configuration or the system, or the
    /// id where two devices have model and that in common.
    about: String,
}

impl Page {
    pub(super) fn new(view: &RunView, comparisons: &[Comparison]) -> Self {
        let (mark, text) = headline(view);
        let mut about = Vec::new();
        if let Some(started) = view.started {
            about.push(
                started
                    .to_rfc3339_opts(SecondsFormat::Secs, true)
                    .replace('T', " ")
                    .replace('Z', " UTC"),
            );
        }
        about.extend(facts(view));
        about.push(view.run.to_string());
        let mut order: Vec<usize> = (0..view.trails.len()).collect();
        order.sort_by_key(|&place| view.trails[place].mark());
        let heading = Heading {
            run: view.run.to_string(),
            packtrain: view.packtrain.clone(),
            headline: capitalised(&text),
            headline_mark: mark.into(),
            facts: about,
            counts: counts(view)
                .into_iter()
                .map(|(mark, count)| Count {
                    mark: mark.into(),
                    count,
                    word: mark.word_for(count),
                })
                .collect(),
            notes: notes(view),
        };
        Self {
            heading,
            overview: (view.trails.len() > 1).then(|| Overview::new(view, comparisons, &order)),
            trails: order
                .iter()
                .map(|&place| Section::new(place, &view.trails[place], &comparisons[place]))
                .collect(),
            legend: Mark::ALL.into_iter().map(MarkText::from).collect(),
        }
    }

    /// What there is to say of each trail, in the run's order.
    pub(super) fn sections(&self) -> Vec<&Section> {
        let mut sections: Vec<&Section> = self.trails.iter().collect();
        sections.sort_by_key(|section| section.place);
        sections
    }
}

impl Head {
    fn of(session: &SessionView) -> Self {
        let info = session.info.as_ref();
        let id = session.name();
        let system = info.map_or_else(String::new, |info| info.system.clone());
        Self {
            model: info.map_or_else(|| session.device_name(), |info| info.model.clone()),
            about: if session.cell.is_empty() {
                system.clone()
            } else {
                session.cell.to_string()
            },
            system,
            id,
        }
    }

    fn tell_apart(heads: &mut [Self]) {
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        for head in &*heads {
            *seen
                .entry((head.model.clone(), head.about.clone()))
                .or_default() += 1;
        }
        for head in heads {
            let same = seen.get(&(head.model.clone(), head.about.clone()));
            if same.is_some_and(|&same| same > 1) && head.model != head.id {
                head.about.clone_from(&head.id);
            }
        }
    }
}

/// What its last attempt took; nothing when it had none worth the name.
fn session_time(session: &SessionView) -> String {
    session
        .last()
        .filter(|attempt| !attempt.duration.is_zero())
        .map_or_else(String::new, |attempt| wording::duration(attempt.duration))
}

const fn density(columns: usize) -> &'static str {
    match columns {
        0..=WIDE => "wide",
        _ if columns <= MEDIUM => "medium",
        _ => "compact",
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
