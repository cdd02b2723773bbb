//! Which screens the comparison of configurations speaks of: their trees and pictures go into the
//! file before all others.

use std::collections::{HashMap, HashSet};

use packtrain_model::StepIndex;
use serde_json::Value;

use crate::view::{RunView, StepView};

/// Steps of sessions that are compared, by the id of the session's attempt that counts.
#[derive(Default)]
pub(super) struct Compared {
    steps: HashSet<(String, u32)>,
}

impl Compared {
    pub(super) fn of(view: &RunView, comparison: Option<&Value>) -> Self {
        let mut compared = Self::default();
        let Some(comparison) = comparison else {
            return compared;
        };
        // The attempt that counts, which has another id after a retry.
        let attempts: HashMap<&str, &str> = view
            .sessions()
            .filter_map(|(_, session)| Some((&*session.id.0, &*session.last()?.id.0)))
            .collect();
        let ids: Vec<Option<&&str>> = list(comparison, "sessions")
            .iter()
            .map(|session| attempts.get(session.get("session")?.as_str()?))
            .collect();
        let occurrences = list(comparison, "clusters")
            .iter()
            .flat_map(|cluster| list(cluster, "occurrences"));
        let pairs = ["differences", "visual"].map(|key| list(comparison, key));
        for pair in occurrences.chain(pairs.into_iter().flatten()) {
            let step = number(pair, "step").and_then(|step| u32::try_from(step).ok());
            for key in ["session", "nearest", "against"] {
                let place = number(pair, key).and_then(|place| usize::try_from(place).ok());
                let id = place.and_then(|place| *ids.get(place)?);
                if let (Some(id), Some(step)) = (id, step) {
                    compared.steps.insert(((*id).to_owned(), step));
                }
            }
        }
        compared
    }

    pub(super) fn has(&self, attempt: &str, step: StepIndex) -> bool {
        self.steps.contains(&(attempt.to_owned(), step.0))
    }

    /// The steps that are compared.
    pub(super) fn steps<'a>(&'a self, view: &'a RunView) -> impl Iterator<Item = &'a StepView> {
        view.sessions()
            .flat_map(|(_, session)| &session.attempts)
            .flat_map(|attempt| attempt.steps.iter().map(move |step| (attempt, step)))
            .filter(|(attempt, step)| self.has(&attempt.id.0, step.step))
            .map(|(_, step)| step)
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let found = value.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64)
}
