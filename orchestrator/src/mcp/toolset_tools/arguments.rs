//! What the tools take, checked as their schemas say: not every client does.

use packtrain_tools::toolsets::{
    MAX_DESCRIPTION, MAX_NOTES_PER_CALL, MAX_TOOLS, ToolNote, ToolRef, ToolsetName,
};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Refusal;

/// Reads arguments.
pub(super) fn decode<T: DeserializeOwned>(args: JsonObject) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(args)).map_err(|error| refused(error.to_string()))
}

fn refused(why: impl std::fmt::Display) -> Refusal {
    Refusal::Said(format!("invalid arguments: {why}"))
}

/// What takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Equip {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delete {
    pub(super) name: String,
    pub(super) confirm: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Build {
    pub(super) name: String,
    #[serde(deserialize_with = "references")]
    pub(super) tools: Vec<ToolRef>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) auto_equip: bool,
}

impl Build {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        ToolsetName::parse(&self.name).map_err(refused)?;
        count("tools", self.tools.len(), MAX_TOOLS)?;
        let length = self
            .description
            .as_ref()
            .map_or(0, |text| text.chars().count());
        if length > MAX_DESCRIPTION {
            return Err(refused(format!(
                "`description` has {length} characters, and {MAX_DESCRIPTION} are allowed"
            )));
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Annotate {
    #[serde(deserialize_with = "reference")]
    pub(super) tool_ref: ToolRef,
    pub(super) notes: Vec<Note>,
}

/// A note as it comes in: what a file may have besides is not taken from an agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    name: String,
    note: String,
}

impl Annotate {
    /// The notes, if every one of them may be added.
    pub(super) fn checked(self) -> Result<(ToolRef, Vec<ToolNote>), Refusal> {
        count("notes", self.notes.len(), MAX_NOTES_PER_CALL)?;
        let notes = self.notes.into_iter().map(|note| {
            let note = ToolNote {
                name: note.name,
                note: note.note,
                ..ToolNote::default()
            };
            note.check().map(|()| note).map_err(refused)
        });
        Ok((self.tool_ref, notes.collect::<Result<_, _>>()?))
    }
}

/// A reference as it comes in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Reference {
    namespaced_name: Option<String>,
    ref_id: Option<String>,
}

impl From<Reference> for ToolRef {
    fn from(given: Reference) -> Self {
        Self {
            namespaced_name: given.namespaced_name,
            ref_id: given.ref_id,
            ..Self::default()
        }
    }
}

fn reference<'de, D: serde::Deserializer<'de>>(from: D) -> Result<ToolRef, D::Error> {
    Reference::deserialize(from).map(ToolRef::from)
}

fn references<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<ToolRef>, D::Error> {
    let given = Vec::<Reference>::deserialize(from)?;
    Ok(given.into_iter().map(ToolRef::from).collect())
}

fn count(what: &str, count: usize, most: usize) -> Result<(), Refusal> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(refused(format!(
        "`{what}` has {count} items, and 1 to {most} are allowed"
    )))
}
