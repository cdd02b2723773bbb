//! A driver whose every answer is written in the command itself.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use packtrain_drivers::{
    ActionReport, Command, CommandContext, Connector, DeviceEvent, DeviceId, DeviceInfo,
    DriverError, EventSink, Observation, Platform, SessionOptions, Size, WebCommand,
};
use packtrain_testing::scripted;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// What the driver shall do.
pub(crate) enum Act {
    Echo(u32),
    Log(&'static str),
    UntilCancelled,
    Deaf,
    Die,
    Panic,
}

/// The command that makes it do so.
pub(crate) fn command(act: Act) -> Command {
    Command::Web(WebCommand::Evaluate(match act {
        Act::Echo(n) => format!("echo {n}"),
        Act::Log(text) => format!("log {text}"),
        Act::UntilCancelled => "hang".to_owned(),
        Act::Deaf => "deaf".to_owned(),
        Act::Die => "die".to_owned(),
        Act::Panic => "panic".to_owned(),
    }))
}

pub(crate) fn begin() -> Command {
    Command::Begin(SessionOptions::default())
}

/// What the driver does with the end of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum AtEnd {
    #[default]
    LetGo,
    /// Waits until it is cancelled.
    Hang,
    /// Waits for [`Script::let_go`].
    Wait,
    /// Takes three quarters of a grace that it asks for, of two minutes.
    TakeLong,
    Lose,
    Refuse,
}

/// How much longer a driver says that an end may take.
const LONG_END: Duration = Duration::from_secs(120);

/// A device of the script, and what it saw.
pub(crate) struct Script {
    pub(crate) id: DeviceId,
    info: DeviceInfo,
    started: Notify,
    running: AtomicU32,
    most: AtomicU32,
    refuse: AtomicU32,
    deadline: Mutex<Option<Instant>>,
    hang_in_begin: AtomicBool,
    at_end: Mutex<AtEnd>,
    end_cancelled: Mutex<Option<bool>>,
    let_go: Notify,
    reachable: watch::Sender<bool>,
    /// What was done to it, in order.
    story: watch::Sender<Vec<&'static str>>,
}

impl Script {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        let id = DeviceId::new(Platform::Web, name);
        Arc::new(Self {
            info: DeviceInfo {
                id: id.clone(),
                driver: "script".into(),
                classifiers: vec!["web".into()],
                model: "script".into(),
                system: "script".into(),
                screen: Size::new(10.0, 10.0),
            },
            id,
            started: Notify::new(),
            running: AtomicU32::new(0),
            most: AtomicU32::new(0),
            refuse: AtomicU32::new(0),
            deadline: Mutex::new(None),
            hang_in_begin: AtomicBool::new(false),
            at_end: Mutex::default(),
            end_cancelled: Mutex::default(),
            let_go: Notify::new(),
            reachable: watch::Sender::new(true),
            story: watch::Sender::default(),
        })
    }

    pub(crate) fn connector(self: &Arc<Self>) -> Arc<dyn Connector> {
        scripted(Arc::clone(self))
    }

    /// Ends once a command that hangs has begun.
    pub(crate) async fn started(&self) {
        self.started.notified().await;
    }

    pub(crate) fn most_at_once(&self) -> u32 {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn refuse_connections(&self, count: u32) {
        self.refuse.store(count, Ordering::SeqCst);
    }

    /// Connecting waits until it is reachable.
    pub(crate) fn reachable(&self, is: bool) {
        self.reachable.send_replace(is);
    }

    pub(crate) fn last_deadline(&self) -> Option<Instant> {
        *self.deadline.lock()
    }

    /// The next session does not get beyond its begin.
    pub(crate) fn hang_in_begin(&self) {
        self.hang_in_begin.store(true, Ordering::SeqCst);
    }

    pub(crate) fn at_end(&self, does: AtEnd) {
        *self.at_end.lock() = does;
    }

    /// Whether the last end of a session came cancelled.
    pub(crate) fn end_was_cancelled(&self) -> Option<bool> {
        *self.end_cancelled.lock()
    }

    pub(crate) fn let_go(&self) {
        self.let_go.notify_one();
    }

    pub(crate) fn story(&self) -> Vec<&'static str> {
        self.story.borrow().clone()
    }

    /// Ends once this was done to it so often.
    pub(crate) async fn happened(&self, what: &'static str, times: usize) {
        let mut story = self.story.subscribe();
        let often = |story: &Vec<&str>| story.iter().filter(|done| **done == what).count() >= times;
        story.wait_for(often).await.unwrap();
    }

    fn did(&self, what: &'static str) {
        self.story.send_modify(|story| story.push(what));
    }
}

