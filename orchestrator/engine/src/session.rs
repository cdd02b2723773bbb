//! Sessions on this computer: one attempt of one trail on one device, from lease to end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use packtrain_device_actors::{CommandError, DeviceState, Fleet, Lease, WaitReason};
use packtrain_drivers::{
    AppCommand, BoxFuture, Command, DeviceInfo, Observation, Platform,
    SessionOptions as DeviceOptions,
};
use packtrain_model::trail::{Recorded, Step, ToolCall, Trail, lineage};
use packtrain_model::{Memory, Outcome, RunEvent, SessionId, StepIndex};
use packtrain_tools::{Answer, Caller, SessionScope, SharedRegistry};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::by_hand::ByHand;
use crate::changes;
use crate::host::{DeviceChange, SessionHost, SessionOutput};
use crate::invoke::Invoker;
use crate::judge::{Circumstances, TimeLimit, judge, judge_lease};
use crate::loader::TrailLoader;
use crate::matrix;
use crate::order::{Screenshots, SessionOptions, SessionOrder};
use crate::stop::SessionStop;

/// How long a device may be in the hands of others.
const DEVICE_WAIT_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// Tools and drivers give up this much before a deadline, to say why.
pub(crate) const DEADLINE_MARGIN: Duration = Duration::from_millis(300);

/// This computer. Cheap to clone.
#[derive(Clone)]
pub struct Here {
    /// The devices.
    pub fleet: Fleet,
    /// The tools.
    pub registry: SharedRegistry,
    /// Where trails inside trails come from.
    pub loader: Arc<dyn TrailLoader>,
    /// The caller that asked for the sessions.
    pub caller: Caller,
    /// Where relative paths lead when they lead nowhere from the trail's folder.
    pub working_directory: PathBuf,
    /// Variables of the commands that sessions run; without any, those of this process.
    pub environment: Option<Arc<BTreeMap<String, String>>>,
    /// Folder for downloads and device logs while they are written; without one there are none.
    pub scratch: Option<PathBuf>,
}

impl Here {
    /// Leases the device that an order requires and begins its session on it.
    ///
    /// # Errors
    /// The outcome, when there will be no session.
    pub async fn open(
        &self,
        order: &SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> Result<SessionContext, Outcome> {
        let Some(required) = order.requires.described() else {
            return Err(Outcome::failed("no device was chosen for it"));
        };
        let holder = format!("{} of run {}", order.session, order.run);
        // Its holder may take any time; the time to connect has its own limit.
        let deadline = Instant::now() + DEVICE_WAIT_TIMEOUT;
        let on_wait = |reason: &WaitReason| {
            if matches!(reason.state, DeviceState::Leased(_)) {
                output.waits(&format!("{}: {reason}", required.id));
            }
        };
        let leasing = self
            .fleet
            .lease_with(&required.id, &holder, deadline, stop.token(), on_wait);
        match leasing.await {
            Ok(lease) => self.open_on(order, lease, output, stop).await,
            Err(error) => {
                output.record(order.started(required.clone())).await;
                Err(judge_lease(&error, stop.cause()))
            }
        }
    }

    /// Begins an order's session on a device that was leased for it.
    ///
    /// # Errors
    /// The outcome, when there will be no session.
    pub async fn open_on(
        &self,
        order: &SessionOrder,
        lease: Lease,
        output: SessionOutput,
        stop: SessionStop,
    ) -> Result<SessionContext, Outcome> {
        let device = lease.device().clone();
        output.record(order.started(device)).await;
        SessionContext::begin(order, lease, self, output, stop).await
    }
}

impl SessionHost for Here {
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        let here = self.clone();
        Box::pin(async move {
            match here.open(&order, output, stop).await {
                Ok(session) => {
                    let outcome = session.walk(&order.trail).await;
                    session.end().await;
                    outcome
                }
                Err(outcome) => outcome,
            }
        })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        changes::of(&self.fleet)
    }
}

/// A session under way: its device, its memory, its bounds.
pub struct SessionContext {
    pub(crate) id: SessionId,
    pub(crate) scope: SessionScope,
    pub(crate) registry: SharedRegistry,
    pub(crate) loader: Arc<dyn TrailLoader>,
    pub(crate) output: SessionOutput,
    pub(crate) options: SessionOptions,
    pub(crate) stop: SessionStop,
    pub(crate) caller: Caller,
    /// The device's classifiers, closest first.
    pub(crate) lineage: Vec<String>,
    pub(crate) deadline: Instant,
    /// Texts of recordings, and what the app shows in their place.
    pub(crate) texts: BTreeMap<String, String>,
    /// Where the driver writes its trace.
    pub(crate) trace: Option<PathBuf>,
    /// Where the device writes its log.
    device_log: Option<PathBuf>,
    /// The step that was started last.
    pub(crate) reached: AtomicU32,
    /// Whether all steps passed.
    pub(crate) passed: AtomicBool,
    /// Screens in a row that could not be looked at.
    pub(crate) unobserved: AtomicU32,
    /// The calls made by hand.
    pub(crate) by_hand: ByHand,
    /// What its report says of tools that could not be registered.
    noted: Mutex<BTreeSet<String>>,
}

