//! Templates: `{{name}}` and `${name}` in values, filled in once and never twice.
//!
//! At load time `{{NAME}}` is looked up among variables; when a tool is called both spellings are
//! looked up in the session's memory. What a step says to a person or an agent is never filled in.

mod scan;
mod scope;
#[cfg(test)]
mod tests;

use std::convert::Infallible;

pub use scope::{Filled, Reason, Scope, TemplateError, Undefined, Unresolved, undefined_hint};

use crate::diagnostic::quoted;
use crate::yaml::Value;
use scan::{Piece, Spelling, pieces};

/// What stands for the id of the app under test.
const APP_ID: &str = "target.appId";

/// The value with `{{NAME}}` replaced wherever `lookup` knows the name, which has only letters,
/// digits and `_`. Everything else that looks like a template stays for the session's memory.
pub fn expand_variables(value: &Value, lookup: &dyn Fn(&str) -> Option<String>) -> Value {
    let expanded = value.try_map::<Infallible>(&mut |_, scalar, _| {
        Ok(expand_text(&scalar.text, lookup).map(|text| Value::scalar(text, scalar.style)))
    });
    match expanded {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

/// `None` when there is nothing to replace.
fn expand_text(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_name = |body: &str| body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut expanded = String::new();
    let mut changed = false;
    for piece in pieces(text) {
        let found = match piece {
            Piece::Token(token) if token.spelling == Spelling::Braces && is_name(token.body) => {
                lookup(token.body)
            }
            Piece::Token(_) | Piece::Text(_) => None,
        };
        changed |= found.is_some();
        expanded.push_str(found.as_deref().unwrap_or(piece.raw()));
    }
    changed.then_some(expanded)
}

/// A name that a text asks for when its tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'t> {
    /// As written: `{{name}}` or `${name}`.
    pub token: &'t str,
    /// What is between the braces.
    pub name: &'t str,
    /// Whether it is `${name}`, which in code belongs to the code's language.
    pub is_dollar: bool,
}

/// The names a text asks the session's memory for; arguments and the app under test are no such.
pub fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Token(token) if token.body.starts_with("args.") => None,
        Piece::Token(token) if token.body == APP_ID => None,
        Piece::Token(token) => Some(Reference {
            token: token.raw,
            name: token.body,
            is_dollar: token.spelling == Spelling::Dollar,
        }),
        Piece::Text(_) => None,
    })
}

/// A token that names an argument of the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgsToken<'t> {
    /// `args.name` or `args.name.field`: the name.
    Name(&'t str),
    /// Something that is not a path, such as `args.a + 1`: what is between the braces.
    Malformed(&'t str),
}

/// Every token of a text that names an argument.
pub(crate) fn args_tokens(text: &str) -> impl Iterator<Item = ArgsToken<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Token(token) => {
            let path = token.body.strip_prefix("args.")?;
            Some(match scan::dotted(path) {
                Some((name, _)) => ArgsToken::Name(name),
                None => ArgsToken::Malformed(token.body),
            })
        }
        Piece::Text(_) => None,
    })
}

/// Fails with a message when a token that names an argument is not a path.
pub(crate) fn check_args_tokens(text: &str) -> Result<(), String> {
    args_tokens(text).try_for_each(|token| match token {
        ArgsToken::Name(_) => Ok(()),
        ArgsToken::Malformed(body) => Err(malformed(body)),
    })
}

/// The message for a token that is not a path.
pub(crate) fn malformed(body: &str) -> String {
    let token = quoted(&format!("{{{{{body}}}}}"));
    format!("invalid template {token}: expected a name, not an expression")
}
