//! A run: one loop that carries out what the dispatcher decides, from the plan to the verdict.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use packtrain_model::{Blame, Exit, Outcome, RunEvent, Verdict};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use crate::dispatch::{Action, Assignment, Dispatcher, Event};
use crate::host::{SessionHost, SessionOutput};
use crate::journal::Journal;
use crate::pairs::Pairs;
use crate::resolve::Plan;
use crate::stop::{SessionStop, Stop, StopReason};

/// How long sessions may take to stop after they were asked to.
const SESSION_STOP_GRACE: Duration = Duration::from_secs(30);

/// How long a session waits that was lost twice; twice as long each time.
const LOST_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The longest that a retry is put off.
const LONGEST_RETRY_DELAY: Duration = Duration::from_secs(300);

/// Everything a run needs.
pub struct Run {
    /// What will run.
    pub plan: Plan,
    /// Where sessions are carried out.
    pub host: Arc<dyn SessionHost>,
    /// Where events go.
    pub journal: Journal,
    /// How it is stopped.
    pub stop: Stop,
}

/// The sessions under way.
#[derive(Default)]
struct Sessions {
    tasks: JoinSet<Outcome>,
    assignments: HashMap<Id, (Assignment, Instant, SessionOutput)>,
    stop: SessionStop,
    any_began: bool,
}

impl Run {
    /// Runs the plan to its end and answers the verdict, which is journalled before.
    pub async fn execute(self) -> Verdict {
        let begun = Instant::now();
        let mut changes = self.host.device_changes();
        let mut reasons = self.stop.reasons();
        // A limit too far away to be a moment is none.
        let mut time_limit = self
            .plan
            .options
            .time_limit
            .and_then(|t| begun.checked_add(t));
        let mut overdue = None;
        let mut sessions = Sessions::default();
        let mut pairs = Pairs::default();
        let mut dispatcher = Dispatcher::new(&self.plan);
        self.journal.record(self.plan.started()).await;
        let mut actions = dispatcher.handle(Event::Begin);
        loop {
            for action in actions.0 {
                match action {
                    Action::Record(event) => self.journal.record(event).await,
                    Action::Start(assignment) => self.start(assignment, &mut sessions),
                    Action::Cancel(cause) => {
                        sessions.stop.cancel(cause);
                        overdue = Some(Instant::now() + SESSION_STOP_GRACE);
                    }
                    Action::Abort => sessions.tasks.abort_all(),
                    Action::Finish(verdict) => {
                        return self.finish(verdict, begun, sessions.any_began).await;
                    }
                }
            }
            let event = tokio::select! {
                // A device that died is known to be down before what ended with it is tried again, and
                // a session that has ended is not called cancelled by a stop in the same moment.
                biased;
                Some(change) = changes.recv() => Event::DeviceChanged(change),
                Some(ended) = sessions.tasks.join_next_with_id() => {
                    sessions.ended(ended, &self.plan, &mut pairs)
                }
                reason = next(&mut reasons) => Event::Stop(reason),
                () = at(time_limit) => {
                    time_limit = None;
                    Event::Stop(StopReason::TimeLimit)
                }
                () = at(overdue) => {
                    overdue = None;
                    Event::Stop(StopReason::Overdue)
                }
            };
            actions = dispatcher.handle(event);
        }
    }

    fn start(&self, assignment: Assignment, sessions: &mut Sessions) {
        let output = SessionOutput::new(self.journal.clone());
        let told = output.clone();
        let (host, stop) = (Arc::clone(&self.host), sessions.stop.clone());
        let order = self.plan.order(&assignment);
        let delay = match (assignment.tried, assignment.lost) {
            // One that is lost again and again waits: what breaks it may pass.
            (0, lost @ 2..) => LOST_RETRY_DELAY.saturating_mul(2_u32.saturating_pow(lost - 2)),
            (0, _) => Duration::ZERO,
            (tried, _) => {
                let doubled = 2_u32.saturating_pow(tried - 1);
                let delay = self.plan.options.retry_delay;
                delay.saturating_mul(doubled).min(LONGEST_RETRY_DELAY)
            }
        };
        let stopped = stop.clone();
        let session = move || match order {
            Ok(order) => host.run(order, output, stop),
            Err(message) => Box::pin(std::future::ready(Outcome::failed(message))),
        };
        let task = if delay.is_zero() {
            // Asked for here, so that the host knows the order.
            sessions.tasks.spawn(session())
        } else {
            sessions.tasks.spawn(async move {
                tokio::select! {
                    () = tokio::time::sleep(delay) => {}
                    () = stopped.token().cancelled() => {}
                }
                session().await
            })
        };
        let id = task.id();
        sessions
            .assignments
            .insert(id, (assignment, Instant::now(), told));
    }

    async fn finish(self, mut verdict: Verdict, begun: Instant, any_began: bool) -> Verdict {
        // What was planned and never settled is not known to have passed.
        let planned = u32::try_from(self.plan.sessions.len()).unwrap_or(u32::MAX);
        let lost = Outcome::broken(Blame::Host, "its end was lost");
        for _ in verdict.settled()..planned {
            verdict.count(&lost, false);
        }
        // Nor is what could not be run because its driver is not here, when nothing else ran.
        if verdict.skipped == verdict.settled() && self.plan.lacks_a_driver() {
            verdict.exit = verdict.exit.max(Exit::Infrastructure);
        }
        // Nor does time that was over before anything began say anything of the app.
        if verdict.exit == Exit::Failed && verdict.cancelled == verdict.settled() && !any_began {
            verdict.exit = Exit::Infrastructure;
        }
        let event = RunEvent::RunFinished {
            verdict: verdict.clone(),
            duration_ms: begun.elapsed().max(self.host.before()),
        };
        self.journal.record(event).await;
        verdict
    }
}

impl Sessions {
    /// A task is over: with an outcome, by a panic, or because it was aborted.
    fn ended(
        &mut self,
        ended: Result<(Id, Outcome), JoinError>,
        plan: &Plan,
        pairs: &mut Pairs,
    ) -> Event {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome),
            Err(error) if error.is_cancelled() => {
                let by = self.stop.cause();
                (error.id(), Outcome::Cancelled { by })
            }
            Err(error) => (error.id(), panicked(error)),
        };
        let (mut assignment, begun, output) = self
            .assignments
            .remove(&id)
            .expect("every task is entered when it is spawned and ends once");
        self.any_began |= output.device().is_some();
        Event::SessionEnded {
            outcome: pairs.judge(plan, &mut assignment, output.device(), outcome),
            assignment,
            duration: output.duration().unwrap_or_else(|| begun.elapsed()),
        }
    }
}

/// A bug of ours, which must not cost other sessions their results.
fn panicked(error: JoinError) -> Outcome {
    let message = match error.try_into_panic() {
        Ok(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            text.unwrap_or("a panic without a message").to_owned()
        }
        Err(error) => error.to_string(),
    };
    Outcome::Infrastructure {
        blame: Blame::Host,
        cause: format!("packtrain panicked: {message}"),
        hint: Some("this is a bug in packtrain; please report it".to_owned()),
        unstarted: Vec::new(),
    }
}

/// The next reason to stop; never, when there is none.
async fn next(reasons: &mut watch::Receiver<Option<StopReason>>) -> StopReason {
    while reasons.changed().await.is_ok() {
        if let Some(reason) = *reasons.borrow_and_update() {
            return reason;
        }
    }
    std::future::pending().await
}

/// Ends at a moment; never without one.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
