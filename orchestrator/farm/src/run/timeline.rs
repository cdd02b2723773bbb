//! What a host has told of a session: whether its verdict follows from it, and how long it took. Pure. It
//! does not know how any of it came here.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_model::trail::Trail;
use packtrain_model::{Outcome, RunEvent, StepIndex};
use tokio::time::Instant;

/// What was reported of a session.
#[derive(Debug, Default)]
pub(super) struct SessionTimeline {
    /// How steps ended; the last word of each counts.
    steps: BTreeMap<StepIndex, Outcome>,
    /// When its first and its last event happened, by its host's clock.
    events: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// When the first and the last was said of it, by the server's clock.
    said: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// When its grant was heard.
    granted: Option<Instant>,
}

impl SessionTimeline {
    /// Something was said of it, stored by the server at that moment.
    pub(super) fn said(&mut self, at: DateTime<Utc>) {
        let (first, last) = self.said.unwrap_or((at, at));
        self.said = Some((first.min(at), last.max(at)));
    }

    /// It was granted a device.
    pub(super) fn granted(&mut self) {
        self.granted.get_or_insert_with(Instant::now);
    }

    /// Something happened in it, at that moment by its host's clock.
    pub(super) fn happened(&mut self, event: &RunEvent, at: DateTime<Utc>) {
        if let RunEvent::StepFinished { step, outcome, .. } = event {
            self.steps.insert(*step, outcome.clone());
        }
        let first = self.events.map_or(at, |(first, _)| first);
        self.events = Some((first, at));
    }

    /// What the outcome that a host calls is taken for.
    ///
    /// # Errors
    /// Why it is not believed: a clause about the host.
    pub(super) fn judge(&self, called: Outcome, trail: &Trail) -> Result<Outcome, String> {
        match called {
            // The planner reports what is not run, and never asks for it.
            Outcome::Skipped { .. } => Err("skipped what it was asked for".to_owned()),
            Outcome::Passed => {
                // A pass is one of every step, each told.
                let failed = self.steps.values().find(|outcome| !outcome.is_passed());
                if let Some(failed) = failed {
                    return match failed {
                        Outcome::Failed(failure) => Ok(Outcome::Failed(failure.clone())),
                        _ => Err("calls it passed and told of a step that did not".to_owned()),
                    };
                }
                let steps = trail.all_steps();
                let untold = steps
                    .filter(|step| !self.steps.contains_key(&step.index))
                    .count();
                if untold > 0 {
                    return Err(format!(
                        "calls it passed and told nothing of {untold} steps"
                    ));
                }
                Ok(Outcome::Passed)
            }
            other => Ok(other),
        }
    }

    /// How long it took; neither the queue nor reading again counts. No clock of a host's makes it longer
    /// than it can have been.
    pub(super) fn took(&self) -> Duration {
        let between = |times: Option<(DateTime<Utc>, DateTime<Utc>)>| {
            let (first, last) = times?;
            (last - first).to_std().ok()
        };
        let Some(granted) = self.granted else {
            return Duration::ZERO;
        };
        let most = between(self.said).unwrap_or_default();
        let most = most.max(granted.elapsed());
        match self.events {
            Some(_) => between(self.events).unwrap_or_default().min(most),
            None => most,
        }
    }

    /// How long it was waited for in vain, since its grant was heard.
    pub(super) fn waited(&self) -> Duration {
        let granted = self.granted.map(|granted| granted.elapsed());
        granted.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use packtrain_model::{Failure, SessionId};

    use super::*;

    fn trail() -> Trail {
        let text = "trail:\n- step: one\n- step: two\n";
        Trail::parse(text, "a.trail.yaml").unwrap().trail
    }

    fn finished(step: &packtrain_model::trail::Step, outcome: Outcome) -> RunEvent {
        RunEvent::StepFinished {
            session: SessionId("s1".to_owned()),
            step: step.index,
            outcome,
            duration_ms: Duration::ZERO,
        }
    }

    /// The events of steps that ended with these outcomes, in this order.
    fn told(steps: &[(usize, Outcome)]) -> SessionTimeline {
        let (trail, mut told) = (trail(), SessionTimeline::default());
        for (step, outcome) in steps {
            let event = finished(&trail.steps[*step], outcome.clone());
            told.happened(&event, DateTime::UNIX_EPOCH);
        }
        told
    }

    #[test]
    fn a_pass_is_one_of_every_step() {
        let (trail, passed) = (trail(), Outcome::Passed);
        let all = told(&[(0, passed.clone()), (1, passed.clone())]);
        assert_eq!(all.judge(passed.clone(), &trail), Ok(passed.clone()));
        let some = told(&[(0, passed.clone())]);
        let refused = some.judge(passed, &trail).unwrap_err();
        assert_eq!(refused, "calls it passed and told nothing of 1 steps");
    }

    #[test]
    fn a_step_that_was_told_to_have_failed_at_last_forbids_the_pass() {
        let (trail, passed) = (trail(), Outcome::Passed);
        let failed = Outcome::Failed(Failure {
            message: "no button".to_owned(),
            ..Failure::default()
        });
        let both = told(&[
            (0, passed.clone()),
            (1, passed.clone()),
            (1, failed.clone()),
        ]);
        assert_eq!(both.judge(passed.clone(), &trail), Ok(failed));
        let skipped = Outcome::Skipped {
            reason: "no".to_owned(),
        };
        let odd = told(&[(0, passed.clone()), (1, skipped)]);
        assert!(odd.judge(passed, &trail).is_err());
    }

    #[test]
    fn no_host_skips_what_it_was_asked_for() {
        let skipped = Outcome::Skipped {
            reason: "no".to_owned(),
        };
        assert!(SessionTimeline::default().judge(skipped, &trail()).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_hosts_clock_makes_no_session_longer_than_it_was_waited_for() {
        let (trail, mut told) = (trail(), SessionTimeline::default());
        assert_eq!(told.took(), Duration::ZERO);
        told.granted();
        let event = finished(&trail.steps[0], Outcome::Passed);
        told.happened(&event, DateTime::<Utc>::MIN_UTC);
        told.happened(&event, DateTime::<Utc>::MAX_UTC);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(told.took(), Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_read_again_took_as_long_as_it_was_then() {
        let (trail, mut told) = (trail(), SessionTimeline::default());
        let begun = DateTime::UNIX_EPOCH;
        let ended = begun + TimeDelta::seconds(9);
        told.granted();
        told.said(begun);
        told.said(ended);
        assert_eq!(told.took(), Duration::from_secs(9), "lost without a word");
        let event = finished(&trail.steps[0], Outcome::Passed);
        told.happened(&event, begun);
        told.happened(&event, begun + TimeDelta::seconds(8));
        assert_eq!(told.took(), Duration::from_secs(8));
        told.happened(&event, begun + TimeDelta::days(8));
        assert_eq!(told.took(), Duration::from_secs(9));
    }
}
