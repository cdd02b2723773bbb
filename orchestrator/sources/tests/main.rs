//! Promises of the typed commands.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commands;
