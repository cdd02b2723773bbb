//! A simulator's folder of the state folder. Two locks, which the system takes back however their
//! holder ends:
//!
//! | file | who holds it |
//! |---|---|
//! | `users` | shared: each process that uses WebDriverAgent; alone: its keeper, from the moment nobody does |
//! | `keeper` | the keeper, and after it what ends WebDriverAgent if it was killed |

use std::fs::{DirBuilder, File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::net::TcpListener;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::StartWay;

/// Below what the system gives to connections, so that a port is not taken between choice and start.
const PORTS: Range<u16> = 10_000..30_000;

/// One simulator's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentPlace {
    folder: PathBuf,
}

/// What a keeper says of its WebDriverAgent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentRecord {
    /// The keeper's process, and when it began.
    pub(crate) pid: u32,
    pub(crate) started: Option<String>,
    /// What it tells of itself, which was given to it alone.
    pub(crate) mark: Option<String>,
    pub(crate) port: u16,
    /// The way in which it answered last.
    pub(crate) way: Option<StartWay>,
    pub(crate) state: AgentState,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AgentState {
    Starting,
    /// It has answered.
    Ready,
    /// It never answered, for this reason.
    Failed(String),
    /// It answered, and has ended for this reason.
    Ended(String),
}

impl AgentPlace {
    /// The place of a simulator below a folder.
    pub(crate) fn new(below: &Path, udid: &str) -> Self {
        Self {
            folder: below.join(udid),
        }
    }

    /// Makes the folder, for this user alone.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        let mut how = DirBuilder::new();
        how.recursive(true).mode(0o700).create(&self.folder)
    }

    /// A file of this place.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn lock(&self, name: &str) -> io::Result<File> {
        let mut how = File::options();
        how.read(true).write(true).create(true).truncate(false);
        how.mode(0o600).open(self.file(name))
    }

    /// The right to keep its WebDriverAgent; `None` when there is a keeper.
    pub(crate) fn try_keep(&self) -> io::Result<Option<File>> {
        let file = self.lock("keeper")?;
        held(file.try_lock(), file)
    }

    /// A use of it; `None` while it is being ended.
    pub(crate) fn try_use(&self) -> io::Result<Option<File>> {
        let file = self.lock("users")?;
        held(file.try_lock_shared(), file)
    }

    /// Whether it has a user other than its keeper that ends it.
    pub(crate) fn is_used(&self) -> io::Result<bool> {
        let file = self.lock("users")?;
        let is_free = held(file.try_lock(), file)?.is_some();
        Ok(!is_free && self.try_use()?.is_some())
    }

    /// Comes with the lock of the users once there are none, from a thread that ends with this process.
    pub(super) fn unused(&self) -> io::Result<oneshot::Receiver<File>> {
        let file = self.lock("users")?;
        let (tell, unused) = oneshot::channel();
        let waiting = std::thread::Builder::new().name("users".to_owned());
        waiting.spawn(move || {
            // A system that cannot lock would keep it for ever.
            if let Err(error) = file.lock() {
                tracing::warn!(%error, "users of WebDriverAgent cannot be counted");
            }
            let _ = tell.send(file);
        })?;
        Ok(unused)
    }

    /// What its keeper said last; `None` when it cannot be read.
    pub(crate) fn record(&self) -> Option<AgentRecord> {
        serde_json::from_slice(&std::fs::read(self.file("agent.json")).ok()?).ok()
    }

    /// Says how it is. A record that is there is whole.
    pub(crate) fn write(&self, record: &AgentRecord) -> io::Result<()> {
        let draft = self.file(&format!("agent.{}.tmp", std::process::id()));
        std::fs::write(&draft, serde_json::to_vec_pretty(record)?)?;
        std::fs::rename(&draft, self.file("agent.json"))
    }

    /// Two free ports, the same ones each time unless they are taken.
    pub(super) fn free_ports(&self) -> io::Result<(u16, u16)> {
        let mut hash = DefaultHasher::new();
        self.folder.hash(&mut hash);
        let first = hash.finish() as usize % PORTS.len();
        let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
        let mut free = PORTS.cycle().skip(first).take(PORTS.len()).filter(is_free);
        let ports = free.next().zip(free.next());
        ports.ok_or_else(|| io::ErrorKind::AddrInUse.into())
    }
}

fn held(locked: Result<(), TryLockError>, file: File) -> io::Result<Option<File>> {
    match locked {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
