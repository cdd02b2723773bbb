//! Puts a recording into the text of a trail and touches nothing else: comments, blank lines,
//! quotes and the order of keys stay as somebody wrote them.
//!
//! Every edit is proved before it is handed out: the new text is read again, and it must say what
//! the old one said, with just this recording in its place.

mod edit;
mod expected;
#[cfg(test)]
mod tests;

use super::{Form, Step, ToolCall, Trail};
use crate::diagnostic::{Diagnostic, quoted};
use crate::ids::StepIndex;
use crate::source::Source;
use crate::yaml::{self, Mapping, Value};

/// Why a recording cannot be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The text is not a trail, or no longer.
    #[error("the file is not a trail: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    NotATrail(Vec<Diagnostic>),
    /// The list form is only read.
    #[error("the file uses the older list form, which holds no recordings for several devices")]
    ListForm,
    /// The trail has no such step.
    #[error("the trail has no step {step}; it has {steps}")]
    NoSuchStep {
        /// The step asked for.
        step: StepIndex,
        /// How many there are, the trailhead not counted.
        steps: usize,
    },
    /// The step says `recordable: false`.
    #[error("step {0} is marked as not to be recorded")]
    NotRecordable(StepIndex),
    /// Not a device classifier.
    #[error("invalid device classifier {}", quoted(.0))]
    Classifier(String),
    /// A trailhead is one call.
    #[error("a trailhead is at most one tool call, not {0}")]
    TrailheadCalls(usize),
    /// Not a call that can be written down.
    #[error("a call of {} cannot be written: {problem}", quoted(tool))]
    Call {
        /// The tool.
        tool: String,
        /// What is wrong with the call.
        problem: &'static str,
    },
    /// With the recording the file would be no trail: a call names an argument that the trail does
    /// not declare.
    #[error("with the recording the file would not be a valid trail: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Spoils(Vec<Diagnostic>),
    /// The text is laid out in a way that an edit would change more than the recording.
    #[error("step {0} is written in a way that cannot be edited without changing more than it")]
    Layout(StepIndex),
}

/// The text of a trail with the calls as the recording of one step for one device; no calls mean
/// that nothing is to be done. The same recording again changes nothing, not even its comments.
pub fn write_recording(
    text: &str,
    step: StepIndex,
    classifier: &str,
    calls: &[ToolCall],
) -> Result<String, WriteError> {
    let source = Source::new("trail", text);
    let trail = Trail::parse(text, source.name())
        .map_err(WriteError::NotATrail)?
        .trail;
    let target = check(&trail, step, classifier, calls)?;
    let recorded = target.recordings.get(classifier);
    if recorded.is_some_and(|entry| entry.value == calls) {
        return Ok(text.to_owned());
    }
    let recording = Recording {
        step,
        classifier,
        value: value(step, calls),
    };
    let tree = yaml::read(&source).value.ok_or(WriteError::Layout(step))?;
    let edited = mapping(&tree, step)
        .and_then(|mapping| edit::edit(text, mapping, &recording))
        .ok_or(WriteError::Layout(step))?;
    // The proof.
    let expected = expected::with_recording(&tree, &recording);
    let reread = yaml::read(&Source::new("trail", edited.as_str()));
    if !reread.problems.is_empty() || reread.value != expected {
        return Err(WriteError::Layout(step));
    }
    match Trail::parse(&edited, source.name()) {
        Ok(_) => Ok(edited),
        Err(problems) => Err(WriteError::Spoils(problems)),
    }
}

/// What is to be written.
struct Recording<'a> {
    step: StepIndex,
    classifier: &'a str,
    /// A list of calls, or for a trailhead a mapping.
    value: Value,
}

fn check<'t>(
    trail: &'t Trail,
    step: StepIndex,
    classifier: &str,
    calls: &[ToolCall],
) -> Result<&'t Step, WriteError> {
    if trail.form == Form::List {
        return Err(WriteError::ListForm);
    }
    let no_such_step = WriteError::NoSuchStep {
        step,
        steps: trail.steps.len(),
    };
    let target = trail.step(step).ok_or(no_such_step)?;
    if !target.recordable && !calls.is_empty() {
        return Err(WriteError::NotRecordable(step));
    }
    if classifier.is_empty() || classifier.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(WriteError::Classifier(classifier.to_owned()));
    }
    if step == StepIndex::TRAILHEAD && calls.len() > 1 {
        return Err(WriteError::TrailheadCalls(calls.len()));
    }
    for call in calls {
        let problem = if call.name.trim().is_empty() {
            "it has no name"
        } else if call.args.as_mapping().is_none() {
            "its arguments are not a mapping"
        } else {
            continue;
        };
        return Err(WriteError::Call {
            tool: call.name.clone(),
            problem,
        });
    }
    Ok(target)
}

/// The recording as it stands below its classifier.
fn value(step: StepIndex, calls: &[ToolCall]) -> Value {
    if step == StepIndex::TRAILHEAD {
        let entries = calls
            .iter()
            .map(|call| (call.name.clone(), call.args.clone()));
        Value::mapping(entries)
    } else {
        Value::sequence(calls.iter().map(ToolCall::to_value).collect())
    }
}

/// The mapping of a step in the tree of its trail.
fn mapping(tree: &Value, step: StepIndex) -> Option<&Mapping> {
    let root = tree.as_mapping()?;
    match step {
        StepIndex::TRAILHEAD => root.get("trailhead")?.as_mapping(),
        StepIndex(place) => root
            .get("trail")?
            .as_sequence()?
            .get(usize::try_from(place).ok()?.checked_sub(1)?)?
            .as_mapping(),
    }
}

/// The entry with a step's words, behind which its recording stands.
fn words(step: &Mapping) -> Option<usize> {
    step.entries
        .iter()
        .position(|entry| matches!(entry.key.text.as_str(), "step" | "verify"))
}
