//! A device in the hands of an agent: a run of its own, whose only step the agent drives by hand, so
//! that its journal and its report are like any others.

mod session;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use packtrain_device_actors::{DeviceState, Lease, LeaseError, WaitReason};
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_engine::{Journal, RunByHand, Screenshots, SessionOptions, SessionOrder};
use packtrain_model::memory::Redactor;
use packtrain_model::trail::ToolCall;
use packtrain_model::{CancelCause, Outcome, RunId};
use packtrain_terminal::exit::CliError;
use packtrain_tools::{Answer, Caller, SharedRegistry};
use packtrain_toolsets::catalog::Listing;
use packtrain_workplace::disk::Disk;
use parking_lot::Mutex;
use tokio::sync::{RwLock, oneshot, watch};
use tokio::time::Instant;

pub(crate) use self::session::End;
use self::session::{NewRun, RecordingStore, driven_by};
use super::activity::Activity;
use super::agents::Agent;
use super::hub;
use super::toolbox::Toolbox;

/// How long an agent may keep a device.
const MAX_LEASE_DURATION: Duration = Duration::from_secs(24 * 3600);
/// How many readings of the screen are kept to be compared with.
const MARKS: usize = 8;
/// How many pictures are kept to be fetched.
const PICTURES: usize = 8;

/// Why an agent does not get a device.
#[derive(Debug)]
pub enum NotHeld {
    /// It is in use; who has it, and how many wait.
    Busy(WaitReason),
    /// The agent has it itself.
    Own,
    /// It cannot be had.
    Refused(String),
}

/// A device in the hands of an agent.
pub struct HeldDevice {
    /// What the agent names it by; nobody else knows it.
    pub handle: String,
    /// The device.
    pub device: DeviceInfo,
    /// The run whose report tells what was done.
    pub run: RunId,
    session: Arc<RwLock<Option<RunByHand>>>,
    /// What it was taken with.
    tools: (Arc<Toolbox>, SharedRegistry),
    /// How it ends; the first word counts. Its receiver goes when the device is free for others and the
    /// journal is whole.
    done: watch::Sender<Option<End>>,
    /// Why the journal is not whole, when it is not.
    unwritten: Arc<OnceLock<String>>,
    recent: Mutex<Recent>,
    /// Who has it carries out several actions, which no other's come between.
    turn: tokio::sync::Mutex<()>,
    /// How long it may be kept without doing anything with it.
    idle_timeout: Duration,
}

/// What was done with it and seen on it lately.
struct Recent {
    activity: Activity,
    next: u64,
    readings: VecDeque<(u64, String)>,
    /// The reading that was returned last, as a whole.
    told: Option<u64>,
    pictures: VecDeque<(u64, Arc<Vec<u8>>)>,
}

/// A call that is under way.
struct UnderWay<'a>(&'a HeldDevice);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.recent.lock().activity.end(Instant::now());
    }
}

impl HeldDevice {
    /// Leases the first of these devices that can be had for an agent, begins its run, and gives it to the
    /// agent.
    ///
    /// # Errors
    /// [`NotHeld`], of one of the devices when none can be had.
    pub async fn acquire(
        agent: &Arc<Agent>,
        devices: &[DeviceId],
        wait: Duration,
        on_wait: impl Fn(&DeviceId, &WaitReason) + Sync,
    ) -> Result<Arc<Self>, (DeviceId, NotHeld)> {
        let leasing = devices.iter().map(async |device| {
            let leased = Self::lease(agent, device, wait, &on_wait).await;
            leased.map_err(|why| (device.clone(), why))
        });
        let mut leasing: FuturesUnordered<_> = leasing.collect();
        let mut refusal = None;
        let (lease, _acquiring) = loop {
            match leasing.next().await {
                Some(Ok(leased)) => break leased,
                Some(Err(why)) => refusal = refusal.or(Some(why)),
                None => {
                    let none = || (devices[0].clone(), NotHeld::Refused("no device".to_owned()));
                    return Err(refusal.unwrap_or_else(none));
                }
            }
        };
        // The others are not waited for any more.
        drop(leasing);
        let device = lease.device().id.clone();
        let begun = Self::begin(agent, lease, &agent.title()).await;
        let held = begun.map_err(|error| (device, NotHeld::Refused(sentence(&error))))?;
        agent.give(&held);
        Ok(held)
    }

