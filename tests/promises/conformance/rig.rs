//! A device on its way to a driver, and what a test can do to it behind the driver's back.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use packtrain_drivers::{
    BoxFuture, Command, Connector, Driver, EventStream, Observation, Platform, SessionOptions,
    Snapshot, SnapshotDetail, event_channel,
};
use packtrain_testing::{TEST_TIMEOUT, TestDevice, context};

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

impl TestDevice for Hand {
    fn driver_mut(&mut self) -> &mut dyn Driver {
        self.driver.as_deref_mut().unwrap()
    }

    fn label(&self) -> String {
        self.rig.connector().id().to_string()
    }

    async fn snapshot(&mut self) -> Box<Snapshot> {
        let detail = SnapshotDetail {
            bounds: true,
            ..SnapshotDetail::default()
        };
        match self.ok(Command::Snapshot(detail)).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }
}

impl Hand {
    async fn take(rig: Box<dyn Rig>) -> Self {
        let (sink, events) = event_channel();
        let driver = rig.connector().connect(sink, &context()).await;
        Self {
            rig,
            driver: Some(driver.unwrap()),
            _events: events,
        }
    }

    pub(super) fn platform(&mut self) -> Platform {
        self.driver_mut().info().id.platform()
    }

    pub(super) async fn close(&mut self) {
        self.driver.take().unwrap().close().await;
    }

    pub(super) async fn connect(&mut self) {
        let (sink, events) = event_channel();
        let driver = self.rig.connector().connect(sink, &context()).await;
        (self.driver, self._events) = (Some(driver.unwrap()), events);
    }

    /// Begins a session and opens the shop.
    pub(super) async fn shop(&mut self) {
        self.ok(Command::Begin(SessionOptions::default())).await;
        let open = self.rig.open();
        self.ok(open).await;
        self.showing("Sign in").await;
    }

    /// Waits until a text is on the screen.
    pub(super) async fn showing(&mut self, text: &str) -> Box<Snapshot> {
        let end = Instant::now() + TEST_TIMEOUT;
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
