//! The tools that steps call by name: one registry, one kind of tool.
//!
//! A tool turns arguments into driver commands under the session's lease. This crate knows neither
//! the engine that walks the steps nor any server that calls come in by.

pub mod builtin;
mod call;
mod callback;
mod invocation;
mod math;
mod mobile;
mod registry;
mod selectors;
mod source;
mod supervisor;
mod templates;
mod tool;

pub use builtin::is_template;
pub use call::{Call, CallTrace, Caller, Invoke, SessionScope, Target, Targets, ToolRequest};
pub use callback::{CallbackLimits, CallbackReply, Callbacks};
pub use invocation::Invocations;
pub use registry::{Registry, SharedRegistry};
pub use selectors::{SelectorProblem, check_selectors};
pub use source::settings::{
    Launch, LaunchProgram, Port, Protocol, RestartPolicy, Scope, SourceSettings, StopPolicy,
    Transport,
};
pub use supervisor::{Reloaded, SourceFailure, SourceStatus, SupervisorOptions, ToolSources};
pub use templates::{Surroundings, check_templates};
pub use tool::{
    Access, Answer, DelegatedCall, Kind, Origin, Tool, ToolError, ToolSpec, UnknownArgument,
};
