//! The list form, which is older: read, never written.

use super::fields::span;
use super::{Form, Reader, Trail};
use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::event::StepKind;
use crate::ids::StepIndex;
use crate::suggest::did_you_mean;
use crate::trail::{ByClassifier, Config, Step, ToolCall};
use crate::yaml::{Entry, Mapping, Node, Value};

const ITEMS: [&str; 4] = ["config", "trailhead", "prompts", "tools"];
const PROMPT_KEYS: [&str; 5] = ["step", "verify", "recordable", "maxRetries", "recording"];
const TRAILHEAD_KEYS: [&str; 3] = ["step", "tools", "maxRetries"];
/// What a trailhead without words says.
const TRAILHEAD_TEXT: &str = "Go to where the trail begins";

/// What has been read of the list so far.
struct Draft {
    config: Option<Config>,
    trailhead: Option<Step>,
    steps: Vec<Step>,
    whole: bool,
}

impl Reader<'_> {
    pub(super) fn list(&mut self, items: &[Value]) -> Option<Trail> {
        let mut draft = Draft {
            config: None,
            trailhead: None,
            steps: Vec::new(),
            whole: true,
        };
        for (place, item) in items.iter().enumerate() {
            if self.item(item, place, &mut draft).is_none() {
                draft.whole = false;
            }
        }
        if draft.whole && draft.config.is_none() && draft.steps.is_empty() {
            self.tell(Diagnostic::error(
                self.source,
                draft.trailhead.map(|step| step.span),
                "the trail has no steps",
            ));
            return None;
        }
        draft.whole.then(|| Trail {
            config: draft.config.unwrap_or_default(),
            trailhead: draft.trailhead,
            steps: draft.steps,
            form: Form::List,
            source: self.source.clone(),
            variables: std::collections::BTreeMap::new(),
        })
    }

    fn item(&mut self, item: &Value, place: usize, draft: &mut Draft) -> Option<()> {
        let Some([entry]) = item.as_mapping().map(|item| item.entries.as_slice()) else {
            let message = format!(
                "expected one of {}, found {}",
                ITEMS.join(", "),
                item.kind()
            );
            return self.refuse(
                item.span,
                message,
                "begin the file with `config:` and `trail:`; a list is the older form",
            );
        };
        match entry.key.text.as_str() {
            "config" if place == 0 => draft.config = Some(self.list_config(&entry.value)?),
            "config" => {
                return self.misplaced(entry, "`config` must be the first item, and the only one");
            }
            "trailhead" if draft.trailhead.is_none() && draft.steps.is_empty() => {
                draft.trailhead = Some(self.list_trailhead(entry)?);
            }
            "trailhead" => {
                return self.misplaced(
                    entry,
                    "`trailhead` must come before all steps, and only once",
                );
            }
            "prompts" => self.prompts(entry, draft)?,
            "tools" => {
                let calls = self.calls(&entry.value, "`tools`")?;
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                let text = names.join(", ");
                let mut step = step(draft.next(), StepKind::Step, text, entry);
                step.recordings.push(None, calls, step.span);
                draft.steps.push(step);
            }
            other => {
                let message = format!("unknown item {} in a trail", quoted(other));
                let hint = did_you_mean(other, ITEMS)
                    .unwrap_or_else(|| format!("expected one of: {}", ITEMS.join(", ")));
                return self.refuse(entry.key.span, message, &hint);
            }
        }
        Some(())
    }

    fn misplaced<T>(&mut self, entry: &Entry, message: &str) -> Option<T> {
        self.tell(Diagnostic::error(self.source, entry.key.span, message));
        None
    }

    /// A word is the name of a tool without arguments.
    fn list_trailhead(&mut self, entry: &Entry) -> Option<Step> {
        let text = TRAILHEAD_TEXT.to_owned();
        let mut trailhead = step(StepIndex::TRAILHEAD, StepKind::Trailhead, text, entry);
        let Node::Mapping(mapping) = &entry.value.node else {
            let tool = self.text(&entry.value, "trailhead")?;
            let call = ToolCall {
                span: entry.value.span,
                ..ToolCall::new(tool, Value::mapping([]))
            };
            trailhead.recordings.push(None, vec![call], trailhead.span);
            return Some(trailhead);
        };
        self.only(mapping, "a trailhead", &TRAILHEAD_KEYS);
        if let Some(words) = mapping.get("step") {
            trailhead.text = self.text(words, "step")?;
        }
        if let Some(tools) = mapping.entry("tools") {
            let calls = self.calls(&tools.value, "`tools`")?;
            trailhead.recordings.push(None, calls, span(tools.key.span));
        }
        if let Some(retries) = mapping.get("maxRetries") {
            trailhead.max_retries = Some(self.decoded(retries, "maxRetries")?);
        }
        let has_tools = trailhead
            .recordings
            .iter()
            .any(|entry| !entry.value.is_empty());
        if mapping.get("step").is_none() && !has_tools {
            return self.misplaced(entry, "empty trailhead: `step` or `tools` is missing");
        }
        Some(trailhead)
    }

    fn prompts(&mut self, entry: &Entry, draft: &mut Draft) -> Option<()> {
        let Node::Sequence(prompts) = &entry.value.node else {
            return self.mismatch(&entry.value, "prompts", "a list of steps", None);
        };
        let mut whole = true;
        for prompt in &prompts.items {
            match self.prompt(prompt, draft.next()) {
                Some(step) => draft.steps.push(step),
                None => whole = false,
            }
        }
        whole.then_some(())
    }

    fn prompt(&mut self, value: &Value, index: StepIndex) -> Option<Step> {
        let mapping = self.mapping(value, "step")?;
        self.only(mapping, "a step", &PROMPT_KEYS);
        let (kind, words) = match (mapping.entry("step"), mapping.entry("verify")) {
            (Some(entry), None) => (StepKind::Step, entry),
            (None, Some(entry)) => (StepKind::Verify, entry),
            (Some(_), Some(verify)) => {
                return self.misplaced(verify, "a step has either `step` or `verify`, not both");
            }
            (None, None) => {
                let message = "empty step: `step` or `verify` is missing";
                self.tell(Diagnostic::error(self.source, value.span, message));
                return None;
            }
        };
        let text = self.text(&words.value, &words.key.text)?;
        let mut recordings = ByClassifier::default();
        if let Some(recording) = mapping.entry("recording") {
            let calls = self.prompt_recording(recording)?;
            recordings.push(None, calls, span(recording.key.span));
        }
        Some(Step {
            index,
            kind,
            text,
            recordings,
            recordable: match mapping.get("recordable") {
                Some(value) => self.decoded(value, "recordable")?,
                None => true,
            },
            max_retries: match mapping.get("maxRetries") {
                Some(value) => Some(self.decoded(value, "maxRetries")?),
                None => None,
            },
            span: span(value.span),
        })
    }

    /// `{ tools: [...] }`; without `tools` it is unknown whether anything was recorded.
    fn prompt_recording(&mut self, entry: &Entry) -> Option<Vec<ToolCall>> {
        let mapping = self.mapping(&entry.value, "recording")?;
        self.only(mapping, "a recording", &["tools"]);
        match mapping.get("tools") {
            Some(tools) => self.calls(tools, "`tools`"),
            None => self.refuse(
                entry.key.span,
                "`tools` is missing",
                "write `tools: []` when there is nothing to do",
            ),
        }
    }

    /// The list form has always ignored keys it does not know.
    fn only(&mut self, mapping: &Mapping, of: &str, keys: &[&str]) {
        for entry in &mapping.entries {
            if !keys.contains(&entry.key.text.as_str()) {
                self.unknown_key(entry, Severity::Warning, of, keys);
            }
        }
    }
}

impl Draft {
    fn next(&self) -> StepIndex {
        StepIndex(u32::try_from(self.steps.len()).unwrap_or(u32::MAX - 1) + 1)
    }
}

fn step(index: StepIndex, kind: StepKind, text: String, entry: &Entry) -> Step {
    Step {
        index,
        kind,
        text,
        recordings: ByClassifier::default(),
        recordable: true,
        max_retries: None,
        span: span(entry.key.span),
    }
}
