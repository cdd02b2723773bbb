//! A run that is driven by hand: the only step of its one session is open while they make calls, and
//! passes when every call did. It does not know who they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use packtrain_device_actors::Lease;
use packtrain_model::trail::ToolCall;
use packtrain_model::{
    CancelCause, Failure, Outcome, RunEvent, RunOptionsSummary, SCHEMA_VERSION, SessionId,
    StepIndex, Verdict,
};
use packtrain_tools::Answer;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::host::SessionOutput;
use crate::invoke::{GIVEN_UP, Invoker};
use crate::journal::Journal;
use crate::order::SessionOrder;
use crate::request::Shard;
use crate::session::{Here, SessionContext};
use crate::stop::SessionStop;

/// The calls of a session that are made by hand.
#[derive(Debug, Default)]
pub(crate) struct ByHand {
    /// The number of the next one.
    pub(crate) next_call: Arc<AtomicU32>,
    tally: Mutex<Tally>,
}

/// How calls have gone so far.
#[derive(Debug, Default)]
struct Tally {
    calls: u32,
    not_passed: u32,
    /// The first of those that did not pass; one that failed takes precedence.
    first: Option<(String, Outcome)>,
}

impl Tally {
    fn count(&mut self, tool: &str, outcome: Outcome) {
        self.calls += 1;
        if outcome.is_passed() {
            return;
        }
        self.not_passed += 1;
        let known = self.first.as_ref().map(|(_, known)| known.exit());
        if known.is_none_or(|known| known < outcome.exit()) {
            self.first = Some((tool.to_owned(), outcome));
        }
    }

    /// What the calls mean for their step.
    fn outcome(&self) -> Outcome {
        let Some((tool, first)) = &self.first else {
            return Outcome::Passed;
        };
        let (calls, not_passed) = (self.calls, self.not_passed);
        let told = |why: &str| {
            format!("{not_passed} of {calls} calls did not pass; first `{tool}`: {why}")
        };
        match first.clone() {
            Outcome::Failed(failure) => Outcome::Failed(Failure {
                message: told(&failure.message),
                ..failure
            }),
            Outcome::Infrastructure {
                blame,
                cause,
                hint,
                unstarted,
            } => Outcome::Infrastructure {
                cause: told(&cause),
                blame,
                hint,
                unstarted,
            },
            Outcome::NeedsAgent { why } => Outcome::NeedsAgent { why: told(&why) },
            other @ (Outcome::Passed | Outcome::Skipped { .. } | Outcome::Cancelled { .. }) => {
                other
            }
        }
    }
}

/// A call that is counted when it ends or is abandoned.
struct Counted<'a> {
    tally: &'a Mutex<Tally>,
    tool: &'a str,
    outcome: Outcome,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let outcome = std::mem::replace(&mut self.outcome, Outcome::Passed);
        let mut tally = self.tally.lock();
        tally.count(self.tool, outcome);
    }
}

/// A run of one session, whose only step is carried out by hand: its journal is like any other's.
pub struct RunByHand {
    session: SessionContext,
    journal: Journal,
    begun: Instant,
    step_begun: Instant,
}

impl RunByHand {
    /// Begins an order's session on a device that was leased for it.
    ///
    /// # Errors
    /// The outcome, which is journalled, when there will be no session.
    pub async fn begin(
        order: &SessionOrder,
        lease: Lease,
        here: &Here,
        journal: Journal,
        version: String,
    ) -> Result<Self, Outcome> {
        let begun = Instant::now();
        let started = RunEvent::RunStarted {
            schema_version: SCHEMA_VERSION,
            packtrain: version,
            run: order.run.clone(),
            trails: vec![order.trail.summary()],
            devices: vec![lease.device().clone()],
            sessions: vec![order.planned.clone()],
            matrix: None,
            options: RunOptionsSummary {
                shard: Shard::All.word().to_owned(),
                working_directory: here.working_directory.display().to_string(),
                ..RunOptionsSummary::default()
            },
        };
        journal.record(started).await;
        let output = SessionOutput::new(journal.clone());
        let opened = here.open_on(order, lease, output, SessionStop::default());
        let session = match opened.await {
            Ok(session) => session,
            Err(outcome) => {
                finish(&journal, order.session.clone(), outcome.clone(), begun).await;
                return Err(outcome);
            }
        };
        session
            .reached
            .store(StepIndex::BY_HAND.0, Ordering::Relaxed);
        let step = RunEvent::StepStarted {
            session: session.id.clone(),
            step: StepIndex::BY_HAND,
        };
        session.record(step).await;
        Ok(Self {
            session,
            journal,
            begun,
            step_begun: Instant::now(),
        })
    }

