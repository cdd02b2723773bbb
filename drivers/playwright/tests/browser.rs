//! A connected web device, without actors around it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_playwright::{WebPool, WebSlot, install};
use packtrain_drivers::{
    Command, DeviceEvent, Driver, DriverError, EventStream, NavigateTo, SessionOptions, WebCommand,
    event_channel,
};
use packtrain_testing::{TestDevice, context};

/// A device with its own driver process.
pub(crate) struct Device {
    pool: Arc<WebPool>,
    driver: Option<Box<dyn Driver>>,
    events: EventStream,
    /// What was reported and not asked for yet.
    unread: Vec<DeviceEvent>,
}

/// The programs that the tests need.
pub(crate) fn found() -> install::Found {
    let found = install::find(&install::SearchPaths::from_environment(|name| {
        // On the search path there may be Chromium's headless shell: tests/run.sh says why.
        let browser =
            (name == "PACKTRAIN_BROWSER").then(|| std::env::var_os("PACKTRAIN_TEST_CHROMIUM"));
        browser.flatten().or_else(|| std::env::var_os(name))
    }));
    assert!(
        found.installation().is_some() && found.browser.is_some() && found.firefox.is_some(),
        "these tests need Node, playwright-core, Chromium and Firefox; tests/run.sh installs them: {found:?}"
    );
    found
}

/// A driver process with no browser yet.
pub(crate) fn pool() -> Arc<WebPool> {
    WebPool::new(&found())
}

impl TestDevice for Device {
    fn driver_mut(&mut self) -> &mut dyn Driver {
        self.driver.as_deref_mut().unwrap()
    }

    fn label(&self) -> String {
        "web".to_owned()
    }
}

impl Device {
    pub(crate) async fn connect(slot: WebSlot) -> Self {
        Self::connect_in(&pool(), slot).await
    }

    /// A device that shares its driver process with others.
    pub(crate) async fn connect_in(pool: &Arc<WebPool>, slot: WebSlot) -> Self {
        let (sink, events) = event_channel();
        let connector = pool.connector(WebSlot {
            name: "test".into(),
            ..slot
        });
        let driver = connector.connect(sink, &context()).await.unwrap();
        Self {
            pool: Arc::clone(pool),
            driver: Some(driver),
            events,
            unread: Vec::new(),
        }
    }

    pub(crate) async fn begin(&mut self, options: SessionOptions) {
        self.ok(Command::Begin(options)).await;
    }

    /// What has been reported by now.
    pub(crate) fn reports(&mut self) -> Vec<DeviceEvent> {
        let mut reports = std::mem::take(&mut self.unread);
        reports.extend(self.events.drain());
        reports
    }

    /// Opens an address.
    pub(crate) async fn go(&mut self, url: impl Into<String>) {
        let to = NavigateTo::Url(url.into());
        self.ok(Command::Web(WebCommand::Navigate(to))).await;
    }

    /// What a script answers.
    pub(crate) async fn script(&mut self, script: &str) -> serde_json::Value {
        self.json(Command::Web(WebCommand::Evaluate(script.to_owned())))
            .await
    }

    /// Runs a command and cancels it once it waits.
    pub(crate) async fn cancelled(&mut self, command: Command) -> DriverError {
        let ctx = context();
        let driver = self.driver.as_mut().unwrap();
        let mut running = driver.execute(command, &ctx);
        tokio::select! {
            biased;
            _ = &mut running => panic!("it did not wait"),
            () = tokio::task::yield_now() => ctx.cancel.cancel(),
        }
        running.await.unwrap_err()
    }

    /// Lets go of the device; others go on.
    pub(crate) async fn leave(mut self) {
        self.driver.take().unwrap().close().await;
    }

    pub(crate) async fn close(self) {
        let pool = Arc::clone(&self.pool);
        self.leave().await;
        pool.shutdown().await;
    }
}

/// Waits for an event of the device, in whatever order events come.
pub(crate) async fn reported(device: &mut Device, wanted: impl Fn(&DeviceEvent) -> bool) {
    if let Some(at) = device.unread.iter().position(&wanted) {
        device.unread.remove(at);
        return;
    }
    let search = async {
        while let Some(event) = device.events.next().await {
            if wanted(&event) {
                return;
            }
            device.unread.push(event);
        }
        panic!("the device is gone");
    };
    tokio::time::timeout(Duration::from_secs(30), search)
        .await
        .expect("the event was not reported");
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}
