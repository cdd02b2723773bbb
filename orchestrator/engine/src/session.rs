//! A session: one attempt of one trail on one device, from lease to release.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use packtrain_device_actors::Fleet;
use packtrain_drivers::{Command, DeviceId, SessionOptions};
use packtrain_model::memory::Memory;
use packtrain_model::template::{Filled, Scope};
use packtrain_model::trail::{Recorded, Step, Trail, lineage};
use packtrain_model::yaml::Value;
use packtrain_model::{AttemptNumber, Outcome, RunEvent, SessionId, SessionIndex, StepIndex};
use packtrain_tools::{Registry, SessionScope, Tool, ToolError};

use crate::invoke::StepCalls;
use crate::journal::Journal;
use crate::judge::{judge, judge_lease};
use crate::loader::TrailLoader;
use crate::request::RunOptions;
use crate::resolve::Plan;
use crate::stop::Stop;

/// How long a device may take to let go of a session.
const ENDING: Duration = Duration::from_secs(15);

/// What all sessions of a run share.
pub(crate) struct Stage {
    pub(crate) plan: Plan,
    pub(crate) fleet: Fleet,
    pub(crate) registry: Registry,
    pub(crate) journal: Journal,
    pub(crate) loader: Arc<dyn TrailLoader>,
    pub(crate) stop: Stop,
}

/// A session under way.
pub(crate) struct Walk<'a> {
    pub(crate) id: SessionId,
    pub(crate) scope: &'a SessionScope,
    pub(crate) registry: &'a Registry,
    pub(crate) journal: &'a Journal,
    pub(crate) loader: &'a dyn TrailLoader,
    pub(crate) options: &'a RunOptions,
    pub(crate) stop: &'a Stop,
    /// The device's classifiers, closest first.
    pub(crate) lineage: Vec<String>,
    pub(crate) deadline: Instant,
    /// The step that was started last.
    pub(crate) reached: AtomicU32,
}

impl Stage {
    /// Runs one attempt to its end. Nothing that happens to the device or the app is an error.
    pub(crate) async fn session(
        &self,
        place: usize,
        attempt: AttemptNumber,
        device: &DeviceId,
    ) -> (SessionId, Outcome, Duration) {
        let id = SessionId::new(SessionIndex(place), attempt);
        let planned = &self.plan.sessions[place];
        let trail = &self.plan.trails[planned.trail];
        let mut event = planned.event();
        event.device = Some(device.clone());
        let started = |info: packtrain_drivers::DeviceInfo| RunEvent::SessionStarted {
            session: id.clone(),
            planned: event.clone(),
            attempt,
            device: info,
        };
        let begun = Instant::now();
        let leased = self
            .fleet
            .lease(
                device,
                &format!("{} of run {}", id, self.plan.run),
                begun + self.plan.options.connect_timeout,
                self.stop.token(),
            )
            .await;
        let outcome = match leased {
            Ok(lease) => {
                self.journal.record(started(lease.device().clone())).await;
                self.with_lease(&id, trail, lease).await
            }
            Err(error) => {
                if let Some(info) = self.plan.device(device) {
                    self.journal.record(started(info.clone())).await;
                }
                judge_lease(&error, self.stop.cause())
            }
        };
        (id, outcome, begun.elapsed())
    }

    async fn with_lease(
        &self,
        id: &SessionId,
        trail: &Arc<Trail>,
        lease: packtrain_device_actors::Lease,
    ) -> Outcome {
        let options = &self.plan.options;
        let memory = match memory_for(trail, options) {
            Ok(memory) => memory,
            Err(message) => return Outcome::failed(message),
        };
        let folder = Path::new(trail.source.name()).parent().map(Path::to_owned);
        let folders = folder
            .into_iter()
            .chain([options.working_directory.clone()])
            .collect::<Vec<_>>();
        let deadline = Instant::now() + options.session_timeout;
        let lineage = lineage(&lease.device().classifiers);
        let logs = options.device_logs.as_ref();
        let device_log = logs.map(|all| all.join(format!("{id}.log")));
        let target = options.targets.of(trail.config.target.as_deref());
        let begin = Command::Begin(SessionOptions {
            base_url: target.base_url.clone(),
            folders: folders.clone(),
            downloads: options.downloads.as_ref().map(|all| all.join(&id.0)),
            device_log: device_log.clone(),
        });
        let scope = SessionScope::new(lease, memory, target, folders, self.stop.token().clone());
        let walk = Walk {
            id: id.clone(),
            scope: &scope,
            registry: &self.registry,
            journal: &self.journal,
            loader: &*self.loader,
            options,
            stop: &self.stop,
            lineage,
            deadline,
            reached: AtomicU32::new(0),
        };
        let mut outcome = match scope.lease.execute(begin, deadline).await {
            Ok(_) => walk.steps(trail).await,
            Err(error) => judge(&error.into(), "begin", None, self.stop.cause()),
        };
        let _ = scope
            .lease
            .execute(Command::End, Instant::now() + ENDING)
            .await;
        // The device may have said more since the last step.
        let reached = StepIndex(walk.reached.load(Ordering::Relaxed));
        walk.journal_device_events(reached).await;
        if let Some(path) = device_log {
            walk.keep_device_log(reached, path).await;
        }
        outcome.redact(scope.memory().redactor());
        outcome
    }
}

