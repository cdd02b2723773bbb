//! A source as its tools see it: which process a call goes to, and what becomes of a call that
//! nobody waits for any more. The way of a call passes no actor.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix::Recipient;
use packtrain_device_actors::Lease;
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::Blame;
use packtrain_model::memory::Redactor;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::task::TaskTracker;

use super::actor::{Order, Retire};
use super::envelope::device_env;
use super::instance::{ActiveCall, Instance};
use super::log::LogListener;
use super::mcp::PendingCall;
use super::pool::{Life, Pool, Replica, ScopeKey, Slot, SlotId};
use super::settings::{Scope, SourceSettings, Transport};
use super::start::{StartError, StartOrder};
use crate::call::SessionScope;
use crate::invocation::Invocations;
use crate::supervisor::SourceStatus;
use crate::tool::ToolError;

/// How long after a connection broke the end of its process is waited for.
const REAP_TIMEOUT: Duration = Duration::from_secs(2);
/// The least that a server may take to answer anything after a call was called off.
const ALIVE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to learn of calls that were called off before it is ended.
const TELL_TIMEOUT: Duration = Duration::from_millis(500);

/// What all sources of a supervisor share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) invocations: Invocations,
    /// Where callbacks go.
    pub(crate) base_url: String,
    /// The folder of the run; `sources` in it takes their logs.
    pub(crate) run_dir: Option<PathBuf>,
    pub(crate) search_path: OsString,
    pub(crate) redactor: Redactor,
    pub(crate) log_listener: Option<LogListener>,
    /// How long a callback may take, for clients that want to know.
    pub(crate) callback_timeout: Duration,
    /// The devices that sessions may run on, as they are known before they are connected.
    pub(crate) devices: Vec<DeviceInfo>,
    /// The session that comes first, and its device.
    pub(crate) first: Option<(String, DeviceId)>,
    pub(crate) session_prefix: String,
}

impl Surroundings {
    /// The device, when there is only one.
    fn only_device(&self) -> Option<DeviceInfo> {
        match self.devices.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}

/// A source.
pub(crate) struct Source {
    settings: SourceSettings,
    pub(super) transport: Transport,
    pub(super) scope: Scope,
    /// The devices, as far as they are known.
    devices: Mutex<Vec<DeviceInfo>>,
    around: Surroundings,
    pools: Mutex<BTreeMap<ScopeKey, Pool>>,
    bound: Mutex<BTreeSet<ScopeKey>>,
    pub(super) changed: Notify,
    admission: Arc<Semaphore>,
    actor: Mutex<Option<Recipient<Order>>>,
    called_off: TaskTracker,
    pub(super) calls: AtomicU64,
    pub(super) restarts: AtomicU32,
    pub(super) last_error: Mutex<Option<String>>,
    started: AtomicU32,
    slots: AtomicU64,
}

/// The right to one call on one process.
pub(super) struct Use {
    active: ActiveCall,
    replica: Replica,
    slot: SlotId,
    _admitted: Option<OwnedSemaphorePermit>,
    /// The call may act on its device, which is given to nobody else meanwhile.
    _device: Arc<Lease>,
}

impl Use {
    pub(super) fn instance(&self) -> &Instance {
        &self.active.0
    }

    /// Which process it is, from 1.
    pub(super) fn replica(&self) -> u32 {
        u32::try_from(self.replica)
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// The log's path below the folder of the run.
    pub(super) fn log_path(&self) -> Option<String> {
        let path = self.instance().log.path()?;
        let name = path.file_name()?.to_str()?;
        Some(format!("sources/{name}"))
    }

    /// How the process ended, if it did.
    pub(super) async fn ended(&self) -> Option<String> {
        let process = self.instance().process.as_ref()?;
        tokio::time::timeout(REAP_TIMEOUT, process.ended())
            .await
            .ok()
    }
}

impl Source {
    pub(crate) fn new(settings: SourceSettings, around: Surroundings) -> Self {
        let (transport, scope) = super::pool::mode(&settings, around.devices.len());
        Self {
            admission: Arc::new(Semaphore::new(settings.concurrency)),
            settings,
            transport,
            scope,
            devices: Mutex::new(around.devices.clone()),
            around,
            pools: Mutex::default(),
            bound: Mutex::default(),
            changed: Notify::new(),
            actor: Mutex::default(),
            called_off: TaskTracker::new(),
            calls: AtomicU64::new(0),
            restarts: AtomicU32::new(0),
            last_error: Mutex::default(),
            started: AtomicU32::new(0),
            slots: AtomicU64::new(0),
        }
    }

