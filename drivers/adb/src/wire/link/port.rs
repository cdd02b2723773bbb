//! One stream of a link.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::Shared;
use crate::wire::packet::{Kind, Packet};

/// The link is gone, or the device has closed the stream.
#[derive(Debug)]
pub(crate) struct Ended;

/// What became of asking for a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Granted,
    Refused,
    /// The link ended, and it is unknown whether the device has read the request.
    Cut,
    /// The link had ended before.
    NotAsked,
}

/// What the reading task knows of a stream.
#[derive(Debug, Default)]
pub(super) struct Port {
    inner: Mutex<Inner>,
    /// One task uses a stream at a time, so one wake-up is enough.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    /// The device's id; 0 until it has granted the stream.
    remote: u32,
    may_write: bool,
    /// The data of the packet that arrived, until it is read.
    inbox: Option<Bytes>,
    /// A packet arrived that was not acknowledged: it will be when more is wanted.
    owes_okay: bool,
    end: End,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    /// The device closed it.
    Closed,
    /// The link broke.
    Cut,
}

impl Inner {
    /// Whether data was read that must be acknowledged before more comes; it is from now on.
    fn takes_debt(&mut self) -> bool {
        self.inbox.is_none() && std::mem::take(&mut self.owes_okay)
    }
}

impl Port {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    pub(super) fn acknowledged(&self, remote: u32) {
        let mut inner = self.lock();
        inner.remote = remote;
        inner.may_write = true;
        drop(inner);
        self.changed.notify_one();
    }

    /// Takes data; false when the device may not send any now.
    pub(super) fn arrived(&self, payload: Bytes) -> bool {
        let mut inner = self.lock();
        if inner.owes_okay {
            return false;
        }
        inner.owes_okay = true;
        inner.inbox = Some(payload);
        drop(inner);
        self.changed.notify_one();
        true
    }

    pub(super) fn closed(&self) {
        self.end(End::Closed);
    }

    pub(super) fn cut(&self) {
        self.end(End::Cut);
    }

    fn end(&self, end: End) {
        let mut inner = self.lock();
        if inner.end == End::Open {
            inner.end = end;
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Waits until `look` answers something.
    async fn wait<T>(&self, mut look: impl FnMut(&mut Inner) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(&mut self.lock()) {
                return found;
            }
            // A change between the look and this keeps its permit.
            self.changed.notified().await;
        }
    }
}

/// A service of a device on a link. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct LinkStream {
    shared: Arc<Shared>,
    port: Arc<Port>,
    local: u32,
}

impl LinkStream {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let (local, port) = shared.add_port();
        Self {
            shared,
            port,
            local,
        }
    }

    /// Asks for the service.
    pub(super) async fn open(&mut self, service: &str) -> Opening {
        if self.shared.ended.is_cancelled() {
            return Opening::NotAsked;
        }
        let mut name = BytesMut::from(service.as_bytes());
        name.extend_from_slice(&[0]);
        self.shared
            .ask(&Packet::new(Kind::Open, self.local, 0, name));
        let granted = self.port.wait(|inner| match (inner.may_write, inner.end) {
            (true, _) => Some(Opening::Granted),
            (false, End::Closed) => Some(Opening::Refused),
            (false, End::Cut) => Some(Opening::Cut),
            (false, End::Open) => None,
        });
        granted.await
    }

    /// Writes everything, a packet at a time.
    pub(crate) async fn write_all(&mut self, mut bytes: Bytes) -> Result<(), Ended> {
        while !bytes.is_empty() {
            let granted = self.port.wait(|inner| match inner.end {
                End::Closed | End::Cut => Some(Err(Ended)),
                End::Open if inner.may_write => {
                    inner.may_write = false;
                    Some(Ok((inner.remote, inner.takes_debt())))
                }
                End::Open => None,
            });
            let (remote, owes_okay) = granted.await?;
            let payload = bytes.split_to(bytes.len().min(self.shared.max_payload));
            let write = Packet::new(Kind::Write, self.local, remote, payload);
            if owes_okay {
                self.shared.send_all(&[self.okay(remote), write]);
            } else {
                self.shared.send(&write);
            }
        }
        Ok(())
    }

    /// The next data; `None` once the device has closed the stream and all was read.
    pub(crate) async fn read(&mut self) -> Result<Option<Bytes>, Ended> {
        let owing = {
            let mut inner = self.port.lock();
            let asks = inner.end == End::Open && inner.takes_debt();
            asks.then_some(inner.remote)
        };
        if let Some(remote) = owing {
            self.shared.send(&self.okay(remote));
        }
        let next = self
            .port
            .wait(|inner| match (inner.inbox.take(), inner.end) {
                (Some(bytes), _) => Some(Ok(Some(bytes))),
                (None, End::Closed) => Some(Ok(None)),
                (None, End::Cut) => Some(Err(Ended)),
                (None, End::Open) => None,
            });
        next.await
    }

    fn okay(&self, remote: u32) -> Packet {
        Packet::new(Kind::Okay, self.local, remote, Bytes::new())
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        // Gone from the table means that the device knows, or that there is no device any more.
        if self.shared.ports.lock().remove(&self.local).is_some() {
            let remote = self.port.lock().remote;
            // A service that is not granted yet is closed when it is.
            if remote != 0 {
                self.shared
                    .send(&Packet::new(Kind::Close, self.local, remote, Bytes::new()));
            }
        }
    }
}
