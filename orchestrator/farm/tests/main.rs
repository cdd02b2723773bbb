//! The farm against a real nats-server.

mod broker;
mod nats;
mod store;
