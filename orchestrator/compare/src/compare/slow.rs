//! Steps that took much longer than on cells of the same engine and device.

use std::collections::{BTreeMap, BTreeSet};

use super::field::Field;
use super::screens::step_words;
use super::sighting::Sightings;
use crate::answer::{ClusterKind, Occurrence, Timing};
use crate::input::StepStatus;
use crate::words::seconds;

/// Fewer cells say nothing of what is usual, unless the slow one was run twice.
const LEAST_CELLS: usize = 5;
/// Stretches of time in which a step was slow, with fast ones between them, that load does not explain.
const LEAST_STRETCHES: usize = 3;
/// A step has to take so much longer than the median, in milliseconds.
const LEAST_DIFFERENCE_MS: u64 = 500;

/// The lower middle of these.
pub(crate) fn median(took: &mut [u64]) -> Option<u64> {
    took.sort_unstable();
    took.get(took.len().saturating_sub(1) / 2).copied()
}

/// Whether so many milliseconds are much longer than the median.
pub(crate) const fn is_slow(ms: u64, median: u64) -> bool {
    ms > median * 2 && ms > median + LEAST_DIFFERENCE_MS
}

pub(super) fn compare(field: &Field<'_>, sightings: &mut Sightings) -> Vec<Timing> {
    /// Trail, step, device and engine.
    type Group<'r> = (usize, u32, &'r str, &'r str);
    // Each session with what it took.
    let mut groups: BTreeMap<Group<'_>, Vec<(usize, u64)>> = BTreeMap::new();
    for (place, session) in field.sessions() {
        if !session.is_told() {
            continue;
        }
        let cell = field.cell_of(place);
        let engine = cell.values.get("engine").or(cell.facts.get("browser"));
        let engine = engine.map_or("", String::as_str);
        for step in &session.steps {
            if step.status == StepStatus::Passed {
                let key = (session.trail, step.step, cell.device.as_str(), engine);
                let group = groups.entry(key).or_default();
                group.push((place, step.duration_ms));
            }
        }
    }
    let mut timings = Vec::new();
    for ((trail, step, ..), sessions) in groups {
        let mut times: Vec<u64> = sessions.iter().map(|(_, ms)| *ms).collect();
        let Some(median) = median(&mut times) else {
            continue;
        };
        let is_slow = |ms: u64| is_slow(ms, median);
        let cell = |place: usize| field.run.sessions[place].cell;
        let cells: BTreeSet<usize> = sessions.iter().map(|(place, _)| cell(*place)).collect();
        if cells.len() < 2 {
            continue;
        }
        let slow = sessions.iter().filter(|(_, ms)| is_slow(*ms));
        // Load is slow while it lasts: what is slow again and again, with the same step fast meanwhile,
        // is slow by itself.
        let is_apart = cells.len() >= LEAST_CELLS && {
            let mut times: Vec<(u64, bool)> = (sessions.iter())
                .filter_map(|(place, ms)| Some((field.step(*place, step)?.began_ms?, is_slow(*ms))))
                .collect();
            times.sort_unstable();
            let starts = times.windows(2).filter(|pair| !pair[0].1 && pair[1].1);
            starts.count() + usize::from(times.first().is_some_and(|(_, slow)| *slow))
                >= LEAST_STRETCHES
        };
        for &(place, ms) in slow {
            let repeats = sessions.iter().filter(|(at, _)| cell(*at) == cell(place));
            let are_slow = repeats.clone().all(|(_, ms)| is_slow(*ms));
            // A repeat that was fast says that the other was an accident.
            if !are_slow || repeats.count() == 1 && !is_apart {
                continue;
            }
            timings.push(Timing {
                trail,
                step,
                session: place,
                ms,
                median_ms: median,
            });
            let words = step_words(field, trail, step);
            let occurrence = Occurrence::at(trail, place, step);
            let key = format!("slow:{trail}:{step}");
            sightings.add(ClusterKind::Slow, key, occurrence, || {
                let took = format!("took {}, elsewhere {}", seconds(ms), seconds(median));
                (format!("Step {step} is slow: {words}"), took)
            });
        }
    }
    timings
}
