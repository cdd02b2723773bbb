//! What an iOS device is to this driver: a WebDriverAgent, where it is and how it is started.
//! Plain data.

use std::path::PathBuf;

use crate::facts::DeviceFacts;
use crate::mux::MuxAddress;

/// The bundle id of WebDriverAgent's app as it is built by default.
pub const DEFAULT_RUNNER: &str = "com.facebook.WebDriverAgentRunner.xctrunner";

/// Where a WebDriverAgent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WdaTarget {
    /// At an address: `http://127.0.0.1:8100`, maybe with a path. HTTPS is not spoken.
    Url(String),
    /// On port 8100 of a device that is plugged in; each connection is a tunnel of its own.
    Device {
        /// The device.
        udid: String,
        /// The usbmuxd it is plugged into; the pool's when not given.
        usbmuxd: Option<MuxAddress>,
    },
    /// On a simulator, which shares this computer's network.
    Simulator {
        /// The simulator.
        udid: String,
    },
}

/// How a WebDriverAgent that does not answer is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WdaStart {
    /// It is not; on a simulator, [`DEFAULT_RUNNER`] is if it is installed.
    #[default]
    Never,
    /// By a program and its arguments, in which `{port}` is where WebDriverAgent is expected. It is
    /// killed with the pool; on a simulator after the last user.
    Command(Vec<String>),
    /// By launching its app on a simulator, or by having Xcode test it.
    Runner {
        /// Its bundle id, [`DEFAULT_RUNNER`] usually.
        id: String,
    },
}

/// An iOS device.
#[derive(Debug, Clone, PartialEq)]
pub struct WdaEndpoint {
    /// The name behind `ios/`.
    pub name: String,
    /// Where its WebDriverAgent is.
    pub target: WdaTarget,
    /// How that is started.
    pub start: WdaStart,
    /// The folder in which a command is started; that of this process when not given.
    pub folder: Option<PathBuf>,
    /// Classifiers, broad first: `[ios, iphone]`; found out when empty.
    pub classifiers: Vec<String>,
    /// What is known of it already.
    pub facts: DeviceFacts,
}

impl WdaEndpoint {
    /// A WebDriverAgent at an address.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, WdaTarget::Url(url.into()))
    }

    /// A device that is plugged in.
    pub fn device(udid: impl Into<String>) -> Self {
        let udid = udid.into();
        let usbmuxd = None;
        Self::new(udid.clone(), WdaTarget::Device { udid, usbmuxd })
    }

    /// A simulator.
    pub fn simulator(udid: impl Into<String>) -> Self {
        let udid = udid.into();
        Self::new(udid.clone(), WdaTarget::Simulator { udid })
    }

    /// A device of that name, not started, its classifiers to be found out.
    pub fn new(name: impl Into<String>, target: WdaTarget) -> Self {
        Self {
            name: name.into(),
            target,
            start: WdaStart::Never,
            folder: None,
            classifiers: Vec::new(),
            facts: DeviceFacts::default(),
        }
    }

    /// The bundle id of its runner.
    pub(crate) fn runner(&self) -> &str {
        match &self.start {
            WdaStart::Runner { id } => id,
            WdaStart::Never | WdaStart::Command(_) => DEFAULT_RUNNER,
        }
    }

    /// Whether it is where the system's own lists have it: plugged in, or a simulator.
    pub(crate) const fn is_of_system(&self) -> bool {
        matches!(self.target, WdaTarget::Device { usbmuxd: None, .. })
    }

    /// Whether it has that udid, which people write in lower case too.
    pub(crate) fn is(&self, udid: &str) -> bool {
        self.udid()
            .is_some_and(|own| own.eq_ignore_ascii_case(udid))
    }

    /// The udid, when it is known.
    pub fn udid(&self) -> Option<&str> {
        match &self.target {
            WdaTarget::Url(_) => None,
            WdaTarget::Device { udid, .. } | WdaTarget::Simulator { udid } => Some(udid),
        }
    }
}
