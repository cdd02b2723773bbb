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
        let (mut unheard, heard): (Vec<&Attempt>, Vec<&Attempt>) = attempts
            .into_iter()
            .partition(|attempt| attempt.is_unheard());
        unheard.sort_by_key(|attempt| attempt.ended);
        findings.extend(two_holders(device, &heard));
        findings.extend(out_of_turn(device, &heard, &unheard, &arrivals));
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
fn out_of_turn(
    device: &DeviceId,
    heard: &[&Attempt],
    unheard: &[&Attempt],
    arrivals: &[&Arrival],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut turns: Vec<&[&Arrival]> = Vec::new();
    for turn in arrivals.chunk_by(|before, next| next.step.0 == before.step.0 + 1) {
        match turn {
            [first, ..] if first.step.0 == 1 => turns.push(turn),
            [stray, ..] => findings.push(Finding::new(
                FindingKind::Stale,
                format!(
                    "{device} was given step {} at {} out of turn",
                    stray.step, stray.at
                ),
            )),
            [] => {}
        }
    }
    if !findings.is_empty() {
        // Interrupted turns belong to no session any more.
        return findings;
    }
    let reached = matched(heard, unheard, &turns);
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
/// attempts are left that had one. Each attempt of which nothing was heard may have had any one turn that
/// was over when it was declared lost.
fn matched(heard: &[&Attempt], unheard: &[&Attempt], turns: &[&[&Arrival]]) -> usize {
    // How many of the unheard are used up when so many turns were seen before the attempt at hand: those
    // that were declared lost too early for a turn are so for all that follow.
    let mut needed: Vec<Option<usize>> = vec![None; turns.len() + 1];
    needed[0] = Some(0);
    let mut furthest = give_to_unheard(&mut needed, unheard, turns);
    for attempt in heard {
        let mut next = vec![None; turns.len() + 1];
        for seen in 0..=turns.len() {
            let Some(used) = needed[seen] else { continue };
            if attempt.passed.is_empty() {
                next[seen] = least(next[seen], used);
            }
            if turns.get(seen).is_some_and(|turn| explains(attempt, turn)) {
                next[seen + 1] = least(next[seen + 1], used);
            }
        }
        needed = next;
        furthest = furthest.max(give_to_unheard(&mut needed, unheard, turns));
    }
    let is_whole = needed[turns.len()].is_some();
    if furthest == turns.len() && !is_whole {
        furthest + 1
    } else {
        furthest
    }
}

/// Lets attempts of which nothing was heard explain turns too; how many turns are explained at most.
fn give_to_unheard(
    needed: &mut [Option<usize>],
    unheard: &[&Attempt],
    turns: &[&[&Arrival]],
) -> usize {
    for (seen, turn) in turns.iter().enumerate() {
        let Some(gone) = needed[seen] else { continue };
        let mut left = unheard.iter().skip(gone);
        if let Some(place) = left.position(|attempt| explains(attempt, turn)) {
            needed[seen + 1] = least(needed[seen + 1], gone + place + 1);
        }
    }
    needed.iter().rposition(Option::is_some).unwrap_or(0)
}

fn least(one: Option<usize>, other: usize) -> Option<usize> {
    Some(one.map_or(other, |one| one.min(other)))
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
