//! A run in one line, and what its first paragraph says, the same in every report.

use crate::mark::Mark;
use crate::view::{RunState, RunView};
use crate::wording;

/// How many (trail, device) pairs stand how, worst first, without those that do not occur.
pub fn counts(view: &RunView) -> Vec<(Mark, usize)> {
    Mark::ALL
        .into_iter()
        .map(|mark| {
            let count = view
                .sessions()
                .filter(|(_, session)| session.mark() == mark)
                .count();
            (mark, count)
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// The run's answer as a sentence and its mark: `5 failed, 1 infrastructure error`, `all 12 passed`.
pub fn headline(view: &RunView) -> (Mark, String) {
    let counts = counts(view);
    let of = |wanted: Mark| {
        counts
            .iter()
            .find(|(mark, _)| *mark == wanted)
            .map_or(0, |(_, count)| *count)
    };
    let Some((worst, _)) = counts.first().copied() else {
        return (Mark::NotRun, "nothing ran".to_owned());
    };
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let passed = of(Mark::Passed) + of(Mark::Flaky);
    let bad: Vec<String> = counts
        .iter()
        .filter(|(mark, _)| *mark < Mark::Flaky || *mark == Mark::NotRun)
        .map(|(mark, count)| mark.counted(*count))
        .collect();
    if !bad.is_empty() {
        return (worst, bad.join(", "));
    }
    let mut text = match passed {
        0 if total == 1 => "skipped".to_owned(),
        0 => format!("all {total} skipped"),
        1 if total == 1 => "passed".to_owned(),
        _ if passed == total => format!("all {total} passed"),
        _ => format!("{passed} passed, {} skipped", of(Mark::Skipped)),
    };
    if of(Mark::Flaky) > 0 {
        text.push_str(&format!(", {} flaky", of(Mark::Flaky)));
    }
    let mark = match (of(Mark::Flaky), passed) {
        (0, 0) => Mark::Skipped,
        (0, _) => Mark::Passed,
        _ => Mark::Flaky,
    };
    (mark, text)
}

/// `4 trails × 12 devices`, how long it took, what retries cost.
pub(crate) fn facts(view: &RunView) -> Vec<String> {
    let mut facts = vec![format!(
        "{} × {}",
        wording::count(view.trails.len(), "trail", "trails"),
        wording::count(devices(view), "device", "devices"),
    )];
    facts.push(format!("took {}", wording::duration(view.duration)));
    let cost = view.retry_cost();
    if !cost.is_zero() {
        facts.push(format!("retries cost {}", wording::duration(cost)));
    }
    facts
}

/// What a reader must know before believing the rest.
pub(crate) fn notes(view: &RunView) -> Vec<String> {
    let mut notes = Vec::new();
    match view.state {
        RunState::Finished => {}
        RunState::CutShort => notes.push(match view.unfinished() {
            0 => "The run's end was not recorded.".to_owned(),
            unfinished => format!(
                "The run's end was not recorded: it goes on, or was cut short. {} of {} have no \
                 end.",
                unfinished,
                wording::count(view.sessions().count(), "session", "sessions"),
            ),
        }),
    }
    notes.extend(view.stopped_by.map(|by| wording::stopped(by).to_owned()));
    for broken in &view.broken_sinks {
        let message = wording::one_line(&broken.message);
        notes.push(match &broken.unsaved {
            Some(file) => format!("{} was not saved: {message}", wording::one_line(file)),
            None => format!(
                "The {} output broke and is incomplete: {message}",
                wording::one_line(&broken.sink)
            ),
        });
    }
    notes
}

fn devices(view: &RunView) -> usize {
    let mut names: Vec<String> = view
        .devices
        .iter()
        .map(|device| device.id.to_string())
        .chain(
            view.sessions()
                .filter_map(|(_, session)| session.device.as_ref())
                .map(ToString::to_string),
        )
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}