    pub(crate) const fn settings(&self) -> &SourceSettings {
        &self.settings
    }

    pub(super) const fn invocations(&self) -> &Invocations {
        &self.around.invocations
    }

    pub(super) fn base_url(&self) -> &str {
        &self.around.base_url
    }

    /// How long a callback may take.
    pub(super) const fn callback_timeout(&self) -> Duration {
        self.around.callback_timeout
    }

    pub(super) fn pools(&self) -> MutexGuard<'_, BTreeMap<ScopeKey, Pool>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name for the next start.
    pub(super) fn next_slot(&self) -> SlotId {
        SlotId(self.slots.fetch_add(1, Ordering::Relaxed))
    }

    /// Does something with the place of a start, when it is still there.
    pub(super) fn with_slot<T>(&self, id: SlotId, act: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let mut pools = self.pools();
        let mut slots = pools.values_mut().flat_map(|pool| &mut pool.slots);
        slots.find(|slot| slot.id == id).map(act)
    }

    /// Where a start has its place.
    pub(super) fn place_of(&self, id: SlotId) -> Option<(ScopeKey, Replica)> {
        let pools = self.pools();
        pools.iter().find_map(|(key, pool)| {
            let replica = pool.slots.iter().position(|slot| slot.id == id)?;
            Some((key.clone(), replica))
        })
    }

    /// Any process that answers.
    pub(super) fn some_instance(&self) -> Option<Arc<Instance>> {
        let pools = self.pools();
        let mut slots = pools.values().flat_map(|pool| &pool.slots);
        slots.find_map(|slot| match &slot.life {
            Life::Ready(instance) => Some(Arc::clone(instance)),
            Life::Starting | Life::BackOff | Life::Down(_) => None,
        })
    }

    /// The places of processes that stay down, with the reason.
    pub(super) fn down(&self) -> Vec<(SlotId, StartError)> {
        let pools = self.pools();
        let slots = pools.values().flat_map(|pool| &pool.slots);
        slots
            .filter_map(|slot| match &slot.life {
                Life::Down(error) => Some((slot.id, error.clone())),
                Life::Starting | Life::Ready(_) | Life::BackOff => None,
            })
            .collect()
    }

    /// Whether any process answers, or still may.
    pub(super) fn may_come_up(&self) -> bool {
        let pools = self.pools();
        let mut slots = pools.values().flat_map(|pool| &pool.slots);
        slots.any(|slot| !matches!(slot.life, Life::Down(_)))
    }

    pub(super) fn looked_after_by(&self, actor: Recipient<Order>) {
        *self.actor.lock().unwrap_or_else(PoisonError::into_inner) = Some(actor);
    }

    pub(super) fn order(&self, order: Order) {
        let actor = self.actor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(actor) = actor.as_ref() {
            // An actor that is gone has ended all processes.
            actor.do_send(order);
        }
    }

    /// What went wrong last.
    pub(crate) fn fail(&self, message: &str) {
        let mut last = self
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = Some(message.to_owned());
    }

    /// What a process is started with.
    pub(super) fn start_order(&self, key: &ScopeKey, replica: Replica) -> StartOrder {
        let around = &self.around;
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let base = file_name(&self.settings.name);
        let log_name = match number {
            0 => base,
            later => format!("{base}_{}", later + 1),
        };
        let session = match key {
            ScopeKey::Session(session, _) => session.clone(),
            ScopeKey::Shared | ScopeKey::Device(_) => {
                let (run, name) = (&around.session_prefix, &self.settings.name);
                format!("{run}_{name}_{}", replica + 1)
            }
        };
        let device = match key.device() {
            Some(id) => self
                .devices()
                .iter()
                .find(|device| device.id == *id)
                .cloned(),
            None => around.only_device(),
        };
        let timeout = around.callback_timeout + Duration::from_secs(2);
        let mut env = vec![
            ("TRAILBLAZE_SESSION_ID", session),
            ("TRAILBLAZE_BASE_URL", around.base_url.clone()),
            (
                "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS",
                timeout.as_millis().to_string(),
            ),
        ];
        if let Some(device) = &device {
            env.extend(device_env(device));
        }
        StartOrder {
            settings: self.settings.clone(),
            transport: self.transport,
            env,
            device: device.map(|device| device.id.to_string()),
            run_dir: around.run_dir.clone(),
            search_path: around.search_path.clone(),
            redactor: around.redactor.clone(),
            log_listener: around.log_listener.clone(),
            log_name,
        }
    }

