//! Who listens inside the device: on its TCP ports and its local sockets. A forward of adb only
//! opens `tcp:9008`; whoever listens there answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use crate::android::Android;

/// Bytes on their way inside the device, per connection and direction.
const BUFFER: usize = 64 * 1024;
/// Connections that wait to be accepted.
const BACKLOG: usize = 32;

type Table = Arc<Mutex<BTreeMap<String, mpsc::Sender<DuplexStream>>>>;

/// Who listens inside one device, by address: `tcp:9008`, `localabstract:name`.
#[derive(Debug, Default)]
pub struct Ports(Table);

/// The address is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("address already in use")]
pub struct InUse;

/// Accepts connections at one address until it is dropped.
#[derive(Debug)]
pub struct Listener {
    table: Table,
    address: String,
    connections: mpsc::Receiver<DuplexStream>,
}

impl Ports {
    /// Listens at `address`.
    ///
    /// # Errors
    /// When somebody else does.
    pub fn listen(&self, address: &str) -> Result<Listener, InUse> {
        let mut table = self.0.lock();
        if table.contains_key(address) {
            return Err(InUse);
        }
        let (sender, connections) = mpsc::channel(BACKLOG);
        table.insert(address.to_owned(), sender);
        Ok(Listener {
            table: self.0.clone(),
            address: address.to_owned(),
            connections,
        })
    }

    /// Whether somebody listens at `address`.
    pub fn is_taken(&self, address: &str) -> bool {
        self.0.lock().contains_key(address)
    }

    /// Connects to whoever listens at `address`, waiting while too many others do.
    async fn connect(&self, address: &str) -> Option<DuplexStream> {
        let listener = self.0.lock().get(address).cloned()?;
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        listener.send(theirs).await.ok()?;
        Some(ours)
    }
}

impl Listener {
    /// The next connection.
    pub async fn accept(&mut self) -> Option<DuplexStream> {
        self.connections.recv().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.table.lock().remove(&self.address);
    }
}

impl Android {
    /// Connects to `address` inside the device: a server there, or a port that is forwarded back
    /// to the host. `None` when nobody listens.
    pub(super) async fn dial(self: &Arc<Self>, address: &str) -> Option<DuplexStream> {
        if let Some(connection) = self.ports.connect(address).await {
            return Some(connection);
        }
        let (link, destination) = self.reverses.lock().destination(address)?;
        let stream = link.open(&destination).await?;
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = stream.join(theirs) => {}
                () = shutdown.cancelled() => {}
            }
        });
        Some(ours)
    }
}

/// The address a service name like `tcp:9008:127.0.0.1` or `local:name` stands for.
pub fn address_of(service: &str) -> Option<String> {
    let (kind, rest) = service.split_once(':')?;
    match kind {
        "tcp" => {
            let port = rest.split(':').find_map(|part| part.parse::<u16>().ok())?;
            Some(format!("tcp:{port}"))
        }
        "localabstract" | "localreserved" | "localfilesystem" => Some(service.to_owned()),
        "local" => Some(format!("localfilesystem:{rest}")),
        _ => None,
    }
}
