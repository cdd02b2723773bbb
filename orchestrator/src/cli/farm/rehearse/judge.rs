//! The verdict on a farm: what its journals and its phones say of it.

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use packtrain_farm::audit::{
    Arrival, Attempt, Finding, FindingKind, Freed, attempts, devices, journal, late, marked, unfair,
};
use packtrain_model::{Entry, RunEvent};
use packtrain_record::JournalReader;
use serde::Deserialize;
use serde_json::{Value, json};

use super::faults::{FaultAction, Target};
use super::show::{Done, Show};
use super::stage::Phones;
use crate::exit::CliError;

/// How much later than its key's life the end of a host may be noticed: expiry is late by at most 0.26 s.
const FREE_GRACE: Duration = Duration::from_millis(500);
/// What starting a process and joining may take on a busy computer.
const RETURN_GRACE: Duration = Duration::from_secs(5);

/// What was found out about a farm.
pub(super) struct Verdict {
    /// What it did wrong.
    pub(super) findings: Vec<Finding>,
    /// Sessions that were planned and that have an end.
    sessions: (usize, usize),
    /// Attempts that were lost with their host.
    lost: usize,
}

/// A line of what reached phones.
#[derive(Deserialize)]
struct Line {
    at_us: i64,
    device: String,
    kind: String,
    what: String,
}

impl Verdict {
    /// Judges a rehearsal that was played to its end.
    pub(super) fn of(show: &Show, ttl: Duration) -> Result<Self, CliError> {
        let lost = |what: &String| Finding::new(FindingKind::Lost, what);
        let mut findings: Vec<Finding> = show.gave_up.iter().map(lost).collect();
        let (mut journals, mut all_ended) = (Vec::<Vec<Entry>>::new(), 0);
        for run in &show.stage.runs {
            let actor = &show.stage.actors[run.actor].1;
            let name = &actor.name;
            if run.code != Some(0) {
                let code = run.code.unwrap_or(255);
                let what = format!("{name} ended with {code}: {}", actor.last_words());
                findings.push(lost(&what));
            }
            let Some(folder) = run.folder() else { continue };
            let (entries, broken) = read(&folder)?;
            findings.extend(broken);
            findings.extend(journal(&entries));
            let is_end = |entry: &&Entry| matches!(entry.event, RunEvent::SessionFinished { .. });
            let (planned, ended) = (run.sessions as usize, entries.iter().filter(is_end).count());
            if ended != planned {
                findings.push(lost(&format!("{name} ended {ended} of {planned} sessions")));
            }
            all_ended += ended;
            journals.push(entries);
        }
        let all: Vec<Attempt> = journals
            .iter()
            .flat_map(|entries| attempts(entries))
            .collect();
        let mut arrived = Vec::new();
        for phones in &show.stage.phones {
            arrived.extend(arrivals(phones)?);
        }
        findings.extend(devices(&all, &arrived));
        for (freed, within) in freed(&show.done, ttl) {
            findings.extend(late(&all, &[freed], delta(within)));
        }
        let away: Duration = show.done.iter().map(|done| done.lasting + ttl).sum();
        let runs: Vec<&[Entry]> = journals.iter().map(Vec::as_slice).collect();
        let devices = show.stage.options.devices as usize;
        findings.extend(unfair(&runs, devices, delta(away + RETURN_GRACE)));
        let planned = show.stage.runs.iter().map(|run| run.sessions as usize);
        Ok(Self {
            sessions: (planned.sum(), all_ended),
            lost: all.iter().filter(|attempt| attempt.is_lost()).count(),
            findings,
        })
    }

    fn count(&self, kind: FindingKind) -> usize {
        let of_kind = self.findings.iter().filter(|finding| finding.kind == kind);
        of_kind.count()
    }

