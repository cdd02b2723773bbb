//! A device in the hands of an agent: a run of its own, whose only step the agent drives by hand, so
//! that its journal and its report are like any others.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use packtrain_device_actors::{Lease, LeaseError, WaitReason};
use packtrain_drivers::{BoxFuture, DeviceId, DeviceInfo};
use packtrain_engine::{
    DeviceChange, Here, Journal, RequestedTrail, Run, RunOptions, RunRequest, SessionContext,
    SessionHost, SessionOptions, SessionOrder, SessionOutput, SessionStop, Shard, Stop, resolve,
};
use packtrain_model::memory::Redactor;
use packtrain_model::trail::{ToolCall, Trail};
use packtrain_model::{CancelCause, Outcome, RunId};
use packtrain_record::JournalWriter;
use packtrain_tools::Answer;
use tokio::sync::{RwLock, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agents::Agent;
use crate::exit::CliError;
use crate::sinks::disk::Disk;

/// How long an agent may keep a device.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How many readings of the screen are kept to be compared with.
const MARKS: usize = 8;
/// How many names are tried for a run.
const NAMES: u32 = 8;
/// How many pictures are kept to be fetched.
const PICTURES: usize = 8;

/// Why an agent does not get a device.
#[derive(Debug)]
pub(crate) enum NotHeld {
    /// It is in use; who has it, and how many wait.
    Busy(WaitReason),
    /// It cannot be had.
    Refused(String),
}

/// A device in the hands of an agent.
pub(crate) struct Held {
    /// What the agent names it by; nobody else knows it.
    pub(crate) handle: String,
    pub(crate) device: DeviceInfo,
    /// The run whose report tells what was done.
    pub(crate) run: RunId,
    session: Arc<RwLock<Option<SessionContext>>>,
    /// How it ends; the first word counts.
    done: watch::Sender<Option<Outcome>>,
    /// Cancelled when it is let go of, whatever is under way.
    closing: CancellationToken,
    closed: CancellationToken,
    seen: Mutex<Seen>,
    used: Mutex<Instant>,
}

#[derive(Default)]
struct Seen {
    next: u64,
    readings: VecDeque<(u64, String)>,
    pictures: VecDeque<(u64, Arc<Vec<u8>>)>,
}

impl Held {
    /// Leases a device for an agent and begins its run.
    ///
    /// # Errors
    /// [`NotHeld`].
    pub(crate) async fn acquire(
        agent: &Arc<Agent>,
        device: &DeviceId,
        wait: Duration,
        work: &TaskTracker,
        on_wait: impl FnMut(&WaitReason) + Send,
    ) -> Result<Arc<Self>, NotHeld> {
        let project = &agent.project;
        let holder = agent.title();
        let leasing = project.fleet().lease_with(
            device,
            &holder,
            Instant::now() + wait,
            &agent.gone,
            on_wait,
        );
        let lease = leasing.await.map_err(|error| match error {
            LeaseError::TimedOut { reason, .. } => NotHeld::Busy(reason),
            error => NotHeld::Refused(error.to_string()),
        })?;
        let begun = Self::begin(agent, lease, &holder, work).await;
        begun.map_err(|error| NotHeld::Refused(sentence(&error)))
    }

    async fn begin(
        agent: &Arc<Agent>,
        lease: Lease,
        holder: &str,
        work: &TaskTracker,
    ) -> Result<Arc<Self>, CliError> {
        let project = &agent.project;
        let device = lease.device().clone();
        let trail = driven_by(holder)?;
        let target = project.targets.of(None);
        let root = project.config.run.output_dir.clone();
        let (run, writer) = tokio::task::spawn_blocking(move || new_run(&root))
            .await
            .unwrap_or_else(|error| Err(CliError::infrastructure(error.to_string())))?;
        let folder = writer.folder().to_owned();
        let (here, toolbox) = project
            .here(
                project.agent.clone(),
                project.key.folder.clone(),
                Some(folder),
            )
            .await?;
        let mut options = RunOptions {
            session: SessionOptions {
                timeout: LONGEST,
                screenshots: packtrain_engine::Screenshots::None,
                observe: packtrain_engine::Screenshots::None,
                ..SessionOptions::default()
            },
            working_directory: project.key.folder.clone(),
            version: super::wire::VERSION.to_owned(),
            ..RunOptions::default()
        };
        options.targets.default = target;
        let plan = resolve(RunRequest {
            run: run.clone(),
            trails: vec![RequestedTrail {
                trail: Arc::new(trail),
                only: None,
                matrix: None,
            }],
            devices: vec![device.clone()],
            alike: Vec::new(),
            only_declared: false,
            driver: None,
            tags: Vec::new(),
            shard: Shard::All,
            anywhere: None,
            options,
        });
        let (journal, thread) =
            Journal::start(Box::new(Disk::new(writer)), Vec::new(), Redactor::default()).map_err(
                |error| CliError::infrastructure("cannot start the journal").because(&error),
            )?;
        let session = Arc::new(RwLock::new(None));
        let (done, doing) = watch::channel(None);
        let closing = CancellationToken::new();
        let (ready, is_ready) = oneshot::channel();
        let host = ByHand(Mutex::new(Some(Doing {
            here,
            lease,
            session: Arc::clone(&session),
            done: doing,
            closing: closing.clone(),
            ready,
        })));
        let closed = CancellationToken::new();
        let run_of_it = Run {
            plan,
            host: Arc::new(host),
            journal,
            stop: Stop::default(),
        };
        let ended = closed.clone();
        work.spawn(async move {
            // The tools stay as long as what calls them.
            let _toolbox = toolbox;
            run_of_it.execute().await;
            thread.finish().await;
            ended.cancel();
        });
        match is_ready.await {
            Ok(Ok(())) => {}
            Ok(Err(outcome)) => {
                let why = outcome.message().unwrap_or_else(|| "no session".into());
                return Err(CliError::infrastructure(why));
            }
            Err(_) => return Err(CliError::infrastructure("the session did not begin")),
        }
        Ok(Arc::new(Self {
            handle: format!("lease-{}", uuid::Uuid::new_v4().simple()),
            device,
            run,
            session,
            done,
            closing,
            closed,
            seen: Mutex::default(),
            used: Mutex::new(Instant::now()),
        }))
    }

    /// Makes one call on the device; `None` when it was let go of meanwhile.
    pub(crate) async fn call(
        &self,
        call: &ToolCall,
        limit: Duration,
    ) -> Option<Result<Answer, Outcome>> {
        self.touch();
        let calling = async {
            let session = self.session.read().await;
            let session = session.as_ref()?;
            let answer = session.call_by_hand(call, limit).await;
            if let (Err(outcome), true) = (&answer, session.is_cut_off()) {
                // The device was lost, or taken away: its lease is of no use any more.
                self.end(outcome.clone());
            }
            Some(answer)
        };
        let answer = tokio::select! {
            answer = calling => answer,
            () = self.closing.cancelled() => None,
        };
        self.touch();
        answer
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long nothing was done with it.
    pub(crate) fn idle(&self) -> Duration {
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }

    /// Gives the device back; what is under way is cancelled.
    pub(crate) fn let_go(&self) {
        self.end(Outcome::Passed);
        self.closing.cancel();
    }

    /// Gives the device back because the agent is gone, or has forgotten it.
    pub(crate) fn abandon(&self) {
        self.end(Outcome::Cancelled {
            by: CancelCause::Interrupt,
        });
        self.closing.cancel();
    }

    fn end(&self, outcome: Outcome) {
        self.done.send_if_modified(|done| {
            let is_first = done.is_none();
            if is_first {
                *done = Some(outcome);
            }
            is_first
        });
    }

    /// Whether it is of no use any more.
    pub(crate) fn is_over(&self) -> bool {
        self.done.borrow().is_some()
    }

    /// Waits until the device is free for others and the journal is whole.
    pub(crate) async fn is_closed(&self) {
        self.closed.cancelled().await;
    }

    /// Keeps a reading of the screen; answers its mark.
    pub(crate) fn keep_reading(&self, text: String) -> u64 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.next += 1;
        let mark = seen.next;
        seen.readings.push_back((mark, text));
        if seen.readings.len() > MARKS {
            seen.readings.pop_front();
        }
        mark
    }

    /// The reading of that mark, while it is kept.
    pub(crate) fn reading(&self, mark: u64) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = seen.readings.iter().find(|(number, _)| *number == mark);
        found.map(|(_, text)| text.clone())
    }

    /// Keeps a picture; answers its number.
    pub(crate) fn keep_picture(&self, png: Vec<u8>) -> u64 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.next += 1;
        let number = seen.next;
        seen.pictures.push_back((number, Arc::new(png)));
        if seen.pictures.len() > PICTURES {
            seen.pictures.pop_front();
        }
        number
    }

    /// The pictures that are kept, by number.
    pub(crate) fn pictures(&self) -> Vec<(u64, Arc<Vec<u8>>)> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.pictures.iter().cloned().collect()
    }
}

