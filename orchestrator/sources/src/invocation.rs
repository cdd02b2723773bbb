//! Calls of tool sources that are under way, by their ids: the way of a callback to its device. An
//! entry lives exactly as long as its call.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::Platform;
use packtrain_tools::{Access, Answer, CapturedScreen, Kind, Origin, ToolError, ToolSpec};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::commands::screens::Screens;

/// Callbacks of one invocation that wait for their turn; a tool that sends more waits.
const CALLBACKS: usize = 256;

/// An unguessable name for one call of a tool source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InvocationId(String);

impl InvocationId {
    fn new() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// As it goes over the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InvocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A call that a tool makes back while its own call is under way.
#[derive(Debug)]
pub(crate) struct Callback {
    /// The tool it wants.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: serde_json::Value,
    /// When it arrived.
    pub(crate) arrived: Instant,
    /// What it does.
    pub(crate) does: CallbackEffect,
    /// Where the answer goes.
    pub(crate) answer: oneshot::Sender<Result<Answer, CallbackError>>,
}

/// What a callback does, and so what becomes of it when no caller waits for it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallbackEffect {
    /// It looks at the device: given up at once.
    Look,
    /// It does something to the device: half of it would leave an unknown state, so it is finished.
    Act,
    /// It calls other tools: it goes on as long as the call that it belongs to.
    Call,
}

impl CallbackEffect {
    /// By what a tool says about itself.
    pub(crate) fn of(spec: &ToolSpec) -> Self {
        let is_ours = spec.origin == Origin::BuiltIn && spec.access == Access::Session;
        match spec.kind {
            _ if !is_ours || spec.runs_trail.is_some() => Self::Call,
            Kind::Query | Kind::Assertion => Self::Look,
            Kind::Action | Kind::Memory | Kind::Meta => Self::Act,
        }
    }
}

/// Why a callback has no answer.
#[derive(Debug, Clone)]
pub(crate) enum CallbackError {
    /// The tool failed.
    Tool(ToolError),
    /// It took longer than this.
    Late(Duration),
}

/// The calls that are under way. Cheap to clone.
#[derive(Clone, Default)]
pub struct Invocations(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    open: HashMap<String, (Entry, Screens)>,
    /// Devices that sessions may run on.
    devices: usize,
}

/// A call that is under way, as callbacks see it.
#[derive(Clone)]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: InvocationId,
    /// The session it belongs to.
    pub(crate) session: String,
    /// How deep the call is; its callbacks are one deeper.
    pub(crate) depth: u32,
    /// What its device is.
    pub(crate) platform: Platform,
    /// Where its callbacks are served.
    pub(crate) callbacks: mpsc::Sender<Callback>,
}

/// The receiving end of an invocation. Dropped, its id is dead.
pub(crate) struct Invocation {
    pub(crate) id: InvocationId,
    pub(crate) callbacks: mpsc::Receiver<Callback>,
    table: Invocations,
}

/// Why a callback has no invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoInvocation {
    /// There is none of that id.
    Unknown,
    /// No id was given, and it is not clear which is meant.
    Ambiguous {
        /// Devices that sessions may run on.
        devices: usize,
        /// Calls under way.
        calls: usize,
    },
}

impl Invocations {
    /// Says how many devices there are.
    pub fn set_devices(&self, devices: usize) {
        self.table().devices = devices;
    }

    /// How many calls are under way.
    pub fn len(&self) -> usize {
        self.table().open.len()
    }

    /// Whether no call is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Opens an invocation for a call.
    pub(crate) fn open(&self, session: &str, platform: Platform, depth: u32) -> Invocation {
        let (sender, callbacks) = mpsc::channel(CALLBACKS);
        let id = InvocationId::new();
        let entry = Entry {
            id: id.clone(),
            session: session.to_owned(),
            depth,
            platform,
            callbacks: sender,
        };
        let open = (entry, Screens::default());
        self.table().open.insert(id.0.clone(), open);
        Invocation {
            id,
            callbacks,
            table: self.clone(),
        }
    }

    /// The invocation of an id; without one the only one there is, as long as there is one device.
    pub(crate) fn find(&self, id: Option<&str>) -> Result<Entry, NoInvocation> {
        let table = self.table();
        if let Some(id) = id {
            let found = table.open.get(id).ok_or(NoInvocation::Unknown);
            return found.map(|(entry, _)| entry.clone());
        }
        let mut open = table.open.values();
        match (open.next(), open.next(), table.devices) {
            (Some((only, _)), None, 1) => Ok(only.clone()),
            _ => Err(NoInvocation::Ambiguous {
                devices: table.devices,
                calls: table.open.len(),
            }),
        }
    }

    /// Keeps what a command of a call captured, for as long as the call is under way; its id.
    pub(crate) fn keep(&self, call: &InvocationId, screen: Arc<CapturedScreen>) -> Option<String> {
        let mut table = self.table();
        let (_, screens) = table.open.get_mut(&call.0)?;
        Some(screens.keep(screen))
    }

    /// What a command of a call captured.
    pub(crate) fn captured(&self, call: &InvocationId, id: &str) -> Option<Arc<CapturedScreen>> {
        self.table().open.get(&call.0)?.1.get(id)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        self.table.table().open.remove(&self.id.0);
    }
}
