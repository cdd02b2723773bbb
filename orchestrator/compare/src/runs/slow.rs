//! Steps that take much longer than before, on the same device and engine.

use super::answer::{Change, ChangeKind};
use super::names::engine;
use super::side::Side;
use crate::compare::slow::{is_slow, median};
use crate::input::StepStatus;
use crate::words::seconds;

/// Fewer sessions say nothing of what is usual, unless the slow one was repeated.
const LEAST_SESSIONS: usize = 5;

/// Whether a step that passed in all these sessions takes much longer than in the earlier run.
pub(super) fn compare(
    (base, base_trail, base_step): (&Side<'_>, usize, u32),
    (run, sessions, step): (&Side<'_>, &[usize], u32),
) -> Option<Change> {
    let took = |side: &Side<'_>, place: usize, step: u32| {
        let step = side.step(place, step)?;
        (step.status == StepStatus::Passed).then_some(step.duration_ms)
    };
    let own = &run.run.cells[run.run.sessions[*sessions.first()?].cell];
    let mut before: Vec<u64> = Vec::new();
    for ((trail, cell), places) in &base.cells {
        let cell = &base.run.cells[*cell];
        let of = |name: &str| cell.values.get(name) == own.values.get(name);
        let is_alike = cell.device == own.device
            && engine(&cell.engine) == engine(&own.engine)
            && of("engine");
        if *trail == base_trail && is_alike {
            let places = places.iter();
            before.extend(places.filter_map(|place| took(base, *place, base_step)));
        }
    }
    let median = median(&mut before)?;
    let now = sessions.iter().filter_map(|place| took(run, *place, step));
    let now: Vec<u64> = now.collect();
    let fastest = *now.iter().min()?;
    // A repeat that was fast says that the other was an accident.
    let is_slow = is_slow(fastest, median);
    let is_known = before.len() >= LEAST_SESSIONS || now.len() > 1;
    (is_slow && is_known).then(|| Change {
        detail: format!("took {}, before {}", seconds(fastest), seconds(median)),
        was_ms: Some(median),
        is_ms: Some(fastest),
        ..Change::of(ChangeKind::Time, "is slower")
    })
}
