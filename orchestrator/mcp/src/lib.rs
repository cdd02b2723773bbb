//! Packtrain as a server of the Model Context Protocol, for outer agents: devices, looks, every tool of
//! the registry under a lease, runs of trails, toolsets.

mod act;
mod agent_context;
mod answers;
mod devices;
mod look;
mod ours;
mod reporter;
mod resources;
mod runs;
mod server;
mod tasks;

pub use self::server::AgentServer;