impl SessionContext {
    /// Begins a session on a device that was leased for it.
    pub(crate) async fn begin(
        order: &SessionOrder,
        lease: Lease,
        here: &Here,
        output: SessionOutput,
        stop: SessionStop,
    ) -> Result<Self, Outcome> {
        let trail = &order.trail;
        let device = lease.device().clone();
        let mut memory = order.values.memory_of(trail).map_err(Outcome::failed)?;
        remember_cell(&mut memory, order, &device);
        // This process may work in another folder than the caller of the session.
        let beside = Path::new(trail.source.name()).parent();
        let beside = beside.map(|folder| here.working_directory.join(folder));
        let folders: Vec<_> = beside
            .filter(|folder| *folder != here.working_directory)
            .into_iter()
            .chain([here.working_directory.clone()])
            .collect();
        let scratch = here.scratch.as_deref();
        let device_log =
            scratch.map(|folder| folder.join("logs").join(format!("{}.log", order.session)));
        let is_traced =
            order.options.trace != Screenshots::None && device.id.platform() == Platform::Web;
        let trace = scratch
            .filter(|_| is_traced)
            .map(|folder| folder.join("traces").join(format!("{}.zip", order.session)));
        let begin = Command::Begin(DeviceOptions {
            axes: order.cell.axes.clone(),
            headers: order.cell.headers.clone(),
            launch_arguments: order.cell.launch_arguments.clone(),
            app: app_of(order, &device),
            trace: trace.clone(),
            base_url: order.target.base_url.clone(),
            base_url_first: order.cell.base_url.is_some(),
            folders: folders.clone(),
            downloads: scratch.map(|folder| folder.join("downloads").join(&order.session.0)),
            device_log: device_log.clone(),
            reach: here.caller.reach().cloned(),
        });
        let session = Self {
            id: order.session.clone(),
            lineage: lineage(&lease.device().classifiers),
            scope: SessionScope::new(
                SessionScope::name_of(&order.run, &order.session),
                lease,
                memory,
                order.target.clone(),
                folders,
                stop.token().clone(),
            )
            .with_environment(here.environment.clone()),
            registry: here.registry.clone(),
            loader: Arc::clone(&here.loader),
            output,
            deadline: Instant::now() + order.options.timeout,
            options: order.options.clone(),
            stop,
            caller: here.caller.clone(),
            texts: order.cell.texts.clone(),
            trace,
            device_log,
            reached: AtomicU32::new(0),
            passed: AtomicBool::new(false),
            unobserved: AtomicU32::new(0),
            by_hand: ByHand::default(),
            noted: Mutex::default(),
        };
        match session.configure(begin, order, &device).await {
            Ok(()) => Ok(session),
            Err(outcome) => {
                let outcome = session.redacted(outcome);
                session.end().await;
                Err(outcome)
            }
        }
    }

    /// Begins the session on the device, in its configuration.
    async fn configure(
        &self,
        begin: Command,
        order: &SessionOrder,
        device: &DeviceInfo,
    ) -> Result<(), Outcome> {
        let begun = self.scope.lease.execute(begin, self.deadline).await;
        let begun =
            begun.map_err(|error| judge(&error.into(), self.circumstances("begin", None)))?;
        let applied = match begun {
            Observation::Begun(applied) => applied,
            _ => Vec::new(),
        };
        let took = matrix::took(&order.cell.axes, &applied, device);
        if !order.planned.cell.is_empty() {
            let memory = self.scope.memory().shown();
            self.record(RunEvent::SessionConfigured {
                session: self.id.clone(),
                axes: applied,
                memory,
            })
            .await;
        }
        took?;
        if let Some(app) = &order.cell.app_file
            && device.id.platform() != Platform::Web
        {
            let install = Command::App(AppCommand::Install(app.clone()));
            let installed = self.scope.lease.execute(install, self.deadline).await;
            installed.map_err(|error| judge(&error.into(), self.circumstances("install", None)))?;
        }
        Ok(())
    }

    /// Walks the trailhead and the steps until one does not pass.
    pub(crate) async fn walk(&self, trail: &Trail) -> Outcome {
        let outcome = self.steps(trail).await;
        self.passed.store(outcome.is_passed(), Ordering::Relaxed);
        self.redacted(outcome)
    }

    async fn steps(&self, trail: &Trail) -> Outcome {
        for step in trail.all_steps() {
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
            if !outcome.is_passed() {
                return outcome;
            }
        }
        Outcome::Passed
    }

    async fn step(&self, trail: &Trail, step: &Step) -> Outcome {
        if self.stop.token().is_cancelled() {
            let by = self.stop.cause();
            return Outcome::Cancelled { by };
        }
        let calls = match step.recording_for(&self.lineage) {
            Recorded::Unknown => return self.needs_agent(),
            Recorded::NoAction(_) => return Outcome::Passed,
            Recorded::Calls(_, calls) => calls,
        };
        let invoker = Invoker::of_step(self, step.index);
        let ended = invoker.all(trail, calls, 0, self.caller.clone()).await;
        match ended {
            Ok(()) => Outcome::Passed,
            Err(outcome) => outcome,
        }
    }

