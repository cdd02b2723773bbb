//! The shop's pages in a Chromium of their own, through Playwright.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use packtrain_driver_playwright::{Isolation, WebPool, WebSlot, install};
use packtrain_drivers::{AppCommand, BoxFuture, Command, Connector, WebCommand};
use packtrain_tests::{processes_with, repository};

use super::rig::Rig;

static NUMBER: AtomicU32 = AtomicU32::new(0);

struct Browser {
    pool: Arc<WebPool>,
    connector: Arc<dyn Connector>,
    /// What the browser's command line holds and no other.
    mark: String,
}

pub(super) async fn chromium() -> Box<dyn Rig> {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mark = format!("--packtrain-conformance={}-{number}-", std::process::id());
    let paths = install::SearchPaths::from_environment(|name| std::env::var_os(name));
    let found = install::find(&paths);
    let pool = WebPool::new(&found);
    let connector = pool.connector(WebSlot {
        name: "bench".into(),
        viewport: Some((800, 600)),
        isolation: Isolation::Process,
        args: vec![mark.clone()],
        ..WebSlot::default()
    });
    Box::new(Browser {
        pool,
        connector,
        mark,
    })
}

impl Rig for Browser {
    fn connector(&self) -> Arc<dyn Connector> {
        Arc::clone(&self.connector)
    }

    fn open(&self) -> Command {
        let page = repository().join("examples/shop/web/index.html");
        Command::App(AppCommand::OpenUrl(format!("file://{}", page.display())))
    }

    fn hang(&self) -> Command {
        Command::Web(WebCommand::Evaluate("new Promise(() => {})".into()))
    }

    fn heal(&self) {}

    fn kill(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let ids = processes_with(&self.mark);
            let killed = std::process::Command::new("kill")
                .arg("-KILL")
                .args(ids.iter().map(u32::to_string))
                .status();
            assert!(killed.is_ok());
        })
    }

    fn running(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async {
            let ids = processes_with(&self.mark);
            ids.iter().map(u32::to_string).collect()
        })
    }

    fn end(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.pool.shutdown().await })
    }
}
