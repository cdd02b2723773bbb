//! Tool calls, as recordings have them: a mapping of one name to its arguments.

use super::Reader;
use crate::diagnostic::{Diagnostic, quoted};
use crate::trail::ToolCall;
use crate::yaml::{Entry, Mapping, Node, Notation, Value};

impl Reader<'_> {
    /// A list of calls; `of` names it in messages.
    pub(super) fn calls(&mut self, value: &Value, of: &str) -> Option<Vec<ToolCall>> {
        let Node::Sequence(items) = &value.node else {
            let message = format!(
                "expected {of} to be a list of tool calls, found {}",
                value.kind()
            );
            return self.refuse(value.span, message, "begin each call with `- `");
        };
        let calls: Vec<Option<ToolCall>> = items.items.iter().map(|item| self.call(item)).collect();
        calls.into_iter().collect()
    }

    pub(super) fn call(&mut self, value: &Value) -> Option<ToolCall> {
        let Node::Mapping(mapping) = &value.node else {
            let hint = match value.as_scalar() {
                Some(word) if !value.is_null() => Some(format!(
                    "a call without arguments is written `{}: {{}}`",
                    word.text
                )),
                Some(_) | None => None,
            };
            let message = format!("expected a tool call, found {}", value.kind());
            self.tell(Diagnostic::error(self.source, value.span, message).hint(hint));
            return None;
        };
        match mapping.entries.as_slice() {
            [entry] => self.call_of(entry),
            [] => {
                let message = "a tool call needs the name of a tool";
                self.tell(Diagnostic::error(self.source, value.span, message));
                None
            }
            [first, second, ..] => {
                let hint = if first.value.is_null() {
                    format!("indent the arguments below `{}:`", first.key.text)
                } else {
                    "begin each call with `- `".to_owned()
                };
                let message = format!(
                    "one list item is one tool call, found {} and {}",
                    quoted(&first.key.text),
                    quoted(&second.key.text)
                );
                self.refuse(second.key.span, message, &hint)
            }
        }
    }

    fn call_of(&mut self, entry: &Entry) -> Option<ToolCall> {
        let name = &entry.key.text;
        if name.trim().is_empty() {
            let message = "a tool call needs the name of a tool";
            self.tell(Diagnostic::error(self.source, entry.key.span, message));
            return None;
        }
        let args = match &entry.value.node {
            Node::Mapping(_) => entry.value.clone(),
            // `- pressBack:` has no arguments either.
            Node::Scalar(_) if entry.value.is_null() => Value {
                node: Node::Mapping(Mapping {
                    entries: Vec::new(),
                    notation: Notation::Block,
                }),
                span: entry.value.span,
            },
            Node::Scalar(_) | Node::Sequence(_) => {
                let message = format!(
                    "expected the arguments of {} to be a mapping, found {}",
                    quoted(name),
                    entry.value.kind()
                );
                self.tell(
                    Diagnostic::error(self.source, entry.value.span, message)
                        .hint(format!("write `{name}:` and its arguments indented below")),
                );
                return None;
            }
        };
        Some(ToolCall {
            name: name.clone(),
            args,
            span: entry.key.span,
        })
    }
}
