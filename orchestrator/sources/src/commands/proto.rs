//! The typed commands as a Protocol Buffers schema, for clients of any language.

use std::fmt::Write as _;

use super::message::{Field, Message, Shape, Words};
use super::{COMMANDS, Command};

/// Columns of a comment.
const WIDTH: usize = 96;

/// The schema: `packtrain/v1/commands.proto`.
pub fn proto() -> String {
    let mut text = String::from(
        "// Typed commands for tools of Packtrain: what a tool can have done on the device that it was\n\
         // called for. Generated from the definitions in orchestrator/sources/src/commands; a test keeps\n\
         // both the same.\n\
         //\n\
         // Served as unary calls of the Connect protocol in JSON, on the base URL that a tool call\n\
         // carries, with `Authorization: Bearer INVOCATION_ID`.\n\
         syntax = \"proto3\";\n\npackage packtrain.v1;\n\nimport \"google/protobuf/struct.proto\";\n\n\
         service Commands {\n",
    );
    for (index, command) in COMMANDS.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let works: Vec<_> = command.platforms.iter().map(|it| it.as_str()).collect();
        comment(
            &mut text,
            "  ",
            &format!("{} Works on {}.", command.description, works.join(", ")),
        );
        let Command {
            name,
            request,
            response,
            ..
        } = command;
        let _ = writeln!(
            text,
            "  rpc {name}({}) returns ({});",
            request.name, response.name
        );
    }
    text.push_str("}\n");
    for message in messages() {
        text.push('\n');
        describe(&mut text, message);
    }
    for words in words() {
        text.push('\n');
        list(&mut text, words);
    }
    text
}

/// Every message once, where it is first used.
pub(super) fn messages() -> Vec<&'static Message> {
    let mut all: Vec<&'static Message> = Vec::new();
    for command in COMMANDS {
        for message in [&command.request, &command.response] {
            if all.iter().all(|known| known.name != message.name) {
                all.push(message);
            }
        }
    }
    all
}

/// Every list of words once.
pub(super) fn words() -> Vec<&'static Words> {
    let mut all: Vec<&'static Words> = Vec::new();
    for field in messages().into_iter().flat_map(|message| message.fields) {
        if let Shape::Word(words) = field.shape
            && all.iter().all(|known| known.name != words.name)
        {
            all.push(words);
        }
    }
    all
}

fn describe(text: &mut String, message: &Message) {
    comment(text, "", message.about());
    if message.fields.is_empty() {
        let _ = writeln!(text, "message {} {{}}", message.name);
        return;
    }
    let _ = writeln!(text, "message {} {{", message.name);
    for (number, field) in (1..).zip(message.fields) {
        let needed = if field.required { " Required." } else { "" };
        comment(text, "  ", &format!("{}{needed}", field.about()));
        let _ = writeln!(text, "  {} {} = {number};", kind(field), field.name);
    }
    text.push_str("}\n");
}

/// With presence, so that the empty text is a text and not nothing.
fn kind(field: &Field) -> String {
    match field.shape {
        Shape::Text => "optional string".to_owned(),
        Shape::Integer => "optional uint32".to_owned(),
        Shape::Number => "optional double".to_owned(),
        Shape::Flag => "optional bool".to_owned(),
        Shape::Json => "google.protobuf.Value".to_owned(),
        Shape::Word(words) => format!("optional {}", words.name),
    }
}

fn list(text: &mut String, words: &Words) {
    comment(text, "", words.about);
    let _ = writeln!(text, "enum {} {{", words.name);
    let _ = writeln!(text, "  {}UNSPECIFIED = 0;", words.prefix());
    for (number, word) in (1..).zip(words.words) {
        let _ = writeln!(text, "  {word} = {number};");
    }
    text.push_str("}\n");
}

/// A comment above something, in lines that are not too long.
fn comment(text: &mut String, indent: &str, about: &str) {
    let mut line = format!("{indent}//");
    for word in about.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = format!("{indent}//");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
