//! A run: owns the cancel token, gives each device its work, counts the verdict.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use packtrain_device_actors::Fleet;
use packtrain_drivers::DeviceId;
use packtrain_model::{
    AttemptNumber, Blame, CancelCause, Outcome, RunEvent, SessionId, SessionIndex, Verdict,
};
use packtrain_tools::Registry;
use tokio::task::JoinSet;

use crate::journal::Journal;
use crate::loader::TrailLoader;
use crate::resolve::Plan;
use crate::schedule::{Assignment, Next, Schedule};
use crate::session::Stage;
use crate::stop::Stop;

/// A device that could not be used this often in a row gets no further sessions.
const GIVE_UP: u32 = 2;

/// Everything a run needs.
pub struct Run {
    /// What will run.
    pub plan: Plan,
    /// The devices.
    pub fleet: Fleet,
    /// The tools.
    pub registry: Registry,
    /// Where events go.
    pub journal: Journal,
    /// Where trails inside trails come from.
    pub loader: Arc<dyn TrailLoader>,
    /// How it is stopped.
    pub stop: Stop,
}

impl Run {
    /// Runs the plan to its end and answers the verdict, which is journalled before.
    pub async fn execute(self) -> Verdict {
        let begun = Instant::now();
        let stage = Arc::new(Stage {
            plan: self.plan,
            fleet: self.fleet,
            registry: self.registry,
            journal: self.journal,
            loader: self.loader,
            stop: self.stop,
        });
        stage.journal.record(stage.plan.started()).await;
        let ledger = Arc::new(Ledger::new(&stage.plan));
        stage.skip(&ledger).await;
        let mut workers = JoinSet::new();
        for device in &stage.plan.devices {
            let worker = Worker {
                device: device.id.clone(),
                stage: Arc::clone(&stage),
                ledger: Arc::clone(&ledger),
            };
            workers.spawn(worker.work());
        }
        let mut announced = false;
        loop {
            tokio::select! {
                ended = workers.join_next() => match ended {
                    Some(Ok(())) => {}
                    // A bug of ours in one worker must not cost the other devices their results.
                    Some(Err(error)) => tracing::error!(%error, "a device's worker failed"),
                    None => break,
                },
                () = stage.stop.token().cancelled(), if !announced => {
                    announced = true;
                    ledger.schedule().stop();
                    stage.journal.record(RunEvent::StopRequested).await;
                }
            }
        }
        stage.give_up_on_rest(&ledger).await;
        let verdict = ledger.verdict();
        stage
            .journal
            .record(RunEvent::RunFinished {
                verdict: verdict.clone(),
                duration_ms: begun.elapsed(),
            })
            .await;
        verdict
    }
}

/// What the workers of a run share: who does what next, and how it ended.
struct Ledger {
    schedule: Mutex<Schedule>,
    verdict: Mutex<Verdict>,
}

impl Ledger {
    fn new(plan: &Plan) -> Self {
        let devices: Vec<_> = plan
            .devices
            .iter()
            .map(|device| device.id.clone())
            .collect();
        let mut schedule = Schedule::new(&devices, plan.options.retries);
        for (place, planned) in plan.sessions.iter().enumerate() {
            if planned.skip.is_none() {
                schedule.add(place, &planned.devices);
            }
        }
        Self {
            schedule: Mutex::new(schedule),
            verdict: Mutex::default(),
        }
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn count(&self, outcome: &Outcome, flaky: bool) {
        let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        verdict.count(outcome, flaky);
    }
}

/// Gives one device its work until there is none left.
struct Worker {
    device: DeviceId,
    stage: Arc<Stage>,
    ledger: Arc<Ledger>,
}

impl Worker {
    async fn work(self) {
        let mut unusable = 0;
        while unusable < GIVE_UP {
            let Some(assignment) = self.ledger.schedule().next(&self.device) else {
                return;
            };
            let (id, outcome, duration) = self
                .stage
                .session(assignment.place, assignment.attempt, &self.device)
                .await;
            unusable = match outcome {
                Outcome::Infrastructure { .. } => unusable + 1,
                _ => 0,
            };
            self.settle(&assignment, id, outcome, duration).await;
        }
        tracing::warn!(device = %self.device, "no further sessions on this device");
    }

    async fn settle(
        &self,
        assignment: &Assignment,
        session: SessionId,
        outcome: Outcome,
        duration_ms: Duration,
    ) {
        let next = match outcome {
            Outcome::Passed | Outcome::Skipped { .. } | Outcome::Cancelled { .. } => Next::Final,
            // Trying again does not make a recording appear.
            Outcome::NeedsAgent { .. } => Next::Final,
            Outcome::Failed(_) | Outcome::Infrastructure { .. } => {
                self.ledger.schedule().failed(&self.device, assignment)
            }
        };
        match next {
            Next::Retry(next) => {
                let event = RunEvent::SessionWillRetry {
                    session,
                    next,
                    outcome,
                    duration_ms,
                };
                self.stage.journal.record(event).await;
            }
            Next::Final => {
                let flaky = outcome.is_passed() && assignment.attempt.0 > 1;
                self.ledger.count(&outcome, flaky);
                let bad = matches!(
                    outcome,
                    Outcome::Failed(_)
                        | Outcome::NeedsAgent { .. }
                        | Outcome::Infrastructure { .. }
                );
                let event = RunEvent::SessionFinished {
                    session,
                    outcome,
                    flaky,
                    duration_ms,
                };
                self.stage.journal.record(event).await;
                if bad && self.stage.plan.options.fail_fast {
                    self.stage.stop.request(CancelCause::FailFast);
                }
            }
        }
    }
}

impl Stage {
    /// Journals what the trails skip.
    async fn skip(&self, ledger: &Ledger) {
        for (place, planned) in self.plan.sessions.iter().enumerate() {
            if let Some(reason) = &planned.skip {
                let reason = reason.clone();
                let outcome = Outcome::Skipped { reason };
                self.not_run(ledger, place, AttemptNumber(1), outcome).await;
            }
        }
    }

    /// Journals what no device was left for.
    async fn give_up_on_rest(&self, ledger: &Ledger) {
        let rest = ledger.schedule().drain();
        for assignment in rest {
            let outcome = if self.stop.token().is_cancelled() {
                Outcome::Cancelled {
                    by: self.stop.cause(),
                }
            } else {
                Outcome::Infrastructure {
                    blame: Blame::Device,
                    cause: "no usable device was left for it".to_owned(),
                    hint: Some("the sessions before it on the same device say why".to_owned()),
                }
            };
            self.not_run(ledger, assignment.place, assignment.attempt, outcome)
                .await;
        }
    }

    async fn not_run(
        &self,
        ledger: &Ledger,
        place: usize,
        attempt: AttemptNumber,
        outcome: Outcome,
    ) {
        let planned = &self.plan.sessions[place];
        let session = SessionId::new(SessionIndex(place), attempt);
        let device = planned.devices.first().and_then(|id| self.plan.device(id));
        if let Some(device) = device {
            let mut event = planned.event();
            event.device = Some(device.id.clone());
            self.journal
                .record(RunEvent::SessionStarted {
                    session: session.clone(),
                    planned: event,
                    attempt,
                    device: device.clone(),
                })
                .await;
        }
        ledger.count(&outcome, false);
        self.journal
            .record(RunEvent::SessionFinished {
                session,
                outcome,
                flaky: false,
                duration_ms: Duration::ZERO,
            })
            .await;
    }
}
