//! The JSON Schema of trail files, for editors: completion, descriptions, and a line under a slip.
//!
//! It describes the unified form, the one people write. Where it and the reader disagree, the
//! reader is right.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The schema, JSON Schema draft 2020-12. `tools` are the known tools with the schemas of their
/// arguments; others are allowed all the same.
pub fn trail_schema(tools: &BTreeMap<String, Value>) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trail",
        "description": "What a person wants done on a device, step by step, and what was recorded for which device.",
        "type": "object",
        "properties": {
            "config": { "$ref": "#/$defs/config" },
            "trailhead": { "$ref": "#/$defs/trailhead" },
            "trail": {
                "description": "The steps, in order.",
                "type": "array",
                "items": { "$ref": "#/$defs/step" },
            },
        },
        "additionalProperties": false,
        "anyOf": [
            { "required": ["trail"], "properties": { "trail": { "minItems": 1 } } },
            { "required": ["config"], "not": { "required": ["trailhead"] } },
        ],
        "$defs": {
            "text": { "type": ["string", "number", "boolean"] },
            "texts": {
                "type": "object",
                "additionalProperties": { "$ref": "#/$defs/text" },
            },
            "byClassifier": {
                "type": "object",
                "propertyNames": { "$ref": "#/$defs/classifier" },
                "additionalProperties": { "$ref": "#/$defs/text" },
            },
            "classifier": {
                "description": "A platform, or something narrower: android, android-phone, ios-iphone, web. The closest one to a device counts.",
                "pattern": "^\\S+$",
            },
            "config": config(),
            "argument": argument(),
            "trailhead": trailhead(),
            "step": step(),
            "recordable": {
                "description": "Whether recordings of the step are used and kept. Without them an agent does the step every time.",
                "type": "boolean",
                "default": true,
            },
            "maxRetries": {
                "description": "How often an agent may try the step again.",
                "type": "integer",
                "minimum": 0,
            },
            "call": call(tools),
        },
    })
}

fn config() -> Value {
    let text = |description: &str| json!({ "description": description, "$ref": "#/$defs/text" });
    json!({
        "description": "What the trail says about itself. All of it is optional.",
        "type": ["object", "null"],
        "properties": {
            "id": text("Stable name of the trail."),
            "title": text("Title for people; reports show it."),
            "description": text("What the trail is about."),
            "target": text("The app under test: the name of a target, an app id, or a URL."),
            "context": text("What agents should know beside the steps."),
            "priority": text("Priority, in any form: P1."),
            "tags": {
                "description": "Labels to select trails by.",
                "type": "array",
                "items": { "$ref": "#/$defs/text" },
            },
            "devices": {
                "description": "Drivers to use, by device: { web: PLAYWRIGHT_NATIVE }.",
                "$ref": "#/$defs/byClassifier",
            },
            "skip": {
                "description": "Reasons not to run, by device: { ios: \"not ported yet\" }.",
                "$ref": "#/$defs/byClassifier",
            },
            "memory": {
                "description": "What the session remembers from the start; {{name}} in a tool's arguments stands for it.",
                "$ref": "#/$defs/texts",
            },
            "undefined": {
                "description": "What happens to an undefined template: its step fails (error), or it is left as is (literal).",
                "enum": ["error", "literal"],
                "default": "error",
            },
            "metadata": {
                "description": "Notes, which Packtrain ignores.",
                "$ref": "#/$defs/texts",
            },
            "args": {
                "description": "Arguments that must or can be given to a run; {{args.name}} in a tool's arguments stands for one.",
                "type": "object",
                "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
                "additionalProperties": { "$ref": "#/$defs/argument" },
            },
        },
        "additionalProperties": false,
    })
}

