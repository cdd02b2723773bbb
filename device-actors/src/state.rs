//! What others may know of a device: its state, who has it, who waits for it. Words only.

use std::fmt;

use packtrain_drivers::{DeviceId, DeviceInfo};
use tokio::time::Instant;

/// Tells leases of one device apart. Later leases have larger tokens, across re-creations too, so
/// that a holder that was thought dead cannot act on the device behind its successor's back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(pub(crate) u64);

/// Counts the lives of a device, from 1: it dies with its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incarnation(pub u32);

/// Who has a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Who, in words.
    pub name: String,
    /// Under which token.
    pub token: FencingToken,
    /// Since when.
    pub since: Instant,
}

/// Where a device is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceState {
    /// Not connected. It will be when requested.
    Absent,
    /// Being connected for those who wait.
    Connecting,
    /// Connected and free.
    Ready,
    /// In use.
    Leased(Holder),
    /// A session is being ended, or the device is being let go of. Nobody else gets it before that
    /// is done.
    Closing(Option<Holder>),
    /// Its driver died or could not be connected. Those who ask wait until it is tried again.
    Dead {
        /// What happened.
        cause: String,
        /// When it may be tried again.
        until: Instant,
        /// How often in a row.
        failures: u32,
    },
}

/// What a device answers when asked how it is.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    /// What it is; refined once it was connected.
    pub info: DeviceInfo,
    /// Where it is in its life.
    pub state: DeviceState,
    /// Who waits for it, first come first.
    pub queue: Vec<String>,
    /// Which of its lives this is.
    pub incarnation: Incarnation,
    /// Why the life before this one ended.
    pub last_death: Option<String>,
}

/// A device's state changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceChange {
    /// Which device.
    pub id: DeviceId,
    /// Its new state; `None` when it has left the fleet.
    pub state: Option<DeviceState>,
}

/// Why a caller waits for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitReason {
    /// What the device is about.
    pub state: DeviceState,
    /// How many asked before and wait too.
    pub ahead: usize,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            DeviceState::Absent | DeviceState::Connecting | DeviceState::Ready => {
                write!(f, "being connected")?;
            }
            DeviceState::Leased(holder) => write!(f, "in use by {}", holder.name)?,
            DeviceState::Closing(Some(holder)) => write!(f, "ending {}", holder.name)?,
            DeviceState::Closing(None) => write!(f, "being disconnected")?,
            DeviceState::Dead { cause, .. } => write!(f, "restarting after: {cause}")?,
        }
        match self.ahead {
            0 => Ok(()),
            ahead => write!(f, "; {ahead} ahead in the queue"),
        }
    }
}
