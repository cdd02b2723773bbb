//! The arguments a trail takes: declared with a type, given once per run.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::Config;
use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Source, Span};
use crate::suggest::did_you_mean;
use crate::template;
use crate::yaml::{self, Node, Value};

/// An argument as the trail declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgDeclaration {
    /// Its name, as in `{{args.name}}`.
    pub name: String,
    /// What it must be.
    pub kind: ArgType,
    /// What it is for.
    pub description: Option<String>,
    /// The default value; without one the argument is required. Already of the right type.
    pub default: Option<serde_json::Value>,
    /// Where the name stands.
    pub span: Span,
}

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgType {
    /// Any scalar, as written.
    String,
    /// A whole number of 64 bits.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A mapping.
    Object,
}

/// An argument as somebody gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenArg {
    /// Its name.
    pub name: String,
    /// Its value; [`Value::word`] for one from the command line.
    pub value: Value,
    /// The file it comes from, when it comes from one.
    pub source: Option<Source>,
}

impl GivenArg {
    /// Reads a YAML file of arguments: a mapping from names to values.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn parse_file(text: &str, name: &str) -> Result<Vec<Self>, Vec<Diagnostic>> {
        let source = Source::new(name, text);
        let read = yaml::read(&source);
        if !read.problems.is_empty() {
            return Err(read.problems);
        }
        let Some(mapping) = read.value.as_ref().and_then(Value::as_mapping) else {
            let message = "expected a mapping of argument names to values";
            return Err(vec![Diagnostic::error(&source, None, message)]);
        };
        let entries = mapping.entries.iter();
        Ok(entries
            .map(|entry| Self {
                name: entry.key.text.clone(),
                value: entry.value.clone(),
                source: Some(source.clone()),
            })
            .collect())
    }
}

impl ArgType {
    /// All types, in the order people list them.
    pub const ALL: [Self; 5] = [
        Self::String,
        Self::Integer,
        Self::Boolean,
        Self::Array,
        Self::Object,
    ];

    /// The word trails use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The type with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The value as one of this type. The declaration decides, never the looks of the value: `123`
    /// is `"123"` where a string is wanted and `"123"` is 123 where an integer is.
    ///
    /// Fails with what was expected and what was found.
    pub fn read(self, value: &Value) -> Result<serde_json::Value, String> {
        let found = || {
            Err(format!(
                "expected {}, found {}",
                self.phrase(),
                value.kind()
            ))
        };
        match (self, &value.node) {
            (_, Node::Scalar(_)) if value.is_null() => found(),
            (Self::String, Node::Scalar(scalar)) => Ok(scalar.text.clone().into()),
            (Self::Integer, Node::Scalar(scalar)) => match scalar.text.parse::<i64>() {
                Ok(number) => Ok(number.into()),
                Err(_) => Err(format!(
                    "expected {}, found {}",
                    self.phrase(),
                    quoted(&scalar.text)
                )),
            },
            (Self::Boolean, Node::Scalar(scalar)) => {
                match scalar.text.to_ascii_lowercase().as_str() {
                    "true" => Ok(true.into()),
                    "false" => Ok(false.into()),
                    _ => Err(format!(
                        "expected {}, found {}",
                        self.phrase(),
                        quoted(&scalar.text)
                    )),
                }
            }
            (Self::Array, Node::Sequence(_)) | (Self::Object, Node::Mapping(_)) => {
                Ok(value.to_json())
            }
            (
                Self::String | Self::Integer | Self::Boolean | Self::Array | Self::Object,
                Node::Scalar(_) | Node::Sequence(_) | Node::Mapping(_),
            ) => found(),
        }
    }

    const fn phrase(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Integer => "a whole number",
            Self::Boolean => "true or false",
            Self::Array => "a list",
            Self::Object => "a mapping",
        }
    }
}

/// Whether `{{args.name}}` can name it.
pub(super) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Config {
    /// The arguments of a run: what is given, checked and converted, and the defaults of the rest.
    /// Of two given under one name the later counts. `trail` is the file the config comes from.
    ///
    /// All mistakes are reported, each where it was made: in the file of arguments, or at the
    /// declaration that was not met.
    pub fn bind_args(
        &self,
        trail: &Source,
        given: &[GivenArg],
    ) -> Result<BTreeMap<String, serde_json::Value>, Vec<Diagnostic>> {
        let mut problems: Vec<Diagnostic> = self.unknown(trail, given);
        let mut bound = BTreeMap::new();
        for declared in &self.args {
            let given = given.iter().rev().find(|arg| arg.name == declared.name);
            let value = match (given, &declared.default) {
                (Some(arg), _) => read(declared, arg, trail, &mut problems),
                (None, Some(default)) => Some(default.clone()),
                (None, None) => {
                    problems.push(missing(declared, trail));
                    None
                }
            };
            bound.extend(value.map(|value| (declared.name.clone(), value)));
        }
        if problems.is_empty() {
            Ok(bound)
        } else {
            Err(problems)
        }
    }

    fn unknown(&self, trail: &Source, given: &[GivenArg]) -> Vec<Diagnostic> {
        let mut told = BTreeSet::new();
        given
            .iter()
            .filter(|arg| !self.args.iter().any(|declared| declared.name == arg.name))
            .filter(|arg| told.insert(arg.name.as_str()))
            .map(|arg| {
                let names = self.args.iter().map(|declared| declared.name.as_str());
                let hint = did_you_mean(&arg.name, names.clone()).unwrap_or_else(|| {
                    match names.collect::<Vec<_>>().as_slice() {
                        [] => "it declares none".to_owned(),
                        names => format!("it declares {}", names.join(", ")),
                    }
                });
                let message = format!("the trail takes no argument {}", quoted(&arg.name));
                place(arg, trail, message).hint(hint)
            })
            .collect()
    }
}

/// Of the right type, or `None` when it has been told why not.
fn read(
    declared: &ArgDeclaration,
    arg: &GivenArg,
    trail: &Source,
    problems: &mut Vec<Diagnostic>,
) -> Option<serde_json::Value> {
    let read = declared.kind.read(&arg.value).and_then(|value| {
        template::check_args_tokens(value.as_str().unwrap_or_default())?;
        Ok(value)
    });
    match read {
        Ok(value) => Some(value),
        Err(problem) => {
            let message = format!("argument `{}`: {problem}", declared.name);
            let hint = arg
                .value
                .is_null()
                .then(|| "an argument cannot be null; leave it out, or give ''".to_owned());
            problems.push(declared_at(declared, place(arg, trail, message)).hint(hint));
            None
        }
    }
}

/// A mistake in a given argument: in its file, or else in the trail.
fn place(arg: &GivenArg, trail: &Source, message: String) -> Diagnostic {
    match &arg.source {
        Some(source) => Diagnostic::error(source, arg.value.span, message),
        None => Diagnostic::error(trail, None, message),
    }
}

/// Without a file of its own, a mistake is shown at the declaration.
fn declared_at(declared: &ArgDeclaration, mut problem: Diagnostic) -> Diagnostic {
    if problem.span.is_none() {
        problem.span = Some(declared.span);
        problem.label = Some("declared here".to_owned());
    }
    problem
}

fn missing(declared: &ArgDeclaration, trail: &Source) -> Diagnostic {
    Diagnostic::error(
        trail,
        declared.span,
        format!("argument `{}` must be given", declared.name),
    )
    .label("declared here without a default")
    .hint(format!("add --arg {}=...", declared.name))
}
