//! A connected web device, without actors around it.

use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_playwright::{WebPool, WebSlot, install};
use packtrain_drivers::{
    AppCommand, Command, DriverError, NavigateTo, Observation, SessionOptions, WebCommand,
    WebTarget,
};
use packtrain_testing::promises::Bench;
use packtrain_testing::{Hand, TestDevice, context, processes};

use crate::site::Site;

/// A device with its own driver process.
pub(crate) struct Device {
    /// What it is to look at.
    pub(crate) site: Site,
    pool: Arc<WebPool>,
    hand: Hand,
    /// What the browser's command line holds and no other, where a promise asks what runs.
    mark: String,
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
    fn hand(&mut self) -> &mut Hand {
        &mut self.hand
    }

    fn label(&self) -> String {
        "web".to_owned()
    }
}

impl Bench for Device {
    fn open(&self) -> Command {
        let shop = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/shop/web/index.html"
        );
        Command::App(AppCommand::OpenUrl(format!("file://{shop}")))
    }

    fn hang(&self) -> Command {
        Command::Web(WebCommand::Evaluate("new Promise(() => {})".into()))
    }

    fn heal(&self) {}

    async fn kill(&mut self) {
        let killed = std::process::Command::new("kill")
            .arg("-KILL")
            .args(self.running().await)
            .status();
        assert!(killed.is_ok());
    }

    async fn running(&mut self) -> Vec<String> {
        assert!(!self.mark.is_empty(), "it would be every process");
        let ours = processes()
            .into_iter()
            .filter(|one| one.line.contains(&self.mark));
        ours.map(|one| one.pid.to_string()).collect()
    }
}

impl Device {
    pub(crate) async fn connect(slot: WebSlot) -> Self {
        Self::connect_in(&pool(), slot).await
    }

    /// A device that shares its driver process with others.
    pub(crate) async fn connect_in(pool: &Arc<WebPool>, slot: WebSlot) -> Self {
        let mark = slot.args.first().cloned().unwrap_or_default();
        let connector = pool.connector(WebSlot {
            name: "test".into(),
            ..slot
        });
        let mut device = Self {
            site: Site::start().await,
            pool: Arc::clone(pool),
            hand: Hand::new(connector),
            mark,
        };
        device.reconnect().await.unwrap();
        device
    }

    pub(crate) async fn begin(&mut self, options: SessionOptions) {
        self.ok(Command::Begin(options)).await;
    }

    /// Runs a command that must succeed.
    pub(crate) async fn web(&mut self, command: WebCommand) -> Observation {
        self.ok(Command::Web(command)).await
    }

    /// Takes the place of what a field holds.
    pub(crate) async fn fill(&mut self, target: WebTarget, text: &str) {
        let (text, clear_first) = (text.to_owned(), true);
        let typed = WebCommand::Type {
            target,
            text,
            clear_first,
        };
        self.web(typed).await;
    }

    /// Opens an address.
    pub(crate) async fn go(&mut self, url: impl Into<String>) {
        let to = NavigateTo::Url(url.into());
        self.web(WebCommand::Navigate(to)).await;
    }

    /// Opens one of the site's pages.
    pub(crate) async fn visit(&mut self, path: &str) {
        self.go(self.site.url() + path).await;
    }

    /// Opens a page of this content.
    pub(crate) async fn show(&mut self, html: &str) {
        self.go(self.site.page(html)).await;
    }

    /// What a script answers.
    pub(crate) async fn script(&mut self, script: &str) -> serde_json::Value {
        self.json(Command::Web(WebCommand::Evaluate(script.to_owned())))
            .await
    }

    /// Why a command failed, which had not much time, and what it waited for.
    pub(crate) async fn unmet(
        &mut self,
        time: Duration,
        command: Command,
    ) -> (String, Vec<String>) {
        match self.err_within(time, command).await {
            DriverError::Unmet { what, log } => (what, log),
            other => panic!("{other:?}"),
        }
    }

    /// Runs a command and cancels it once it waits.
    pub(crate) async fn cancelled(&mut self, command: Command) -> DriverError {
        let ctx = context();
        let mut running = self.driver().execute(command, &ctx);
        tokio::select! {
            biased;
            _ = &mut running => panic!("it did not wait"),
            () = tokio::task::yield_now() => ctx.cancel.cancel(),
        }
        running.await.unwrap_err()
    }

    /// Lets go of the device; others go on.
    pub(crate) async fn leave(mut self) {
        self.disconnect().await;
    }

    pub(crate) async fn close(self) {
        let pool = Arc::clone(&self.pool);
        self.leave().await;
        pool.shutdown().await;
    }
}
