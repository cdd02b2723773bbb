//! The farm: devices of many hosts for runs of many people, on NATS JetStream. The only crate that
//! knows async-nats.
//!
//! **A run** puts its sessions into the stream `RUNS` as demands ([`wire::Demand`]). **The broker**,
//! elected, matches demands with free devices in memory and grants by compare-and-set
//! ([`wire::Lease`]). **A host** carries a granted session out by the engine's own
//! [`SessionHost`](packtrain_engine::SessionHost), next to its devices, and writes what happens into the
//! same stream, where the run reads it in order. Safety is the server's: a device has one lease because
//! its key is written by compare-and-set, and a session has one end because its subject is written once.

pub mod audit;
mod blobs;
pub mod broker;
pub mod bundle;
pub mod fence;
pub mod follow;
pub mod host;
pub mod link;
pub mod live;
pub mod names;
pub mod query;
pub mod requirement;
pub mod run;
pub mod server;
pub mod store;
pub mod wire;
