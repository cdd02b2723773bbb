//! What is wrong with the selectors among a call's arguments, found without a device.

use packtrain_drivers::Platform;
use packtrain_drivers::selector::{
    CompiledSelector, NodeSelector, SelectorError, is_role, role_and_name, roles, without_state,
};
use packtrain_model::source::Span;
use packtrain_model::suggest::within;
use packtrain_model::yaml::{Node, Value};

use crate::builtin::is_template;
use crate::mobile::element_query::foreign;

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
    pub hint: String,
    /// Whether it can never work; otherwise it works, but hardly as it was meant.
    pub fatal: bool,
}

/// Looks at every `nodeSelector` below `arguments`, for devices of that platform when it is known.
pub fn check_selectors(arguments: &Value, on: Option<Platform>) -> Vec<SelectorProblem> {
    let mut found = Vec::new();
    visit(arguments, on, &mut found);
    found
}

/// Roles that are almost one that elements of pages have.
pub fn check_roles(arguments: &Value, on: Option<Platform>) -> Vec<SelectorProblem> {
    let misspelled = |key: Option<&str>, value: &Value| {
        let text = value.as_scalar()?.text.as_str();
        let role = match key? {
            "ariaRole" => text,
            // What is not an element of a list is looked for as a text.
            "ref" if on == Some(Platform::Web) => role_and_name(without_state(text))?.0,
            _ => return None,
        };
        let is_known = role == "text" || is_role(&role.to_lowercase());
        let meant = within(role, roles(), 2).filter(|_| !is_known && !is_template(value))?;
        Some(SelectorProblem {
            span: value.span,
            message: format!("unknown role `{role}`"),
            hint: format!("did you mean `{meant}`?"),
            fatal: true,
        })
    };
    let scalars = arguments.scalars().into_iter();
    scalars
        .filter_map(|(key, value)| misspelled(key, value))
        .collect()
}

fn visit(value: &Value, on: Option<Platform>, found: &mut Vec<SelectorProblem>) {
    match &value.node {
        Node::Scalar(_) => {}
        Node::Sequence(items) => items.items.iter().for_each(|item| visit(item, on, found)),
        Node::Mapping(mapping) => {
            // On a page an element may be found by its reference all the same.
            let selects_on = on.filter(|on| *on != Platform::Web || mapping.get("ref").is_none());
            for entry in &mapping.entries {
                match entry.key.text.as_str() {
                    KEY => check(&entry.value, selects_on, found),
                    _ => visit(&entry.value, on, found),
                }
            }
        }
    }
}

fn check(value: &Value, on: Option<Platform>, found: &mut Vec<SelectorProblem>) {
    // What does not decode was reported with the other arguments.
    let Ok(selector) = value.decode::<NodeSelector>() else {
        return;
    };
    if let Err(error) = selector.validate() {
        let hint = match &error {
            SelectorError::SeveralBlocks { .. } => {
                "keep one of them; each kind of device has its own recording and selector"
            }
            SelectorError::TooDeep { .. } | SelectorError::TooLarge => "make it simpler",
        };
        return found.push(SelectorProblem {
            span: place(value, &error),
            message: error.to_string(),
            hint: hint.to_owned(),
            fatal: true,
        });
    }
    if let Some(on) = on
        && let Some((block, for_what)) = foreign(&selector, on)
    {
        return found.push(SelectorProblem {
            span: value.span,
            message: format!(
                "`{block}` selectors are for {for_what}, and this is for {on} devices"
            ),
            hint: "each kind of device has its own recording and selector".to_owned(),
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
            Some(value) => (value.span, "quote literal text with `\\Q` and `\\E`"),
            None => (value.span, "leave it out"),
        };
        found.push(SelectorProblem {
            span,
            message: note,
            hint: hint.to_owned(),
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
