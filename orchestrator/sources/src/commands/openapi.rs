//! The typed commands as an OpenAPI document, which the SDKs are generated from. Keys that begin with
//! `x-packtrain` are for them: the order of arguments, where a command works, what callers want of it.

use packtrain_tools::Kind;
use serde_json::{Map, Value, json};

use super::message::{Message, Shape};
use super::proto::{messages, words};
use super::{COMMANDS, Code, Command, Returns, SERVICE};

/// The document, by the names of its parts.
pub fn openapi() -> Value {
    let paths = COMMANDS.iter().map(|command| {
        let path = format!("/{SERVICE}/{}", command.name);
        (path, json!({ "post": operation(command) }))
    });
    let mut schemas: Map<String, Value> = messages()
        .into_iter()
        .map(|message| (message.name.to_owned(), schema(message)))
        .collect();
    for words in words() {
        let list = json!({ "type": "string", "description": words.about, "enum": words.words });
        schemas.insert(words.name.to_owned(), list);
    }
    schemas.insert(
        "Error".to_owned(),
        json!({
            "type": "object",
            "description": "Why a command was not carried out.",
            "properties": {
                "code": { "type": "string", "enum": Code::ALL.map(Code::as_str) },
                "message": { "type": "string", "description": "What happened and what to do." },
            },
            "required": ["code", "message"],
        }),
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Packtrain commands",
            "version": "1.0.0",
            "description": "What a tool can have done on the device that it was called for: unary \
                            calls of the Connect protocol in JSON, on the base URL that a tool call \
                            carries.",
        },
        "security": [{ "invocation": [] }],
        "paths": paths.collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "invocation": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The invocation id of the tool call.",
                },
            },
        },
    })
}

fn operation(command: &Command) -> Value {
    let kind = match command.kind {
        Kind::Query => "query",
        Kind::Assertion => "assertion",
        Kind::Action | Kind::Memory | Kind::Meta => "action",
    };
    let returns = match command.returns {
        Returns::Message => "message",
        Returns::Nothing => "nothing",
        Returns::Field(field) => field,
    };
    let answer =
        |what: &str, schema: &str| json!({ "description": what, "content": content(schema) });
    json!({
        "operationId": command.name,
        "tags": [command.group.as_str()],
        "description": command.description,
        "x-packtrain-kind": kind,
        "x-packtrain-platforms": command.platforms,
        "x-packtrain-returns": returns,
        "requestBody": { "required": true, "content": content(command.request.name) },
        "responses": {
            "200": answer("Done.", command.response.name),
            "default": answer("Not done.", "Error"),
        },
    })
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": reference(schema) } })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn schema(message: &Message) -> Value {
    let properties = (1..).zip(message.fields).map(|(number, field)| {
        let mut property = match field.shape {
            Shape::Text => json!({ "type": "string" }),
            Shape::Integer => json!({ "type": "integer", "format": "int32", "minimum": 0 }),
            Shape::Number => json!({ "type": "number", "format": "double" }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::Json => json!({}),
            Shape::Word(words) => reference(words.name),
        };
        property["description"] = json!(field.about());
        property["x-packtrain-number"] = json!(number);
        (field.json_name(), property)
    });
    let mut schema = json!({
        "type": "object",
        "description": message.about(),
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    let required = message.fields.iter().filter(|field| field.required);
    let required: Vec<_> = required.map(|field| field.json_name()).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
