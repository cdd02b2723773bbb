//! Devices that come and go after the start: Android devices as adb's server tells of them, iPhones as
//! usbmuxd lists them, booted simulators. Where nothing was looked for at the start, nothing is watched.

mod roster;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt as _};
use packtrain_driver_adb::{AdbDevice, Survey};
use packtrain_drivers::{Connector, DeviceId, Platform};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use self::roster::Roster;
use super::Wiring;
use super::selection::Search;

/// How long a device may be away and still count as there for its driver: a little longer than its driver
/// waits for it within a command, so that a restarted adb server ends no session.
pub const AWAY_GRACE: Duration = Duration::from_secs(10);
/// Changes that may wait for their reader. When there are more, devices are not looked at meanwhile:
/// nothing is lost.
const CHANGE_CAPACITY: usize = 64;

/// Something that became of a device.
#[derive(Clone)]
pub enum Change {
    /// It can be connected.
    Appeared {
        /// What leads to it.
        connector: Arc<dyn Connector>,
        /// The Android API level, where it has one and it is known.
        api_level: Option<u32>,
    },
    /// It is not there any more, whether it could be used or not.
    Vanished(DeviceId),
    /// It is there and cannot be used, with the reason. One that could be has vanished before.
    Unusable(AdbDevice),
}

/// The devices of this computer, from the wiring's start on. Dropped, nothing is watched any more.
pub struct Watch {
    changes: mpsc::Receiver<Change>,
    _following: AbortOnDropHandle<()>,
}

/// What there is of a platform.
type Found = (Platform, Survey);

impl Watch {
    /// Begins with what `wiring` has found: what it has is not told again. A device that is away is
    /// there for `grace` more.
    pub fn start(wiring: &Wiring, grace: Duration) -> Self {
        let mut all: Vec<BoxStream<'static, Found>> = Vec::new();
        if wiring.searched.android != Search::Not {
            let watch = wiring.adb.watch();
            let surveys = stream::unfold(watch, async |mut watch| {
                Some(((Platform::Android, watch.next().await), watch))
            });
            all.push(surveys.boxed());
        }
        if wiring.searched.ios != Search::Not {
            let watch = wiring.wda.watch();
            let surveys = stream::unfold(watch, async |mut watch| {
                let connectors = watch.next().await;
                let survey = Survey {
                    connectors,
                    ..Survey::default()
                };
                Some(((Platform::Ios, survey), watch))
            });
            all.push(surveys.boxed());
        }
        let found = wiring.found_phones.iter().map(|found| found.describe());
        let configured = wiring.configured.keys().cloned().collect();
        let roster = Roster::new(grace, found, &wiring.unusable, configured);
        let (tell, changes) = mpsc::channel(CHANGE_CAPACITY);
        let following = tokio::spawn(follow(stream::select_all(all).boxed(), roster, tell));
        Self {
            changes,
            _following: AbortOnDropHandle::new(following),
        }
    }

    /// The next change; `None` when nothing is watched. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Change> {
        self.changes.recv().await
    }
}

/// Reports changes until their reader is gone.
async fn follow(
    mut surveys: BoxStream<'static, Found>,
    mut roster: Roster,
    tell: mpsc::Sender<Change>,
) {
    loop {
        tokio::select! {
            found = surveys.next() => match found {
                Some((platform, survey)) => roster.take(platform, survey),
                None => return,
            },
            () = at(roster.next_loss()) => {}
            () = tell.closed() => return,
        }
        for change in roster.settle(Instant::now()) {
            if tell.send(change).await.is_err() {
                return;
            }
        }
    }
}

/// Ends at a moment; never without one.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
