//! One tool source: how it is started, what it lists, how its tools are called.

pub(crate) mod actor;
mod arguments;
mod envelope;
pub(crate) mod handle;
mod instance;
mod launch;
mod lifecycle;
pub(crate) mod log;
mod mcp;
mod metadata;
mod pool;
mod process;
mod results;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod tool;