    /// For people, in two lines.
    pub(super) fn text(&self, show: &Show) -> String {
        let counts = FindingKind::ALL.map(|kind| format!("{kind} {}", self.count(kind)));
        let (planned, ended) = self.sessions;
        let undone = match show.schedule.len() {
            0 => String::new(),
            undone => format!(", {undone} more came too late"),
        };
        format!(
            "{ended} of {planned} sessions ended, {} attempts were lost and done again, \
             {} faults{undone}, {:.1} s\n{}",
            self.lost,
            show.done.len(),
            show.took.as_secs_f64(),
            counts.join(" · ")
        )
    }

    /// For programs.
    pub(super) fn json(&self, show: &Show, kept: Option<&Path>) -> Value {
        let counts: serde_json::Map<String, Value> = FindingKind::ALL
            .iter()
            .map(|kind| (kind.to_string(), self.count(*kind).into()))
            .collect();
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| json!({ "kind": finding.kind, "what": finding.what }))
            .collect();
        let faults: Vec<Value> = (show.done.iter())
            .map(|done| json!({ "after_ms": done.after.as_millis() as u64, "what": done.words() }))
            .collect();
        let options = &show.stage.options;
        json!({
            "seed": options.seed,
            "devices": options.devices,
            "hosts": options.hosts,
            "sessions": self.sessions.0,
            "ended": self.sessions.1,
            "attempts_lost": self.lost,
            "faults": faults,
            "faults_too_late": show.schedule.len(),
            "duration_ms": show.took.as_millis() as u64,
            "counts": counts,
            "findings": findings,
            "folder": kept,
        })
    }
}

/// A journal, and what of it cannot be read.
fn read(folder: &Path) -> Result<(Vec<Entry>, Vec<Finding>), CliError> {
    let failed = |error: &dyn std::fmt::Display| {
        CliError::infrastructure("cannot read a journal of the rehearsal").cause(error.to_string())
    };
    let reader = JournalReader::open(folder).map_err(|error| failed(&error))?;
    let (mut entries, mut broken) = (Vec::new(), Vec::new());
    for entry in reader {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => broken.push(Finding::new(FindingKind::Lost, error.to_string())),
        }
    }
    Ok((entries, broken))
}

/// The marked commands that reached a host's phones.
fn arrivals(phones: &Phones) -> Result<Vec<Arrival>, CliError> {
    let text = std::fs::read_to_string(&phones.log).map_err(|error| {
        CliError::infrastructure(format!("cannot read {}", phones.log.display())).because(&error)
    })?;
    let lines = text
        .lines()
        .map_while(|line| serde_json::from_str::<Line>(line).ok());
    let commands = lines.filter(|line| line.kind == "command");
    let arrived = commands.filter_map(|line| {
        let number: usize = line.device.rsplit('-').next()?.parse().ok()?;
        let address = phones.addresses.get(number.checked_sub(1)?)?;
        Some(Arrival {
            device: format!("android/{address}@{}", phones.host).parse().ok()?,
            at: DateTime::<Utc>::from_timestamp_micros(line.at_us)?,
            step: marked(&line.what)?,
        })
    });
    Ok(arrived.collect())
}

/// The hosts that had to be taken for dead, and how long that may have taken: longer where the farm
/// itself was hit meanwhile.
fn freed(done: &[Done], ttl: Duration) -> Vec<(Freed, Duration)> {
    let hosts = done.iter().filter(|done| {
        let is_dead = match done.deed {
            // A new start of the host tells of the death of the one before.
            FaultAction::Kill => true,
            FaultAction::Stop => done.lasting > ttl + FREE_GRACE,
        };
        done.target == Target::Host && is_dead
    });
    let with_time = hosts.map(|host| {
        let near = done.iter().filter(|other| {
            let apart = (other.at - host.at).abs();
            let reach = other.lasting + ttl * 2 + FREE_GRACE;
            other.target != Target::Host && apart <= delta(reach)
        });
        let disturbed: Duration = near.map(|other| other.lasting + ttl + RETURN_GRACE).sum();
        let freed = Freed {
            host: host.name.clone(),
            at: host.at,
        };
        (freed, ttl + FREE_GRACE + disturbed)
    });
    with_time.collect()
}

fn delta(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}
