//! What comes back from a command.

use serde::{Deserialize, Serialize};

use crate::axes::AppliedAxis;
use crate::geometry::{Rect, Size};
use crate::mark::ScreenMark;
use crate::observed::Observed;
use crate::tree::{NodeId, Tree};

/// The answer to a command that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Observation {
    /// The action was carried out.
    Done(ActionReport),
    /// A session has begun, with these axes.
    Begun(Vec<AppliedAxis>),
    /// What is on the screen, as a tree.
    Snapshot(Box<Snapshot>),
    /// What is on the screen, for comparison.
    Observed(Box<Observed>),
    /// The screen still shows what it was to be compared with.
    Unchanged,
    /// What is on the screen, as a picture.
    Screenshot(Screenshot),
    /// A text: an address, a command's output.
    Text(String),
    /// Structured data: cookies, a list of apps.
    Json(serde_json::Value),
}

/// How an action found its element and what was noticed on the way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionReport {
    /// The element acted on, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub located: Option<Located>,
    /// Things a reader of the report should know, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ActionReport {
    /// Every text, for redaction.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let by = self.located.as_mut().map(|located| &mut located.by);
        by.into_iter().chain(&mut self.notes)
    }
}

/// How an element was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// What led to it: `role=button[name="Save"]`, `textRegex "Save"`, `ref e4`.
    pub by: String,
    /// How many elements matched; the first in order was used.
    pub matched: u32,
}

/// The screen as a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What it shows, to be compared with: for [`Command::AwaitChange`](crate::Command::AwaitChange).
    pub mark: ScreenMark,
    /// The nodes; empty for a compact web snapshot.
    pub tree: Tree,
    /// A compact list for readers, one element a line, with references: `[e1] button "Save"`.
    pub text: String,
    /// The references in `text`, in order.
    pub refs: Vec<SnapshotRef>,
    /// The address of the page, or the foreground app's id.
    pub location: Option<String>,
    /// The page's title, when there is one.
    pub title: Option<String>,
    /// The screen's size in the units of the bounds.
    pub screen: Size,
}

/// A reference of a snapshot and what it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRef {
    /// `e4` on the web, a letter and digits on phones.
    pub name: String,
    /// The node, when the snapshot has a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Role or class.
    pub role: String,
    /// Accessible name or text.
    pub label: String,
    /// Where it is, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Rect>,
}

/// The screen as a PNG.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Screenshot {
    /// The file's bytes.
    pub png: Vec<u8>,
    /// Size of the screen in the units of snapshots, which need not be the picture's pixels.
    pub screen: Size,
}

impl std::fmt::Debug for Screenshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Screenshot({} bytes, {:?})", self.png.len(), self.screen)
    }
}
