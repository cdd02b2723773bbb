//! The tools that steps call by name: one registry, one kind of tool.
//!
//! A tool turns arguments into driver commands under the session's lease. This crate knows neither
//! the engine that walks the steps nor any server that calls come in by.

pub mod builtin;
mod call;
mod caller;
mod composed;
mod document;
mod math;
mod mobile;
mod naming;
mod registry;
mod selectors;
mod templates;
mod tool;
pub mod toolsets;

pub use builtin::{is_template, why_no_pattern};
pub use call::{Call, CallTrace, Invoke, SessionScope, Target, Targets, ToolRequest};
pub use caller::{AgentPermissions, Caller};
pub use composed::{Composed, ToolFile, check_cycles};
pub use naming::{NamingProblem, check_name};
pub use registry::{Collisions, Missing, Registry, SharedRegistry};
pub use selectors::{SelectorProblem, check_roles, check_selectors};
pub use templates::{TemplateContext, check_templates};
pub use tool::{
    Access, Answer, CapturedScreen, DelegatedCall, Kind, Origin, Tool, ToolError, ToolSpec, Typed,
    UnknownArgument,
};
pub use toolsets::{Toolset, ToolsetFile, ToolsetProblem, Toolsets};
