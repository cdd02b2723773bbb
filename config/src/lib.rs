//! Typed configuration: packtrain.yaml, the user's file, the environment and flags, in layers.
//!
//! This crate finds and reads the files and says for every value where it comes from. It knows
//! nothing of devices, runs or tools, reads no environment of its own (the caller passes it in)
//! and uses no other crate of ours.

mod check;
mod document;
mod environment;
mod error;
mod find;
mod key;
mod layer;
mod load;
mod node;
mod origin;
mod placeholder;
mod settings;
mod suggest;
mod trailblaze;
mod value;

#[cfg(test)]
mod tests;

pub use environment::environment_variables;
pub use error::{ConfigError, Problem, Warning};
pub use find::{Found, PROJECT_FILE, find, user_file};
pub use key::KeyPath;
pub use load::{Entry, Flags, Loaded, Sources, load};
pub use origin::{FileLayer, Origin, Position};
pub use placeholder::{PLACEHOLDERS, fill_placeholders};
pub use settings::{
    AgentSettings, AndroidAgent, AndroidSettings, AppIds, Axes, AxisValue, ColorScheme, Config,
    Cover, Devices, DialogAnswer, Expectation, FarmSettings, Geolocation, IosSettings, Isolation,
    Mask, Matrix, McpServer, PlaywrightSettings, Protocol, ReducedMotion, Restart, RunSettings,
    Scope, ScreenshotPolicy, Sharding, Stop, Target, ToolNames, Toolset, Transport, ValueSettings,
    VirtualProfile, VirtualSettings, WebSlot,
};
pub use value::{Backoff, Endpoint, HumanDuration, Port, ValueError, Viewport};

/// Reads one packtrain.yaml by itself, without any other layer; `name` is for messages.
///
/// # Errors
/// [`ConfigError`] with the place of the mistake.
pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
    document::Document::from_text(std::path::Path::new(name), text.to_owned())?.parse()
}

/// Reads a matrix that stands in a trail's configuration.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn matrix(value: serde_json::Value) -> Result<Matrix, String> {
    node::Node::from(value)
        .decode()
        .map_err(|mistake| mistake.to_string())
}

/// The JSON schema of packtrain.yaml, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}
