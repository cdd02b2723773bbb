//! A virtual Android phone as adb sees it: adbd's wire, a shell, files, an agent.
//!
//! One [`Android`] is one device; connections share it. What its screen shows is the
//! [`crate::world::World`] of its [`Device`].

mod apk;
mod auth;
mod automation;
pub mod blobs;
mod commands;
mod features;
mod files;
mod framebuffer;
mod greeting;
mod keys;
mod link;
mod logs;
mod outgoing;
mod packages;
mod packet;
mod ports;
mod processes;
mod properties;
mod recorded;
mod reverse;
mod serve;
mod service;
mod settings;
mod shell;
mod stream;
mod sync;
mod tree;
mod u2;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::auth::{AuthPolicy, PublicKey};
pub use self::features::Generation;
pub use self::packet::{ChecksumMode, Limits, Packet, PacketError};

use self::blobs::Blobs;
use self::files::Files;
use self::logs::Logs;
use self::ports::Ports;
use self::processes::Processes;
use self::reverse::Reverses;
use self::settings::Settings;
use crate::device::Device;
use crate::listener::ListenerScope;

/// How a device's system was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Build {
    /// For developers: `adb root` works.
    #[default]
    Userdebug,
    /// As sold.
    User,
}

/// What an Android device is made of, beside its [`Device`].
#[derive(Debug, Clone)]
pub struct AndroidOptions {
    /// Whom it lets in.
    pub auth: AuthPolicy,
    /// How new its adbd is.
    pub generation: Generation,
    /// How its system was built.
    pub build: Build,
    /// Where the contents of its files are kept.
    pub blobs: Arc<Blobs>,
    /// Ends all it does, and waits for it.
    pub scope: ListenerScope,
}

/// One virtual Android phone.
#[derive(Debug)]
pub struct Android {
    device: Arc<Device>,
    generation: Generation,
    build: Build,
    auth: Mutex<AuthPolicy>,
    keys: Mutex<HashSet<PublicKey>>,
    blobs: Arc<Blobs>,
    files: Mutex<Files>,
    settings: Mutex<Settings>,
    processes: Mutex<Processes>,
    ports: Ports,
    automation: automation::Automation,
    reverses: Mutex<Reverses>,
    logs: Logs,
    packages: Mutex<packages::Packages>,
    sessions: Mutex<BTreeMap<u64, Session>>,
    /// As whom adbd runs.
    user: Mutex<files::FileUser>,
    state: Mutex<State>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

/// The APKs of an install that is not complete yet.
type Session = Vec<blobs::Blob>;

/// Small things of the phone that only commands know.
#[derive(Debug, Default)]
struct State {
    airplane: bool,
    wifi_off: bool,
    data_off: bool,
    /// `mCurrentFocus` is null until then.
    no_focus_until: std::time::Duration,
    /// A reboot to recovery or the bootloader waits there.
    mode: Option<&'static str>,
}

impl Android {
    /// A phone that was switched on now. Nothing listens yet.
    pub fn new(device: Arc<Device>, options: AndroidOptions) -> Arc<Self> {
        let android = Arc::new(Self {
            processes: Mutex::default(),
            generation: options.generation,
            build: options.build,
            auth: Mutex::new(options.auth),
            keys: Mutex::new(HashSet::new()),
            blobs: options.blobs,
            files: Mutex::new(Files::default()),
            settings: Mutex::new(Settings::default()),
            ports: Ports::default(),
            automation: automation::Automation::default(),
            reverses: Mutex::default(),
            logs: Logs::default(),
            packages: Mutex::default(),
            sessions: Mutex::default(),
            user: Mutex::new(files::FileUser::Shell),
            state: Mutex::default(),
            shutdown: options.scope.shutdown,
            tasks: options.scope.tasks,
            device,
        });
        android.lay_out_packages();
        let log = Arc::downgrade(&android);
        android.device.on_app_event(move |app_event| {
            if let Some(android) = log.upgrade() {
                android.log_app_event(&app_event);
            }
        });
        android
    }

    /// The part of it that is not Android.
    pub const fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Changes whom it lets in, from the next connection on.
    pub fn set_auth_policy(&self, policy: AuthPolicy) {
        *self.auth.lock() = policy;
    }

    /// The user has accepted this key.
    pub fn accept_key(&self, key: PublicKey) {
        self.keys.lock().insert(key);
    }

    fn who(&self) -> files::FileUser {
        self.user.lock().clone()
    }

    /// Seconds since 1970 by the device's clock.
    fn seconds(&self) -> i64 {
        i64::try_from(self.device.clock().as_secs()).unwrap_or(i64::MAX)
    }
}
