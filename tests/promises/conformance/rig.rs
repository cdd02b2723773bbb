//! A device on its way to a driver, and what a test can do to it behind the driver's back.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use packtrain_drivers::{
    BoxFuture, Command, CommandContext, Connector, Driver, DriverError, EventStream, Observation,
    Platform, ScreenMark, SessionOptions, Snapshot, SnapshotDetail, event_channel,
};
use tokio_util::sync::CancellationToken;

/// How long anything may take before a test fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A device that shows the example shop, and how to reach it.
pub(super) trait Rig: Send {
    /// What leads to the device.
    fn connector(&self) -> Arc<dyn Connector>;

    /// Opens the shop as somebody sees it who is not signed in.
    fn open(&self) -> Command;

    /// Sees to it that a command hangs, and says which.
    fn hang(&self) -> Command;

    /// Nothing hangs any more.
    fn heal(&self);

    /// The device dies.
    fn kill(&mut self) -> BoxFuture<'_, ()>;

    /// Whether something runs for a driver between its commands.
    fn keeps_something_running(&self) -> bool {
        true
    }

    /// What runs for a driver now.
    fn running(&self) -> BoxFuture<'_, Vec<String>>;

    /// Everything ends.
    fn end(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// A driver that has a device in hand.
pub(super) struct Hand {
    pub(super) rig: Box<dyn Rig>,
    driver: Option<Box<dyn Driver>>,
    _events: EventStream,
}

/// Keeps a promise with a device.
pub(super) fn keeps<P: AsyncFnOnce(&mut Hand)>(
    rig: impl Future<Output = Box<dyn Rig>>,
    promise: P,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut hand = Hand::take(rig.await).await;
        promise(&mut hand).await;
        if let Some(driver) = hand.driver.take() {
            driver.close().await;
        }
        hand.rig.end().await;
    });
}

/// A context with so much time.
pub(super) fn within(time: Duration) -> CommandContext {
    CommandContext {
        deadline: Instant::now() + time,
        cancel: CancellationToken::new(),
    }
}

impl Hand {
    async fn take(rig: Box<dyn Rig>) -> Self {
        let (sink, events) = event_channel();
        let driver = rig.connector().connect(sink, &within(PATIENCE)).await;
        Self {
            rig,
            driver: Some(driver.unwrap()),
            _events: events,
        }
    }

    pub(super) fn driver(&mut self) -> &mut dyn Driver {
        self.driver.as_deref_mut().unwrap()
    }

    pub(super) fn platform(&mut self) -> Platform {
        self.driver().info().id.platform()
    }

    pub(super) async fn close(&mut self) {
        self.driver.take().unwrap().close().await;
    }

    pub(super) async fn connect(&mut self) {
        let (sink, events) = event_channel();
        let driver = self.rig.connector().connect(sink, &within(PATIENCE)).await;
        (self.driver, self._events) = (Some(driver.unwrap()), events);
    }

    pub(super) async fn ok(&mut self, command: Command) -> Observation {
        let name = command.name();
        let answer = self.driver().execute(command, &within(PATIENCE)).await;
        answer.unwrap_or_else(|error| panic!("{name}: {error}\n{:#?}", error.log()))
    }

    pub(super) async fn err(&mut self, command: Command) -> DriverError {
        let answer = self.driver().execute(command, &within(PATIENCE)).await;
        answer.expect_err("it was refused")
    }

    /// Begins a session and opens the shop.
    pub(super) async fn shop(&mut self) {
        self.ok(Command::Begin(SessionOptions::default())).await;
        let open = self.rig.open();
        self.ok(open).await;
        self.showing("Sign in").await;
    }

    pub(super) async fn snapshot(&mut self) -> Box<Snapshot> {
        let detail = SnapshotDetail {
            bounds: true,
            ..SnapshotDetail::default()
        };
        match self.ok(Command::Snapshot(detail)).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    /// What the screen shows once it shows something else than that snapshot, if it comes to that.
    pub(super) async fn change_since(
        &mut self,
        since: ScreenMark,
        limit: Duration,
    ) -> Option<Box<Snapshot>> {
        match self.ok(Command::AwaitChange { since, limit }).await {
            Observation::Snapshot(snapshot) => Some(snapshot),
            Observation::Unchanged => None,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until a text is on the screen.
    pub(super) async fn showing(&mut self, text: &str) -> Box<Snapshot> {
        let end = Instant::now() + PATIENCE;
        loop {
            let snapshot = self.snapshot().await;
            if snapshot.text.contains(text) {
                return snapshot;
            }
            let limit = end.saturating_duration_since(Instant::now());
            assert!(!limit.is_zero(), "no {text:?} in\n{}", snapshot.text);
            self.change_since(snapshot.mark, limit).await;
        }
    }
}
