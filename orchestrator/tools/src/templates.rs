//! Names in templates that nothing can define, found without a device.
//!
//! Whatever an earlier step may remember counts as defined. Where something that cannot be looked
//! into may have defined a name, it is only worth a warning.

use std::collections::BTreeSet;

use packtrain_model::diagnostic::{Diagnostic, quoted};
use packtrain_model::source::Span;
use packtrain_model::template::{Reference, Undefined, references, undefined_hint};
use packtrain_model::trail::{ToolCall, Trail};
use packtrain_model::yaml::Value;

use crate::builtin::is_template;
use crate::registry::Registry;
use crate::tool::{Origin, Tool};

/// What a trail is run with and in.
#[derive(Debug, Clone, Copy)]
pub struct TemplateContext<'a> {
    /// The names of the values that a run gives.
    pub given: &'a [String],
    /// Whether other trails run it, with what they remember.
    pub is_nested: bool,
}

/// What is defined at one point of a trail.
#[derive(Clone)]
struct Defined {
    names: BTreeSet<String>,
    /// What may have defined more, when there is such a thing.
    uncertain: Option<String>,
}

/// Every template of a trail that nothing before it can have defined.
pub fn check_templates(
    trail: &Trail,
    registry: &Registry,
    surroundings: TemplateContext<'_>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if trail.config.undefined == Undefined::Literal {
        return found;
    }
    let mut defined = Defined::at_start(trail, surroundings);
    for argument in &trail.config.args {
        let default = argument.default.as_ref().and_then(|value| value.as_str());
        for reference in references(default.unwrap_or_default()) {
            found.extend(defined.problem(reference, Some(argument.span), trail));
        }
    }
    for step in trail.all_steps() {
        // A device carries out one recording of a step; later steps may follow any of them.
        let mut after = defined.clone();
        for recording in step.recordings.iter() {
            let mut here = defined.clone();
            for call in &recording.value {
                let tool = registry.get(&call.name).map(AsRef::as_ref);
                found.extend(here.problems_of(call, tool, trail));
                here.remember(call, tool);
            }
            after.join(here);
        }
        if step.recordings.is_empty() {
            after.may_be_more("the agent that carries out a step without a recording");
        }
        defined = after;
    }
    found
}

impl Defined {
    fn at_start(trail: &Trail, surroundings: TemplateContext<'_>) -> Self {
        let memory = trail.config.memory.iter().map(|(name, _)| name);
        let mut defined = Self {
            names: memory.chain(surroundings.given).cloned().collect(),
            uncertain: None,
        };
        if surroundings.is_nested {
            defined.may_be_more("the trail that runs this one");
        }
        defined
    }

    fn may_be_more(&mut self, by: &str) {
        self.uncertain.get_or_insert_with(|| by.to_owned());
    }

    fn join(&mut self, mut other: Self) {
        self.names.append(&mut other.names);
        self.uncertain = self.uncertain.take().or(other.uncertain);
    }

    /// Adds what a call may have defined.
    fn remember(&mut self, call: &ToolCall, tool: Option<&dyn Tool>) {
        let Some(tool) = tool else {
            return self.may_be_more(&format!("`{}`, which is not built in,", call.name));
        };
        if tool.spec().origin != Origin::BuiltIn {
            self.may_be_more(&format!("`{}`, which is not built in,", call.name));
        }
        if tool.spec().runs_trail.is_some() {
            self.may_be_more(&format!("the trail that `{}` runs", call.name));
        }
        for key in &tool.spec().remembers {
            let named = call.args.as_mapping().and_then(|map| map.get(key));
            let Some(name) = named.and_then(Value::as_scalar) else {
                continue;
            };
            if named.is_some_and(is_template) {
                self.may_be_more(&format!("`{}`, whose `{key}` is a template,", call.name));
            } else {
                self.names.insert(name.text.clone());
            }
        }
    }

    fn problems_of(
        &self,
        call: &ToolCall,
        tool: Option<&dyn Tool>,
        trail: &Trail,
    ) -> Vec<Diagnostic> {
        let code = tool.map_or(&[][..], |tool| &tool.spec().code);
        let mut found = Vec::new();
        for (key, value) in call.args.scalars() {
            let is_code = key.is_some_and(|key| code.contains(&key));
            let text = value.as_scalar().map_or("", |scalar| &scalar.text);
            for reference in references(text).filter(|one| !(is_code && one.is_dollar)) {
                let span = value.span.or(call.span);
                found.extend(self.problem(reference, span, trail));
            }
        }
        found
    }

    fn problem(
        &self,
        reference: Reference<'_>,
        span: Option<Span>,
        trail: &Trail,
    ) -> Option<Diagnostic> {
        let name = reference.name;
        let remembered = name.strip_prefix("memory.").unwrap_or(name);
        if self.names.contains(name) || self.names.contains(remembered) {
            return None;
        }
        let token = quoted(reference.token);
        let arguments = trail
            .config
            .args
            .iter()
            .map(|arg| format!("args.{}", arg.name));
        let hint = undefined_hint(name, self.names.iter().cloned().chain(arguments));
        Some(match &self.uncertain {
            Some(by) => {
                let message = format!("{token} is undefined, unless {by} defines it");
                Diagnostic::warning(&trail.source, span, message).hint(hint)
            }
            None => Diagnostic::error(&trail.source, span, format!("{token} is undefined")).hint(
                format!("{hint}; `check --memory NAME` declares a value that a run will be given"),
            ),
        })
    }
}