impl packtrain_testing::Script for Script {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    async fn connect(&self, ctx: &CommandContext) -> Result<(), DriverError> {
        self.did("connect");
        let mut reachable = self.reachable.subscribe();
        let reached = reachable.wait_for(|is| *is);
        tokio::select! {
            reached = tokio::time::timeout_at(ctx.deadline, reached) => {
                reached.map_err(|_| DriverError::lost("it does not answer"))?.unwrap();
            }
            () = ctx.cancel.cancelled() => return Err(DriverError::Cancelled),
        }
        let refuse = self.refuse.load(Ordering::SeqCst);
        if refuse > 0 {
            self.refuse.store(refuse - 1, Ordering::SeqCst);
            return Err(DriverError::lost("not plugged in"));
        }
        Ok(())
    }

    async fn execute(
        &self,
        command: Command,
        ctx: &CommandContext,
        events: &EventSink,
    ) -> Result<Observation, DriverError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        *self.deadline.lock() = Some(ctx.deadline);
        tokio::task::yield_now().await;
        let answer = match command {
            Command::Begin(_) => {
                self.did("begin");
                tokio::task::yield_now().await;
                if self.hang_in_begin.swap(false, Ordering::SeqCst) {
                    self.started.notify_one();
                    ctx.cancel.cancelled().await;
                }
                Ok(Observation::Done(ActionReport::default()))
            }
            Command::End => self.end(ctx, events).await,
            command => self.answer(command, ctx, events).await,
        };
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    fn end_grace(&self) -> Duration {
        match *self.at_end.lock() {
            AtEnd::TakeLong => LONG_END,
            _ => Duration::ZERO,
        }
    }

    fn close(&self) {
        self.did("close");
    }
}

impl Script {
    async fn end(
        &self,
        ctx: &CommandContext,
        events: &EventSink,
    ) -> Result<Observation, DriverError> {
        let cancelled = ctx.cancel.is_cancelled();
        *self.end_cancelled.lock() = Some(cancelled);
        if cancelled {
            return Err(DriverError::Cancelled);
        }
        log(events, "let go of");
        let at_end = *self.at_end.lock();
        match at_end {
            AtEnd::LetGo => {}
            AtEnd::Hang => ctx.cancel.cancelled().await,
            AtEnd::Wait => {
                self.started.notify_one();
                self.let_go.notified().await;
            }
            AtEnd::TakeLong => {
                let ending = until(Instant::now() + LONG_END / 4 * 3);
                let ended = tokio::time::timeout_at(ctx.deadline, ending).await;
                ended.map_err(|_| DriverError::Timeout {
                    doing: "end".into(),
                    after: LONG_END,
                    log: Vec::new(),
                })?;
            }
            AtEnd::Lose => return Err(DriverError::lost("the cable was pulled")),
            AtEnd::Refuse => return Err(DriverError::Invalid("it is not begun".into())),
        }
        self.did("end");
        Ok(Observation::Done(ActionReport::default()))
    }

    async fn answer(
        &self,
        command: Command,
        ctx: &CommandContext,
        events: &EventSink,
    ) -> Result<Observation, DriverError> {
        let Command::Web(WebCommand::Evaluate(text)) = command else {
            return Err(DriverError::Invalid("not in the script".into()));
        };
        match text.split_once(' ').unwrap_or((&text, "")) {
            ("echo", what) => Ok(Observation::Text(what.to_owned())),
            ("log", what) => {
                log(events, what);
                Ok(Observation::Done(ActionReport::default()))
            }
            ("hang", _) => {
                self.started.notify_one();
                ctx.cancel.cancelled().await;
                Err(DriverError::Cancelled)
            }
            ("deaf", _) => {
                self.started.notify_one();
                std::future::pending().await
            }
            ("die", _) => Err(DriverError::lost("the cable was pulled")),
            ("panic", _) => panic!("the driver has a bug"),
            _ => Err(DriverError::Invalid("not in the script".into())),
        }
    }
}

fn log(events: &EventSink, text: &str) {
    events.report(DeviceEvent::Logged {
        level: "log".into(),
        text: text.to_owned(),
        source: None,
    });
}

/// Runs a test on one thread whose clock jumps to the next alarm when there is nothing to do.
pub(crate) fn on_jumping_clock(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    packtrain_testing::run_on(runtime.unwrap(), test);
}

/// Ends at a moment of a clock that the test owns; on one that goes by itself it panics.
pub(crate) async fn until(moment: Instant) {
    tokio::time::advance(Duration::ZERO).await;
    tokio::time::sleep_until(moment).await;
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}
