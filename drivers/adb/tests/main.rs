//! Promises of the Android driver, on virtual phones that speak adbd's wire: through an adb server
//! and directly, with u2.jar and with plain shell commands.
//!
//! Needs Android's `adb` on PATH.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apps;
mod axes;
mod discovery;
mod faults;
mod input;
mod lab;
mod promises;
mod screen;
mod session;
mod watch;
