//! The driver for Android phones and tablets, over adb: through an adb server or directly to a
//! device's adbd.
//!
//! [`AdbPool`] finds devices and gives a [`Connector`](packtrain_drivers::Connector) for each.
//! This crate knows nothing of runs, trails or actors, and reads no environment.

mod agent;
mod alert;
mod android;
mod app;
mod axes;
mod command_error;
mod connector;
mod device;
mod driver;
mod dump;
mod effect;
mod error;
mod focus;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod identity;
mod input;
pub mod install;
mod listing;
mod logcat;
mod options;
mod phone;
mod pool;
mod probe;
mod program;
mod remote;
mod screen;
mod session;
mod state;
mod watch;
mod wire;

pub use agent::{AgentChoice, AgentFiles};
pub use error::AdbError;
pub use listing::AdbDevice;
pub use options::{AdbOptions, DEFAULT_SERVER, StartServer};
pub use pool::{AdbPool, ServerReport, Survey};
pub use probe::{Form, Profile};
pub use program::{AdbProgram, find_adb};
pub use state::DeviceState;
pub use watch::AdbWatch;
pub use wire::{DirectAddress, WireError};
