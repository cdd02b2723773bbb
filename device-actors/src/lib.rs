//! One actor per device, the leases it grants, and the fleet that re-creates dead devices.
//!
//! A device actor is the control plane: it knows who holds the device, grants, revokes, answers
//! status at once. The data plane is the lease: it carries a fencing token and the sending end of
//! the device's command queue; one task owns the driver and runs one command at a time. This crate
//! knows no concrete driver, no run, no tool and no file.

mod backoff;
mod device;
mod driver_task;
mod fleet;
mod gate;
mod lease;
mod lifecycle;
mod request;
mod session;
mod state;

pub use device::{CONNECT_TIMEOUT, LEASE_IDLE_TIMEOUT};
pub use fleet::{Fleet, FleetError, SharedDevices};
pub use gate::LeaseUse;
pub use lease::{CommandError, Lease, LeaseError};
pub use state::{
    DeviceChange, DeviceState, DeviceStatus, FencingToken, Holder, Incarnation, WaitReason,
};
