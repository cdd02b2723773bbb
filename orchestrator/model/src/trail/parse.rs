//! From the YAML tree to a trail, telling every mistake on the way.

mod args;
mod call;
mod config;
mod fields;
mod list;
mod step;
mod unified;

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{Form, Parsed, ToolCall, Trail};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Source, Span};
use crate::template;
use crate::yaml::{self, Node, Value};

/// The most mistakes that are reported; a file with more is not a trail.
const MAX_DIAGNOSTICS: usize = 50;

pub(super) fn parse(
    source: Source,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut reader = Reader::new(&source);
    let used = RefCell::new(BTreeMap::new());
    let lookup = |name: &str| {
        let value = variables(name)?;
        used.borrow_mut().insert(name.to_owned(), value.clone());
        Some(value)
    };
    let trail = reader
        .document()
        .map(|value| template::expand_variables(&value, &lookup))
        .and_then(|value| reader.trail(&value));
    let problems = reader.finish();
    match trail {
        Some(trail) if !problems.iter().any(is_error) => Ok(Parsed {
            trail: Trail {
                variables: used.into_inner(),
                ..trail
            },
            warnings: problems,
        }),
        Some(_) | None => Err(problems),
    }
}

pub(super) fn parse_calls(source: Source) -> Result<Vec<ToolCall>, Vec<Diagnostic>> {
    let mut reader = Reader::new(&source);
    let calls = reader
        .document()
        .and_then(|value| reader.calls(&value, "the file"));
    let problems = reader.finish();
    match calls {
        Some(calls) if !problems.iter().any(is_error) => Ok(calls),
        Some(_) | None => Err(problems),
    }
}

pub(super) fn read_calls(
    value: &Value,
    source: &Source,
    of: &str,
) -> Result<Vec<ToolCall>, Vec<Diagnostic>> {
    let mut reader = Reader::new(source);
    let calls = reader.calls(value, of);
    calls.ok_or_else(|| reader.finish())
}

fn is_error(problem: &Diagnostic) -> bool {
    problem.severity == Severity::Error
}

/// Collects mistakes. A method that returns `None` has told why.
struct Reader<'a> {
    source: &'a Source,
    problems: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    const fn new(source: &'a Source) -> Self {
        Self {
            source,
            problems: Vec::new(),
        }
    }

    fn document(&mut self) -> Option<Value> {
        let read = yaml::read(self.source);
        self.problems = read.problems;
        if read.value.is_none() && self.problems.is_empty() {
            self.problems.push(
                Diagnostic::error(self.source, None, "the file is empty")
                    .hint("a trail begins with `config:` and `trail:`".to_owned()),
            );
        }
        read.value
    }

    fn trail(&mut self, value: &Value) -> Option<Trail> {
        let trail = match &value.node {
            Node::Mapping(root) => self.unified(root, value.span),
            Node::Sequence(items) => self.list(&items.items),
            Node::Scalar(_) => {
                let message = format!("expected a trail, found {}", value.kind());
                self.refuse(
                    value.span,
                    message,
                    "a trail begins with `config:` and `trail:`",
                )
            }
        }?;
        self.check_arg_references(&trail);
        Some(trail)
    }

    /// The problems in the order of the file.
    fn finish(mut self) -> Vec<Diagnostic> {
        self.problems.sort_by_key(|problem| problem.span);
        self.problems
    }

    /// Notes a mistake of which nothing can be made, and what a person can do about it.
    fn refuse<T>(
        &mut self,
        at: impl Into<Option<Span>>,
        message: impl Into<String>,
        hint: &str,
    ) -> Option<T> {
        self.tell(Diagnostic::error(self.source, at, message).hint(hint.to_owned()));
        None
    }

    /// Notes a mistake. Errors and warnings are capped apart, so that no flood of warnings hides
    /// an error.
    fn tell(&mut self, problem: Diagnostic) {
        let problems = self.problems.iter();
        let alike = problems.filter(|known| known.severity == problem.severity);
        if alike.count() < MAX_DIAGNOSTICS {
            self.problems.push(problem);
        }
    }
}