    /// The process for a call of a session; started when there is none yet, waited for when it is
    /// being started.
    ///
    /// # Errors
    /// Infrastructure that is the source's fault, when it is down.
    pub(super) async fn instance(
        self: &Arc<Self>,
        session: &SessionScope,
        is_callback: bool,
        deadline: Instant,
    ) -> Result<Use, ToolError> {
        let device = &session.lease.device().id;
        let key = ScopeKey::of(self.scope, device, &session.id);
        let late = || self.unavailable("did not get ready before the session's time was over", &[]);
        // Whoever waits for a callback holds a place already, here or at another source: one that needed
        // another could wait for ever.
        let mut admitted = is_callback.then_some(None);
        let mut is_ordered = false;
        if self.scope == Scope::Session && self.bound().insert(key.clone()) {
            session.at_end(Retire::of(self, &key));
        }
        loop {
            // Before the look, so that no change is missed.
            let changed = self.changed.notified();
            let mut is_there = false;
            {
                let mut pools = self.pools();
                if let Some(pool) = pools.get_mut(&key) {
                    let replica = pool.home(device);
                    let slot = &pool.slots[replica];
                    match &slot.life {
                        Life::Ready(instance) if instance.is_usable() => {
                            if let Some(admitted) = admitted.take() {
                                self.calls.fetch_add(1, Ordering::Relaxed);
                                return Ok(Use {
                                    active: instance.begin_call(),
                                    replica,
                                    slot: slot.id,
                                    _admitted: admitted,
                                    _device: Arc::clone(&session.lease),
                                });
                            }
                            is_there = true;
                        }
                        Life::Down(error) => {
                            return Err(self.unavailable(&error.message, &error.tail));
                        }
                        Life::Ready(_) | Life::Starting | Life::BackOff => {}
                    }
                } else if !is_ordered {
                    is_ordered = true;
                    self.meet(session.lease.device());
                    self.order(Order::Start(key.clone()));
                }
            }
            if is_there {
                // A place is taken once there is somebody to call, and it is looked again: who waits
                // for a process keeps nobody from the others.
                let place = Arc::clone(&self.admission).acquire_owned();
                let Ok(Ok(place)) = tokio::time::timeout_at(deadline.into(), place).await else {
                    return Err(late());
                };
                admitted = Some(Some(place));
            } else if tokio::time::timeout_at(deadline.into(), changed)
                .await
                .is_err()
            {
                return Err(late());
            }
        }
    }

    /// The sessions' processes that end with their sessions.
    pub(super) fn bound(&self) -> MutexGuard<'_, BTreeSet<ScopeKey>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a device as it is once it is connected.
    fn meet(&self, device: &DeviceInfo) {
        let mut devices = self.devices();
        devices.retain(|known| known.id != device.id);
        devices.push(device.clone());
    }

    fn devices(&self) -> MutexGuard<'_, Vec<DeviceInfo>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who the process is for that is started to see what the source has: whoever comes first.
    pub(super) fn first_key(&self) -> ScopeKey {
        match &self.around.first {
            Some((session, device)) => ScopeKey::of(self.scope, device, session),
            None => ScopeKey::Shared,
        }
    }

    /// Asks for its tools again; resolved once they are registered, or dropped when they are the same.
    pub(crate) fn relisted(&self) -> oneshot::Receiver<()> {
        let (registered, answer) = oneshot::channel();
        self.order(Order::List(registered));
        answer
    }

