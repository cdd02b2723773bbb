//! What is compared: a run as plain data. Trees come shared, pictures by their digest when needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_drivers::Defect;
use packtrain_model::MatrixSummary;
use packtrain_model::screen::ScreenTree;

use crate::align::Expectation;
use crate::answer::Trail;

/// A run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its id.
    pub run: String,
    /// Version of the program that ran it.
    pub packtrain: String,
    /// How many sessions were planned.
    pub planned: usize,
    /// The matrix, when there is one.
    pub matrix: Option<MatrixSummary>,
    /// The trails.
    pub trails: Vec<Trail>,
    /// The cells. Repeats of a cell are sessions of the same cell.
    pub cells: Vec<Cell>,
    /// The sessions that were begun, with the attempt that counts.
    pub sessions: Vec<Session>,
    /// The entries of `expect`.
    pub expectations: Vec<Expectation>,
    /// How a run is asked for.
    pub commands: Commands,
}

/// A device in a configuration.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The device's id.
    pub device: String,
    /// Values by axis.
    pub values: BTreeMap<String, String>,
    /// What else is known of it: `platform`, `width`, `os`, `browser`, `touch`, `orientation` ...
    pub facts: BTreeMap<String, String>,
    /// Pictures are compared where this is equal; nowhere when it is empty.
    pub visual_key: String,
    /// What draws it, with its version: `Chromium 142.0.7444.59`, `Android 15`.
    pub engine: String,
}

/// A trail in a cell.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Which trail.
    pub trail: usize,
    /// Which cell.
    pub cell: usize,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Why it says nothing of the app, for outcomes that do not.
    pub why: String,
    /// How an earlier attempt failed, when the last one passed.
    pub earlier: Option<EarlierFailure>,
    /// The steps that were reached, in order.
    pub steps: Vec<Step>,
    /// What it remembers, by name; secrets are none of it.
    pub memory: Vec<(String, String)>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutcomeKind {
    /// All came true.
    Passed,
    /// Something did not.
    Failed,
    /// The app is not to blame.
    Infrastructure,
    /// Something is not recorded.
    NeedsAgent,
    /// It was called off.
    Cancelled,
    /// It was not meant for this cell.
    Skipped,
    /// It has no end, or no beginning.
    #[default]
    Unfinished,
}

/// A failure that a later attempt did not have.
#[derive(Debug, Clone, Default)]
pub struct EarlierFailure {
    /// At which step.
    pub step: u32,
    /// What it said.
    pub message: String,
}

/// A step of a session.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Its index; 0 is the trailhead.
    pub step: u32,
    /// How it ended.
    pub status: StepStatus,
    /// What it said when it failed.
    pub message: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The screen at its end.
    pub tree: Option<SeenTree>,
    /// Whether its tree was recorded and cannot be read.
    pub is_unreadable: bool,
    /// The picture at its end.
    pub picture: Option<SeenPicture>,
    /// Layout defects.
    pub defects: Vec<Defect>,
    /// Errors that the page or app logged, without what differs by nature.
    pub console: Vec<String>,
    /// Requests that failed, without what differs by nature.
    pub failed_requests: Vec<String>,
    /// How many elements each selector matched.
    pub matched: Vec<(String, u32)>,
    /// Roles and names of the elements that its recording uses.
    pub uses: Vec<(String, String)>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepStatus {
    /// It came true.
    Passed,
    /// It did not.
    Failed,
    /// It was skipped, not reached, or says nothing of the app.
    #[default]
    Other,
}

/// A screen that was seen.
#[derive(Debug, Clone, Default)]
pub struct SeenTree {
    /// Equal for equal trees.
    pub digest: String,
    /// The tree.
    pub tree: Arc<ScreenTree>,
}

/// A picture that was taken.
#[derive(Debug, Clone, Default)]
pub struct SeenPicture {
    /// Equal for equal files.
    pub digest: String,
    /// Pixels for each unit of the tree's bounds.
    pub scale: f64,
    /// What is left out: left, top, right, bottom, in pixels.
    pub masked: Vec<[i32; 4]>,
}

/// Where pictures come from.
pub trait Pictures {
    /// The file of a digest; `None` when it is gone.
    fn bytes(&mut self, digest: &str) -> Option<Vec<u8>>;
}

impl<F: FnMut(&str) -> Option<Vec<u8>>> Pictures for F {
    fn bytes(&mut self, digest: &str) -> Option<Vec<u8>> {
        self(digest)
    }
}

/// How a run is asked for.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Before the trail's path: `packtrain run`.
    pub before: String,
    /// Behind it: `--matrix release`.
    pub behind: String,
}

impl Commands {
    /// The command that runs a trail in a cell; the device is named when there are several.
    pub fn run(&self, path: &str, device: Option<&str>, cell: &BTreeMap<String, String>) -> String {
        let mut command = format!("{} {}", self.before, quoted(path));
        if !self.behind.is_empty() {
            command.push(' ');
            command.push_str(&self.behind);
        }
        if let Some(device) = device {
            // A virtual phone is there only when its kind is asked for.
            let kind = device.split_once("/virtual-").map(|(platform, _)| platform);
            let device = kind.map_or(device.to_owned(), |platform| format!("virtual:{platform}"));
            command.push_str(" --device ");
            command.push_str(&quoted(&device));
        }
        if !cell.is_empty() {
            let values: Vec<String> = cell.iter().map(|(k, v)| format!("{k}={v}")).collect();
            command.push_str(" --cell ");
            command.push_str(&quoted(&values.join(",")));
        }
        command
    }
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
