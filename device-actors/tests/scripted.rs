//! A driver whose every answer is written in the command itself.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use packtrain_drivers::{
    ActionReport, BoxFuture, Command, CommandContext, Connector, DeviceEvent, DeviceId, DeviceInfo,
    Driver, DriverError, EventSink, Observation, Platform, Size, WebCommand,
};
use tokio::sync::Notify;

/// What the driver shall do.
pub(crate) enum Act {
    Echo(u32),
    Log(&'static str),
    UntilCancelled,
    Die,
    Panic,
}

/// The command that makes it do so.
pub(crate) fn command(act: Act) -> Command {
    Command::Web(WebCommand::Evaluate(match act {
        Act::Echo(n) => format!("echo {n}"),
        Act::Log(text) => format!("log {text}"),
        Act::UntilCancelled => "hang".to_owned(),
        Act::Die => "die".to_owned(),
        Act::Panic => "panic".to_owned(),
    }))
}

/// A device of the script, and what it saw.
pub(crate) struct Script {
    pub(crate) id: DeviceId,
    started: Notify,
    running: AtomicU32,
    most: AtomicU32,
    closed: AtomicU32,
    refuse: AtomicU32,
    deadline: Mutex<Option<Instant>>,
}

impl Script {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            id: DeviceId::new(Platform::Web, name),
            started: Notify::new(),
            running: AtomicU32::new(0),
            most: AtomicU32::new(0),
            closed: AtomicU32::new(0),
            refuse: AtomicU32::new(0),
            deadline: Mutex::new(None),
        })
    }

    pub(crate) fn connector(self: &Arc<Self>) -> Arc<dyn Connector> {
        Arc::new(ScriptedConnector(Arc::clone(self)))
    }

    /// Ends once a command that hangs has begun.
    pub(crate) async fn started(&self) {
        self.started.notified().await;
    }

    pub(crate) fn most_at_once(&self) -> u32 {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn closed(&self) -> u32 {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn refuse_connections(&self, count: u32) {
        self.refuse.store(count, Ordering::SeqCst);
    }

    pub(crate) fn last_deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap()
    }

    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            id: self.id.clone(),
            driver: "script".into(),
            classifiers: vec!["web".into()],
            model: "script".into(),
            system: "script".into(),
            screen: Size::new(10.0, 10.0),
        }
    }
}

struct ScriptedConnector(Arc<Script>);

impl Connector for ScriptedConnector {
    fn id(&self) -> &DeviceId {
        &self.0.id
    }

    fn describe(&self) -> DeviceInfo {
        self.0.info()
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        _: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let refuse = self.0.refuse.load(Ordering::SeqCst);
            if refuse > 0 {
                self.0.refuse.store(refuse - 1, Ordering::SeqCst);
                return Err(DriverError::lost("not plugged in"));
            }
            Ok(Box::new(ScriptedDriver {
                info: self.0.info(),
                script: Arc::clone(&self.0),
                events,
            }) as Box<dyn Driver>)
        })
    }
}

struct ScriptedDriver {
    info: DeviceInfo,
    script: Arc<Script>,
    events: EventSink,
}

impl Driver for ScriptedDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>> {
        Box::pin(async move {
            let running = self.script.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.script.most.fetch_max(running, Ordering::SeqCst);
            *self.script.deadline.lock().unwrap() = Some(ctx.deadline);
            tokio::task::yield_now().await;
            let answer = self.answer(command, ctx).await;
            self.script.running.fetch_sub(1, Ordering::SeqCst);
            answer
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.script.closed.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }
}

impl ScriptedDriver {
    async fn answer(
        &self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        let Command::Web(WebCommand::Evaluate(text)) = command else {
            return Err(DriverError::Invalid("not in the script".into()));
        };
        match text.split_once(' ').unwrap_or((&text, "")) {
            ("echo", what) => Ok(Observation::Text(what.to_owned())),
            ("log", what) => {
                self.events.report(DeviceEvent::Logged {
                    level: "log".into(),
                    text: what.to_owned(),
                    source: None,
                });
                Ok(Observation::Done(ActionReport::default()))
            }
            ("hang", _) => {
                self.script.started.notify_one();
                ctx.cancel.cancelled().await;
                Err(DriverError::Cancelled)
            }
            ("die", _) => Err(DriverError::lost("the cable was pulled")),
            ("panic", _) => panic!("the driver has a bug"),
            _ => Err(DriverError::Invalid("not in the script".into())),
        }
    }
}

/// Runs a test on an actix system over a multi-thread runtime, as the program does.
pub(crate) fn in_system(test: impl Future<Output = ()>) {
    let runtime = Arc::new(
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap(),
    );
    let system = actix_rt::System::with_tokio_rt(move || runtime);
    system.block_on(test);
}
