//! The devices of a pool as they come and go: the adb server tells of its own, those at sockets of
//! their own are asked until they answer. Only what is new is asked what it is.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered, StreamExt as _};
use tokio::time::{Instant, sleep_until};

use crate::connector::Endpoint;
use crate::error::AdbError;
use crate::listing::AdbDevice;
use crate::pool::{AdbPool, Asked, Survey};
use crate::state::DeviceState;
use crate::wire::Server;

/// How long a server that is not there is left alone. Doubles each time it is still not there.
const REDIAL_BACKOFF_MIN: Duration = Duration::from_millis(250);
/// More is never waited.
const REDIAL_BACKOFF_MAX: Duration = Duration::from_secs(10);
/// How long a device that should answer and does not is left alone: it may be booting.
const ASK_AGAIN_INTERVAL: Duration = Duration::from_secs(3);

/// The devices of a pool, now and after every change.
pub struct AdbWatch {
    pool: Arc<AdbPool>,
    link: ServerLink,
    devices: BTreeMap<Key, Followed>,
    asking: FuturesUnordered<BoxFuture<'static, (Key, u64, Asked)>>,
    questions: u64,
    begun: InitialListing,
}

/// How much of what was there at the beginning is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InitialListing {
    /// Not even what the server has.
    No,
    /// What there is, but not what it is.
    Listed,
    /// All of it.
    Whole,
}

/// Those of the server come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Listed(String),
    Direct(String),
}

/// The way to the server's lists.
enum ServerLink {
    /// None is configured.
    Unwanted,
    /// It is dialled; so often it was not there.
    Dialling(BoxFuture<'static, Result<Lists, AdbError>>, u32),
    /// Its lists come.
    There(Lists),
    /// It is dialled then.
    Away(Instant, u32),
}

type Lists = BoxStream<'static, Vec<AdbDevice>>;

/// A device that is there.
struct Followed {
    device: AdbDevice,
    endpoint: Endpoint,
    /// The number of the last question, whose answer counts.
    question: u64,
    asked: Option<Asked>,
    /// When it is asked once more.
    again: Option<Instant>,
}

impl AdbPool {
    /// The devices from now on. Nothing is asked before [`AdbWatch::next`] is.
    pub fn watch(self: &Arc<Self>) -> AdbWatch {
        let mut watch = AdbWatch {
            link: match self.options().server {
                Some(_) => dial(self, 0),
                None => ServerLink::Unwanted,
            },
            pool: Arc::clone(self),
            devices: BTreeMap::new(),
            asking: FuturesUnordered::new(),
            questions: 0,
            begun: match self.options().server {
                Some(_) => InitialListing::No,
                None => InitialListing::Listed,
            },
        };
        for (name, address) in &self.options().direct {
            let device = AdbDevice::new(name.clone(), DeviceState::Device, None);
            let endpoint = Endpoint::Direct(address.clone());
            watch.ask(Key::Direct(name.clone()), device, endpoint);
        }
        watch
    }
}

impl AdbWatch {
    /// What is there: first of all, as soon as everything was asked; then after each change. A server
    /// that is away has no devices; it is waited for. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Survey {
        loop {
            let again = self.devices.values().filter_map(|device| device.again);
            let again = again.min();
            tokio::select! {
                Some((key, question, asked)) = self.asking.next() => {
                    self.answered(&key, question, asked);
                }
                list = self.link.next(&self.pool) => {
                    if self.begun == InitialListing::No {
                        self.begun = InitialListing::Listed;
                    }
                    self.listed(list);
                }
                () = at(again) => self.ask_again(),
            }
            if self.begun == InitialListing::Listed && self.asking.is_empty() {
                self.begun = InitialListing::Whole;
            }
            if self.begun == InitialListing::Whole {
                return self.survey();
            }
        }
    }

    fn ask(&mut self, key: Key, device: AdbDevice, endpoint: Endpoint) {
        self.questions += 1;
        let question = self.questions;
        let before = self.devices.remove(&key);
        // While it is queried again, it is what it was, unless it is known to be nothing now.
        let asked = before.and_then(|before| before.asked);
        let followed = Followed {
            asked: asked.filter(|_| device.state.is_ready()),
            device: device.clone(),
            endpoint: endpoint.clone(),
            question,
            again: None,
        };
        self.devices.insert(key.clone(), followed);
        let pool = Arc::clone(&self.pool);
        self.asking.push(Box::pin(async move {
            (key, question, pool.probe(device, endpoint).await)
        }));
    }

