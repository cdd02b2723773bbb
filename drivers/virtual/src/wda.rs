//! WebDriverAgent: the HTTP server on an iPhone's port 8100 through which tests drive it.
//!
//! Wire: version 16.7.0 of <https://github.com/appium/WebDriverAgent>, for whose routes, errors
//! and derived attributes the files here name their source. It serves any stream, so that the same
//! WebDriverAgent answers through usbmuxd and on a TCP port. Knows nothing of cables.

mod attribute;
mod class_chain;
mod element_type;
mod error;
mod find;
mod handle;
mod predicate;
mod request;
mod route;
mod screen;
mod server;
mod session;
mod settings;
mod source;
mod tree;
mod w3c;
mod xpath;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::task::TaskTracker;

pub use self::server::serve;
use self::session::{Session, SessionId};
use self::settings::Settings;
use crate::device::Device;
use crate::faults::{Fault, Millis};
use crate::latency::VariableDuration;
use crate::usbmux::DevicePort;

/// The port of WebDriverAgent on every device.
pub const PORT: DevicePort = DevicePort(8100);

/// Whether WebDriverAgent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// It does.
    Up,
    /// It crashed, or was stopped: its port refuses connections.
    Down,
}

/// What a fault does to more than one connection; somebody must undo it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// WebDriverAgent is down and comes back after this time.
    WdaDown(Millis),
    /// The cable is out for this time.
    Unplugged(Millis),
}

/// The WebDriverAgent of one phone.
pub struct Wda {
    device: Arc<Device>,
    running: watch::Sender<Running>,
    /// Counts how often it was started.
    incarnation: AtomicU64,
    /// A client asked for the end.
    ends: AtomicBool,
    state: Mutex<State>,
    tasks: TaskTracker,
    outages: mpsc::Sender<Outage>,
}

/// What WebDriverAgent remembers between two requests.
#[derive(Debug, Default)]
struct State {
    incarnation: u64,
    session: Option<Session>,
    settings: Settings,
    /// Arguments and environment of the apps it started.
    processes: BTreeMap<String, Value>,
    location: Option<(f64, f64)>,
}

impl Wda {
    /// A WebDriverAgent that runs. `tasks` owns what it starts; what faults do to the phone as a
    /// whole it tells through `outages`.
    pub fn new(
        device: Arc<Device>,
        tasks: TaskTracker,
        outages: mpsc::Sender<Outage>,
    ) -> Arc<Self> {
        Arc::new(Self {
            device,
            running: watch::Sender::new(Running::Up),
            incarnation: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            state: Mutex::default(),
            tasks,
            outages,
        })
    }

    /// Whether it runs.
    pub fn running(&self) -> Running {
        *self.running.borrow()
    }

    /// Waits until it does, or does not.
    pub async fn becomes(&self, wanted: Running) {
        let mut running = self.running.subscribe();
        // The sender lives as long as this, so there is always an end to wait for.
        let _ = running.wait_for(|running| *running == wanted).await;
    }

    /// Ends it as a crash does: connections end, and its session with them.
    pub fn stop(&self) {
        self.running.send_replace(Running::Down);
    }

    /// Starts it, if it does not run.
    pub fn start(&self) {
        self.running.send_if_modified(|running| {
            let starts = *running == Running::Down;
            if starts {
                self.incarnation.fetch_add(1, Ordering::Relaxed);
                *running = Running::Up;
            }
            starts
        });
    }

    fn stop_after_answer(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    fn is_ending(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn stop_if_asked(&self) {
        if self.ends.swap(false, Ordering::Relaxed) {
            self.stop();
        }
    }

    fn incarnation(&self) -> u64 {
        self.incarnation.load(Ordering::Relaxed)
    }

    /// Whether gestures take no time here.
    fn hurries(&self) -> bool {
        self.device.latency().action == VariableDuration::default()
    }

    /// Does what a fault says to WebDriverAgent or the cable.
    fn apply_fault(&self, fault: &Fault) {
        let outage = match fault {
            Fault::WdaCrash(time) => Outage::WdaDown(*time),
            Fault::Detach(time) => Outage::Unplugged(*time),
            Fault::AgentDies => return self.stop(),
            _ => return,
        };
        if let Outage::WdaDown(_) = outage {
            self.stop();
        }
        // Full only when a hundred such faults came at once; one more makes no difference.
        let _ = self.outages.try_send(outage);
    }
}

impl State {
    /// Forgets everything when WebDriverAgent was started anew since.
    fn revive(&mut self, incarnation: u64) {
        if self.incarnation != incarnation {
            *self = Self {
                incarnation,
                ..Self::default()
            };
        }
    }

    /// Another client made a session, which ends the one there was.
    fn taken_by_another(&mut self, device: &Device) {
        if let Some(session) = &mut self.session {
            session.id = SessionId::rolled(device);
            session.elements = session::ElementCache::default();
        }
    }
}
