//! Packtrain as a server of the Model Context Protocol, for outer agents: devices, looks, every tool of
//! the registry under a lease, runs of trails.

mod answers;
mod catalog;
mod devices;
mod look;
mod ours;
mod server;

pub(crate) use self::server::AgentServer;
