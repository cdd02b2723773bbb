//! The farm against a real nats-server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broker;
mod link;
mod nats;
mod run;
mod store;
