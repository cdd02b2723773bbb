//! What every test of a driver does with a device, whatever the wire.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, CommandContext, Connector, DeviceEvent, Driver, DriverError, EventStream,
    Fault, InputCommand, LaunchMode, NodeDetail, Observation, Point, ScreenMark, SessionOptions,
    Size, Snapshot, SnapshotDetail, event_channel,
};

use crate::phone::SHOP;

/// How long anything may take before a test fails.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// What is on the screen.
pub const SNAPSHOT: Command = Command::Snapshot(SnapshotDetail {
    bounds: false,
    css_selectors: false,
    offscreen: false,
    lasting: false,
});

/// A context with all the time a test has.
pub fn context() -> CommandContext {
    CommandContext::within(TEST_TIMEOUT)
}

/// Runs a test.
pub fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

/// What leads to a device, and what drives it while connected.
pub struct Hand {
    /// Leads to the device.
    pub connector: Arc<dyn Connector>,
    driver: Option<Box<dyn Driver>>,
    events: EventStream,
    /// What was reported and not asked for yet.
    unread: Vec<DeviceEvent>,
}

impl Hand {
    /// Nobody is connected yet.
    pub fn new(connector: Arc<dyn Connector>) -> Self {
        Self {
            connector,
            driver: None,
            events: event_channel().1,
            unread: Vec::new(),
        }
    }
}

impl TestDevice for Hand {
    fn hand(&mut self) -> &mut Hand {
        self
    }

    fn label(&self) -> String {
        self.connector.id().to_string()
    }
}

/// A device that a test drives.
#[expect(async_fn_in_trait, reason = "tests need no `Send`")]
pub trait TestDevice {
    /// What it is driven with.
    fn hand(&mut self) -> &mut Hand;

    /// What a failed test calls it.
    fn label(&self) -> String;

    /// What drives it.
    fn driver(&mut self) -> &mut dyn Driver {
        self.hand().driver.as_deref_mut().unwrap()
    }

    /// Connects, or reconnects.
    async fn connect_in(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        let hand = self.hand();
        let (sink, events) = event_channel();
        (hand.events, hand.unread) = (events, Vec::new());
        hand.driver = Some(hand.connector.connect(sink, ctx).await?);
        Ok(())
    }

    /// Connects, or reconnects, in the time a test has.
    async fn reconnect(&mut self) -> Result<(), DriverError> {
        self.connect_in(&context()).await
    }

    /// Releases the driver, if connected.
    async fn disconnect(&mut self) {
        if let Some(driver) = self.hand().driver.take() {
            driver.close().await;
        }
    }

    /// The program that drives it is killed, as far as the device can tell.
    fn forget(&mut self) {
        self.hand().driver = None;
    }

    /// What was reported since the last time.
    fn events(&mut self) -> Vec<DeviceEvent> {
        let hand = self.hand();
        let mut events = std::mem::take(&mut hand.unread);
        events.extend(hand.events.drain());
        events
    }

    /// The next thing that is reported and is so; what comes before it is kept.
    async fn event_where(&mut self, is: impl Fn(&DeviceEvent) -> bool) -> DeviceEvent {
        let hand = self.hand();
        if let Some(at) = hand.unread.iter().position(&is) {
            return hand.unread.remove(at);
        }
        let search = async {
            loop {
                let event = hand.events.next().await.expect("the driver lives");
                if is(&event) {
                    return event;
                }
                hand.unread.push(event);
            }
        };
        let found = tokio::time::timeout(TEST_TIMEOUT, search).await;
        found.expect("such an event comes")
    }

    /// Begins a session as it is without options.
    async fn begin(&mut self) -> Observation {
        self.ok(Command::Begin(SessionOptions::default())).await
    }

    /// Runs a command in a context of its own.
    async fn execute_in(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        self.driver().execute(command, ctx).await
    }

    /// Runs a command.
    async fn execute(&mut self, command: Command) -> Result<Observation, DriverError> {
        self.execute_in(command, &context()).await
    }

    /// The answer to a command that must succeed.
    async fn ok(&mut self, command: Command) -> Observation {
        let (label, name) = (self.label(), command.name());
        let done = self.execute(command).await;
        done.unwrap_or_else(|error| panic!("{label} {name}: {error}\n{:#?}", error.log()))
    }

    /// Why a command failed that must fail.
    async fn err(&mut self, command: Command) -> DriverError {
        self.err_within(TEST_TIMEOUT, command).await
    }

