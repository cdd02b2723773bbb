//! A toolset as its file has it. What this version does not know of it is kept.

use std::cell::OnceCell;
use std::fmt;

use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};

use super::Toolset;
use super::listed::ListedTool;
use super::notes::ToolNotes;
use super::pin::ref_id;
use super::resolve::{named, resolve};

/// How many tools a toolset has at most.
pub const MAX_TOOLS: usize = 100;
/// How long a toolset's description may be, in characters.
pub const MAX_DESCRIPTION: usize = 200;
/// What names of toolsets and of notes are made of, as a regular expression.
pub const NAME_PATTERN: &str = "^[a-z0-9-]+$";
/// How long such a name must be, in characters.
pub const MIN_NAME: usize = 2;
/// How long such a name may be, in characters.
pub const MAX_NAME: usize = 50;

/// The name of a saved toolset: lower-case letters, digits and `-`, so it leads to no other folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolsetName(String);

/// A name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid name `{0}`: expected {MIN_NAME} to {MAX_NAME} lower-case letters, digits and `-`")]
pub struct InvalidName(String);

impl ToolsetName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`InvalidName`].
    pub fn parse(name: &str) -> Result<Self, InvalidName> {
        check_slug(name)?;
        Ok(Self(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolsetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether it can name a toolset or a note.
pub(super) fn check_slug(name: &str) -> Result<(), InvalidName> {
    const SHOWN: usize = 60;
    let is_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = (MIN_NAME..=MAX_NAME).contains(&name.len()) && name.chars().all(is_one);
    let shown = || name.chars().take(SHOWN).collect();
    fits.then_some(()).ok_or_else(|| InvalidName(shown()))
}

/// What a toolset or a note refers to a tool by: its name, the hash of its definition, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRef {
    /// `source.tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaced_name: Option<String>,
    /// See [`ref_id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_id: Option<String>,
    /// What else the file says.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ToolRef {
    /// Refers to a tool as it is defined now.
    pub fn to(tool: &ListedTool) -> Self {
        Self {
            namespaced_name: Some(tool.namespaced_name()),
            ref_id: Some(ref_id(tool)),
            other: JsonObject::new(),
        }
    }

    /// Refers to whatever tool has this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            namespaced_name: Some(name.into()),
            ..Self::default()
        }
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.namespaced_name.as_ref().or(self.ref_id.as_ref());
        f.write_str(known.map_or("", String::as_str))
    }
}

/// A toolset as its file has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedToolset {
    /// Its name, which is its file's too.
    pub name: String,
    /// The version of the form it is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was built, as RFC 3339 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last written, as RFC 3339 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolRef>,
    /// What people and agents noted about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_notes: Vec<ToolNotes>,
    /// What else the file says.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// What a tool is to a toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// One of its tools.
    Included,
    /// One of its tools, but defined otherwise than when it was accepted.
    Changed,
    /// None of its tools.
    Outside,
}

impl SavedToolset {
    /// What a tool is to it, of all that are listed.
    pub fn membership(&self, tool: &ListedTool, listed: &[ListedTool]) -> Membership {
        let is_it = |found: &ListedTool| found.name == tool.name && found.source == tool.source;
        // Every call of a tool comes by here, and hashing takes longer than all the rest.
        let pin = OnceCell::new();
        let fits = |known: &String| known == pin.get_or_init(|| ref_id(tool));
        let mut membership = Membership::Outside;
        for reference in &self.tools {
            let is_included = match (&reference.namespaced_name, &reference.ref_id) {
                (Some(name), _) if !named(name, listed).is_ok_and(is_it) => continue,
                (Some(_), pinned) => pinned.as_ref().is_none_or(fits),
                (None, pinned) if pinned.as_ref().is_some_and(fits) => true,
                (None, _) => continue,
            };
            if is_included {
                return Membership::Included;
            }
            membership = Membership::Changed;
        }
        membership
    }

    /// Its tools as they are offered to an agent: of those listed, in that order, with notes in their
    /// descriptions. What is hidden, has changed or is not listed is left out.
    pub fn offered(&self, listed: &[ListedTool]) -> Vec<ListedTool> {
        let found: Vec<_> = self
            .tools
            .iter()
            .map(|tool| resolve(tool, listed))
            .collect();
        let is_included = |tool: &&ListedTool| {
            let is_it = |found: &ListedTool| std::ptr::eq(found, *tool);
            tool.hidden.is_none() && found.iter().flatten().any(|found| is_it(found))
        };
        let hydrated = |tool: &ListedTool| ListedTool {
            description: self.description_of(tool),
            ..tool.clone()
        };
        listed.iter().filter(is_included).map(hydrated).collect()
    }

    /// Takes a tool as it is defined now for the one that was meant. `false` when it is none of the
    /// toolset's.
    pub fn accept(&mut self, tool: &ListedTool, listed: &[ListedTool]) -> bool {
        let is_it = |reference: &ToolRef| {
            let name = reference.namespaced_name.as_ref();
            let found = name.and_then(|name| named(name, listed).ok());
            found.is_some_and(|found| found.name == tool.name && found.source == tool.source)
        };
        let mut is_there = false;
        for reference in self.tools.iter_mut().filter(|reference| is_it(reference)) {
            reference.ref_id = Some(ref_id(tool));
            is_there = true;
        }
        is_there
    }
}

impl From<&Toolset> for SavedToolset {
    /// A toolset of the configuration or of a YAML file. It is not pinned, for it is written by hand.
    fn from(toolset: &Toolset) -> Self {
        Self {
            name: toolset.id.clone(),
            description: toolset.description.clone(),
            tools: toolset.tools.iter().map(ToolRef::named).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
