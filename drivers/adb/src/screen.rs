//! Reading the screen: as a tree, as a picture; and waiting for it to change.

mod observe;
mod picture;

use std::time::Duration;

use packtrain_drivers::selector::list_refs;
use packtrain_drivers::wait::ChangePoll;
use packtrain_drivers::{
    DriverError, NodeDetail, Observation, ScreenMark, Size, Snapshot, SnapshotDetail, Tree,
};
use tokio::time::Instant;

use crate::agent::AgentError;
use crate::command_error::CommandError;
use crate::device::{AndroidDevice, Result};
use crate::dump::{self, Dump, DumpFault, Leave};
use crate::effect::LastScreen;
use crate::focus::Focus;
use crate::wire::WireError;

/// How long a screen that cannot be read is tried again.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// The pause before it is.
const READ_POLL: Duration = Duration::from_millis(100);
/// Dumps longer than this are parsed off the async workers.
const LONG_DUMP: usize = 128 * 1024;

/// What is on the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Screen {
    pub(crate) mark: ScreenMark,
    pub(crate) tree: Tree,
    /// In pixels, as the device is held.
    pub(crate) size: Size,
}

impl Screen {
    pub(crate) fn new(tree: Tree, size: Size) -> Self {
        Self {
            mark: ScreenMark::of(&tree),
            tree,
            size,
        }
    }

    /// Whether anything of this app is on it.
    pub(crate) fn has(&self, package: &str) -> bool {
        self.tree.nodes().iter().any(|node| match &node.detail {
            NodeDetail::Android(node) => node.package.as_deref() == Some(package),
            NodeDetail::Ios(_) | NodeDetail::Web(_) => false,
        })
    }

    /// The package of the largest window.
    pub(crate) fn package(&self) -> Option<&str> {
        match &self.tree.nodes().first()?.detail {
            NodeDetail::Android(node) => node.package.as_deref(),
            NodeDetail::Ios(_) | NodeDetail::Web(_) => None,
        }
    }
}

impl AndroidDevice {
    /// Reads the screen, again while the device has no answer.
    ///
    /// # Errors
    /// [`DriverError::Timeout`] with what came instead of a screen.
    pub(crate) async fn read(&self, deadline: Instant) -> Result<Screen> {
        let start = Instant::now();
        let limit = deadline.min(start + READ_TIMEOUT);
        let mut log: Vec<String> = Vec::new();
        let give_up = |log: Vec<String>| {
            CommandError::from(DriverError::Timeout {
                doing: "reading the screen".to_owned(),
                after: start.elapsed(),
                log,
            })
        };
        loop {
            let fault = match self.agent.hierarchy(limit).await {
                Ok(text) => match self.parse(text).await {
                    Ok(dump) => {
                        let screen = self.turned(dump);
                        self.remember(Some(LastScreen::of(&screen)));
                        return Ok(screen);
                    }
                    Err(fault) => said(&fault),
                },
                Err(AgentError::Refused(reason)) => reason,
                Err(AgentError::Wire(WireError::Timeout { doing, after })) => {
                    // The end of the time says less than what was wrong all along.
                    if log.is_empty() {
                        log.push(format!("{doing} took longer than {} ms", after.as_millis()));
                    }
                    return Err(give_up(log));
                }
                Err(error) => return Err(error.into()),
            };
            tracing::debug!(fault, "the screen cannot be read");
            if log.last() != Some(&fault) {
                log.push(fault);
            }
            if Instant::now() + READ_POLL >= limit {
                return Err(give_up(log));
            }
            tokio::time::sleep(READ_POLL).await;
        }
    }

    async fn parse(&self, text: String) -> std::result::Result<Dump, DumpFault> {
        let (keyboard, screen) = (self.keyboard.clone(), self.screen);
        let is_long = text.len() > LONG_DUMP;
        let parse = move || {
            if text.len() > dump::MAX_DUMP {
                return Err(DumpFault::Broken("it is too long".to_owned()));
            }
            let leave = Leave {
                keyboard: keyboard.as_deref(),
                screen,
            };
            dump::parse(&text, leave)
        };
        if is_long {
            let parsed = tokio::task::spawn_blocking(parse).await;
            return parsed.unwrap_or_else(|error| Err(DumpFault::Broken(error.to_string())));
        }
        parse()
    }

    fn turned(&self, dump: Dump) -> Screen {
        let Size { width, height } = self.screen;
        let size = match dump.rotation % 2 {
            0 => self.screen,
            _ => Size::new(height, width),
        };
        Screen::new(dump.tree, size)
    }

    /// The screen, and the list of what is on it.
    pub(crate) async fn snapshot(
        &self,
        detail: SnapshotDetail,
        deadline: Instant,
    ) -> Result<Observation> {
        // The second question is answered while the first one is.
        let (screen, focus) = tokio::join!(self.read(deadline), self.focus(deadline));
        Ok(Observation::Snapshot(Box::new(show(
            screen?, focus, detail,
        ))))
    }

    /// Waits until the screen shows something else than `since`.
    pub(crate) async fn await_change(
        &self,
        since: ScreenMark,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Observation> {
        let poll = ChangePoll::within(limit);
        loop {
            let screen = self.read(deadline).await?;
            if screen.mark != since {
                let focus = self.focus(deadline).await;
                let snapshot = show(screen, focus, SnapshotDetail::default());
                return Ok(Observation::Snapshot(Box::new(snapshot)));
            }
            if !poll.again().await {
                return Ok(Observation::Unchanged);
            }
        }
    }
}

/// A screen as a snapshot. Without an answer about the focus, its largest window is in front.
fn show(screen: Screen, focus: Result<Option<Focus>>, detail: SnapshotDetail) -> Snapshot {
    let front = match focus {
        Ok(Some(focus)) => Some(focus.package),
        Ok(None) | Err(_) => screen.package().map(str::to_owned),
    };
    let list = list_refs(&screen.tree, screen.size, detail);
    Snapshot {
        mark: screen.mark,
        tree: screen.tree,
        text: list.text,
        refs: list.refs,
        location: front,
        title: None,
        screen: screen.size,
    }
}

fn said(fault: &DumpFault) -> String {
    match fault {
        DumpFault::NotIdle => {
            "the screen did not come to rest, which plain `uiautomator` insists on; u2.jar does not"
                .to_owned()
        }
        DumpFault::Killed => {
            "`uiautomator` was killed: another client uses the device's UI automation".to_owned()
        }
        other => other.to_string(),
    }
}
