//! The tools that steps call by name: one registry, one kind of tool.
//!
//! A tool turns arguments into driver commands under the session's lease. This crate knows neither
//! the engine that walks the steps nor any server that calls come in by.

pub mod builtin;
mod call;
mod math;
mod mobile;
mod registry;
mod selectors;
mod templates;
mod tool;

pub use builtin::is_template;
pub use call::{Call, Caller, Invoke, SessionScope, Target, Targets, ToolRequest};
pub use registry::{Registry, SharedRegistry};
pub use selectors::{SelectorProblem, check_selectors};
pub use templates::{Surroundings, check_templates};
pub use tool::{Access, Answer, DelegatedCall, Kind, Origin, Tool, ToolError, ToolSpec, UnknownArgument};
