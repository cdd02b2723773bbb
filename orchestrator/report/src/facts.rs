//! What stands beside a run's headline, the same in every report: its mark, counts, facts and notes.

use std::collections::BTreeSet;

use packtrain_model::Exit;

use crate::mark::Mark;
use crate::view::{RunState, RunView, SessionView, TrailView};
use crate::wording;

/// How many (trail, device) pairs stand how, worst first, without those that do not occur.
pub fn counts(view: &RunView) -> Vec<(Mark, usize)> {
    let sessions = view.sessions().map(|(_, session)| session);
    Mark::counts(Mark::ALL, sessions).collect()
}

/// The mark beside the headline: that of the worst session, or of what ran.
pub(crate) fn mark(view: &RunView) -> Mark {
    let is_passed = |(_, session): (&TrailView, &SessionView)| session.mark() == Mark::Passed;
    match view.mark() {
        Mark::Skipped if view.sessions().any(is_passed) => Mark::Passed,
        Mark::Skipped if lacks_a_driver(view) => Mark::Infrastructure,
        mark => mark,
    }
}

/// Whether every session was skipped, and some of them only because their driver is not here.
pub(crate) fn lacks_a_driver(view: &RunView) -> bool {
    let mut sessions = view.sessions();
    view.verdict.exit == Exit::Infrastructure
        && sessions.all(|(_, session)| session.mark() == Mark::Skipped)
}

/// `4 trails × 12 cells`, or devices where there is no matrix; how long it took, what retries cost.
pub(crate) fn facts(view: &RunView) -> Vec<String> {
    let cells = view
        .sessions()
        .filter(|(_, session)| !session.cell.is_empty());
    let cells = cells.map(|(_, session)| (session.cell_device(), &session.cell.0));
    let places = match cells.collect::<BTreeSet<_>>().len() {
        0 => wording::count(devices(view), "device", "devices"),
        cells => wording::count(cells, "cell", "cells"),
    };
    let trails = wording::count(view.trails.len(), "trail", "trails");
    let mut facts = vec![format!("{trails} × {places}")];
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
pub(crate) fn notes(view: &RunView, is_live: bool) -> Vec<String> {
    let mut notes = Vec::new();
    match view.state {
        RunState::Finished => {}
        RunState::CutShort if is_live => notes.push("Running".to_owned()),
        RunState::CutShort => notes.push(match view.unfinished() {
            0 => "The run's end was not recorded.".to_owned(),
            unfinished => {
                let all = wording::count(view.sessions().count(), "session", "sessions");
                format!(
                    "The run's end was not recorded: it is still running, or was cut short. Not \
                     finished: {unfinished} of {all}."
                )
            }
        }),
    }
    notes.extend(view.stopped_by.map(|by| wording::stopped(by).to_owned()));
    for broken in &view.broken_sinks {
        let what = match &broken.unsaved {
            Some(file) => format!("{file} was not saved"),
            None => format!("The {} output failed and is incomplete", broken.sink),
        };
        let note = format!("{what}: {}", broken.message);
        notes.push(wording::one_line(&note).into_owned());
    }
    notes
}

fn devices(view: &RunView) -> usize {
    let planned = view.devices.iter().map(|device| &device.id);
    let used = view
        .sessions()
        .filter_map(|(_, session)| session.device.as_ref());
    let names: BTreeSet<_> = planned.chain(used).map(ToString::to_string).collect();
    names.len()
}
