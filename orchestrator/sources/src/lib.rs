//! Tool sources: MCP servers whose tools trails call. How their processes are started, watched and
//! ended, what they list, how their tools are called, and what those call back.
//!
//! This crate knows neither the engine that walks the steps nor the server that callbacks come in by.

mod arguments;
mod callback;
pub mod commands;
mod envelope;
mod handle;
mod instance;
mod invocation;
mod launch;
mod lifecycle;
mod log;
mod mcp;
mod metadata;
mod pool;
mod process;
mod reload;
mod results;
mod settings;
mod start;
mod supervisor;
mod task;
mod tool;

pub use callback::{CallbackLimits, CallbackReply, Callbacks};
pub use invocation::Invocations;
pub use log::LogListener;
pub use settings::{Launch, LaunchProgram, SourceSettings};
pub use supervisor::{Reloaded, SourceFailure, SourceStatus, SupervisorOptions, ToolSources};
