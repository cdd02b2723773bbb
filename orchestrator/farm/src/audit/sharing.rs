//! How long things took: what was held by the dead is free in time, and no run waits beyond its share.

use chrono::TimeDelta;
use packtrain_model::{Entry, RunEvent};

use super::{Attempt, DateTime, Finding, FindingKind, Utc, attempts, parse_session};

/// A host that was killed, or stopped for longer than its leases last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freed {
    /// The host's name.
    pub host: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// Sessions that were under way on a host that was lost, and whose end was reported later than `within`
/// after that.
pub fn late(attempts: &[Attempt], freed: &[Freed], within: TimeDelta) -> Vec<Finding> {
    let mut findings = Vec::new();
    for lost in freed {
        let due = lost.at + within;
        let open = attempts.iter().filter(|attempt| {
            let is_there = attempt.host() == lost.host && attempt.started <= lost.at;
            // One that had ended on the host before it died has an outcome of its own.
            is_there && attempt.is_lost() && attempt.ended.is_none_or(|ended| ended > lost.at)
        });
        for attempt in open.filter(|attempt| attempt.ended.is_none_or(|ended| ended > due)) {
            let (session, host) = (&attempt.session, &lost.host);
            let took = attempt.ended.map_or_else(
                || "never".to_owned(),
                |ended| format!("{} ms after it", (ended - lost.at).num_milliseconds()),
            );
            findings.push(Finding::new(
                FindingKind::Late,
                format!("{session} was reported lost with {host} {took}"),
            ));
        }
    }
    findings
}

/// Sessions that began later than their run's share of the devices explains: of `devices` that suit all
/// runs alike, each of `runs` gets its part of them at the latest when the sessions under way have ended.
/// `slack` is what everything else may take, such as finding out that a host is dead.
pub fn unfair(runs: &[&[Entry]], devices: usize, slack: TimeDelta) -> Vec<Finding> {
    let share = (devices / runs.len().max(1)).max(1);
    let all: Vec<Vec<Attempt>> = runs.iter().map(|entries| attempts(entries)).collect();
    let longest = all
        .iter()
        .flatten()
        .filter_map(|attempt| Some(attempt.ended? - attempt.started))
        .max()
        .unwrap_or_default();
    let mut findings = Vec::new();
    for (entries, attempts) in runs.iter().zip(&all) {
        let Some((run, began)) = entries.iter().find_map(beginning) else {
            continue;
        };
        let is_first = |attempt: &&Attempt| {
            parse_session(&attempt.session).is_some_and(|(_, number)| number == 1)
        };
        let mut starts: Vec<&Attempt> = attempts.iter().filter(is_first).collect();
        starts.sort_by_key(|attempt| attempt.started);
        for (place, attempt) in starts.iter().enumerate() {
            let rounds = i32::try_from(place / share + 1).unwrap_or(i32::MAX);
            let due = longest
                .checked_mul(rounds)
                .and_then(|rounds| began.checked_add_signed(rounds + slack));
            if due.is_some_and(|due| attempt.started > due) {
                let waited = (attempt.started - began).num_milliseconds();
                let what = format!(
                    "{} of run {run} waited {waited} ms for place {} of its {share} devices",
                    attempt.session,
                    place + 1
                );
                findings.push(Finding::new(FindingKind::Unfair, what));
                break;
            }
        }
    }
    findings
}

fn beginning(entry: &Entry) -> Option<(String, DateTime<Utc>)> {
    match &entry.event {
        RunEvent::RunStarted { run, .. } => Some((run.to_string(), entry.at)),
        _ => None,
    }
}