    /// Why a command failed that had only this long.
    async fn err_within(&mut self, time: Duration, command: Command) -> DriverError {
        let (label, name) = (self.label(), command.name());
        match self
            .execute_in(command, &CommandContext::within(time))
            .await
        {
            Ok(answer) => panic!("{label} {name} succeeded: {answer:?}"),
            Err(error) => error,
        }
    }

    /// The notes of a command that was carried out.
    async fn notes(&mut self, command: Command) -> Vec<String> {
        match self.ok(command).await {
            Observation::Done(report) => report.notes,
            other => panic!("{other:?}"),
        }
    }

    /// Runs an input command that must succeed.
    async fn input(&mut self, command: InputCommand) {
        self.ok(Command::Input(command)).await;
    }

    /// The answer to a command about apps that must succeed.
    async fn app(&mut self, command: AppCommand) -> Observation {
        self.ok(Command::App(command)).await
    }

    /// The JSON that a command answers.
    async fn json(&mut self, command: Command) -> serde_json::Value {
        match self.ok(command).await {
            Observation::Json(value) => value,
            other => panic!("{other:?}"),
        }
    }

    /// What is on the screen.
    async fn snapshot(&mut self) -> Box<Snapshot> {
        match self.ok(SNAPSHOT).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    /// What the screen shows once it shows something else than that snapshot, if it comes to that.
    async fn change_since(&mut self, mark: ScreenMark, limit: Duration) -> Option<Box<Snapshot>> {
        match self.ok(Command::AwaitChange { since: mark, limit }).await {
            Observation::Snapshot(snapshot) => Some(snapshot),
            Observation::Unchanged => None,
            other => panic!("{other:?}"),
        }
    }

    /// Brings the shop to the front as it is after a fresh start.
    async fn open_shop(&mut self) {
        let (id, mode) = (SHOP.to_owned(), LaunchMode::ForceRestart);
        self.app(AppCommand::Launch { id, mode }).await;
    }

    /// The middle of an element.
    async fn center(&mut self, name: &str) -> Point {
        let snapshot = self.snapshot().await;
        let mut nodes = snapshot.tree.nodes().iter();
        let found = nodes.find_map(|node| node.bounds.filter(|_| is_named(&node.detail, name)));
        let Some(bounds) = found else {
            panic!("{}: no {name} in\n{}", self.label(), snapshot.text);
        };
        bounds.center()
    }

    /// Taps an element.
    async fn tap(&mut self, name: &str) {
        let at = self.center(name).await;
        self.input(InputCommand::Tap { at }).await;
    }

    /// Types into an element.
    async fn fill(&mut self, name: &str, text: &str) {
        self.tap(name).await;
        self.input(InputCommand::Text(text.to_owned())).await;
    }

    /// Whether an element of that id, text or description is on the screen.
    async fn shows(&mut self, name: &str) -> bool {
        let snapshot = self.snapshot().await;
        let mut nodes = snapshot.tree.nodes().iter();
        nodes.any(|node| is_named(&node.detail, name))
    }

    /// A screenshot: its size in pixels, and that of the screen as the driver counts.
    async fn screenshot(&mut self) -> (Size, Size) {
        let Observation::Screenshot(shot) = self.ok(Command::Screenshot).await else {
            panic!("no screenshot");
        };
        assert_eq!(&shot.png[..8], b"\x89PNG\r\n\x1a\n");
        let side = |at: usize| {
            let bytes = shot.png[at..at + 4].try_into().unwrap();
            f64::from(u32::from_be_bytes(bytes))
        };
        (Size::new(side(16), side(20)), shot.screen)
    }
}

fn is_named(detail: &NodeDetail, name: &str) -> bool {
    let names = match detail {
        NodeDetail::Android(node) => {
            let id = node.resource_id.as_deref();
            let id = id.and_then(|id| id.split_once(":id/"));
            [
                id.map(|(_, id)| id),
                node.text.as_deref(),
                node.content_description.as_deref(),
            ]
        }
        NodeDetail::Ios(node) => [node.identifier.as_deref(), node.label.as_deref(), None],
        _ => [None; 3],
    };
    names.contains(&Some(name))
}

/// What a reader is told of a device that broke: never a failed step.
#[track_caller]
pub fn lost(error: &DriverError) -> (&str, &str) {
    assert_eq!(error.fault(), Fault::Device, "{error:?}");
    match error {
        DriverError::Lost { cause, hint } => (cause, hint.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// How often a connection was repaired.
pub fn mended(events: &[DeviceEvent]) -> usize {
    let is = |event: &&DeviceEvent| matches!(event, DeviceEvent::Reconnected { .. });
    events.iter().filter(is).count()
}
