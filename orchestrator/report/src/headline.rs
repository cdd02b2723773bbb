//! A run in one line, and what its first paragraph says, the same in every report.

use std::collections::BTreeSet;

use packtrain_model::Exit;

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
    if passed == 0 {
        let mark = if lacks_a_driver(view) {
            Mark::Infrastructure
        } else {
            Mark::Skipped
        };
        return (mark, nothing_ran(view, total));
    }
    let mut text = match passed {
        1 if total == 1 => "passed".to_owned(),
        _ if passed == total => format!("all {total} passed"),
        _ => format!("{passed} passed, {} skipped", of(Mark::Skipped)),
    };
    if of(Mark::Flaky) > 0 {
        text.push_str(&format!(", {} flaky", of(Mark::Flaky)));
    }
    let mark = match of(Mark::Flaky) {
        0 => Mark::Passed,
        _ => Mark::Flaky,
    };
    (mark, text)
}

/// What a run says of which every session was skipped, with the reason when it is the same for all.
fn nothing_ran(view: &RunView, total: usize) -> String {
    let reasons: BTreeSet<_> = view
        .sessions()
        .filter_map(|(_, session)| session.status.message())
        .collect();
    let all = match total {
        1 => "skipped".to_owned(),
        _ => format!("all {total} skipped"),
    };
    match (reasons.first(), reasons.len()) {
        (Some(reason), 1) => format!("nothing ran: {all}: {}", wording::one_line(reason)),
        _ => format!("nothing ran: {all}"),
    }
}

/// Whether every session was skipped, and some of them only because their driver is not here.
pub(crate) fn lacks_a_driver(view: &RunView) -> bool {
    view.verdict.exit == Exit::Infrastructure
        && view
            .sessions()
            .all(|(_, session)| session.mark() == Mark::Skipped)
}

/// `4 trails × 12 devices`, how long it took, what retries cost.
pub(crate) fn facts(view: &RunView) -> Vec<String> {
    let mut facts = vec![format!(
        "{} × {}",
        wording::count(view.trails.len(), "trail", "trails"),
        wording::count(devices(view), "device", "devices"),
    )];
    if let Some(part) = &view.options.part {
        facts.push(format!("part {}", wording::one_line(part)));
    }
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
