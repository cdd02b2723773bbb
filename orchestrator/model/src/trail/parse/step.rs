//! One step of the unified form, and the trailhead.

use super::Reader;
use super::fields::span;
use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::event::StepKind;
use crate::ids::StepIndex;
use crate::source::Span;
use crate::suggest::closest;
use crate::trail::{ByClassifier, Step, ToolCall};
use crate::yaml::{Entry, Mapping, Node, Value};

const STEP_KEYS: [&str; 5] = ["step", "verify", "recording", "recordable", "maxRetries"];
const TRAILHEAD_KEYS: [&str; 4] = ["step", "recording", "recordable", "maxRetries"];

impl Reader<'_> {
    pub(super) fn trailhead(&mut self, value: &Value) -> Option<Step> {
        if let Node::Scalar(_) = &value.node {
            return self.mismatch(
                value,
                "trailhead",
                "a mapping",
                Some("write its text as `step: ...` below it"),
            );
        }
        let mapping = self.mapping(value, "trailhead")?;
        self.fields(mapping, value.span, StepIndex::TRAILHEAD)
    }

    pub(super) fn step(&mut self, value: &Value, index: StepIndex) -> Option<Step> {
        match &value.node {
            Node::Mapping(mapping) => self.fields(mapping, value.span, index),
            Node::Scalar(_) | Node::Sequence(_) => {
                let message = format!("expected a step, found {}", value.kind());
                self.refuse(
                    value.span,
                    message,
                    "a step begins with `step:` or `verify:`",
                )
            }
        }
    }

    fn fields(&mut self, step: &Mapping, place: Option<Span>, index: StepIndex) -> Option<Step> {
        let is_trailhead = index == StepIndex::TRAILHEAD;
        let complete = self.check_keys(step, is_trailhead);
        let words = self.words(step, place, is_trailhead, complete);
        let max_retries = match step.get("maxRetries") {
            Some(value) => self.decoded::<u32>(value, "maxRetries").map(Some),
            None => Some(None),
        };
        let recordable = match step.get("recordable") {
            Some(value) => self.decoded::<bool>(value, "recordable"),
            None => Some(true),
        };
        let recordings = match step.entry("recording") {
            Some(entry) => self.recordings(entry, is_trailhead),
            None => Some(ByClassifier::default()),
        };
        if recordable == Some(false)
            && let Some(recordings) = &recordings
            && let Some(recording) = recordings.iter().find(|entry| !entry.value.is_empty())
        {
            let message = "the step is not recordable, yet something is recorded";
            return self.refuse(
                recording.span,
                message,
                "remove `recordable: false` or the recording",
            );
        }
        let (kind, text) = words?;
        Some(Step {
            index,
            kind,
            text,
            recordings: recordings?,
            recordable: recordable?,
            max_retries: max_retries?,
            span: span(place),
        })
    }

    /// Complains about keys a step cannot have. Answers whether all keys are there that the writer
    /// may have meant: a slip in `step` shall not be told twice.
    fn check_keys(&mut self, step: &Mapping, is_trailhead: bool) -> bool {
        let (keys, of): (&[&str], &str) = if is_trailhead {
            (&TRAILHEAD_KEYS, "a trailhead")
        } else {
            (&STEP_KEYS, "a step")
        };
        let mut complete = true;
        for entry in &step.entries {
            let key = entry.key.text.as_str();
            if keys.contains(&key) {
                continue;
            }
            if key == "verify" {
                self.tell(
                    Diagnostic::error(
                        self.source,
                        entry.key.span,
                        "a trailhead cannot be `verify`: it leads somewhere and asserts nothing",
                    )
                    .hint("write `step:`, or make it the first step of the trail".to_owned()),
                );
                complete = false;
                continue;
            }
            let meant = closest(key, keys.iter().copied());
            complete &= !matches!(meant, Some("step" | "verify"));
            if meant.is_none() && matches!(entry.value.node, Node::Sequence(_) | Node::Mapping(_)) {
                let message = format!("unknown key {} in {of}", quoted(key));
                self.tell(
                    Diagnostic::error(self.source, entry.key.span, message)
                        .hint("device classifiers stand below `recording:`".to_owned()),
                );
            } else {
                self.unknown_key(entry, Severity::Error, of, keys);
            }
        }
        complete
    }

    fn words(
        &mut self,
        step: &Mapping,
        place: Option<Span>,
        is_trailhead: bool,
        complete: bool,
    ) -> Option<(StepKind, String)> {
        let verify = step.entry("verify").filter(|_| !is_trailhead);
        let (kind, entry) = match (step.entry("step"), verify) {
            (Some(_), Some(verify)) => {
                return self.refuse(
                    verify.key.span,
                    "a step has either `step` or `verify`, not both",
                    "make it two steps",
                );
            }
            (Some(entry), None) if is_trailhead => (StepKind::Trailhead, entry),
            (Some(entry), None) => (StepKind::Step, entry),
            (None, Some(entry)) => (StepKind::Verify, entry),
            (None, None) => {
                if complete {
                    let message = if is_trailhead {
                        "empty trailhead: `step` is missing"
                    } else {
                        "empty step: `step` or `verify` is missing"
                    };
                    self.tell(
                        Diagnostic::error(self.source, place, message)
                            .hint("describe what to do".to_owned()),
                    );
                }
                return None;
            }
        };
        let text = self.text(&entry.value, &entry.key.text)?;
        if text.trim().is_empty() {
            self.tell(Diagnostic::warning(
                self.source,
                entry.value.span,
                "the step has no text",
            ));
        }
        Some((kind, text))
    }

    fn recordings(
        &mut self,
        recording: &Entry,
        is_trailhead: bool,
    ) -> Option<ByClassifier<Vec<ToolCall>>> {
        let Node::Mapping(mapping) = &recording.value.node else {
            let message = format!(
                "expected `recording` to be a mapping of device classifiers, found {}",
                recording.value.kind()
            );
            return self.refuse(
                recording.key.span,
                message,
                "put `android:`, `ios:` or `web:` between it and the calls",
            );
        };
        let mut recordings = ByClassifier::default();
        let mut whole = true;
        for entry in &mapping.entries {
            let calls = if is_trailhead {
                self.trailhead_call(entry)
            } else {
                self.calls_of(entry)
            };
            match (self.classifier(entry), calls) {
                (Some(classifier), Some(calls)) => {
                    recordings.push(Some(classifier), calls, span(entry.key.span));
                }
                (None, _) | (_, None) => whole = false,
            }
        }
        whole.then_some(recordings)
    }

    fn calls_of(&mut self, entry: &Entry) -> Option<Vec<ToolCall>> {
        let name = &entry.key.text;
        match &entry.value.node {
            Node::Sequence(_) => self.calls(&entry.value, name),
            Node::Mapping(_) => {
                let message = format!("expected a list of tool calls for {}", quoted(name));
                self.refuse(entry.value.span, message, "begin each call with `- `")
            }
            Node::Scalar(_) => {
                let message = format!(
                    "expected a list of tool calls for {}, found {}",
                    quoted(name),
                    entry.value.kind()
                );
                self.refuse(
                    entry.key.span,
                    message,
                    "write [] when there is nothing to do",
                )
            }
        }
    }

    /// A trailhead is one call per device: a mapping, not a list.
    fn trailhead_call(&mut self, entry: &Entry) -> Option<Vec<ToolCall>> {
        let name = quoted(&entry.key.text);
        match &entry.value.node {
            Node::Mapping(call) if call.entries.is_empty() => Some(Vec::new()),
            Node::Mapping(call) if call.entries.len() > 1 => {
                let message = format!(
                    "the trailhead of {name} must be one tool call, found {}",
                    call.keys().collect::<Vec<_>>().join(", ")
                );
                self.refuse(
                    call.entries[1].key.span,
                    message,
                    "use a tool that does it all, or move the rest into the first step",
                )
            }
            Node::Mapping(_) => self.call(&entry.value).map(|call| vec![call]),
            Node::Sequence(_) | Node::Scalar(_) => {
                let message = format!(
                    "the trailhead of {name} must be one tool call, found {}",
                    entry.value.kind()
                );
                self.refuse(
                    entry.key.span,
                    message,
                    "write the call without `- `, or {} when there is nothing to do",
                )
            }
        }
    }
}
