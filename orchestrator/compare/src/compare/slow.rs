//! Steps that took much longer than on cells of the same engine and device.

use std::collections::BTreeMap;

use super::field::Field;
use super::screens::step_words;
use super::sighting::Sightings;
use crate::answer::{ClusterKind, Occurrence, Timing};
use crate::input::{OutcomeKind, StepStatus};

/// Fewer cells say nothing of what is usual, unless the slow one was run twice.
const LEAST_CELLS: usize = 5;
/// Stretches of time in which a step was slow, with fast ones between them, that load does not explain.
const LEAST_STRETCHES: usize = 3;
/// A step has to take so much longer than the median, in milliseconds.
const LEAST_DIFFERENCE_MS: u64 = 500;

pub(super) fn compare(field: &Field<'_>, sightings: &mut Sightings) -> Vec<Timing> {
    /// Trail, step, device and engine.
    type Group<'r> = (usize, u32, &'r str, &'r str);
    // Each session with what it took.
    let mut groups: BTreeMap<Group<'_>, Vec<(usize, u64)>> = BTreeMap::new();
    for (place, session) in field.sessions() {
        if session.outcome != OutcomeKind::Passed && session.outcome != OutcomeKind::Failed {
            continue;
        }
        let cell = field.cell_of(place);
        let engine = cell
            .values
            .get("engine")
            .or_else(|| cell.facts.get("browser"));
        let engine = engine.map_or("", String::as_str);
        for step in &session.steps {
            if step.status == StepStatus::Passed {
                let key = (session.trail, step.step, cell.device.as_str(), engine);
                groups
                    .entry(key)
                    .or_default()
                    .push((place, step.duration_ms));
            }
        }
    }
    let mut timings = Vec::new();
    for ((trail, step, ..), sessions) in groups {
        let mut sorted: Vec<u64> = sessions.iter().map(|(_, ms)| *ms).collect();
        sorted.sort_unstable();
        let Some(&median) = sorted.get((sorted.len().max(1) - 1) / 2) else {
            continue;
        };
        let is_slow = |ms: u64| ms > median * 2 && ms > median + LEAST_DIFFERENCE_MS;
        let cell = |place: usize| field.run.sessions[place].cell;
        let mut cells: Vec<usize> = sessions.iter().map(|(place, _)| cell(*place)).collect();
        cells.sort_unstable();
        cells.dedup();
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
            let repeats = sessions
                .iter()
                .filter(|(other, _)| cell(*other) == cell(place));
            let (count, slow) = repeats.fold((0, 0), |(count, slow), (_, ms)| {
                (count + 1, slow + usize::from(is_slow(*ms)))
            });
            // A repeat that was fast says that the other was an accident.
            if count > 1 && slow < count || count == 1 && !is_apart {
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
            let occurrence = Occurrence {
                trail,
                session: place,
                step,
                ..Occurrence::default()
            };
            sightings.add(
                ClusterKind::Slow,
                format!("slow:{trail}:{step}"),
                occurrence,
                || {
                    let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
                    let took = format!("took {}, elsewhere {}", seconds(ms), seconds(median));
                    (format!("Step {step} is slow: {words}"), took)
                },
            );
        }
    }
    timings
}
