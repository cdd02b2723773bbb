//! Browser processes and who shares them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use playwright_rs::protocol::Browser;
use playwright_rs::server::channel_owner::ChannelOwner;
use playwright_rs::{Error, LaunchOptions};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::configuration::Engine;
use crate::host::{Host, HostError};
use crate::slot::Isolation;
use crate::traffic::Traffic;

/// Chromium's own background traffic, switched off: it is slow, and on a closed network it fails
/// again and again.
const QUIET: [&str; 5] = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// Firefox as it is released, in Playwright's words; its plain `firefox` is a build of its own.
const RELEASED_FIREFOX: &str = "moz-firefox";
/// Characters of each line that a browser says when it does not start.
const MAX_LINE: usize = 300;
/// So many unused Firefoxes are kept: each set of preferences takes one, and none is cheap.
const IDLE_FIREFOXES: usize = 2;

/// What a browser process is started with. Devices that ask for the same share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrowserLaunch {
    /// What kind of program it is.
    pub engine: Engine,
    /// The program.
    pub executable: PathBuf,
    /// Whether a window is shown.
    pub headed: bool,
    /// Further arguments.
    pub args: Vec<String>,
    /// Whether the network of its sessions is slowed down. What Chromium tells of the network it
    /// learns from all sessions of a process, so they have one of their own.
    pub is_slow: bool,
    /// Firefox's preferences; Chromium has none.
    pub preferences: BTreeMap<String, serde_json::Value>,
}

/// A running browser.
pub(crate) struct RunningBrowser {
    pub(crate) browser: Browser,
    /// Cancelled once the process is gone.
    pub(crate) gone: CancellationToken,
    /// What the pages of its driver process still wait for.
    pub(crate) traffic: Arc<Traffic>,
}

/// A browser as one device sees it.
#[derive(Clone)]
pub(crate) struct BrowserHandle {
    pub(crate) running: Arc<RunningBrowser>,
    isolation: Isolation,
}

/// Whose browser a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserOwner {
    /// Its device's, which stays for other sessions.
    Devices,
    /// Its own.
    Sessions,
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
    /// The browser that is wanted, started when there is none yet.
    pub(crate) async fn get(
        &self,
        host: &Host,
        isolation: Isolation,
        launch: &BrowserLaunch,
    ) -> Result<BrowserHandle, HostError> {
        let own =
            (isolation == Isolation::Process).then(|| self.numbers.fetch_add(1, Ordering::Relaxed));
        let key = Key(launch.clone(), own);
        let (cell, idle) = {
            let mut running = self.running.lock().await;
            running.retain(|_, cell| {
                cell.get()
                    .is_none_or(|browser| !browser.gone.is_cancelled())
            });
            let cell = Arc::clone(running.entry(key).or_default());
            (cell, take_idle(&mut running))
        };
        for browser in idle {
            if let Err(error) = browser.browser.close().await {
                tracing::debug!(%error, "closing an unused Firefox");
            }
        }
        let running = cell.get_or_try_init(|| start(host, launch)).await?;
        Ok(BrowserHandle {
            running: Arc::clone(running),
            isolation,
        })
    }
}

/// Removes unused Firefoxes, but for a few.
fn take_idle(running: &mut HashMap<Key, BrowserCell>) -> Vec<Arc<RunningBrowser>> {
    let idle = |key: &Key, cell: &BrowserCell| {
        key.0.engine == Engine::Firefox
            && Arc::strong_count(cell) == 1
            && cell
                .get()
                .is_some_and(|browser| Arc::strong_count(browser) == 1)
    };
    let keys: Vec<Key> = running
        .iter()
        .filter(|(key, cell)| idle(key, cell))
        .map(|(key, _)| key.clone())
        .skip(IDLE_FIREFOXES)
        .collect();
    keys.iter()
        .filter_map(|key| running.remove(key)?.get().cloned())
        .collect()
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
        .handle_sighup(false);
    let playwright = host.playwright();
    let (kind, options) = match launch.engine {
        Engine::Chromium => {
            let args = QUIET.iter().map(ToString::to_string);
            let args = args.chain(launch.args.iter().cloned()).collect();
            (playwright.chromium(), options.args(args))
        }
        Engine::Firefox => {
            let preferences = launch.preferences.clone().into_iter().collect();
            let options = options
                .args(launch.args.clone())
                .channel(RELEASED_FIREFOX.to_owned())
                .firefox_user_prefs(preferences);
            (playwright.firefox(), options)
        }
    };
    let started = tokio::select! {
        started = kind.launch_with_options(options) => {
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
        traffic: Arc::clone(&host.traffic),
    }))
}

/// Playwright's launch errors are pages long; the cause is in the first lines that say something, and
/// the browser's command line is none of it.
fn launch_message(error: &Error) -> String {
    let text = error.to_string();
    let told: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['╔', '║', '╚']))
        .filter(|line| !matches!(*line, "Browser logs:" | "Call log:"))
        .filter(|line| !line.contains("<launching>") && line.matches(" --").count() < 3)
        .take(3)
        .map(|line| line.chars().take(MAX_LINE).collect())
        .collect();
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_does_not_start_is_told_without_its_command_line() {
        let error = Error::ProtocolError(
            "browserType.launch: Target page, context or browser has been closed
Browser logs:

<launching> /usr/bin/chromium --disable-field-trial-config --headless --no-sandbox --mute-audio
<launched> pid=77
[pid=77][err] chromium: error while loading shared libraries: libnss3.so
Call log:
  - <launching> /usr/bin/chromium --disable-field-trial-config --headless --no-sandbox
  - [pid=77] <process did exit: exitCode=127, signal=null>"
                .to_owned(),
        );
        let told = launch_message(&error);
        assert!(told.contains("libnss3.so"), "{told}");
        assert!(!told.contains("--"), "{told}");
    }
}
