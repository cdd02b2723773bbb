//! What happens to a fleet's devices, as a run sees it.

use std::collections::HashMap;

use packtrain_device_actors::{DeviceState, Fleet};
use packtrain_drivers::DeviceId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::host::{DeviceChange, DeviceChangeKind};

/// Changes that may wait for the run.
const CHANGES_QUEUED: usize = 256;

/// What happens to the devices from now on.
pub(crate) fn of(fleet: &Fleet) -> mpsc::Receiver<DeviceChange> {
    let (told, receiver) = mpsc::channel(CHANGES_QUEUED);
    // Before anything happens that the run causes.
    let mut changes = fleet.subscribe();
    let fleet = fleet.clone();
    tokio::spawn(async move {
        let mut known = Known::default();
        let status = fleet.status().await.into_iter();
        known
            .0
            .extend(status.map(|device| (device.info.id, DeviceChangeKind::Up)));
        loop {
            let change = tokio::select! {
                () = told.closed() => return,
                change = changes.recv() => change,
            };
            let news: Vec<_> = match change {
                Ok(change) => known.learn(change.id, change.state).into_iter().collect(),
                Err(RecvError::Lagged(_)) => {
                    let status = fleet.status().await.into_iter();
                    known.learn_all(
                        status
                            .map(|device| (device.info.id, device.state))
                            .collect(),
                    )
                }
                Err(RecvError::Closed) => return,
            };
            for change in news {
                if told.send(change).await.is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

/// What the run heard last of each device. One that was there from the beginning is up.
#[derive(Default)]
struct Known(HashMap<DeviceId, DeviceChangeKind>);

impl Known {
    /// What is new about a device whose state is this, or which has left.
    fn learn(&mut self, id: DeviceId, state: Option<DeviceState>) -> Option<DeviceChange> {
        let last = self.0.get(&id).copied();
        let kind = match state {
            None => DeviceChangeKind::Left,
            Some(_) if last == Some(DeviceChangeKind::Left) => DeviceChangeKind::Joined,
            Some(DeviceState::Dead { .. }) => DeviceChangeKind::Down,
            Some(_) if last == Some(DeviceChangeKind::Down) => DeviceChangeKind::Up,
            Some(_) => return None,
        };
        let is_news = last != Some(kind);
        self.0.insert(id.clone(), kind);
        is_news.then_some(DeviceChange { id, kind })
    }

    /// What is new when these are all devices and their states.
    fn learn_all(&mut self, devices: Vec<(DeviceId, DeviceState)>) -> Vec<DeviceChange> {
        let left: Vec<_> = self.0.keys().cloned().collect();
        let left = left
            .into_iter()
            .filter(|id| !devices.iter().any(|(device, _)| device == id))
            .map(|id| (id, None));
        let there = devices.iter().cloned().map(|(id, state)| (id, Some(state)));
        let all: Vec<_> = left.chain(there).collect();
        all.into_iter()
            .filter_map(|(id, state)| self.learn(id, state))
            .collect()
    }
}

#[cfg(test)]
mod tests {

    use packtrain_drivers::Platform;
    use tokio::time::Instant;

    use super::*;

    fn dead() -> DeviceState {
        DeviceState::Dead {
            cause: "the cable was pulled".into(),
            until: Instant::now(),
            failures: 1,
        }
    }

    #[test]
    fn only_what_matters_to_a_run_is_told_and_once() {
        let id = DeviceId::new(Platform::Web, "a");
        let mut known = Known::default();
        let mut kind = |state| known.learn(id.clone(), state).map(|change| change.kind);
        assert_eq!(kind(Some(DeviceState::Ready)), None);
        assert_eq!(kind(Some(dead())), Some(DeviceChangeKind::Down));
        assert_eq!(kind(Some(dead())), None);
        assert_eq!(kind(Some(DeviceState::Absent)), Some(DeviceChangeKind::Up));
        assert_eq!(kind(Some(DeviceState::Connecting)), None);
        assert_eq!(kind(None), Some(DeviceChangeKind::Left));
        assert_eq!(
            kind(Some(DeviceState::Absent)),
            Some(DeviceChangeKind::Joined)
        );
        assert_eq!(kind(Some(DeviceState::Ready)), None);
    }

    #[test]
    fn a_reader_that_fell_behind_learns_the_same_from_the_status() {
        let id = |name: &str| DeviceId::new(Platform::Web, name);
        let mut known = Known::default();
        known.learn(id("a"), Some(dead()));
        known.learn(id("b"), Some(dead()));
        let told = known.learn_all(vec![(id("b"), DeviceState::Ready), (id("c"), dead())]);
        let told: Vec<_> = told.into_iter().map(|c| (c.id, c.kind)).collect();
        assert_eq!(
            told,
            [
                (id("a"), DeviceChangeKind::Left),
                (id("b"), DeviceChangeKind::Up),
                (id("c"), DeviceChangeKind::Down),
            ]
        );
    }
}