    /// How it is; `tools` says how many it has.
    pub(crate) fn status(&self, tools: usize) -> SourceStatus {
        let pools = self.pools();
        let slots: Vec<_> = pools.values().flat_map(|pool| &pool.slots).collect();
        let ready = || {
            slots.iter().filter_map(|slot| match &slot.life {
                Life::Ready(instance) => Some(instance),
                Life::Starting | Life::BackOff | Life::Down(_) => None,
            })
        };
        let is = |wanted: fn(&Life) -> bool| slots.iter().any(|slot| wanted(&slot.life));
        let state = if ready().next().is_some() {
            "ready"
        } else if is(|life| matches!(life, Life::Starting)) {
            "starting"
        } else if is(|life| matches!(life, Life::BackOff)) {
            "backing off"
        } else if is(|life| matches!(life, Life::Down(_))) {
            "down"
        } else {
            "idle"
        };
        let last_error = self
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut notes: Vec<_> = ready()
            .flat_map(|instance| instance.notes.clone())
            .collect();
        notes.dedup();
        SourceStatus {
            name: self.settings.name.clone(),
            state: state.to_owned(),
            transport: ready()
                .next()
                .map_or(self.transport, |instance| instance.transport)
                .as_str()
                .to_owned(),
            protocol: ready().next().map(|instance| instance.version.clone()),
            pids: ready().filter_map(|instance| instance.pid()).collect(),
            tools,
            calls: self.calls.load(Ordering::Relaxed),
            active: ready()
                .map(|instance| instance.calls.load(Ordering::Relaxed))
                .sum(),
            restarts: self.restarts.load(Ordering::Relaxed),
            last_error: last_error.clone(),
            notes,
        }
    }

    /// The error of a source that cannot be used.
    pub(super) fn unavailable(&self, why: &str, tail: &[String]) -> ToolError {
        let mut cause = format!("tool source `{}`: {why}", self.settings.name);
        for line in tail {
            cause.push_str(&format!("\n{line}"));
        }
        ToolError::Infrastructure {
            blame: Blame::Source,
            cause,
            hint: Some("`packtrain sources` tells how it is".to_owned()),
            unstarted: Vec::new(),
        }
    }

    /// Tells the server that nobody waits for a call any more. It gets no other call before it has
    /// answered anything, nor anybody else the device; a server that does not is stuck, and started again.
    pub(super) fn call_off(self: &Arc<Self>, pending: PendingCall, used: Use, why: &'static str) {
        let mut doubt = Doubt::about(self, &used);
        let source = Arc::clone(self);
        self.called_off.spawn(async move {
            let grace = source.settings.cancel_grace.max(ALIVE_TIMEOUT);
            let answers = async {
                pending.cancel(why).await;
                used.instance().client.answers().await
            };
            if tokio::time::timeout(grace, answers).await != Ok(true) {
                doubt.confirm();
                source.order(Order::Stuck(used.slot));
            }
        });
    }

    /// Waits until a process that is about to be ended knows of all calls that were called off.
    pub(super) async fn told(&self, instance: &Instance) {
        let told = async {
            loop {
                // Before the look, so that no change is missed.
                let changed = self.changed.notified();
                if instance.doubts.load(Ordering::SeqCst) == 0 {
                    return;
                }
                changed.await;
            }
        };
        // A server that reads nothing is ended all the same.
        let _ = tokio::time::timeout(TELL_TIMEOUT, told).await;
    }
}

/// For as long as it is not known whether a process is stuck.
struct Doubt {
    source: Arc<Source>,
    instance: Arc<Instance>,
    /// Whether it is over with the end of this; one that is stuck is never called again.
    is_settled: bool,
}

impl Doubt {
    fn about(source: &Arc<Source>, used: &Use) -> Self {
        used.active.0.doubts.fetch_add(1, Ordering::SeqCst);
        Self {
            source: Arc::clone(source),
            instance: Arc::clone(&used.active.0),
            is_settled: true,
        }
    }

    /// It is stuck.
    const fn confirm(&mut self) {
        self.is_settled = false;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        if self.is_settled {
            self.instance.doubts.fetch_sub(1, Ordering::SeqCst);
        }
        self.source.changed.notify_waiters();
    }
}

/// A name that can be a file's.
fn file_name(name: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars()
        .map(|c| if fine(c) { c } else { '_' })
        .collect()
}
