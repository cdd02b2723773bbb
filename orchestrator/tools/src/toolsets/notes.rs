//! Notes on the tools of a toolset: added, never changed, and shown at the end of a description.

use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};

use super::listed::ListedTool;
use super::pin::ref_id;
use super::saved::{InvalidName, SavedToolset, ToolRef, check_slug};

/// How long a note may be, in characters.
pub const MAX_NOTE: usize = 500;
/// How many notes one call may add.
pub const MAX_NOTES_PER_CALL: usize = 20;
/// How many notes a tool has at most: each is read again with every list of tools.
pub const MAX_NOTES_PER_TOOL: usize = 50;
/// What stands above notes.
const HEADING: &str = "### Additional Tool Notes\n\n";

/// What is noted on one tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNotes {
    /// The tool, by name, by hash or by both.
    pub tool_ref: ToolRef,
    /// The notes, the oldest first.
    pub notes: Vec<ToolNote>,
    /// What else the file says.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// A note.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolNote {
    /// What it is called, such as `usage-with-project`.
    pub name: String,
    /// What it says.
    pub note: String,
    /// What else the file says.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// Why a note is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNote {
    /// Its name.
    #[error("note: {0}")]
    Name(#[from] InvalidName),
    /// Its length.
    #[error("note `{name}` has {length} characters; expected 1 to {MAX_NOTE}")]
    Length {
        /// Its name.
        name: String,
        /// Its length in characters.
        length: usize,
    },
}

impl ToolNote {
    /// Whether it may be added.
    ///
    /// # Errors
    /// [`InvalidNote`].
    pub fn check(&self) -> Result<(), InvalidNote> {
        check_slug(&self.name)?;
        let length = self.note.chars().count();
        if (1..=MAX_NOTE).contains(&length) {
            return Ok(());
        }
        Err(InvalidNote::Length {
            name: self.name.clone(),
            length,
        })
    }
}

/// What became of notes that were to be added.
#[derive(Debug, Default, PartialEq)]
pub struct Annotated {
    /// Those that are there now and were not.
    pub added: Vec<ToolNote>,
    /// Why the others are not.
    pub skipped: Vec<String>,
}

/// A note as it stands among others: a line, so that none passes for several or for a heading; whatever a
/// file holds.
fn in_one_line(note: &str) -> String {
    let shown = note.chars().take(MAX_NOTE).map(|letter| match letter {
        letter if letter.is_whitespace() => ' ',
        letter => letter,
    });
    shown.filter(|letter| is_shown(*letter)).collect()
}

/// Whether a letter shows as what it is: neither what controls a terminal nor what turns the direction
/// of others around.
pub fn is_shown(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && (!letter.is_control() || matches!(letter, '\n' | '\t'))
}

/// A description with notes at its end; without notes, the description as it is.
pub fn hydrate<'n>(description: &str, notes: impl IntoIterator<Item = &'n ToolNote>) -> String {
    let lines = notes.into_iter();
    let lines: Vec<_> = lines
        .map(|note| format!("• **{}**: {}", note.name, in_one_line(&note.note)))
        .collect();
    let separator = if description.is_empty() { "" } else { "\n\n" };
    if lines.is_empty() {
        description.to_owned()
    } else {
        format!("{description}{separator}{HEADING}{}", lines.join("\n"))
    }
}

impl SavedToolset {
    /// How many notes it has on all of its tools.
    pub fn note_count(&self) -> usize {
        self.tool_notes.iter().map(|entry| entry.notes.len()).sum()
    }

    /// The notes on a tool, the oldest first; of several of a name, the first.
    pub fn notes_on(&self, tool: &ListedTool) -> Vec<&ToolNote> {
        if self.tool_notes.is_empty() {
            return Vec::new();
        }
        let pin = ref_id(tool);
        let entries = self
            .tool_notes
            .iter()
            .filter(|entry| entry.is_on(tool, &pin));
        let mut notes: Vec<&ToolNote> = Vec::new();
        for note in entries.flat_map(|entry| &entry.notes) {
            if notes.iter().all(|earlier| earlier.name != note.name) {
                notes.push(note);
            }
        }
        notes
    }

    /// A tool's description with the notes on it.
    pub fn description_of(&self, tool: &ListedTool) -> String {
        hydrate(&tool.description, self.notes_on(tool))
    }

    /// Adds notes on a tool. One of a name that is there already is left out; nothing is changed.
    pub fn annotate(&mut self, tool: &ListedTool, notes: Vec<ToolNote>) -> Annotated {
        let mut annotated = Annotated::default();
        let mut names: Vec<String> = self
            .notes_on(tool)
            .iter()
            .map(|note| note.name.clone())
            .collect();
        for note in notes {
            if names.contains(&note.name) {
                let told = format!(
                    "annotation `{}` already exists and was left as it is",
                    note.name
                );
                annotated.skipped.push(told);
            } else if names.len() == MAX_NOTES_PER_TOOL {
                let told = format!(
                    "annotation `{}` exceeds the limit of {MAX_NOTES_PER_TOOL} per tool",
                    note.name
                );
                annotated.skipped.push(told);
            } else {
                names.push(note.name.clone());
                annotated.added.push(note);
            }
        }
        if annotated.added.is_empty() {
            return annotated;
        }
        let pin = ref_id(tool);
        let added = annotated.added.iter().cloned();
        match self
            .tool_notes
            .iter_mut()
            .rfind(|entry| entry.is_on(tool, &pin))
        {
            Some(entry) => entry.notes.extend(added),
            None => self.tool_notes.push(ToolNotes {
                tool_ref: ToolRef::to(tool),
                notes: added.collect(),
                other: JsonObject::new(),
            }),
        }
        annotated
    }
}

impl ToolNotes {
    /// Whether these are notes on a tool: by its name, which holds when its definition changes, or by
    /// its hash.
    fn is_on(&self, tool: &ListedTool, pin: &str) -> bool {
        let name = self.tool_ref.namespaced_name.as_ref();
        let by_name = name.is_some_and(|name| tool.goes_by(name));
        by_name || self.tool_ref.ref_id.as_deref() == Some(pin)
    }
}

#[cfg(test)]
mod tests;
