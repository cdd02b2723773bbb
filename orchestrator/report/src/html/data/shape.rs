//! The details as the script reads them. Short keys, absent rather than empty: a run of 200
//! devices has thousands of steps.

use std::collections::BTreeMap;

use packtrain_drivers::AppliedAxis;
use packtrain_model::Cell;
use serde::Serialize;
use serde_json::Value;

use crate::html::page::{Heading, MarkText, Note, ProblemRow};

#[derive(Serialize)]
pub(in crate::html) struct Details<'a> {
    /// What leads from the page to the run's folder.
    pub(super) root: &'a str,
    pub(super) head: &'a Heading,
    pub(super) marks: BTreeMap<&'static str, MarkText>,
    pub(super) trails: Vec<Trail<'a>>,
    pub(super) sessions: Vec<Session<'a>>,
    /// Observed pictures by their digest.
    pub(super) pictures: BTreeMap<&'a str, Shot<'a>>,
}

#[derive(Serialize)]
pub(in crate::html) struct Trail<'a> {
    pub(super) title: &'a str,
    pub(super) path: &'a str,
    pub(super) facts: &'a [String],
    pub(super) problems: &'a [ProblemRow],
    pub(super) notes: &'a [Note],
    pub(super) steps: Vec<TrailStep<'a>>,
}

#[derive(Serialize)]
pub(in crate::html) struct TrailStep<'a> {
    pub(super) i: u32,
    pub(super) kind: &'static str,
    pub(super) text: &'a str,
    pub(super) line: u32,
    /// From fastest to slowest, where it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spread: Option<&'a str>,
}

#[derive(Serialize)]
pub(in crate::html) struct Session<'a> {
    pub(super) id: &'a str,
    pub(super) trail: usize,
    pub(super) device: Device,
    pub(super) mark: &'static str,
    /// In place of the mark's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) word: Option<&'static str>,
    pub(super) time: String,
    /// Its configuration.
    #[serde(skip_serializing_if = "Cell::is_empty")]
    pub(super) cell: &'a Cell,
    /// What the filter looks through, in lower case.
    pub(super) find: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<FailureReason<'a>>,
    pub(super) attempts: Vec<Attempt<'a>>,
}

#[derive(Default, Serialize)]
pub(in crate::html) struct Device {
    /// What a person calls the cell.
    pub(super) label: String,
    pub(super) id: String,
    pub(super) model: String,
    pub(super) system: String,
    pub(super) screen: String,
    pub(super) driver: String,
}

#[derive(Serialize)]
pub(in crate::html) struct Attempt<'a> {
    pub(super) id: &'a str,
    pub(super) n: u32,
    pub(super) mark: &'static str,
    pub(super) time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bad: Option<u32>,
    /// Milliseconds since the run's start: when the device was leased, and when it ended.
    pub(super) from: f64,
    pub(super) to: f64,
    /// What was applied of the configuration.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) axes: &'a [AppliedAxis],
    pub(super) steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
pub(in crate::html) struct Step<'a> {
    pub(super) i: u32,
    pub(super) mark: &'static str,
    /// In place of the mark's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) word: Option<&'static str>,
    /// Whether it passed because nothing is to be done here: `[]`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) idle: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) time: String,
    /// Milliseconds since the run's start, and how many it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<f64>,
    pub(super) ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<StepScreen<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<FailureReason<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reports: Vec<Report>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) more: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) shots: Vec<Shot<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) texts: Vec<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<File<'a>>,
}

/// Why something did not pass.
#[derive(Serialize)]
pub(in crate::html) struct FailureReason<'a> {
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) log: Vec<String>,
}

/// What was observed at a step's end.
#[derive(Serialize)]
pub(in crate::html) struct StepScreen<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tree: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) picture: Option<&'a str>,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) scale: f64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) masked: &'a [[i32; 4]],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) defects: Vec<String>,
    /// What a reader must know about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
pub(in crate::html) struct Call<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) depth: u32,
    pub(super) tool: &'a str,
    pub(super) mark: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) time: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) args: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) matched: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// What the tool source did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) via: Option<String>,
    /// Its log, below the folder of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<&'a str>,
}

#[derive(Serialize)]
pub(in crate::html) struct Report {
    pub(super) level: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) bad: bool,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) src: Option<String>,
}

/// A screenshot: `p` is its place in the file, `h` its path beside it, neither means it is gone.
#[derive(Serialize)]
pub(in crate::html) struct Shot<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) h: Option<&'a str>,
}

#[derive(Serialize)]
pub(in crate::html) struct Text {
    pub(super) label: &'static str,
    pub(super) n: usize,
}

#[derive(Serialize)]
pub(in crate::html) struct File<'a> {
    pub(super) path: &'a str,
    pub(super) kind: &'static str,
    pub(super) size: String,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}
