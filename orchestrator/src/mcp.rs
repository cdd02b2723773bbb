//! Packtrain as a server of the Model Context Protocol, for outer agents: devices, looks, every tool of
//! the registry under a lease, runs of trails, toolsets.

mod act;
mod answers;
pub(crate) mod catalog;
mod desk;
mod devices;
mod look;
mod ours;
mod reporter;
mod resources;
mod runs;
mod schema;
mod server;
mod tasks;
pub(crate) mod toolset_tools;

pub(crate) use self::server::AgentServer;
