//! Promises of the iOS driver, on virtual iPhones that speak WebDriverAgent's wire.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alerts;
mod apps;
mod axes;
mod discovery;
mod every_fault;
mod faults;
mod input;
mod lab;
mod promises;
mod restart;
mod screen;
mod shared;
mod simulator;
mod strangers;
mod watch;
