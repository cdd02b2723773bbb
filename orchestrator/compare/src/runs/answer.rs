//! What comparing a run with an earlier one, or with its baselines, came to.

use serde::{Deserialize, Serialize};

use crate::answer::PictureBox;

/// The version of the document.
pub const SCHEMA_VERSION: u32 = 1;

/// A run, compared with what was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The run it is compared with; absent for the baselines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The run.
    pub run: String,
    /// What came out: `3 of 4 cells are as before. 1 change.`
    pub sentence: String,
    /// Kinds of changes that fail.
    pub fail_on: Vec<ChangeKind>,
    /// How many cells of trails were compared.
    pub cells: usize,
    /// How many steps of theirs.
    pub steps: usize,
    /// What differs, worst first; those of one letter are one change in several places.
    pub changes: Vec<Change>,
    /// What only was, and is no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// How many cells of trails that are: they could not be compared, which is never a pass.
    #[serde(default)]
    pub cells_gone: usize,
    /// What could not be compared: never a pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<Unknown>,
}

/// What kind of change, worst first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// How a trail ended.
    Outcome,
    /// What the screen holds.
    Tree,
    /// The layout.
    Defect,
    /// The picture.
    #[default]
    Visual,
    /// How long a step took.
    Time,
}

impl ChangeKind {
    /// All of them, worst first.
    pub const ALL: [Self; 5] = [
        Self::Outcome,
        Self::Tree,
        Self::Defect,
        Self::Visual,
        Self::Time,
    ];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Tree => "tree",
            Self::Defect => "defect",
            Self::Visual => "visual",
            Self::Time => "time",
        }
    }
}

/// How a change stands.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStatus {
    /// It differs.
    #[default]
    Changed,
    /// There was nothing to compare it with.
    New,
    /// It differs, and a new major version of what draws it, or a new notation of trees, may be why: a
    /// new baseline is proposed.
    Proposed,
    /// It was bad and is good.
    Fixed,
}

/// One change in one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// `A`, `B` ...: equal for the same change elsewhere.
    pub letter: String,
    /// What kind.
    pub kind: ChangeKind,
    /// How it stands.
    pub status: ChangeStatus,
    /// Whether it makes the comparison fail.
    pub fails: bool,
    /// `button "Buy" moved down 12 px`.
    pub title: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The trail's name.
    pub trail: String,
    /// The trail's file.
    pub path: String,
    /// The device and its configuration: `web/desktop locale=de-DE`.
    pub cell: String,
    /// The session in the run.
    pub session: String,
    /// Which step; absent for what is not of a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What the step is called among the baselines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub step_id: String,
    /// The step's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How far something moved, to the right and down, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<[i32; 2]>,
    /// How many pixels differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<u64>,
    /// Where; the first is box 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PictureBox>,
    /// The approved picture, by its path below the run's folder; only in the run's own reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
    /// How long the step took before, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_ms: Option<u64>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_ms: Option<u64>,
    /// The session's place in the run that is compared.
    #[serde(skip)]
    pub place: usize,
}

impl Change {
    /// A change that is called something.
    pub(super) fn of(kind: ChangeKind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            ..Self::default()
        }
    }
}

/// What could not be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// The trail's name.
    pub trail: String,
    /// The device and its configuration.
    pub cell: String,
    /// Which step; absent for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Why.
    pub why: String,
}

impl RunComparison {
    /// Whether something differs that must not.
    pub fn fails(&self) -> bool {
        self.changes.iter().any(|change| change.fails)
    }

    /// Whether everything that the run and its base have was compared, steps that the trail no longer
    /// has apart.
    pub const fn is_whole(&self) -> bool {
        self.not_compared.is_empty() && self.cells_gone == 0
    }

    /// The places of one letter each, worst first.
    pub fn clusters(&self) -> Vec<&[Change]> {
        self.changes
            .chunk_by(|one, other| one.letter == other.letter)
            .collect()
    }
}
