//! Browser processes and who shares them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use playwright_rs::protocol::Browser;
use playwright_rs::server::channel_owner::ChannelOwner;
use playwright_rs::{Error, LaunchOptions};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::host::{Host, HostError};
use crate::slot::{Isolation, WebSlot};

/// Chromium's own background traffic, switched off: it is slow, and on a closed network it fails
/// again and again.
const QUIET: [&str; 5] = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// What a browser process is started with. Devices that ask for the same share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrowserLaunch {
    /// The program.
    pub executable: PathBuf,
    /// Whether a window is shown.
    pub headed: bool,
    /// Further arguments.
    pub args: Vec<String>,
}

/// A running browser.
pub(crate) struct RunningBrowser {
    pub(crate) browser: Browser,
    /// Cancelled once the process is gone.
    pub(crate) gone: CancellationToken,
}

/// A browser as one device sees it.
#[derive(Clone)]
pub(crate) struct BrowserHandle {
    pub(crate) running: Arc<RunningBrowser>,
    isolation: Isolation,
}

impl BrowserHandle {
    /// Closes the browser when it is this device's own; a shared one stays for the others.
    pub(crate) async fn release(self) {
        if self.isolation == Isolation::Process {
            let _ = self.running.browser.close().await;
        }
    }
}

/// Which browser serves whom: the launch options, and the device's number when it wants its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key(BrowserLaunch, Option<u64>);

type BrowserCell = Arc<OnceCell<Arc<RunningBrowser>>>;

/// The browsers of one driver process.
#[derive(Default)]
pub(crate) struct Browsers {
    running: Mutex<HashMap<Key, BrowserCell>>,
    numbers: AtomicU64,
}

impl Browsers {
    /// The browser for a slot, started when there is none yet.
    pub(crate) async fn get(
        &self,
        host: &Host,
        slot: &WebSlot,
        launch: &BrowserLaunch,
    ) -> Result<BrowserHandle, HostError> {
        let own = (slot.isolation == Isolation::Process)
            .then(|| self.numbers.fetch_add(1, Ordering::Relaxed));
        let key = Key(launch.clone(), own);
        let cell = {
            let mut running = self.running.lock().await;
            running.retain(|_, cell| {
                cell.get()
                    .is_none_or(|browser| !browser.gone.is_cancelled())
            });
            Arc::clone(running.entry(key).or_default())
        };
        let running = cell.get_or_try_init(|| start(host, launch)).await?;
        Ok(BrowserHandle {
            running: Arc::clone(running),
            isolation: slot.isolation,
        })
    }
}

async fn start(host: &Host, launch: &BrowserLaunch) -> Result<Arc<RunningBrowser>, HostError> {
    let failed = |message: String| HostError::Browser {
        program: launch.executable.display().to_string(),
        message,
    };
    let options = LaunchOptions::default()
        .executable_path(launch.executable.display().to_string())
        .headless(!launch.headed)
        .handle_sigint(false)
        .handle_sigterm(false)
        .handle_sighup(false)
        .args(
            QUIET
                .iter()
                .map(ToString::to_string)
                .chain(launch.args.iter().cloned())
                .collect(),
        );
    let started = tokio::select! {
        started = host.playwright().chromium().launch_with_options(options) => {
            started.map_err(|error| failed(launch_message(&error)))?
        }
        () = host.dead().cancelled() => return Err(failed("Playwright's driver ended".to_owned())),
    };
    let gone = CancellationToken::new();
    let on_gone = gone.clone();
    started
        .on_disconnected(move || {
            on_gone.cancel();
            async { Ok(()) }
        })
        .await
        .map_err(|error| failed(error.to_string()))?;
    tracing::debug!(
        guid = started.guid(),
        version = started.version(),
        "browser started"
    );
    Ok(Arc::new(RunningBrowser {
        browser: started,
        gone,
    }))
}

/// Playwright's launch errors are pages long; the cause is in the first lines that say something.
fn launch_message(error: &Error) -> String {
    let text = error.to_string();
    let told: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['╔', '║', '╚']))
        .take(3)
        .collect();
    told.join("; ")
}
