//! The comparison of a run, as `comparison.json` holds it. What is empty is left out; places are
//! indices into the lists of the same document.

use std::collections::BTreeMap;
use std::fmt;

use packtrain_model::Axis;
use serde::{Deserialize, Serialize};

use crate::runs::RunComparison;

/// The version of the document.
pub const SCHEMA_VERSION: u32 = 1;

/// A compared run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The run's id.
    pub run: String,
    /// Version of the program that ran it.
    pub packtrain: String,
    /// Sessions that ended.
    pub settled: usize,
    /// Sessions that were planned.
    pub planned: usize,
    /// The verdict in words that can be forwarded: `All 16 passed. 1 difference: link Continue shopping
    /// is missing, in dark.` Every report begins with it.
    pub sentence: String,
    /// The axes of the matrix.
    pub axes: Vec<Axis>,
    /// What else tells cells apart: `platform`, `width` ...
    pub facts: Vec<Axis>,
    /// The cells: a device in a configuration.
    pub cells: Vec<Cell>,
    /// The trails.
    pub trails: Vec<Trail>,
    /// The sessions.
    pub sessions: Vec<Session>,
    /// What went another way, worst first.
    pub clusters: Vec<Cluster>,
    /// What differs by what platforms, sizes and languages are, or is out of this run's reach: no news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conventions: Vec<Convention>,
    /// How screens differ from the reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// How pictures differ from those of an equal visual key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visual: Vec<Visual>,
    /// Steps that took much longer than elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// Differences that an axis explains, counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
    /// The entries of `expect`, with how often each applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
    /// What differs between repeats of one cell: proposed masks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<Noise>,
    /// Sessions that say nothing of the app.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<NotCompared>,
    /// How the run differs from what was approved, where that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baselines: Option<RunComparison>,
}

/// A device in a configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// `web/desktop engine=firefox locale=de-DE`.
    pub id: String,
    /// What a person calls it: `desktop, dark`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The device's id.
    pub device: String,
    /// Values by axis.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Facts by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// Pictures are compared where this is equal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub visual_key: String,
    /// Whether it is the matrix' reference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// A trail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trail {
    /// Its name.
    pub name: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its file.
    pub path: String,
    /// Its steps; 0 is the trailhead.
    pub steps: Vec<Step>,
}

impl Trail {
    /// The words of a step.
    pub(crate) fn text(&self, step: u32) -> Option<&str> {
        let known = self.steps.iter().find(|one| one.step == step);
        known.map(|step| step.text.as_str())
    }
}

/// A step of a trail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its index.
    pub step: u32,
    /// Its words.
    pub text: String,
}

/// A trail in a cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub session: String,
    /// Which trail.
    pub trail: usize,
    /// Which cell.
    pub cell: usize,
    /// `passed`, `flaky`, `failed`, `infrastructure` ...
    pub outcome: String,
    /// The nearest session that passed everything; absent for the reference itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<usize>,
}

/// What a cluster is about, worst first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ClusterKind {
    /// A step failed.
    #[default]
    Failure,
    /// A request failed.
    Network,
    /// The console has an error.
    Console,
    /// The layout is broken.
    Defect,
    /// The screen holds other things.
    Difference,
    /// The picture differs.
    Visual,
    /// A step took long.
    Slow,
}

/// How sure an explanation is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It tells bad from good cells exactly, and chance hardly does.
    Cause,
    /// It nearly does.
    Mostly,
    /// Several do equally well.
    Tie,
    /// One does, and chance would too.
    Weak,
    /// One cell only.
    Single,
    /// Every cell.
    Everywhere,
    /// Nothing tells them apart.
    #[default]
    Unknown,
}

/// One thing that went another way, wherever it did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// `A`, `B` ...; unique in the run.
    pub letter: String,
    /// What it is about.
    pub kind: ClusterKind,
    /// `"Show done" is hidden`.
    pub title: String,
    /// The message behind it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What else is the same fact: other elements, or the same one at other steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Where, in the fewest words that are true of all of it: `in dark`, `de-DE at 390 wide`, `iPhones
    /// only`; empty when nothing can be said of all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// What makes two occurrences the same.
    pub signature: String,
    /// In how many trails.
    pub trails: usize,
    /// In which cells.
    pub cells: Vec<usize>,
    /// Whether it is in every cell that was looked at.
    pub everywhere: bool,
    /// Where it was seen.
    pub occurrences: Vec<Occurrence>,
    /// How sure the explanation is.
    pub verdict: Verdict,
    /// The explanation, with `**` around what is bold and backticks around commands.
    pub words: String,
    /// What tells the cells apart: alternatives of a tie, parts of a cause otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// What to run to tell the alternatives of a tie apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// The command that runs its first cell again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub again: String,
}

/// One place where a cluster was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// Which trail.
    pub trail: usize,
    /// Which session.
    pub session: usize,
    /// Which step.
    pub step: u32,
    /// Which attempt, from 1, when it is not the one that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The session of the nearest cell that passed this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<usize>,
    /// At which step that session shows what is to be seen here, when it is another one: an action that
    /// failed left the screen that was there before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest_step: Option<u32>,
    /// Which of the differences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<usize>,
    /// Which of the visual differences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visual: Option<usize>,
}

