//! What is wrong with the selectors among a call's arguments, found without a device.

use packtrain_drivers::selector::{CompiledSelector, NodeSelector, SelectorError};
use packtrain_model::source::Span;
use packtrain_model::yaml::{Node, Value};

use crate::builtin::is_template;

/// The argument that holds a selector, however deep.
const KEY: &str = "nodeSelector";

/// Something to say about a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorProblem {
    /// Where.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
    /// Whether it can never work; otherwise it works, but hardly as it was meant.
    pub fatal: bool,
}

/// Looks at every `nodeSelector` below `arguments`.
pub fn check_selectors(arguments: &Value) -> Vec<SelectorProblem> {
    let mut found = Vec::new();
    visit(arguments, &mut found);
    found
}

fn visit(value: &Value, found: &mut Vec<SelectorProblem>) {
    match &value.node {
        Node::Scalar(_) => {}
        Node::Sequence(items) => items.items.iter().for_each(|item| visit(item, found)),
        Node::Mapping(mapping) => {
            for entry in &mapping.entries {
                match entry.key.text.as_str() {
                    KEY => check(&entry.value, found),
                    _ => visit(&entry.value, found),
                }
            }
        }
    }
}

fn check(value: &Value, found: &mut Vec<SelectorProblem>) {
    // What does not decode was told with the other arguments.
    let Ok(selector) = value.decode::<NodeSelector>() else {
        return;
    };
    if let Err(error) = selector.validate() {
        let hint = match &error {
            SelectorError::SeveralBlocks { .. } => {
                "keep one of them; a recording for each kind of device has a selector of its own"
            }
            SelectorError::TooDeep { .. } | SelectorError::TooLarge => "make it simpler",
        };
        return found.push(SelectorProblem {
            span: place(value, &error),
            message: error.to_string(),
            hint,
            fatal: true,
        });
    }
    let Ok(compiled) = CompiledSelector::new(&selector) else {
        return;
    };
    let patterns = value.scalars();
    for note in compiled.notes() {
        let pattern = patterns
            .iter()
            .map(|(_, pattern)| *pattern)
            .find(|pattern| {
                let text = pattern.as_scalar().map_or("", |scalar| &scalar.text);
                note.starts_with(&format!("`{text}` is "))
            });
        if pattern.is_some_and(is_template) {
            continue;
        }
        let (span, hint) = match pattern {
            Some(value) => (
                value.span,
                "put what is meant literally between `\\Q` and `\\E`",
            ),
            None => (value.span, "leave it out"),
        };
        found.push(SelectorProblem {
            span,
            message: note,
            hint,
            fatal: false,
        });
    }
}

/// The second of two blocks, or the whole selector.
fn place(value: &Value, error: &SelectorError) -> Option<Span> {
    let SelectorError::SeveralBlocks { second, at, .. } = error else {
        return value.span;
    };
    let mut part = value;
    for key in at.split('.').filter(|key| !key.is_empty()) {
        let nested = part.as_mapping().and_then(|mapping| mapping.get(key));
        // Of several descendants it may be any: all of them are the place.
        match nested {
            Some(nested) if nested.as_sequence().is_none() => part = nested,
            Some(nested) => return nested.span,
            None => return part.span,
        }
    }
    let entry = part.as_mapping().and_then(|mapping| mapping.entry(second));
    entry.map_or(part.span, |entry| entry.key.span.or(entry.value.span))
}
