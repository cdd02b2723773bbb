//! Filling in what a tool is called with.

use std::collections::BTreeMap;

use super::scan::{self, Piece, Spelling, Token, pieces};
use super::{APP_ID, malformed};
use crate::diagnostic::{Diagnostic, quoted};
use crate::memory::Memory;
use crate::source::{Source, Span};
use crate::suggest::closest;
use crate::yaml::{Scalar, Value};

/// How many of the defined names a hint lists.
const LISTED_NAMES: usize = 12;

/// Where templates are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The session's memory: `{{name}}`, `{{memory.name}}`, `{{args.name}}`.
    pub memory: &'a Memory,
    /// The parameters of the tool whose definition this is: `{{params.name}}`.
    pub params: Option<&'a BTreeMap<String, serde_json::Value>>,
    /// The ids of the app under test: `{{target.appId}}`.
    pub app_ids: &'a [String],
    /// Keys whose texts are code: an undefined `${name}` in them is the code's own.
    pub code: &'a [&'static str],
    /// What becomes of a name that is not defined.
    pub undefined: Undefined,
}

/// What becomes of a template whose name is not defined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Undefined {
    /// It is an error.
    #[default]
    Error,
    /// It stays as it is.
    Literal,
}

/// A value with its templates filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled<T> {
    /// The value.
    pub value: T,
    /// The templates that were not filled in, in order.
    pub unresolved: Vec<Unresolved>,
}

/// A template that was not filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// As written.
    pub token: String,
    /// Where its scalar stands.
    pub span: Option<Span>,
    /// Why it was not.
    pub reason: Reason,
}

/// Why a template was not filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The name is not defined.
    Undefined,
    /// It names a list or a mapping, which cannot stand inside a text.
    NotAText,
}

/// Why a value cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The token of an argument is not a path.
    #[error("{}", malformed(body))]
    Malformed {
        /// What is between the braces.
        body: String,
        /// Where its scalar stands.
        span: Option<Span>,
    },
    /// No such name, argument, parameter or field.
    #[error("{} is undefined", quoted(token))]
    Undefined {
        /// The token.
        token: String,
        /// The name that was probably meant, and those that are defined.
        hint: Option<String>,
        /// Where its scalar stands.
        span: Option<Span>,
    },
    /// A list or a mapping inside a text.
    #[error("{} is not a text and cannot be part of one", quoted(token))]
    NotAText {
        /// The token.
        token: String,
        /// Where its scalar stands.
        span: Option<Span>,
    },
    /// Arguments that name each other in a circle.
    #[error("argument `{name}` refers to itself")]
    Circular {
        /// One of them.
        name: String,
    },
}

impl TemplateError {
    /// Where it went wrong, when that is in a text.
    pub const fn span(&self) -> Option<Span> {
        match self {
            Self::Malformed { span, .. }
            | Self::Undefined { span, .. }
            | Self::NotAText { span, .. } => *span,
            Self::Circular { .. } => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Undefined { hint, .. } => hint.as_deref(),
            Self::Malformed { .. } | Self::NotAText { .. } | Self::Circular { .. } => None,
        }
    }

    /// The same as a diagnostic of the text the value was read from.
    pub fn diagnostic(&self, source: &Source) -> Diagnostic {
        Diagnostic::error(source, self.span(), self.to_string())
            .hint(self.hint().map(str::to_owned))
    }
}

/// What a token stands for.
enum Found<'a> {
    Json(&'a serde_json::Value),
    Text(String),
    Nothing,
}