impl Occurrence {
    /// A session's step, and no more.
    pub(crate) fn at(trail: usize, session: usize, step: u32) -> Self {
        Self {
            trail,
            session,
            step,
            ..Self::default()
        }
    }
}

/// Differences that are not news, folded into a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Convention {
    /// The line: `At 390 wide three links are behind Menu.`
    pub text: String,
    /// What explains them: an axis or a fact; `network` for hosts out of reach.
    pub by: String,
    /// In which cells.
    pub cells: Vec<usize>,
    /// How many differences.
    pub count: usize,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

/// Values that go together with being bad.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// All of these hold.
    pub all_of: Vec<Literal>,
    /// Bad cells among those where they do; a flaky one counts half.
    pub bad: f64,
    /// Cells where they do.
    pub bad_of: usize,
    /// Bad cells elsewhere.
    pub good: f64,
    /// Cells elsewhere.
    pub good_of: usize,
    /// How probable it is that some explanation as simple fits by chance.
    pub chance: f64,
}

/// One condition of an explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literal {
    /// An axis or a fact.
    pub fact: String,
    /// `=`, `<=` or `>=`.
    pub is: String,
    /// A value that was tested.
    pub value: String,
    /// For `<=` and `>=`, the next value that was tested, on the other side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Whether it is the only value on that side that was tested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alone: bool,
}

/// A cell to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Its values.
    pub cell: BTreeMap<String, String>,
    /// The command.
    pub command: String,
}

/// How one screen differs from another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Which trail.
    pub trail: usize,
    /// Which step.
    pub step: u32,
    /// Whose screen.
    pub session: usize,
    /// The session it is compared with.
    pub against: usize,
    /// At which step of that, when it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_step: Option<u32>,
    /// Equal for equal differences.
    pub digest: String,
    /// What differs.
    pub items: Vec<Item>,
}

/// What kind of difference.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// Only the reference has it.
    #[default]
    Missing,
    /// Only this screen has it.
    Added,
    /// It is called otherwise.
    Name,
    /// It holds something else.
    Value,
    /// `checked`, `disabled` ... differ.
    State,
    /// It stands elsewhere among its siblings.
    Order,
    /// It is in view in the reference only.
    OutOfView,
    /// It is in view here only.
    IntoView,
    /// It is called as in the reference, while most was translated.
    Untranslated,
    /// A key stands where a text belongs.
    RawKey,
    /// A selector matched another number of elements.
    Matches,
    /// It is of another role.
    Role,
}

impl ItemKind {
    /// Whether it moves others, in and out of view too.
    pub(crate) const fn moves_others(self) -> bool {
        matches!(
            self,
            Self::Missing | Self::Added | Self::Order | Self::RawKey
        )
    }
}

/// The word in the document.
impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What kind.
    pub kind: ItemKind,
    /// The element's role.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// What the reference calls it, or this screen when it is only here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the reference has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// What this screen has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The axis, or the entry of `expect`, that explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_by: Option<String>,
    /// Where: left, top, right, bottom, on this screen unless it is missing here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[i32; 4]>,
}

/// How two pictures differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Visual {
    /// Which trail.
    pub trail: usize,
    /// Which step.
    pub step: u32,
    /// Whose picture.
    pub session: usize,
    /// The session it is compared with.
    pub against: usize,
    /// How.
    pub kind: VisualKind,
    /// By how many pixels, to the right and down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<[i32; 2]>,
    /// How many pixels differ.
    pub pixels: u64,
    /// Where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PictureBox>,
}

/// How two pictures differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VisualKind {
    /// A part moved, and nothing else changed.
    Shifted,
    /// Pixels changed.
    #[default]
    Changed,
    /// They are not equally large.
    Size,
    /// One of them could not be read.
    Failed,
}

/// A part of a picture that differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureBox {
    /// Left, top, right, bottom, in pixels.
    pub at: [i32; 4],
    /// How many pixels differ in it.
    pub pixels: u64,
    /// The smallest element that holds it: `button "Buy"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Whether something is drawn on one of the pictures only.
    pub kind: BoxKind,
}

/// What happened in a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoxKind {
    /// Both pictures have something there.
    #[default]
    Changed,
    /// The reference is of one colour there.
    Added,
    /// This picture is of one colour there.
    Removed,
}

/// A step that took long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Which trail.
    pub trail: usize,
    /// Which step.
    pub step: u32,
    /// Which session.
    pub session: usize,
    /// How long it took.
    pub ms: u64,
    /// How long it takes on equal cells.
    pub median_ms: u64,
}

/// How often an axis explains a difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The axis.
    pub axis: String,
    /// The kind of difference.
    pub kind: ItemKind,
    /// How often.
    pub count: usize,
}

/// How often an entry of `expect` applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// The entry.
    pub text: String,
    /// How often.
    pub hits: usize,
}

/// What differs between repeats of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// Which trail.
    pub trail: usize,
    /// Which step.
    pub step: u32,
    /// Which cell.
    pub cell: usize,
    /// Where: left, top, right, bottom, in pixels.
    pub boxes: Vec<[i32; 4]>,
}

/// A session that says nothing of the app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCompared {
    /// Which.
    pub session: usize,
    /// Why.
    pub why: String,
}
