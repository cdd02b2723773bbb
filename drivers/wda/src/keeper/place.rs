//! A simulator's folder of the state folder. Two locks, which the system takes back however their
//! holder ends:
//!
//! | file | who holds it |
//! |---|---|
//! | `users` | shared: each process that uses WebDriverAgent; alone: its keeper, from the moment nobody does |
//! | `keeper` | the keeper, and after it what ends WebDriverAgent if it was killed |

use std::fs::{DirBuilder, File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{StartWay, Unused};

/// Below what the system gives to connections, so that a port is not taken between choice and start.
const PORTS: Range<u16> = 10_000..30_000;
/// The longest record that is read.
const MAX_RECORD: u64 = 1 << 16;

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
    /// Of this start alone.
    pub(crate) mark: String,
    /// Whether WebDriverAgent tells the mark.
    pub(crate) tells_mark: bool,
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
    Failed(String),
    Ended,
}

impl AgentRecord {
    /// One of this process, which starts it; last time in that way.
    pub(super) fn new(mark: &str, way: Option<StartWay>) -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started: packtrain_program::started(pid),
            mark: mark.to_owned(),
            tells_mark: false,
            port: 0,
            way,
            state: AgentState::Starting,
        }
    }
}

impl AgentPlace {
    /// The place of a simulator below a folder.
    pub(crate) fn new(below: &Path, udid: &str) -> Self {
        let plain = |letter: char| match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '-' => letter,
            _ => '_',
        };
        let name: String = udid.chars().map(plain).collect();
        let folder = below.join(name);
        Self { folder }
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

    /// Whether somebody uses it: neither nobody, nor its keeper that ends it.
    pub(crate) fn is_used(&self) -> io::Result<bool> {
        let file = self.lock("users")?;
        let is_free = held(file.try_lock(), file)?.is_some();
        Ok(!is_free && self.try_use()?.is_some())
    }

    /// Waits for the end of the last use, in a thread that ends with this process.
    pub(super) fn unused(&self) -> io::Result<Unused> {
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

    /// What its keeper said last; `None` when nobody can read it.
    pub(crate) fn record(&self) -> Option<AgentRecord> {
        let file = File::open(self.file("agent.json")).ok()?;
        serde_json::from_reader(io::Read::take(file, MAX_RECORD)).ok()
    }

    /// Says how it is. A record that is there is whole.
    pub(crate) fn write(&self, record: &AgentRecord) -> io::Result<()> {
        let draft = self.file(&format!("agent.{}.tmp", std::process::id()));
        let mut file = File::create(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(record)?)?;
        std::fs::rename(&draft, self.file("agent.json"))
    }

    /// Ports for it on which nobody listens, the same ones each time unless they are taken.
    pub(super) fn free_ports<const N: usize>(&self) -> io::Result<[u16; N]> {
        let mut hash = DefaultHasher::new();
        self.folder.hash(&mut hash);
        let count = u64::from(PORTS.end - PORTS.start);
        let first = u16::try_from(hash.finish() % count).unwrap_or_default();
        let all = (PORTS.start + first..PORTS.end).chain(PORTS.start..PORTS.start + first);
        let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
        let free: Vec<_> = all.filter(is_free).take(N).collect();
        free.try_into()
            .map_err(|_| io::Error::from(io::ErrorKind::AddrInUse))
    }
}

fn held(locked: Result<(), TryLockError>, file: File) -> io::Result<Option<File>> {
    match locked {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
