//! Promises of the web driver, on a real Chromium.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod acting;
mod axes;
mod browser;
mod commands;
mod defects;
mod files;
mod finding;
mod frames;
mod history;
mod losing;
mod observing;
mod pages;
mod promises;
mod readers;
mod reading;
mod references;
mod session;
mod shop;
mod site;
mod stale;
mod stories;
mod traps;
mod verifying;