impl Scope<'_> {
    /// The value with its templates filled in, in one pass: what is put in is not looked at again.
    /// A scalar that is nothing but one template becomes what it names, a number, a list; any
    /// other becomes a text.
    pub fn fill(&self, value: &Value) -> Result<Filled<Value>, TemplateError> {
        let mut unresolved = Vec::new();
        let value = value.try_map(&mut |key, scalar, value| {
            self.scalar(key, scalar, value.span, &mut unresolved)
        })?;
        Ok(Filled { value, unresolved })
    }

    /// A text with its templates filled in.
    pub fn fill_text(&self, text: &str) -> Result<Filled<String>, TemplateError> {
        let mut unresolved = Vec::new();
        let value = self.text(None, text, None, &mut unresolved)?;
        Ok(Filled { value, unresolved })
    }

    fn scalar(
        &self,
        key: Option<&str>,
        scalar: &Scalar,
        span: Option<Span>,
        unresolved: &mut Vec<Unresolved>,
    ) -> Result<Option<Value>, TemplateError> {
        if let Some(token) = scan::whole(&scalar.text)
            && let Found::Json(json) = self.find(key, token, span)?
        {
            return Ok(Some(Value::from(json)));
        }
        if !pieces(&scalar.text).any(|piece| matches!(piece, Piece::Token(_))) {
            return Ok(None);
        }
        let text = self.text(key, &scalar.text, span, unresolved)?;
        Ok((text != scalar.text).then(|| Value::text(text)))
    }

    fn text(
        &self,
        key: Option<&str>,
        text: &str,
        span: Option<Span>,
        unresolved: &mut Vec<Unresolved>,
    ) -> Result<String, TemplateError> {
        let mut filled = String::with_capacity(text.len());
        for piece in pieces(text) {
            let token = match piece {
                Piece::Text(text) => {
                    filled.push_str(text);
                    continue;
                }
                Piece::Token(token) => token,
            };
            let reason = match self.find(key, token, span)? {
                Found::Text(text) => {
                    filled.push_str(&text);
                    continue;
                }
                Found::Json(json) => match written(json) {
                    Some(text) => {
                        filled.push_str(&text);
                        continue;
                    }
                    None => Reason::NotAText,
                },
                Found::Nothing if self.is_code(key, token) => {
                    filled.push_str(token.raw);
                    continue;
                }
                Found::Nothing => Reason::Undefined,
            };
            if self.undefined == Undefined::Error {
                return Err(self.unresolved(token, span, reason));
            }
            unresolved.push(Unresolved {
                token: token.raw.to_owned(),
                span,
                reason,
            });
            filled.push_str(token.raw);
        }
        Ok(filled)
    }

    /// Whether a token belongs to the language of the text it stands in, as in a shell's command.
    fn is_code(&self, key: Option<&str>, token: Token<'_>) -> bool {
        token.spelling == Spelling::Dollar && key.is_some_and(|key| self.code.contains(&key))
    }

    fn unresolved(&self, token: Token<'_>, span: Option<Span>, reason: Reason) -> TemplateError {
        let written = token.raw.to_owned();
        match reason {
            Reason::NotAText => TemplateError::NotAText {
                token: written,
                span,
            },
            Reason::Undefined => TemplateError::Undefined {
                token: written,
                hint: Some(match token.body {
                    APP_ID => "the app under test has no id, or several, on this platform; \
                                       `targets` in the configuration has them"
                        .to_owned(),
                    body => undefined_hint(body, self.memory.defined()),
                }),
                span,
            },
        }
    }

    fn find(
        &self,
        key: Option<&str>,
        token: Token<'_>,
        span: Option<Span>,
    ) -> Result<Found<'_>, TemplateError> {
        let body = token.body;
        if let Some(path) = body.strip_prefix("args.") {
            return lookup(self.memory.args(), path, token, span).map(Found::Json);
        }
        if let (Some(path), Some(params)) = (body.strip_prefix("params."), self.params) {
            return lookup(params, path, token, span).map(Found::Json);
        }
        if body == APP_ID
            && let Some(id) = self.app_id(key)
        {
            return Ok(Found::Text(id));
        }
        // A name may contain dots: `memory.x` is `x`, or else the name `memory.x`.
        let remembered = body
            .strip_prefix("memory.")
            .and_then(|name| self.memory.get(name))
            .or_else(|| self.memory.get(body));
        Ok(remembered.map_or(Found::Nothing, |text| Found::Text(text.to_owned())))
    }

    /// In a pattern any of the app's ids will do; elsewhere there must be just one.
    fn app_id(&self, key: Option<&str>) -> Option<String> {
        let is_pattern = key.is_some_and(|key| key.ends_with("Regex"));
        match self.app_ids {
            [] => None,
            [id] if is_pattern => Some(escaped(id)),
            [id] => Some(id.clone()),
            ids if is_pattern => {
                let ids: Vec<String> = ids.iter().map(|id| escaped(id)).collect();
                Some(format!("(?:{})", ids.join("|")))
            }
            _ => None,
        }
    }
}

/// The value at `name.field.field`.
fn lookup<'v>(
    values: &'v BTreeMap<String, serde_json::Value>,
    path: &str,
    token: Token<'_>,
    span: Option<Span>,
) -> Result<&'v serde_json::Value, TemplateError> {
    let Some((name, fields)) = scan::dotted(path) else {
        return Err(TemplateError::Malformed {
            body: token.body.to_owned(),
            span,
        });
    };
    let found = values.get(name).and_then(|value| {
        fields
            .split('.')
            .filter(|field| !field.is_empty())
            .try_fold(value, |value, field| value.get(field))
    });
    let prefix = &token.body[..token.body.len() - path.len()];
    found.ok_or_else(|| TemplateError::Undefined {
        token: token.raw.to_owned(),
        hint: (!values.contains_key(name)).then(|| {
            let defined = values.keys().map(|name| format!("{prefix}{name}"));
            undefined_hint(token.body, defined)
        }),
        span,
    })
}

/// What to do about a name that is not defined where these are.
pub fn undefined_hint(name: &str, defined: impl IntoIterator<Item = String>) -> String {
    let defined: Vec<String> = defined.into_iter().collect();
    let listed = defined.iter().take(LISTED_NAMES).cloned();
    let mut list = listed.collect::<Vec<_>>().join(", ");
    if defined.len() > LISTED_NAMES {
        list.push_str(", ...");
    }
    let name = name.strip_prefix("memory.").unwrap_or(name);
    match closest(name, defined.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{{{{{meant}}}}}`? defined: {list}"),
        None if defined.is_empty() => {
            format!("pass it with --memory {name}=VALUE, or under `memory` in the trail's config")
        }
        None => format!("defined: {list}"),
    }
}

/// A JSON value inside a text; `None` when it is a list or an object.
fn written(json: &serde_json::Value) -> Option<String> {
    match json {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            Some(json.to_string())
        }
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}

/// A pattern that matches just this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && c != '_' {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
