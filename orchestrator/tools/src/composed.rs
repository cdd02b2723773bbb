//! Tools that are files: calls of other tools, with parameters. Knows nothing of where such files
//! lie.

mod cycle;
mod file;
mod parameter;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use packtrain_drivers::BoxFuture;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::memory::Memory;
use packtrain_model::source::{Source, Span};
use packtrain_model::suggest::did_you_mean;
use packtrain_model::template::{Scope, Undefined, references};
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::{DecodeError, Mapping, Node, Value};
use serde_json::json;

pub use self::cycle::check_cycles;
use self::parameter::Parameter;
use crate::builtin::is_template;
use crate::call::{Call, ToolRequest};
use crate::tool::{Answer, Tool, ToolError, ToolSpec};

/// What the names of parameters begin with in templates.
const PREFIX: &str = "params.";

/// A tool that is a file.
#[derive(Debug)]
pub struct Composed {
    spec: ToolSpec,
    parameters: Vec<Parameter>,
    calls: Vec<ToolCall>,
    source: Source,
    /// Where its name stands.
    span: Option<Span>,
}

/// What a tool file holds.
#[derive(Debug)]
pub struct ToolFile {
    /// The tool; `None` when it is not made of calls, or only for platforms that Packtrain does
    /// not drive.
    pub tool: Option<Composed>,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
}

impl Composed {
    /// Reads a tool file. `source` is the name messages show, usually the path.
    ///
    /// # Errors
    /// All mistakes that can be told, each with its place.
    pub fn parse(text: &str, source: &str) -> Result<ToolFile, Vec<Diagnostic>> {
        file::parse(&Source::new(source, text))
    }

    /// The file.
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Where its name stands.
    pub const fn span(&self) -> Option<Span> {
        self.span
    }

    /// What it calls, in order, templates not filled in.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// The calls whose arguments can be checked without knowing its own: numbers and truth values
    /// stand for parameters of their type, texts are left open.
    pub fn sample_calls(&self) -> Vec<ToolCall> {
        let open: BTreeSet<&str> = self.names(|one| one.kind.sample(one).is_none());
        let samples = self.parameters.iter();
        let samples = samples
            .filter_map(|one| Some((one.name.clone(), one.kind.sample(one)?)))
            .collect();
        let memory = Memory::default();
        let scope = Scope {
            memory: &memory,
            params: Some(&samples),
            app_ids: &[],
            code: &[],
            undefined: Undefined::Literal,
        };
        let is_known = |call: &&ToolCall| {
            let texts = call.args.scalars().into_iter();
            !texts
                .filter_map(|(_, value)| value.as_scalar())
                .flat_map(|scalar| references(&scalar.text))
                .any(|one| parameter_of(one.name).is_some_and(|name| open.contains(name)))
        };
        let calls = self.calls.iter().filter(is_known).cloned();
        calls
            .map(|call| ToolCall {
                args: scope
                    .fill(&call.args)
                    .map_or_else(|_| call.args.clone(), |filled| filled.value),
                ..call
            })
            .collect()
    }

    fn names(&self, which: impl Fn(&Parameter) -> bool) -> BTreeSet<&str> {
        let chosen = self.parameters.iter().filter(|one| which(one));
        chosen.map(|one| one.name.as_str()).collect()
    }

    /// The values of its parameters in one call. What is optional and was not given has none.
    fn values(
        &self,
        arguments: &Value,
        call: &Call<'_>,
    ) -> Result<BTreeMap<String, serde_json::Value>, ToolError> {
        let mut values = BTreeMap::new();
        for parameter in &self.parameters {
            let value = match (parameter.given(arguments), &parameter.default) {
                (Some(given), _) => parameter.read(given)?,
                (None, Some(default)) => filled_in(default, call)?,
                (None, None) => continue,
            };
            values.insert(parameter.name.clone(), value);
        }
        Ok(values)
    }

