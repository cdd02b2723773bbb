//! The driver for iPhones and iPads, over WebDriverAgent.
//!
//! WebDriverAgent is an HTTP server on the device: at an address, behind a cable through usbmuxd,
//! or on a simulator. This crate knows nothing of runs, trails or actors.

mod access;
mod agent;
mod alert;
mod answer;
mod connector;
mod dial;
mod driver;
mod endpoint;
mod error;
mod exit_hook;
mod facts;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gesture;
mod http;
mod keeper;
mod lockdown;
mod model;
mod mux;
mod plist;
mod pool;
mod route;
mod simctl;
mod source;
mod start;
mod stream;
mod survey;
mod watch;

pub use connector::WdaConnector;
pub use endpoint::{DEFAULT_RUNNER, WdaEndpoint, WdaStart, WdaTarget};
pub use error::WdaError;
pub use facts::DeviceFacts;
pub use keeper::{KeeperOptions, keep};
pub use mux::{MuxAddress, MuxAddressError};
pub use pool::{WdaOptions, WdaPool};
pub use survey::SimulatorLack;
pub use watch::WdaWatch;
