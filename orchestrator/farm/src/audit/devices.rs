//! What reached the devices, by their own word, against what the journals say was asked of them.
//!
//! The trails of a test mark their steps: each gives the device one command that has the step's number
//! in it ([`marked`]). A device that was held by one session at a time has seen 1, 2, 3 ... for each of
//! them and nothing else.

use std::collections::BTreeMap;

use super::{Attempt, DateTime, DeviceId, Finding, FindingKind, StepIndex, Utc};

/// What a marked command has before the number of its step.
pub const MARK: &str = "packtrain-step-";

/// A marked command that reached a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The device, as runs call it.
    pub device: DeviceId,
    /// When it arrived.
    pub at: DateTime<Utc>,
    /// The step it was marked with.
    pub step: StepIndex,
}

/// The step that a command line is marked with; `None` when it is not.
pub fn marked(command: &str) -> Option<StepIndex> {
    let (_, rest) = command.split_once(MARK)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok().map(StepIndex)
}

/// What is wrong on the devices. `attempts` are those of all runs; `arrivals` of each device stand in
/// the order in which they came. Trails have steps from 1 and no trailhead, each step marked.
pub fn devices(attempts: &[Attempt], arrivals: &[Arrival]) -> Vec<Finding> {
    let mut held: BTreeMap<&DeviceId, (Vec<&Attempt>, Vec<&Arrival>)> = BTreeMap::new();
    for attempt in attempts {
        held.entry(&attempt.device).or_default().0.push(attempt);
    }
    for arrival in arrivals {
        held.entry(&arrival.device).or_default().1.push(arrival);
    }
    let mut findings = Vec::new();
    for (device, (mut attempts, arrivals)) in held {
        attempts.sort_by_key(|attempt| attempt.started);
        findings.extend(two_holders(device, &attempts));
        findings.extend(out_of_turn(device, &attempts, &arrivals));
    }
    findings
}

/// Sessions on one device that were under way at the same time.
fn two_holders(device: &DeviceId, attempts: &[&Attempt]) -> Vec<Finding> {
    let pairs = attempts.windows(2);
    let both = pairs.filter(|pair| pair[1].started < pair[0].last);
    both.map(|pair| {
        let (first, second) = (&pair[0].session, &pair[1].session);
        let what = format!("{device} was held by {first} and {second} at once");
        Finding::new(FindingKind::Doubled, what)
    })
    .collect()
}

/// Commands that belong to no session that held the device when they came.
fn out_of_turn(device: &DeviceId, attempts: &[&Attempt], arrivals: &[&Arrival]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut turns: Vec<&[&Arrival]> = Vec::new();
    for turn in arrivals.chunk_by(|before, next| next.step.0 == before.step.0 + 1) {
        match turn {
            [first, ..] if first.step.0 == 1 => turns.push(turn),
            [stray, ..] => findings.push(Finding::new(
                FindingKind::Stale,
                format!(
                    "{device} was given step {} at {}, which was nobody's turn",
                    stray.step, stray.at
                ),
            )),
            [] => {}
        }
    }
    if !findings.is_empty() {
        // Turns that were broken into belong to nobody any more.
        return findings;
    }
    let reached = matched(attempts, &turns);
    if let Some(turn) = turns.get(reached) {
        let what = format!(
            "{device} was given {} steps from {} on, which no session that held it explains",
            turn.len(),
            turn[0].at
        );
        findings.push(Finding::new(FindingKind::Stale, what));
    } else if reached > turns.len() {
        let what = format!("{device} was not given what the journals say that it was");
        findings.push(Finding::new(FindingKind::Lost, what));
    }
    findings
}

/// How many turns can be explained by attempts in their order; one more than there are when all can, but
/// attempts are left that had one.
fn matched(attempts: &[&Attempt], turns: &[&[&Arrival]]) -> usize {
    // Which numbers of turns may have been seen before the attempt at hand.
    let mut possible = vec![false; turns.len() + 1];
    possible[0] = true;
    let mut furthest = 0;
    for attempt in attempts {
        let mut next = vec![false; turns.len() + 1];
        for seen in (0..=turns.len()).filter(|seen| possible[*seen]) {
            next[seen] |= attempt.passed.is_empty();
            if turns.get(seen).is_some_and(|turn| explains(attempt, turn)) {
                next[seen + 1] = true;
                furthest = furthest.max(seen + 1);
            }
        }
        possible = next;
    }
    let is_whole = possible[turns.len()];
    if furthest == turns.len() && !is_whole {
        furthest + 1
    } else {
        furthest
    }
}

/// Whether these commands, and no others, can be what an attempt did.
fn explains(attempt: &Attempt, turn: &[&Arrival]) -> bool {
    let (least, most) = if attempt.is_torn() {
        (attempt.passed.len(), usize::MAX)
    } else {
        // A step that failed may have come to its command or not.
        (attempt.passed.len(), attempt.steps.len())
    };
    let in_time = attempt
        .ended
        .is_none_or(|ended| turn.iter().all(|arrival| arrival.at <= ended));
    (least..=most).contains(&turn.len()) && in_time
}