/// What a held device's run needs.
struct Doing {
    here: Here,
    lease: Lease,
    session: Arc<RwLock<Option<SessionContext>>>,
    done: watch::Receiver<Option<Outcome>>,
    closing: CancellationToken,
    ready: oneshot::Sender<Result<(), Outcome>>,
}

/// Carries out the one session of a run that is driven by hand.
struct ByHand(Mutex<Option<Doing>>);

impl SessionHost for ByHand {
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        let doing = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            match doing {
                Some(doing) => doing.carry_out(order, output, stop).await,
                None => Outcome::failed("it was let go of"),
            }
        })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        // Nobody goes on with it on another device.
        mpsc::channel(1).1
    }
}

impl Doing {
    async fn carry_out(
        self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> Outcome {
        let Self {
            here,
            lease,
            session,
            mut done,
            closing,
            ready,
        } = self;
        let opened = here.open_on(&order, lease, output, stop.clone()).await;
        match opened {
            Ok(opened) => *session.write().await = Some(opened),
            Err(outcome) => {
                // Whoever waits learns of it.
                let _ = ready.send(Err(outcome.clone()));
                return outcome;
            }
        }
        let outcome = {
            let session = session.read().await;
            let Some(context) = session.as_ref() else {
                return Outcome::failed("it was let go of");
            };
            let _ = ready.send(Ok(()));
            let done = async {
                tokio::select! {
                    done = done.wait_for(Option::is_some) => match done {
                        Ok(outcome) => outcome.clone().unwrap_or(Outcome::Passed),
                        Err(_) => Outcome::Cancelled { by: CancelCause::Interrupt },
                    },
                    () = stop.token().cancelled() => Outcome::Cancelled { by: stop.cause() },
                }
            };
            context.by_hand(done).await
        };
        // Calls under way end, and so they let go of the session.
        closing.cancel();
        if let Some(context) = session.write().await.take() {
            context.end().await;
        }
        outcome
    }
}

/// A run that has a folder.
fn new_run(root: &Path) -> Result<(RunId, JournalWriter), CliError> {
    let mut tries = 0;
    loop {
        let salt = uuid::Uuid::new_v4().as_fields().0;
        let run = RunId::new(chrono::Utc::now(), salt);
        match JournalWriter::create(root, &run) {
            Ok(writer) => return Ok((run, writer)),
            // Of many in one second two may have one name.
            Err(_) if tries < NAMES => tries += 1,
            Err(error) => {
                let refused = CliError::infrastructure("cannot write the run's journal");
                return Err(refused.because(&error));
            }
        }
    }
}

/// The trail of a session that somebody drives by hand.
fn driven_by(holder: &str) -> Result<Trail, CliError> {
    let said = serde_json::json!({
        "config": { "id": "by-hand", "title": format!("Driven by {holder}") },
        "trail": [{ "step": format!("{holder} drives the device") }],
    });
    // JSON is YAML.
    let parsed = Trail::parse(&said.to_string(), "by-hand.trail.yaml");
    let parsed = parsed.map_err(|mistakes| CliError::files("no trail for an agent", mistakes))?;
    Ok(parsed.trail)
}

/// An error in one line.
fn sentence(error: &CliError) -> String {
    let told = &error.explanation;
    let causes = [told.message.clone()]
        .into_iter()
        .chain(told.causes.clone());
    causes.collect::<Vec<_>>().join(": ")
}