    /// Makes one call that stands in no trail.
    ///
    /// # Errors
    /// The outcome, when it did not pass.
    pub async fn call(&self, call: &ToolCall) -> Result<Answer, Outcome> {
        let invoker = Invoker::new(self, StepIndex::TRAILHEAD);
        let answer = invoker.one(None, call, 0, self.caller.clone()).await;
        answer.map_err(|outcome| self.redacted(outcome))
    }

    /// Whether it does not have its device any more.
    pub fn is_cut_off(&self) -> bool {
        self.scope.lease.is_over()
    }

    /// Sends one command to the device.
    ///
    /// # Errors
    /// As [`Lease::execute`].
    pub async fn command(&self, command: Command) -> Result<Observation, CommandError> {
        self.scope.lease.execute(command, self.deadline).await
    }

    /// The device's platform.
    pub fn platform(&self) -> Platform {
        self.scope.platform()
    }

    /// Lets go of the device and journals what it has said since.
    pub async fn end(self) {
        // What a device could not let go of is not this session's result: it is restarted.
        let _ = self.scope.lease.finish().await;
        let reached = StepIndex(self.reached.load(Ordering::Relaxed));
        self.journal_device_events(reached).await;
        let passed = self.passed.load(Ordering::Relaxed);
        self.keep_trace(reached, passed).await;
        if let Some(path) = &self.device_log {
            self.keep_device_log(reached, path.clone()).await;
        }
    }

    /// An outcome without what the session knows must not be shown.
    pub(crate) fn redacted(&self, mut outcome: Outcome) -> Outcome {
        outcome.redact(self.scope.memory().redactor());
        outcome
    }

    pub(crate) fn needs_agent(&self) -> Outcome {
        Outcome::NeedsAgent {
            why: match self.scope.lease.device().id.platform() {
                Platform::Web => "not recorded for the web",
                Platform::Android => "not recorded for Android",
                Platform::Ios => "not recorded for iOS",
            }
            .to_owned(),
        }
    }

    /// What no report of the session says yet of tools that could not be registered.
    pub(crate) fn new_collisions(&self) -> Vec<String> {
        let registry = self.registry.snapshot();
        let collisions = registry.missing().iter();
        let collisions = collisions.filter(|one| one.unstarted.is_none());
        let mut noted = self.noted.lock();
        collisions
            .filter(|one| noted.insert(one.why.clone()))
            .map(|one| one.why.clone())
            .collect()
    }

    /// What an error has to be judged by.
    pub(crate) fn circumstances<'a>(&self, tool: &'a str, at: Option<String>) -> Circumstances<'a> {
        let is_over = Instant::now() + DEADLINE_MARGIN >= self.deadline;
        Circumstances {
            tool,
            at,
            stop: self.stop.cause(),
            overtime: is_over.then_some(TimeLimit::Session(self.options.timeout)),
        }
    }

    /// Journals an event without what the session has learned must not be shown.
    pub(crate) async fn record(&self, mut event: RunEvent) {
        event.redact(self.scope.memory().redactor());
        self.output.record(event).await;
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.scope.memory().redactor().redact(text).into_owned()
    }
}

/// What templates know of the session's configuration: `{{axis.locale}}`, `{{cell.id}}`, and what goes
/// with its values.
fn remember_cell(memory: &mut Memory, order: &SessionOrder, device: &DeviceInfo) {
    let cell = &order.planned.cell;
    for (name, value) in &order.cell.memory {
        memory.remember(name, value);
    }
    for (axis, value) in &cell.0 {
        memory.remember(&format!("axis.{axis}"), value);
    }
    if cell.is_empty() {
        return;
    }
    let called = order.planned.one_of.first().unwrap_or(&device.id);
    memory.remember("cell.id", &matrix::cell_id(&called.to_string(), cell));
}

/// The app under test on this device: the target's, or the only one that the trail launches.
fn app_of(order: &SessionOrder, device: &DeviceInfo) -> Option<String> {
    let ids = order.target.app_ids.get(&device.id.platform());
    if let Some(id) = ids.and_then(|ids| ids.first()) {
        return Some(id.clone());
    }
    let lineage = lineage(&device.classifiers);
    let steps = order.trail.all_steps();
    let calls = steps.flat_map(|step| match step.recording_for(&lineage) {
        Recorded::Calls(_, calls) => calls,
        Recorded::Unknown | Recorded::NoAction(_) => &[],
    });
    let launched: BTreeSet<String> = calls
        .filter(|call| call.name == "launchApp")
        .filter_map(|call| {
            call.args
                .as_mapping()?
                .get("appId")?
                .as_scalar()
                .map(|id| id.text.clone())
        })
        .collect();
    match launched.len() {
        1 => launched.into_iter().next(),
        _ => None,
    }
}
