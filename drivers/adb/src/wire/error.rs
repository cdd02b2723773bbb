//! Why a conversation over adb's wires came to nothing.

use std::time::Duration;

use packtrain_drivers::local_network;

use crate::state::DeviceState;

/// What went wrong between this program and a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Nothing listens where the adb server should be.
    #[error("no adb server answers at {address}: {reason}")]
    NoServer {
        /// Where it was looked for.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// A device that is connected to without a server cannot be reached.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// Its socket.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// The adb server knows the device but cannot use it.
    #[error("the device is {0}")]
    NotReady(DeviceState),
    /// The adb server does not do that.
    #[error("the adb server refused `{request}`: {reason}")]
    ServerRefused {
        /// What it was asked.
        request: String,
        /// Its answer.
        reason: String,
    },
    /// The device does not offer the service.
    #[error("the device refused the service `{service}`")]
    ServiceRefused {
        /// The service's name on adb's wire.
        service: String,
    },
    /// The connection ended before the device was asked.
    #[error("the connection ended before {doing}")]
    NotSent {
        /// What was not begun with.
        doing: String,
    },
    /// The connection ended in the middle: what was asked may have happened or not.
    #[error("the connection ended during {doing}")]
    Lost {
        /// What was under way.
        doing: String,
    },
    /// The connection ended in the middle and the device did not come back.
    #[error("the connection ended during {doing}; the device is {state} now")]
    Gone {
        /// What was under way.
        doing: String,
        /// How it is seen now.
        state: DeviceState,
    },
    /// No answer came in time.
    #[error("{doing} took longer than {} ms", after.as_millis())]
    Timeout {
        /// What was under way.
        doing: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The other side does not keep to the protocol.
    #[error("{doing}: {reason}")]
    Garbled {
        /// What was under way.
        doing: String,
        /// What was wrong.
        reason: String,
    },
    /// An answer is longer than anyone can want.
    #[error("{what} is longer than {limit} bytes")]
    TooLong {
        /// What it is.
        what: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The device could not store a file.
    #[error("write {path} on the device: {reason}")]
    File {
        /// The path on the device.
        path: String,
        /// The device's words.
        reason: String,
    },
    /// The device wants an encrypted connection.
    #[error("the device wants an encrypted connection")]
    WantsTls,
    /// This computer's key cannot be used.
    #[error("use the adb key {path}: {reason}")]
    Key {
        /// Its file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl WireError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint_on(std::env::consts::OS)
    }

    pub(crate) fn hint_on(&self, system: &str) -> Option<&'static str> {
        match self {
            Self::NoServer { reason, .. } => Some(
                local_network::hint(system, reason)
                    .unwrap_or("`adb start-server` starts one; `packtrain doctor` looks for adb"),
            ),
            Self::Unreachable { reason, .. } => Some(
                local_network::hint(system, reason)
                    .unwrap_or("check that the device is switched on and listens there"),
            ),
            Self::NotReady(state) | Self::Gone { state, .. } => state.hint(),
            Self::WantsTls => Some(
                "wireless debugging goes through the adb server: `packtrain devices pair`, then `packtrain devices connect`",
            ),
            Self::Key { .. } => Some("delete the file; a new key will be created"),
            Self::NotSent { .. } => {
                Some("it restarted, or the connection was lost: check cable and network")
            }
            Self::Lost { .. } => Some(
                "it restarted, or the connection was lost: check cable and network; the action \
                 may have taken effect, so it was not retried",
            ),
            Self::ServerRefused { .. }
            | Self::ServiceRefused { .. }
            | Self::Timeout { .. }
            | Self::Garbled { .. }
            | Self::TooLong { .. }
            | Self::File { .. } => None,
        }
    }

    /// Whether the device or the way to it is gone, so that a new connection is needed.
    pub(crate) const fn is_loss(&self) -> bool {
        match self {
            Self::NoServer { .. }
            | Self::Unreachable { .. }
            | Self::NotReady(_)
            | Self::NotSent { .. }
            | Self::Lost { .. }
            | Self::Gone { .. }
            | Self::WantsTls
            | Self::Key { .. } => true,
            Self::ServerRefused { .. }
            | Self::ServiceRefused { .. }
            | Self::Timeout { .. }
            | Self::Garbled { .. }
            | Self::TooLong { .. }
            | Self::File { .. } => false,
        }
    }

    /// Whether it is certain that the device has not done what was asked.
    pub(crate) const fn nothing_was_done(&self) -> bool {
        match self {
            Self::NoServer { .. }
            | Self::Unreachable { .. }
            | Self::NotReady(_)
            | Self::ServerRefused { .. }
            | Self::ServiceRefused { .. }
            | Self::NotSent { .. }
            | Self::WantsTls
            | Self::Key { .. } => true,
            Self::Lost { .. }
            | Self::Gone { .. }
            | Self::Timeout { .. }
            | Self::Garbled { .. }
            | Self::TooLong { .. }
            | Self::File { .. } => false,
        }
    }
}