    /// Whether it does not have its device any more.
    pub fn is_cut_off(&self) -> bool {
        self.session.is_cut_off()
    }

    /// Makes one call, within `limit`.
    ///
    /// # Errors
    /// The outcome, when it did not pass.
    pub async fn call(&self, call: &ToolCall, limit: Duration) -> Result<Answer, Outcome> {
        let session = &self.session;
        let mut counted = Counted {
            tally: &session.by_hand.tally,
            tool: &call.name,
            outcome: Outcome::failed(GIVEN_UP),
        };
        let invoker = Invoker::by_hand(session, limit);
        let answer = invoker.one(None, call, 0, session.caller.clone()).await;
        let answer = answer.map_err(|outcome| session.redacted(outcome));
        counted.outcome = answer.as_ref().err().cloned().unwrap_or(Outcome::Passed);
        answer
    }

    /// Ends it: cancelled, or with the result of its calls.
    pub async fn end(self, called_off: Option<CancelCause>) {
        let session = self.session;
        let outcome = match called_off {
            Some(by) => Outcome::Cancelled { by },
            None => {
                let tally = session.by_hand.tally.lock();
                tally.outcome()
            }
        };
        let step = RunEvent::StepFinished {
            session: session.id.clone(),
            step: StepIndex::BY_HAND,
            outcome: outcome.clone(),
            duration_ms: self.step_begun.elapsed(),
        };
        session.record(step).await;
        session.passed.store(outcome.is_passed(), Ordering::Relaxed);
        let id = session.id.clone();
        session.end().await;
        finish(&self.journal, id, outcome, self.begun).await;
    }
}

/// Journals the end of the session, and of the run with it.
async fn finish(journal: &Journal, session: SessionId, outcome: Outcome, begun: Instant) {
    let mut verdict = Verdict::default();
    verdict.count(&outcome, false);
    let duration_ms = begun.elapsed();
    let finished = RunEvent::SessionFinished {
        session,
        outcome,
        flaky: false,
        duration_ms,
    };
    journal.record(finished).await;
    let finished = RunEvent::RunFinished {
        verdict,
        duration_ms,
    };
    journal.record(finished).await;
}

#[cfg(test)]
mod tests {
    use packtrain_model::Blame;

    use super::*;

    fn told(calls: &[(&str, Outcome)]) -> Outcome {
        let mut tally = Tally::default();
        for (tool, outcome) in calls {
            tally.count(tool, outcome.clone());
        }
        tally.outcome()
    }

    fn lost() -> Outcome {
        Outcome::Infrastructure {
            blame: Blame::Device,
            cause: "gone".to_owned(),
            hint: None,
            unstarted: Vec::new(),
        }
    }

    #[test]
    fn a_step_by_hand_passes_only_when_every_call_did() {
        assert_eq!(told(&[]), Outcome::Passed);
        let passed = ("tap", Outcome::Passed);
        assert_eq!(told(&[passed.clone(), passed.clone()]), Outcome::Passed);
        let wrong = ("assertEquals", Outcome::failed("one is not other"));
        let other = ("tap", Outcome::failed("no such element"));
        let outcome = told(&[passed.clone(), wrong, other, passed]);
        let words = "2 of 4 calls did not pass; first `assertEquals`: one is not other";
        assert_eq!(outcome, Outcome::failed(words));
    }

    #[test]
    fn a_call_that_failed_takes_precedence_over_one_that_could_not_be_found_out() {
        let calls = [("tap", lost()), ("type", Outcome::failed("not there"))];
        let words = "2 of 2 calls did not pass; first `type`: not there";
        assert_eq!(told(&calls), Outcome::failed(words));
        let Outcome::Infrastructure { cause, .. } = told(&calls[..1]) else {
            panic!("what was not found out is no failure");
        };
        assert_eq!(cause, "1 of 1 calls did not pass; first `tap`: gone");
    }
}
