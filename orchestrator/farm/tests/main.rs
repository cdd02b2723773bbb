//! The farm against a real nats-server.

mod nats;
mod store;
