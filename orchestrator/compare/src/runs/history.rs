//! How a trail went over many runs, cell by cell.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::compare::slow::median;

/// Runs that say what is usual.
const USUAL: usize = 5;

/// How a trail went in a cell in one run, all repeats together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// The run.
    pub run: String,
    /// The trail's name.
    pub trail: String,
    /// The device and its configuration.
    pub cell: String,
    /// How it went.
    pub went: PastOutcome,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// How it went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PastOutcome {
    /// It passed.
    Passed,
    /// It passed and failed.
    Flaky,
    /// It failed.
    Failed,
    /// It says nothing of the app.
    #[default]
    Unknown,
}

/// What a history says of the newest run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// It fails and passed before.
    NewlyFailing,
    /// It passes and failed before.
    NewlyFixed,
    /// It fails, as before.
    Failing,
    /// It passes, as before.
    Passing,
    /// No run says anything of the app.
    #[default]
    Unknown,
}

impl Trend {
    /// In words.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NewlyFailing => "newly failing",
            Self::NewlyFixed => "newly fixed",
            Self::Failing => "failing",
            Self::Passing => "passing",
            Self::Unknown => "unknown",
        }
    }
}

/// The history of a trail in a cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct History {
    /// The trail's name.
    pub trail: String,
    /// The device and its configuration.
    pub cell: String,
    /// What the newest run says.
    pub trend: Trend,
    /// How many runs say something of the app.
    pub runs: usize,
    /// In how many it failed.
    pub failed: usize,
    /// In how many it both passed and failed.
    pub flaky: usize,
    /// The share of those, from 0 to 1.
    pub flake_rate: f64,
    /// How long it took in the newest run, when it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_ms: Option<u64>,
    /// The median of the five runs before that it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// The newest run that says something of the app.
    pub newest: String,
}

impl History {
    /// How much longer the newest run took than the median of the five before; less than nothing when
    /// it was faster.
    pub fn slower_by_ms(&self) -> Option<i64> {
        let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        Some(signed(self.newest_ms?) - signed(self.median_ms?))
    }
}

/// Histories, by trail and cell, of what went in runs given newest first.
pub fn histories(newest_first: &[Past]) -> Vec<History> {
    let mut by_cell: BTreeMap<(&str, &str), Vec<&Past>> = BTreeMap::new();
    for past in newest_first {
        let cell = by_cell.entry((&past.trail, &past.cell));
        cell.or_default().push(past);
    }
    let histories = by_cell.into_iter().map(|((trail, cell), all)| {
        let told = all.into_iter();
        let told = told.filter(|past| past.went != PastOutcome::Unknown);
        let told: Vec<&Past> = told.collect();
        let count = |went: PastOutcome| told.iter().filter(|past| past.went == went).count();
        let failed = |past: &&Past| past.went == PastOutcome::Failed;
        let trend = match (told.first().map(failed), told.get(1).map(failed)) {
            (None, _) => Trend::Unknown,
            (Some(true), Some(false)) => Trend::NewlyFailing,
            (Some(false), Some(true)) => Trend::NewlyFixed,
            (Some(true), _) => Trend::Failing,
            (Some(false), _) => Trend::Passing,
        };
        let newest = told.first().filter(|past| !failed(past));
        let before = told.iter().skip(1).filter(|past| !failed(past)).take(USUAL);
        let mut before: Vec<u64> = before.map(|past| past.duration_ms).collect();
        let flaky = count(PastOutcome::Flaky);
        History {
            trail: trail.to_owned(),
            cell: cell.to_owned(),
            trend,
            runs: told.len(),
            failed: count(PastOutcome::Failed),
            flaky,
            flake_rate: flaky as f64 / told.len().max(1) as f64,
            newest_ms: newest.map(|past| past.duration_ms),
            median_ms: median(&mut before),
            newest: told
                .first()
                .map(|past| past.run.clone())
                .unwrap_or_default(),
        }
    });
    histories.collect()
}
