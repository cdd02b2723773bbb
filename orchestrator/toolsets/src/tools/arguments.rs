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
pub(super) struct ListAvailable {
    #[serde(default)]
    pub(super) tool: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EquipArgs {
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
        let mut others = self.tools.iter().map(|tool| &tool.other);
        others.try_for_each(nothing_else)?;
        let length = self
            .description
            .as_ref()
            .map_or(0, |text| text.chars().count());
        if length > MAX_DESCRIPTION {
            return Err(refused(format!(
                "`description` has {length} characters; the limit is {MAX_DESCRIPTION}"
            )));
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Annotate {
    pub(super) tool_ref: ToolRef,
    pub(super) notes: Vec<ToolNote>,
}

impl Annotate {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        nothing_else(&self.tool_ref.other)?;
        count("notes", self.notes.len(), MAX_NOTES_PER_CALL)?;
        self.notes.iter().try_for_each(|note| {
            nothing_else(&note.other)?;
            note.check().map_err(refused)
        })
    }
}

/// What a file may say besides is not taken from an agent.
fn nothing_else(other: &JsonObject) -> Result<(), Refusal> {
    match other.keys().next() {
        Some(key) => Err(refused(format!("unknown field `{key}`"))),
        None => Ok(()),
    }
}

fn count(what: &str, count: usize, most: usize) -> Result<(), Refusal> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(refused(format!(
        "`{what}` has {count} items; expected 1 to {most}"
    )))
}
