//! A trail: what a person wants done, step by step, and what was recorded for which device.
//!
//! Knows the file format and nothing of running. The format is Trailblaze's: the unified form is
//! read and written, the older list form only read.

mod args;
mod classifier;
mod config;
mod document;
mod parse;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::collections::BTreeMap;

pub use args::{ArgDeclaration, ArgType, GivenArg};
pub use classifier::{ByClassifier, ForClassifier, lineage};
pub use config::Config;
pub use write::{WriteError, write_recording};

use crate::diagnostic::Diagnostic;
use crate::event::{StepKind, StepSummary, TrailSummary};
use crate::ids::StepIndex;
use crate::source::{Source, Span};
use crate::yaml::Value;

/// A trail as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Trail {
    /// What it says about itself.
    pub config: Config,
    /// What brings the app to where the steps begin.
    pub trailhead: Option<Step>,
    /// The steps, in order. Empty only in a document that is all `config`.
    pub steps: Vec<Step>,
    /// Which form the file has.
    pub form: Form,
    /// The file.
    pub source: Source,
    /// The variables that were filled in when it was read, by name.
    pub variables: BTreeMap<String, String>,
}

/// The two forms a trail file can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A mapping of `config`, `trailhead` and `trail`; recordings stand below each step.
    Unified,
    /// The older list of `config`, `trailhead`, `prompts` and `tools`; one file per device.
    List,
}

/// One thing a person wants done or asserted.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its place: 0 is the trailhead, steps count from 1.
    pub index: StepIndex,
    /// Do or verify.
    pub kind: StepKind,
    /// Its words. Templates in them are not filled in.
    pub text: String,
    /// What was recorded, by device.
    pub recordings: ByClassifier<Vec<ToolCall>>,
    /// Whether recordings are used and kept at all.
    pub recordable: bool,
    /// How often an agent may try again.
    pub max_retries: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// What is recorded of a step for one device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recorded<'a> {
    /// Nothing is known: somebody has to find out.
    Unknown,
    /// It is written down that nothing is to be done.
    NoAction(Origin<'a>),
    /// These calls, in order; never empty.
    Calls(Origin<'a>, &'a [ToolCall]),
}

/// Where a recording comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The classifier it was recorded for; `None` for every device.
    pub classifier: Option<&'a str>,
    /// Where that stands.
    pub span: Span,
}

/// A call of a tool, as recorded.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments: a mapping, empty when there are none.
    pub args: Value,
    /// Where the name stands, when the call was read from a file.
    pub span: Option<Span>,
}

/// A trail and what looked odd while reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The trail.
    pub trail: Trail,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
}

impl Trail {
    /// Reads a trail. `source` is the name messages show, usually the path.
    ///
    /// On failure all mistakes that can be found are reported, warnings among them, in the order of the
    /// file; at least one is an error.
    pub fn parse(text: &str, source: &str) -> Result<Parsed, Vec<Diagnostic>> {
        parse::parse(Source::new(source, text), &|_| None)
    }

    /// The same with `{{NAME}}` replaced in every value where `variables` knows the name.
    pub fn parse_with(
        text: &str,
        source: &str,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Parsed, Vec<Diagnostic>> {
        parse::parse(Source::new(source, text), variables)
    }

    /// A trail without steps, for a session that somebody drives by hand.
    pub fn empty(name: &str) -> Self {
        Self {
            config: Config::default(),
            trailhead: None,
            steps: Vec::new(),
            form: Form::Unified,
            source: Source::new(name, ""),
            variables: BTreeMap::new(),
        }
    }

    /// The trailhead, when there is one, and the steps.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.trailhead.iter().chain(&self.steps)
    }

    /// A step by its place; 0 is the trailhead.
    pub fn step(&self, index: StepIndex) -> Option<&Step> {
        self.all_steps().find(|step| step.index == index)
    }

    /// Whether the file describes a trail without being one yet.
    pub fn is_metadata_only(&self) -> bool {
        self.steps.is_empty()
    }

    /// Every tool the recordings name, with its place, in the order of the file.
    pub fn tool_names(&self) -> impl Iterator<Item = (&str, Option<Span>)> {
        self.all_steps()
            .flat_map(|step| step.recordings.iter())
            .flat_map(|recording| &recording.value)
            .map(|call| (call.name.as_str(), call.span))
    }

    /// Whether any step has something recorded for a device, `[]` included.
    pub fn has_recording_for(&self, lineage: &[String]) -> bool {
        self.all_steps()
            .any(|step| step.recording_for(lineage) != Recorded::Unknown)
    }

    /// The trail as far as reports need it.
    pub fn summary(&self) -> TrailSummary {
        let name = crate::discover::short_name(self.source.name());
        TrailSummary {
            title: self.config.title.clone().unwrap_or_else(|| name.clone()),
            name,
            path: self.source.name().to_owned(),
            tags: self.config.tags.clone(),
            steps: self
                .all_steps()
                .map(|step| StepSummary {
                    step: step.index,
                    kind: step.kind,
                    text: step.text.clone(),
                    line: step.span.start.line,
                })
                .collect(),
        }
    }
}

impl Step {
    /// What is recorded for a device; the lineage comes from [`lineage`].
    pub fn recording_for(&self, lineage: &[String]) -> Recorded<'_> {
        let entry = match self.recordings.closest(lineage) {
            Some(entry) if self.recordable => entry,
            Some(_) | None => return Recorded::Unknown,
        };
        let origin = Origin {
            classifier: entry.classifier.as_deref(),
            span: entry.span,
        };
        match entry.value.as_slice() {
            [] => Recorded::NoAction(origin),
            calls => Recorded::Calls(origin, calls),
        }
    }
}

impl ToolCall {
    /// A call that stands in no file.
    pub fn new(name: impl Into<String>, args: Value) -> Self {
        Self {
            name: name.into(),
            args,
            span: None,
        }
    }

    /// Reads a list of calls, as recordings have them: what `packtrain tool --yaml` takes.
    pub fn parse_list(text: &str, source: &str) -> Result<Vec<Self>, Vec<Diagnostic>> {
        parse::parse_calls(Source::new(source, text))
    }

    /// The same of a list that is part of a document; `of` names it in messages.
    pub fn read_list(
        value: &Value,
        source: &Source,
        of: &str,
    ) -> Result<Vec<Self>, Vec<Diagnostic>> {
        parse::read_calls(value, source, of)
    }

    /// The call as recordings write it: `{ name: args }`.
    pub fn to_value(&self) -> Value {
        Value::mapping([(self.name.clone(), self.args.clone())])
    }
}

/// Calls are equal when they do the same, wherever they stand.
impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.args == other.args
    }
}