    async fn carry_out(&self, arguments: &Value, call: &Call<'_>) -> Result<Answer, ToolError> {
        self.check(arguments)?;
        let mut params = self.values(arguments, call)?;
        let absent = self.names(|one| !params.contains_key(&one.name));
        let calls: Vec<_> = self
            .calls
            .iter()
            .map(|inner| (inner, without(&inner.args, &absent)))
            .collect();
        // Within a text, what was not given is nothing.
        params.extend(absent.into_iter().map(|name| (name.to_owned(), json!(""))));
        let mut last = Answer::default();
        for (inner, arguments) in calls {
            let at = inner.span.map(|Span { start, .. }| {
                format!("{}:{}:{}", self.source.name(), start.line, start.column)
            });
            let request = ToolRequest {
                tool: &inner.name,
                arguments: &arguments,
                params: Some(&params),
                undefined: Undefined::Error,
                at,
                depth: call.depth + 1,
                caller: call.caller.clone(),
            };
            last = call.invoker.invoke(request).await?;
        }
        // How the elements were found is reported with the inner calls.
        Ok(Answer {
            text: last.text,
            data: last.data,
            ..Answer::default()
        })
    }
}

impl Tool for Composed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, arguments: &Value) -> Result<(), DecodeError> {
        let given: &[_] = match &arguments.node {
            Node::Mapping(mapping) => &mapping.entries,
            Node::Scalar(_) | Node::Sequence(_) => {
                let message = format!("expected a mapping, found {}", arguments.kind());
                return Err(DecodeError::at(arguments.span, message));
            }
        };
        let names = || self.parameters.iter().map(|one| one.name.as_str());
        for entry in given {
            let key = &entry.key;
            if !names().any(|name| name == key.text) {
                let message = format!("unknown argument `{}`", key.text);
                let mut error = DecodeError::at(key.span, message);
                error.hint = did_you_mean(&key.text, names());
                return Err(error);
            }
        }
        for parameter in &self.parameters {
            match parameter.given(arguments) {
                Some(value) if is_template(value) => {}
                Some(value) => {
                    parameter.read(value)?;
                }
                None if parameter.is_required => {
                    let message = format!("`{}` is missing", parameter.name);
                    return Err(DecodeError::at(arguments.span, message));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.carry_out(arguments, call))
    }
}

/// The parameter that a template names.
fn parameter_of(reference: &str) -> Option<&str> {
    let path = reference.strip_prefix(PREFIX)?;
    Some(path.split_once('.').map_or(path, |(name, _)| name))
}

/// A default, which may be made of what the session remembers.
fn filled_in(default: &serde_json::Value, call: &Call<'_>) -> Result<serde_json::Value, ToolError> {
    let scope = Scope {
        memory: &call.session.memory(),
        params: None,
        app_ids: call.session.app_ids(),
        code: &[],
        undefined: Undefined::Error,
    };
    match scope.fill(&Value::from(default)) {
        Ok(filled) => Ok(filled.value.to_json()),
        Err(error) => Err(ToolError::Failed {
            message: error.to_string(),
            log: Vec::new(),
            hint: error.hint().map(str::to_owned),
        }),
    }
}

/// The arguments without those entries and items that are nothing but a parameter which was not
/// given.
fn without(arguments: &Value, absent: &BTreeSet<&str>) -> Value {
    let is_absent = |value: &Value| {
        let text = value.as_scalar().map_or("", |scalar| &scalar.text);
        let mut found = references(text).filter(|one| one.token == text);
        found.any(|one| parameter_of(one.name).is_some_and(|name| absent.contains(name)))
    };
    let mut value = arguments.clone();
    match &mut value.node {
        Node::Scalar(_) => {}
        Node::Sequence(sequence) => {
            sequence.items.retain(|item| !is_absent(item));
            for item in &mut sequence.items {
                *item = without(item, absent);
            }
        }
        Node::Mapping(Mapping { entries, .. }) => {
            entries.retain(|entry| !is_absent(&entry.value));
            for entry in entries {
                entry.value = without(&entry.value, absent);
            }
        }
    }
    value
}
