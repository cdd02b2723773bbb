//! Which screens the comparison of configurations speaks of: their trees and pictures go into the
//! file before all others.

use std::collections::{HashMap, HashSet};

use packtrain_compare::answer::Comparison;
use packtrain_model::StepIndex;

use crate::view::{AttemptView, RunView, StepView};

/// Steps of sessions that are compared, by the id of the attempt.
#[derive(Default)]
pub(super) struct Compared {
    steps: HashSet<(String, u32)>,
}

impl Compared {
    pub(super) fn of(view: &RunView, comparison: &Comparison) -> Self {
        let mut compared = Self::default();
        let sessions = view.sessions();
        let sessions = sessions.map(|(_, one)| (&*one.id.0, &*one.attempts));
        let sessions: HashMap<&str, &[AttemptView]> = sessions.collect();
        // The attempt that was seen, or the one that counts.
        let mut add = |place: usize, attempt: Option<u32>, step: u32| {
            let session = comparison.sessions.get(place);
            let attempts = session.and_then(|session| sessions.get(&*session.session));
            let attempt = attempts.and_then(|all| match attempt {
                Some(number) => all.iter().find(|one| one.number.0 == number),
                None => all.last(),
            });
            if let Some(attempt) = attempt {
                compared.steps.insert((attempt.id.0.clone(), step));
            }
        };
        for cluster in &comparison.clusters {
            for one in &cluster.occurrences {
                add(one.session, one.attempt, one.step);
                if let Some(nearest) = one.nearest {
                    add(nearest, None, one.nearest_step.unwrap_or(one.step));
                }
            }
        }
        for one in &comparison.differences {
            add(one.session, None, one.step);
            add(one.against, None, one.against_step.unwrap_or(one.step));
        }
        for one in &comparison.visual {
            add(one.session, None, one.step);
            add(one.against, None, one.step);
        }
        compared
    }

    pub(super) fn has(&self, attempt: &str, step: StepIndex) -> bool {
        self.steps.contains(&(attempt.to_owned(), step.0))
    }

    /// The steps that are compared.
    pub(super) fn steps<'a>(&'a self, view: &'a RunView) -> impl Iterator<Item = &'a StepView> {
        let steps = view.steps();
        let compared = steps.filter(|(attempt, step)| self.has(&attempt.id.0, step.step));
        compared.map(|(_, step)| step)
    }
}
