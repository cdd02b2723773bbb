//! The unified form: `config`, `trailhead`, `trail`.

use super::fields::span;
use super::{Form, Reader, Trail};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ids::StepIndex;
use crate::source::Span;
use crate::trail::{Config, Step};
use crate::yaml::{Entry, Mapping, Node};

const ROOT_KEYS: [&str; 3] = ["config", "trailhead", "trail"];

impl Reader<'_> {
    pub(super) fn unified(&mut self, root: &Mapping, place: Option<Span>) -> Option<Trail> {
        for entry in &root.entries {
            if !ROOT_KEYS.contains(&entry.key.text.as_str()) {
                self.unknown_key(entry, Severity::Error, "a trail", &ROOT_KEYS);
            }
        }
        let config = match root.get("config") {
            // `config:` with nothing below it is an empty one.
            Some(value) if value.is_null() => Some(Config::default()),
            Some(value) => self.config(value),
            None => Some(Config::default()),
        };
        let trailhead = root
            .entry("trailhead")
            .map(|entry| self.trailhead(&entry.value));
        let steps = match root.entry("trail") {
            Some(entry) => self.steps(entry),
            None => Some(Vec::new()),
        };
        if steps.as_ref().is_some_and(Vec::is_empty) {
            self.without_steps(root, place)?;
        }
        Some(Trail {
            config: config?,
            trailhead: match trailhead {
                Some(trailhead) => Some(trailhead?),
                None => None,
            },
            steps: steps?,
            form: Form::Unified,
            source: self.source.clone(),
            variables: std::collections::BTreeMap::new(),
        })
    }

    /// Only a file that is all `config` may have no steps: it describes a trail to come.
    fn without_steps(&mut self, root: &Mapping, place: Option<Span>) -> Option<()> {
        let trail = root.entry("trail");
        if let Some(trailhead) = root.entry("trailhead") {
            let at = trail.unwrap_or(trailhead).key.span;
            return self.refuse(
                at,
                "a trail with a trailhead needs steps",
                "add `trail:` with a list of steps",
            );
        }
        if root.entry("config").is_none() {
            let at = match (trail, place) {
                (Some(trail), _) => trail.key.span,
                (None, place) => place,
            };
            return self.refuse(
                at,
                "the trail has no steps",
                "add `trail:` with a list of steps",
            );
        }
        if let Some(trail) = trail {
            self.tell(Diagnostic::warning(
                self.source,
                trail.key.span,
                "the trail has no steps",
            ));
        }
        Some(())
    }

    fn steps(&mut self, entry: &Entry) -> Option<Vec<Step>> {
        let Node::Sequence(items) = &entry.value.node else {
            let hint = if entry.value.is_null() {
                "add steps below it, or leave `trail:` out of a file that is only `config:`"
            } else {
                "begin each step with `- `"
            };
            let message = format!(
                "expected `trail` to be a list of steps, found {}",
                entry.value.kind()
            );
            return self.refuse(span(entry.key.span), message, hint);
        };
        let steps: Vec<Option<Step>> = (1..)
            .zip(&items.items)
            .map(|(place, item)| self.step(item, StepIndex(place)))
            .collect();
        steps.into_iter().collect()
    }
}