fn argument() -> Value {
    // What a default may be; quotes around a number do not matter to the reader.
    let default_of = |kind: &str, default: Value| {
        json!({
            "if": { "required": ["type"], "properties": { "type": { "const": kind } } },
            "then": { "properties": { "default": default } },
        })
    };
    let types = json!(["string", "integer", "boolean", "array", "object"]);
    json!({
        "description": "A type, or a type with a default.",
        "anyOf": [
            { "enum": types },
            {
                "type": "object",
                "properties": {
                    "type": { "enum": types, "default": "string" },
                    "description": { "$ref": "#/$defs/text" },
                    "default": {
                        "description": "The default value; without one the argument is required.",
                        "not": { "type": "null" },
                    },
                    "required": {
                        "description": "Only confirms what `default` says.",
                        "type": "boolean",
                    },
                },
                "additionalProperties": false,
                "allOf": [
                    {
                        "if": { "required": ["required"], "properties": { "required": { "const": true } } },
                        "then": { "not": { "required": ["default"] } },
                    },
                    {
                        "if": { "required": ["required"], "properties": { "required": { "const": false } } },
                        "then": { "required": ["default"] },
                    },
                    {
                        "if": { "not": { "required": ["type"] } },
                        "then": { "properties": { "default": { "$ref": "#/$defs/text" } } },
                    },
                    default_of("string", json!({ "$ref": "#/$defs/text" })),
                    default_of("integer", json!({ "type": ["integer", "string"] })),
                    default_of("boolean", json!({ "type": ["boolean", "string"] })),
                    default_of("array", json!({ "type": "array" })),
                    default_of("object", json!({ "type": "object" })),
                ],
            },
        ],
    })
}

fn trailhead() -> Value {
    json!({
        "description": "What brings the app to where the steps begin.",
        "type": "object",
        "properties": {
            "step": { "description": "Where to, in words.", "$ref": "#/$defs/text" },
            "recording": {
                "description": "One tool call for each device, {} where there is nothing to do.",
                "type": "object",
                "propertyNames": { "$ref": "#/$defs/classifier" },
                "additionalProperties": {
                    "anyOf": [
                        { "type": "object", "maxProperties": 0 },
                        { "$ref": "#/$defs/call" },
                    ],
                },
            },
            "recordable": { "$ref": "#/$defs/recordable" },
            "maxRetries": { "$ref": "#/$defs/maxRetries" },
        },
        "required": ["step"],
        "additionalProperties": false,
        "if": unrecordable(),
        "then": { "properties": { "recording": { "additionalProperties": { "maxProperties": 0 } } } },
    })
}

fn step() -> Value {
    json!({
        "description": "One thing to do (`step`) or to verify (`verify`).",
        "type": "object",
        "properties": {
            "step": { "description": "What to do, in words.", "$ref": "#/$defs/text" },
            "verify": { "description": "What must be true, in words.", "$ref": "#/$defs/text" },
            "recording": {
                "description": "What was recorded, by device: a list of tool calls, [] where there is nothing to do.",
                "type": "object",
                "propertyNames": { "$ref": "#/$defs/classifier" },
                "additionalProperties": { "type": "array", "items": { "$ref": "#/$defs/call" } },
            },
            "recordable": { "$ref": "#/$defs/recordable" },
            "maxRetries": { "$ref": "#/$defs/maxRetries" },
        },
        "oneOf": [{ "required": ["step"] }, { "required": ["verify"] }],
        "additionalProperties": false,
        "if": unrecordable(),
        "then": { "properties": { "recording": { "additionalProperties": { "maxItems": 0 } } } },
    })
}

fn unrecordable() -> Value {
    json!({ "required": ["recordable"], "properties": { "recordable": { "const": false } } })
}

fn call(tools: &BTreeMap<String, Value>) -> Value {
    let known: Map<String, Value> = tools
        .iter()
        .map(|(name, arguments)| (name.clone(), arguments.clone()))
        .collect();
    json!({
        "description": "A tool with its arguments: { web_click: { ref: e4 } }.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": { "pattern": "\\S" },
        "properties": known,
        "additionalProperties": { "type": ["object", "null"] },
    })
}