    /// The lease, and that the agent is about to have the device.
    async fn lease(
        agent: &Arc<Agent>,
        device: &DeviceId,
        wait: Duration,
        on_wait: &(impl Fn(&DeviceId, &WaitReason) + Sync),
    ) -> Result<(Lease, hub::UnderWay), NotHeld> {
        let holder = agent.title();
        let acquiring = agent.acquires(device);
        let giving_up = agent.gone.child_token();
        let mut is_own = false;
        let leasing = agent.project.fleet.lease_with(
            device,
            &holder,
            Instant::now() + wait,
            &giving_up,
            |reason| {
                on_wait(device, reason);
                // A holder that waits for itself waits in vain.
                let has_own =
                    matches!(&reason.state, DeviceState::Leased(has) if agent.is_titled(&has.name));
                is_own = has_own && agent.keeps(device);
                if is_own {
                    giving_up.cancel();
                }
            },
        );
        let leased = leasing.await.map(|lease| (lease, acquiring));
        leased.map_err(|error| match error {
            LeaseError::Cancelled if is_own => NotHeld::Own,
            LeaseError::TimedOut { reason, .. } => NotHeld::Busy(reason),
            error => NotHeld::Refused(error.to_string()),
        })
    }

    async fn begin(agent: &Arc<Agent>, lease: Lease, holder: &str) -> Result<Arc<Self>, CliError> {
        let project = &agent.project;
        let device = lease.device().clone();
        let trail = driven_by(holder)?;
        let target = project.targets.of(None);
        let root = project.config.run.output_dir.clone();
        let NewRun {
            run,
            writer,
            unkept,
        } = tokio::task::spawn_blocking(move || NewRun::create(&root))
            .await
            .unwrap_or_else(|error| Err(CliError::infrastructure(error.to_string())))?;
        let folder = writer.folder().to_owned();
        let (caller, working_directory) = (project.agent.clone(), project.key.folder.clone());
        let (here, toolbox) = project
            .here(caller, working_directory, Some(folder))
            .await?;
        let tools = (Arc::clone(&toolbox), here.registry.clone());
        let order = SessionOrder {
            target,
            options: SessionOptions {
                timeout: MAX_LEASE_DURATION,
                screenshots: Screenshots::None,
                observe: Screenshots::None,
                ..SessionOptions::default()
            },
            ..SessionOrder::alone(run.clone(), trail, device.clone())
        };
        let unwritten = Arc::default();
        let store = RecordingStore {
            disk: Disk::new(writer),
            failure: Arc::clone(&unwritten),
        };
        let (journal, thread) = Journal::start(Box::new(store), Vec::new(), Redactor::default())
            .map_err(|error| {
                CliError::infrastructure("cannot start the journal").because(&error)
            })?;
        unkept.keep();
        let session = Arc::new(RwLock::new(None));
        let (done, mut is_done) = watch::channel(None);
        let (ready, is_ready) = oneshot::channel();
        let (slot, failure) = (Arc::clone(&session), Arc::clone(&unwritten));
        // The caller may go away meanwhile: it is begun, and it is ended.
        agent.hub.spawn(async move {
            // The tools stay as long as what calls them.
            let _toolbox = toolbox;
            let version = super::wire::VERSION.to_owned();
            match RunByHand::begin(&order, lease, &here, journal, version).await {
                Err(outcome) => drop(ready.send(Err(outcome))),
                Ok(run) => {
                    *slot.write().await = Some(run);
                    let _ = ready.send(Ok(()));
                    let called_off = match is_done.wait_for(Option::is_some).await.as_deref() {
                        Ok(Some(End::Over)) => None,
                        Ok(Some(End::Abandoned) | None) | Err(_) => Some(CancelCause::Interrupt),
                    };
                    // Calls under way end, too, and so they let go of the session.
                    if let Some(run) = slot.write().await.take() {
                        run.end(called_off).await;
                    }
                }
            }
            if let Some(why) = thread.finish().await.failure {
                // The first counts.
                let _ = failure.set(why);
            }
            drop(is_done);
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
            tools,
            done,
            unwritten,
            recent: Mutex::new(Recent {
                activity: Activity::new(Instant::now()),
                next: 0,
                readings: VecDeque::new(),
                told: None,
                pictures: VecDeque::new(),
            }),
            turn: tokio::sync::Mutex::default(),
            idle_timeout: project.config.devices.idle_timeout.get(),
        }))
    }

    /// The tools that it was taken with, as they are listed.
    pub fn listed(&self, agent: &Caller) -> Arc<Listing> {
        let (toolbox, registry) = &self.tools;
        toolbox.catalog.of(&registry.snapshot(), agent)
    }

    /// Makes one call on the device; `None` when it was let go of meanwhile.
    pub async fn call(&self, call: &ToolCall, limit: Duration) -> Option<Result<Answer, Outcome>> {
        self.recent.lock().activity.begin();
        let _under_way = UnderWay(self);
        let mut is_done = self.done.subscribe();
        let calling = async {
            let session = self.session.read().await;
            let session = session.as_ref()?;
            let answer = session.call(call, limit).await;
            if answer.is_err() && session.is_cut_off() {
                // The device was lost, or taken away: its lease is of no use any more.
                self.end(End::Over);
            }
            Some(answer)
        };
        tokio::select! {
            answer = calling => answer,
            // It has its sender itself.
            _ = is_done.wait_for(Option::is_some) => None,
        }
    }

    /// Waits for the others that carry out several actions.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether nobody does anything with it any more, or it was kept for too long.
    pub(crate) fn is_forgotten(&self, now: Instant) -> bool {
        let activity = &self.recent.lock().activity;
        self.is_over()
            || activity.idle(now) > self.idle_timeout
            || activity.age(now) > MAX_LEASE_DURATION
    }

    /// Gives the device back; what is under way is cancelled.
    pub fn let_go(&self) {
        self.end(End::Over);
    }

    pub(crate) fn end(&self, end: End) {
        self.done.send_if_modified(|done| {
            let is_first = done.is_none();
            done.get_or_insert(end);
            is_first
        });
    }

    /// Why what is done with it is in no journal; `None` when it is.
    pub fn unwritten(&self) -> Option<&str> {
        self.unwritten.get().map(String::as_str)
    }

    /// Whether it is of no use any more.
    pub fn is_over(&self) -> bool {
        self.done.borrow().is_some()
    }

    /// Waits until the device is free for others and the journal is whole.
    pub async fn is_closed(&self) {
        self.done.closed().await;
    }

    /// Keeps a reading of the screen; answers its mark, which is that of one that is kept and says the same.
    pub fn keep_reading(&self, text: String) -> u64 {
        let mut recent = self.recent.lock();
        let same = recent.readings.iter().position(|(_, kept)| *kept == text);
        if let Some(again) = same.and_then(|at| recent.readings.remove(at)) {
            // It is the latest, whatever was seen between.
            let mark = again.0;
            recent.readings.push_back(again);
            return mark;
        }
        recent.next += 1;
        let mark = recent.next;
        recent.readings.push_back((mark, text));
        if recent.readings.len() > MARKS {
            recent.readings.pop_front();
        }
        mark
    }

    /// A whole reading was returned.
    pub fn tell(&self, mark: u64) {
        let mut recent = self.recent.lock();
        recent.told = Some(mark);
    }

    /// The mark of the reading that was returned last, if it is kept.
    pub fn last_told(&self) -> Option<u64> {
        let recent = self.recent.lock();
        let is_kept = |mark: &u64| recent.readings.iter().any(|(kept, _)| kept == mark);
        recent.told.filter(is_kept)
    }

    /// The reading of that mark, while it is kept.
    pub fn reading(&self, mark: u64) -> Option<String> {
        let recent = self.recent.lock();
        let found = recent.readings.iter().find(|(number, _)| *number == mark);
        found.map(|(_, text)| text.clone())
    }

    /// Keeps a picture; answers its number.
    pub fn keep_picture(&self, png: Vec<u8>) -> u64 {
        let mut recent = self.recent.lock();
        recent.next += 1;
        let number = recent.next;
        recent.pictures.push_back((number, Arc::new(png)));
        if recent.pictures.len() > PICTURES {
            recent.pictures.pop_front();
        }
        number
    }

    /// The pictures that are kept, by number.
    pub fn pictures(&self) -> Vec<(u64, Arc<Vec<u8>>)> {
        let recent = self.recent.lock();
        recent.pictures.iter().cloned().collect()
    }
}

/// An error in one line.
fn sentence(error: &CliError) -> String {
    let told = &error.explanation;
    let mistakes = told.diagnostics.iter().map(ToString::to_string);
    let parts = [told.message.clone()]
        .into_iter()
        .chain(told.causes.clone());
    parts.chain(mistakes).collect::<Vec<_>>().join(": ")
}
