//! The eight tools as they are listed.

use packtrain_tools::toolsets::{
    MAX_DESCRIPTION, MAX_NAME, MAX_NOTE, MAX_NOTES_PER_CALL, MAX_TOOLS, MIN_NAME, NAME_PATTERN,
};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const LIST_AVAILABLE: &str = "list-available-tools";
pub(super) const BUILD: &str = "build-toolset";
pub(super) const LIST_SAVED: &str = "list-saved-toolsets";
pub(super) const EQUIP: &str = "equip-toolset";
pub(super) const UNEQUIP: &str = "unequip-toolset";
pub(super) const ACTIVE: &str = "get-active-toolset";
pub(super) const DELETE: &str = "delete-toolset";
pub(super) const ANNOTATE: &str = "add-tool-annotation";

/// What a tool does to toolsets.
#[derive(Clone, Copy)]
enum Effect {
    Looks,
    Adds,
    Replaces,
}

/// The eight tools.
pub(crate) fn definitions() -> Vec<Tool> {
    let nothing = || object(json!({}), &[]);
    let name = |what: &str| json!({ "type": "string", "description": what });
    vec![
        tool(
            LIST_AVAILABLE,
            "Lists every tool by its source, with the refId of its definition, an estimate of the tokens that \
             listing it costs, and why one is not offered. Ends with what each saved toolset costs.",
            Effect::Looks,
            nothing(),
        ),
        tool(
            BUILD,
            "Saves a selection of tools as a toolset. One of the same name is replaced and keeps its notes; \
             definitions that have changed are accepted by it.",
            Effect::Replaces,
            object(
                json!({
                    "name": slug("Name of the toolset (e.g., 'checkout')"),
                    "tools": {
                        "type": "array",
                        "description": "The tools, as list-available-tools names them",
                        "items": reference(),
                        "minItems": 1,
                        "maxItems": MAX_TOOLS,
                    },
                    "description": {
                        "type": "string",
                        "description": "What the toolset is for",
                        "maxLength": MAX_DESCRIPTION,
                    },
                    "autoEquip": {
                        "type": "boolean",
                        "description": "Equip it as equip-toolset would",
                        "default": false,
                    },
                }),
                &["name", "tools"],
            ),
        ),
        tool(
            LIST_SAVED,
            "Lists the toolsets of the project and of its user.",
            Effect::Looks,
            nothing(),
        ),
        tool(
            EQUIP,
            "Offers only the tools of a toolset, with their notes, to this session and to no other.",
            Effect::Adds,
            object(json!({ "name": name("Name of the toolset") }), &["name"]),
        ),
        tool(UNEQUIP, "Offers all tools again.", Effect::Adds, nothing()),
        tool(
            ACTIVE,
            "Shows the toolset that is equipped: its tools with their notes, and which of them have changed or \
             are missing.",
            Effect::Looks,
            nothing(),
        ),
        tool(
            DELETE,
            "Deletes a saved toolset and its notes.",
            Effect::Replaces,
            object(
                json!({
                    "name": name("Name of the toolset"),
                    "confirm": { "type": "boolean", "description": "Must be true" },
                }),
                &["name", "confirm"],
            ),
        ),
        tool(
            ANNOTATE,
            "Add contextual annotations to a tool in the current toolset to guide LLM usage",
            Effect::Adds,
            annotate(),
        ),
    ]
}

fn annotate() -> Value {
    let notes = json!({
        "type": "array",
        "description": "Array of annotations to add to the tool",
        "items": object(
            json!({
                "name": slug("Identifier for this annotation (e.g., 'usage-with-project')"),
                "note": {
                    "type": "string",
                    "description": "The annotation content to help guide LLM usage",
                    "minLength": 1,
                    "maxLength": MAX_NOTE,
                },
            }),
            &["name", "note"],
        ),
        "minItems": 1,
        "maxItems": MAX_NOTES_PER_CALL,
    });
    object(
        json!({ "toolRef": reference(), "notes": notes }),
        &["toolRef", "notes"],
    )
}

fn reference() -> Value {
    json!({
        "type": "object",
        "description": "Reference to the tool (use namespacedName or refId)",
        "properties": {
            "namespacedName": {
                "type": "string",
                "description": "Tool reference by namespaced name (e.g., 'linear.create_issue')",
            },
            "refId": {
                "type": "string",
                "description": "Tool reference by unique hash identifier",
            },
        },
        "minProperties": 1,
        "additionalProperties": false,
    })
}

fn slug(what: &str) -> Value {
    json!({
        "type": "string",
        "description": what,
        "pattern": NAME_PATTERN,
        "minLength": MIN_NAME,
        "maxLength": MAX_NAME,
    })
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn tool(name: &'static str, description: &'static str, effect: Effect, schema: Value) -> Tool {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match effect {
        Effect::Looks => annotations.read_only(true),
        Effect::Adds => annotations.read_only(false).destructive(false),
        Effect::Replaces => annotations.read_only(false).destructive(true),
    };
    let Value::Object(schema) = schema else {
        return Tool::default();
    };
    Tool::new(name, description, schema).with_annotations(annotations)
}