impl Walk<'_> {
    /// Walks the trailhead and the steps until one does not pass.
    async fn steps(&self, trail: &Trail) -> Outcome {
        for step in trail.all_steps() {
            self.scope.lease.renew();
            self.reached.store(step.index.0, Ordering::Relaxed);
            self.record(RunEvent::StepStarted {
                session: self.id.clone(),
                step: step.index,
            })
            .await;
            let begun = Instant::now();
            let outcome = self.step(trail, step).await;
            self.record(RunEvent::StepFinished {
                session: self.id.clone(),
                step: step.index,
                outcome: outcome.clone(),
                duration_ms: begun.elapsed(),
            })
            .await;
            self.keep_evidence(step.index, &outcome).await;
            self.journal_device_events(step.index).await;
            if !outcome.is_passed() {
                return outcome;
            }
        }
        Outcome::Passed
    }

    async fn step(&self, trail: &Trail, step: &Step) -> Outcome {
        if self.stop.token().is_cancelled() {
            return Outcome::Cancelled {
                by: self.stop.cause(),
            };
        }
        let calls = match step.recording_for(&self.lineage) {
            Recorded::Unknown => return self.needs_agent(),
            Recorded::NoAction(_) => return Outcome::Passed,
            Recorded::Calls(_, calls) => calls,
        };
        let step_calls = StepCalls {
            walk: self,
            step: step.index,
            next: AtomicU32::new(0),
        };
        match step_calls.all(trail, calls, 0).await {
            Ok(()) => Outcome::Passed,
            Err(Outcome::Failed(mut failure)) if Instant::now() >= self.deadline => {
                failure.message = format!(
                    "the session's {:.0} s are over: {}",
                    self.options.session_timeout.as_secs_f64(),
                    failure.message
                );
                failure.hint = Some("`--timeout` allows a session more".to_owned());
                Outcome::Failed(failure)
            }
            Err(outcome) => outcome,
        }
    }

    pub(crate) fn needs_agent(&self) -> Outcome {
        Outcome::NeedsAgent {
            why: format!("no recording for {}", self.lineage.join(" or ")),
        }
    }

    /// The arguments of a call in this trail, with their templates filled in.
    pub(crate) fn filled_in(
        &self,
        arguments: &Value,
        tool: Option<&Arc<dyn Tool>>,
        trail: &Trail,
    ) -> Result<Filled<Value>, ToolError> {
        let scope = Scope {
            memory: &self.scope.memory(),
            params: None,
            app_ids: self.scope.app_ids(),
            code: tool.map_or(&[], |tool| &tool.spec().code),
            undefined: trail.config.undefined,
        };
        scope.fill(arguments).map_err(|error| ToolError::Failed {
            message: error.to_string(),
            log: Vec::new(),
            hint: error.hint().map(str::to_owned),
        })
    }

    /// Journals an event without what the session has learned must not be shown.
    pub(crate) async fn record(&self, mut event: RunEvent) {
        event.redact(self.scope.memory().redactor());
        self.journal.record(event).await;
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.scope.memory().redactor().redact(text).into_owned()
    }
}

/// What a session of this trail remembers from the start.
fn memory_for(trail: &Trail, options: &RunOptions) -> Result<Memory, String> {
    let mut memory = Memory::seeded(&trail.config.memory, &options.memory, &options.secrets);
    let args = trail
        .config
        .bind_args(&trail.source, &options.args)
        .map_err(|problems| {
            let told: Vec<_> = problems
                .iter()
                .map(|problem| problem.message.clone())
                .collect();
            told.join("; ")
        })?;
    memory
        .set_args(args, trail.config.undefined)
        .map_err(|error| error.to_string())?;
    Ok(memory)
}
