//! A source as its tools see it: which process a call goes to, and what becomes of a call that
//! nobody waits for any more. The way of a call passes no actor.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use packtrain_config::{McpServer, Scope, Transport};
use packtrain_device_actors::Lease;
use packtrain_model::Blame;
use packtrain_tools::{SessionScope, ToolError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::envelope::device_env;
use super::instance::{ActiveCall, Instance};
use super::lifecycle::{Event, SourceLifecycle, Start};
use super::mcp::PendingCall;
use super::pool::{Life, Replica, ScopeKey, Slot, SlotId};
use super::settings::SourceSettings;
use super::start::{StartError, StartOrder};
use super::task::Order;
use crate::invocation::Invocations;
use crate::supervisor::{SourceStatus, SupervisorOptions};

/// How long after a connection broke the end of its process is waited for.
const REAP_TIMEOUT: Duration = Duration::from_secs(2);
/// The least that a server may take to answer anything after a call was cancelled.
const ALIVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The life of a source's processes.
pub(super) type Lifecycle = SourceLifecycle<Arc<Instance>>;

/// A source.
pub(crate) struct Source {
    settings: SourceSettings,
    pub(super) transport: Transport,
    pub(super) scope: Scope,
    /// What all sources of a supervisor share.
    options: Arc<SupervisorOptions>,
    invocations: Invocations,
    /// Changed by the source's task alone.
    state: watch::Receiver<Lifecycle>,
    orders: mpsc::UnboundedSender<Order>,
    admission: Arc<Semaphore>,
    called_off: TaskTracker,
    pub(super) calls: AtomicU64,
}

/// The right to one call on one process.
pub(super) struct Use {
    active: ActiveCall,
    replica: Replica,
    slot: SlotId,
    _admitted: Option<OwnedSemaphorePermit>,
    /// The call may act on its device, which is given to no other session meanwhile.
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
    pub(super) fn new(
        settings: SourceSettings,
        options: Arc<SupervisorOptions>,
        invocations: Invocations,
        state: watch::Receiver<Lifecycle>,
        orders: mpsc::UnboundedSender<Order>,
    ) -> Self {
        let (transport, scope) = super::pool::mode(&settings, options.devices.len());
        Self {
            admission: Arc::new(Semaphore::new(settings.server.concurrency as usize)),
            settings,
            transport,
            scope,
            options,
            invocations,
            state,
            orders,
            called_off: TaskTracker::new(),
            calls: AtomicU64::new(0),
        }
    }

    pub(crate) const fn settings(&self) -> &McpServer {
        &self.settings.server
    }

    pub(super) const fn invocations(&self) -> &Invocations {
        &self.invocations
    }

    pub(super) fn base_url(&self) -> &str {
        &self.options.base_url
    }

    /// How long a callback may take.
    pub(super) fn callback_timeout(&self) -> Duration {
        self.options.callback_timeout
    }

    /// Tells its task what happened. One that is gone has ended all processes.
    pub(super) fn tell(&self, event: Event<Arc<Instance>>) {
        let _ = self.orders.send(Order::Handle(event));
    }

    /// Tells that a process is of no use any more.
    pub(super) fn lost(&self, slot: SlotId, instance: &Instance, message: impl Into<String>) {
        self.tell(Event::Lost(slot, StartError::new(message, &instance.log)));
    }

    /// What went wrong last.
    pub(crate) fn fail(&self, message: &str) {
        self.tell(Event::Failed(message.to_owned()));
    }

    /// Ends it; resolved when it has ended, or dropped when its task is gone.
    pub(crate) fn end(&self) -> oneshot::Receiver<()> {
        let (ended, answer) = oneshot::channel();
        let _ = self.orders.send(Order::End(ended));
        answer
    }

    /// What a process is started with.
    pub(super) fn start_order(&self, start: Start) -> StartOrder {
        let options = &self.options;
        let base = file_name(&self.settings.server.name);
        let log_name = match start.number {
            0 => base,
            later => format!("{base}_{}", later + 1),
        };
        let device = match start.key {
            ScopeKey::Shared => match options.devices.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            },
            ScopeKey::Device(_) | ScopeKey::Session(..) => start.device,
        };
        let session = match start.key {
            ScopeKey::Session(session, _) => session,
            ScopeKey::Shared | ScopeKey::Device(_) => {
                let (run, name) = (&options.session_prefix, &self.settings.server.name);
                format!("{run}_{name}_{}", start.replica + 1)
            }
        };
        let timeout = options.callback_timeout + Duration::from_secs(2);
        let mut env = vec![
            ("TRAILBLAZE_SESSION_ID", session),
            ("TRAILBLAZE_BASE_URL", options.base_url.clone()),
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
            options: Arc::clone(options),
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
        let late = || self.unavailable("was not ready before the session timed out", &[]);
        // A caller that waits for a callback holds a place already, here or at another source: one that needed
        // another could wait for ever.
        let mut admitted = is_callback.then_some(None);
        let mut is_wanted = false;
        let mut state = self.state.clone();
        loop {
            let found = {
                let state = state.borrow_and_update();
                let serving = state.serving(&key, device);
                match serving.map(|(slot, replica)| (&slot.life, slot.id, replica)) {
                    None => Found::Nothing,
                    Some((Life::Down(error), ..)) => {
                        return Err(self.unavailable(&error.message, &error.tail));
                    }
                    Some((Life::Starting | Life::BackOff, ..)) => Found::NotYet,
                    Some((Life::Ready(instance), ..)) if !instance.is_usable() => {
                        Found::Doubtful(Arc::clone(instance))
                    }
                    Some((Life::Ready(instance), slot, replica)) => match admitted.take() {
                        None => Found::Full,
                        Some(admitted) => {
                            self.calls.fetch_add(1, Ordering::Relaxed);
                            return Ok(Use {
                                active: instance.begin_call(),
                                replica,
                                slot,
                                _admitted: admitted,
                                _device: Arc::clone(&session.lease),
                            });
                        }
                    },
                }
            };
            let changed = async {
                match found {
                    // A place is taken once there is somebody to call, and it is looked again: who waits
                    // for a process does not block the others.
                    Found::Full => {
                        let place = Arc::clone(&self.admission).acquire_owned().await;
                        admitted = Some(place.ok());
                        return Ok(());
                    }
                    Found::Doubtful(instance) if !instance.client.is_closed() => {
                        tokio::select! {
                            () = instance.settled() => return Ok(()),
                            changed = state.changed() => return changed,
                        }
                    }
                    Found::Nothing if !is_wanted => {
                        is_wanted = true;
                        if self.scope == Scope::PerSession {
                            session.at_end(Retire(Arc::clone(self), key.clone()));
                        }
                        let device = session.lease.device().clone();
                        self.tell(Event::Wanted(key.clone(), Some(device)));
                    }
                    Found::Doubtful(_) | Found::Nothing | Found::NotYet => {}
                }
                state.changed().await
            };
            match tokio::time::timeout_at(deadline, changed).await {
                Ok(Ok(())) => {}
                // Without a task nothing changes any more.
                Ok(Err(_)) => return Err(self.unavailable("it has ended", &[])),
                Err(_) => return Err(late()),
            }
        }
    }

    /// Who the process is for that is started to list the source's tools: the first caller.
    pub(super) fn first_key(&self) -> ScopeKey {
        match &self.options.first {
            Some((session, device)) => ScopeKey::of(self.scope, device, session),
            None => ScopeKey::Shared,
        }
    }

    /// Asks for its tools again; resolved once they are registered, or dropped when they are the same.
    pub(crate) fn relisted(&self) -> oneshot::Receiver<()> {
        let (registered, answer) = oneshot::channel();
        self.tell(Event::Relist(registered));
        answer
    }

    /// How it is; `tools` says how many it has.
    pub(crate) fn status(&self, tools: usize) -> SourceStatus {
        let seen = self.state.borrow();
        let ready = || seen.slots().filter_map(Slot::process);
        let is = |wanted: fn(&Life<_>) -> bool| seen.slots().any(|slot| wanted(&slot.life));
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
        let mut notes: Vec<_> = ready()
            .flat_map(|instance| instance.notes.clone())
            .collect();
        notes.dedup();
        SourceStatus {
            name: self.settings.server.name.clone(),
            state: state.to_owned(),
            transport: match ready()
                .next()
                .map_or(self.transport, |instance| instance.transport)
            {
                Transport::Stdio => "stdio".to_owned(),
                Transport::Http => "http".to_owned(),
            },
            protocol: ready().next().map(|instance| instance.version.clone()),
            pids: ready().filter_map(|instance| instance.pid()).collect(),
            tools,
            calls: self.calls.load(Ordering::Relaxed),
            active: ready()
                .map(|instance| instance.calls.load(Ordering::Relaxed))
                .sum(),
            restarts: seen.restarts,
            last_error: seen.last_error.clone(),
            notes,
        }
    }

    /// The error of a source that cannot be used.
    pub(super) fn unavailable(&self, why: &str, tail: &[String]) -> ToolError {
        let mut cause = format!("tool source `{}`: {why}", self.settings.server.name);
        for line in tail {
            cause.push_str(&format!("\n{line}"));
        }
        ToolError::Infrastructure {
            blame: Blame::Source,
            cause,
            hint: Some("`packtrain sources` shows its state".to_owned()),
            unstarted: Vec::new(),
        }
    }

    /// Tells the server that nobody waits for a call any more. It gets no other call before it has
    /// answered anything, nor anybody else the device; a server that does not is stuck, and started again.
    pub(super) fn call_off(self: &Arc<Self>, pending: PendingCall, used: Use, why: &'static str) {
        let mut doubt = LivenessProbe::about(&used);
        let source = Arc::clone(self);
        self.called_off.spawn(async move {
            let grace = source.settings.server.cancel_grace.get().max(ALIVE_TIMEOUT);
            let answers = async {
                pending.cancel(why).await;
                used.instance().client.answers().await
            };
            if tokio::time::timeout(grace, answers).await != Ok(true) {
                doubt.confirm();
                let why = "it did not answer after a call was cancelled";
                source.lost(used.slot, used.instance(), why);
            }
        });
    }
}

/// What was found for a call.
enum Found {
    /// No process was requested yet.
    Nothing,
    /// A process that does not answer yet, or again.
    NotYet,
    /// A process that may be stuck.
    Doubtful(Arc<Instance>),
    /// A process; the call has no place yet.
    Full,
}

/// Ends the process of a session when it is dropped.
struct Retire(Arc<Source>, ScopeKey);

impl Drop for Retire {
    fn drop(&mut self) {
        self.0.tell(Event::Retired(self.1.clone()));
    }
}

/// For as long as it is not known whether a process is stuck.
struct LivenessProbe {
    instance: Arc<Instance>,
    /// Whether it is over with the end of this; one that is stuck is never called again.
    is_settled: bool,
}

impl LivenessProbe {
    fn about(used: &Use) -> Self {
        let instance = Arc::clone(&used.active.0);
        instance.doubts.send_modify(|doubts| *doubts += 1);
        Self {
            instance,
            is_settled: true,
        }
    }

    /// It is stuck.
    const fn confirm(&mut self) {
        self.is_settled = false;
    }
}

impl Drop for LivenessProbe {
    fn drop(&mut self) {
        if self.is_settled {
            self.instance.doubts.send_modify(|doubts| *doubts -= 1);
        }
    }
}

/// A name that can be a file's.
fn file_name(name: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars()
        .map(|c| if fine(c) { c } else { '_' })
        .collect()
}