    fn answered(&mut self, key: &Key, question: u64, asked: Asked) {
        let device = self.devices.get_mut(key);
        let Some(device) = device.filter(|device| device.question == question) else {
            return;
        };
        if !asked.0.is_usable && device.device.state.is_ready() {
            device.again = Some(Instant::now() + ASK_AGAIN_INTERVAL);
        }
        device.asked = Some(asked);
    }

    fn ask_again(&mut self) {
        let now = Instant::now();
        let due = |device: &Followed| device.again.is_some_and(|again| again <= now);
        let due: Vec<_> = self
            .devices
            .iter()
            .filter(|(_, device)| due(device))
            .map(|(key, device)| (key.clone(), device.device.clone(), device.endpoint.clone()))
            .collect();
        for (key, device, endpoint) in due {
            self.ask(key, device, endpoint);
        }
    }

    /// The server says what it has; nothing when it is gone.
    fn listed(&mut self, list: Option<Vec<AdbDevice>>) {
        let list = list.unwrap_or_default();
        self.devices.retain(|key, _| match key {
            Key::Direct(_) => true,
            Key::Listed(serial) => list.iter().any(|device| device.serial == *serial),
        });
        let Some(server) = self.pool.options().server.map(Server::new) else {
            return;
        };
        for device in list {
            let key = Key::Listed(device.serial.clone());
            let before = self.devices.get(&key).map(|before| &before.device);
            if before != Some(&device) {
                let endpoint = Endpoint::Server(server, device.serial.clone());
                self.ask(key, device, endpoint);
            }
        }
    }

    fn survey(&mut self) -> Survey {
        let (followed, asked): (Vec<_>, Vec<_>) = self
            .devices
            .values_mut()
            .filter_map(|device| {
                let asked = device.asked.clone()?;
                Some((device, asked))
            })
            .unzip();
        let (survey, kept) = Survey::of(asked);
        for (device, is_kept) in followed.into_iter().zip(kept) {
            if let Some((way, _)) = &mut device.asked {
                way.was_kept = is_kept;
            }
        }
        survey
    }
}

impl ServerLink {
    /// The next list; `None` when the server is gone, or is still not there.
    async fn next(&mut self, pool: &Arc<AdbPool>) -> Option<Vec<AdbDevice>> {
        loop {
            match self {
                Self::Unwanted => pending().await,
                Self::There(lists) => {
                    let list = lists.next().await;
                    if list.is_none() {
                        *self = away(0);
                    }
                    return list;
                }
                Self::Dialling(dialled, failures) => match dialled.await {
                    Ok(lists) => *self = Self::There(lists),
                    Err(error) => {
                        tracing::debug!(%error, "the adb server lists no devices");
                        *self = away(*failures);
                        return None;
                    }
                },
                Self::Away(until, failures) => {
                    sleep_until(*until).await;
                    *self = dial(pool, *failures);
                }
            }
        }
    }
}

fn dial(pool: &Arc<AdbPool>, failures: u32) -> ServerLink {
    let pool = Arc::clone(pool);
    let dialled = async move { pool.track().await.map(futures::StreamExt::boxed) };
    ServerLink::Dialling(Box::pin(dialled), failures)
}

fn away(failures: u32) -> ServerLink {
    ServerLink::Away(Instant::now() + redial_after(failures), failures + 1)
}

/// How long a server is left alone that was not there that often. Pure.
fn redial_after(failures: u32) -> Duration {
    (REDIAL_BACKOFF_MIN * (1 << failures.min(16))).min(REDIAL_BACKOFF_MAX)
}

/// Ends at a moment; never without one.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_away_is_dialled_less_and_less_often_but_never_given_up() {
        let waits: Vec<_> = (0..40).map(redial_after).collect();
        assert_eq!(waits[0], REDIAL_BACKOFF_MIN);
        assert!(waits.is_sorted());
        assert!(waits[6..].iter().all(|wait| *wait == REDIAL_BACKOFF_MAX));
    }
}
