//! Typed configuration: packtrain.yaml, the user's file, the environment and flags, in layers.
//!
//! This crate finds and reads the files and says for every value where it comes from. It knows
//! nothing of devices, runs or tools, reads no environment of its own (the caller passes it in)
//! and uses no other crate of ours than `packtrain-yaml`.

mod check;
mod document;
mod environment;
mod error;
mod find;
mod key;
mod layer;
mod load;
mod origin;
mod placeholder;
mod settings;
mod suggest;
mod trailblaze;
mod trailmap;
mod value;

#[cfg(test)]
mod tests;

pub use check::is_absolute_url;
pub use environment::environment_variables;
pub use error::ConfigError;
pub use find::{Found, PROJECT_FILE, find, user_file};
pub use key::KeyPath;
pub use load::{Entry, Flags, Loaded, Sources, load, read};
pub use origin::{FileLayer, Origin, Position};
pub use placeholder::{PLACEHOLDERS, fill_placeholders};
pub use settings::{
    AgentSettings, AndroidAgent, AndroidSettings, AppIds, Axes, AxisValue, ColorScheme, Config,
    Cover, Devices, DialogAnswer, Engine, Expectation, FarmSettings, Geolocation, IosSettings,
    Isolation, Mask, Matrix, McpServer, PlaywrightSettings, Protocol, ReducedMotion, Restart,
    RunSettings, Scope, ScreenshotPolicy, Sharding, Stop, Target, ToolNames, Toolset, Transport,
    ValueSettings, VirtualProfile, VirtualSettings, WebSlot,
};
pub use trailmap::{ScriptedTool, Scripts, scripts};
pub use value::{Backoff, Endpoint, HumanDuration, Port, ValueError, Viewport};

/// Reads one packtrain.yaml by itself, without any other layer; `name` is for messages.
///
/// # Errors
/// [`ConfigError`] with the place of the first mistake.
pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
    let path = std::path::Path::new(name);
    document::Document::from_text(path, text.to_owned()).whole()
}

/// Reads a matrix that stands in a trail's configuration.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn matrix(value: serde_json::Value) -> Result<Matrix, String> {
    packtrain_yaml::Value::from(&value)
        .decode()
        .map_err(|mistake| mistake.to_string())
}

/// The JSON schema of packtrain.yaml, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}
