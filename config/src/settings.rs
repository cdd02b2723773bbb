//! The configuration as plain data. Every field's comment is also its description in the
//! schema that editors use.

mod agents;
mod farm;
mod matrix;
mod phones;
mod run;
pub(crate) mod sources;
mod tools;
mod web;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agents::AgentSettings;
pub use farm::FarmSettings;
pub use matrix::{Axes, AxisValue, Cover, Expectation, Matrix, ValueSettings};
pub use phones::{AndroidAgent, AndroidSettings, IosSettings, VirtualProfile, VirtualSettings};
pub use run::{Mask, PlaywrightSettings, RunSettings, ScreenshotPolicy, Sharding};
pub use tools::{McpServer, Protocol, Restart, Scope, Stop, ToolNames, Toolset, Transport};
pub use web::{ColorScheme, DialogAnswer, Engine, Geolocation, Isolation, ReducedMotion, WebSlot};

use crate::value::{HumanDuration, one_or_many};

/// What a packtrain.yaml holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(
    title = "packtrain.yaml",
    extend("patternProperties" = {"^mcp_servers$": {"$ref": "#/properties/mcpServers"}})
)]
pub struct Config {
    /// The app under test unless a trail names another: a key of `targets`, or an app id.
    pub target: Option<String>,
    /// The folder that holds the trails.
    pub trails_dir: PathBuf,
    /// Apps under test, by name.
    pub targets: BTreeMap<String, Target>,
    /// Devices that trails run on.
    pub devices: Devices,
    /// Tool sources: MCP servers that contribute tools, a list or by name. `mcp_servers` is the same.
    #[serde(deserialize_with = "sources::read", serialize_with = "sources::write")]
    #[schemars(schema_with = "sources::schema")]
    pub mcp_servers: Vec<McpServer>,
    /// Named selections of tools, by name.
    pub toolsets: BTreeMap<String, Toolset>,
    /// The folder of tools and toolsets written in YAML.
    pub tools_dir: PathBuf,
    /// What is done about a tool source's tool whose name breaks the naming convention.
    pub tool_names: ToolNames,
    /// Matrices of configurations, by name.
    pub matrices: BTreeMap<String, Matrix>,
    /// Defaults for runs.
    pub run: RunSettings,
    /// Where Playwright is found.
    pub playwright: PlaywrightSettings,
    /// Devices of other computers.
    pub farm: FarmSettings,
    /// What agents may do, and where they reach the daemon.
    pub agents: AgentSettings,
}

/// An app under test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Target {
    /// Ids of the app on phones.
    pub app_ids: AppIds,
    /// Base URL: web devices start there, and relative URLs in trails are resolved against it.
    pub base_url: Option<String>,
}

/// Ids of an app. The first is the one that is launched; the others are its variants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AppIds {
    /// Android package name, or several.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "crate::value::OneOrMany")]
    pub android: Vec<String>,
    /// iOS bundle id, or several.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "crate::value::OneOrMany")]
    pub ios: Vec<String>,
}

/// Devices, by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Devices {
    /// Web devices: each is a browser context, named `web/<key>`.
    pub web: BTreeMap<String, WebSlot>,
    /// Android devices, found through adb.
    pub android: AndroidSettings,
    /// iPhones and simulators, by a name of your choice.
    pub ios: BTreeMap<String, IosSettings>,
    /// Virtual phones, which need neither hardware nor emulators.
    #[serde(rename = "virtual")]
    pub simulated: Option<VirtualSettings>,
    /// How long a device in the daemon may be held without a call before it is given to a session that
    /// waits, or back by an agent; at least a minute. A call under way is waited for.
    pub idle_timeout: HumanDuration,
}

impl Default for Devices {
    fn default() -> Self {
        Self {
            web: BTreeMap::new(),
            android: AndroidSettings::default(),
            ios: BTreeMap::new(),
            simulated: None,
            idle_timeout: HumanDuration::new(Duration::from_secs(15 * 60)),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target: None,
            trails_dir: "trails".into(),
            targets: BTreeMap::new(),
            devices: Devices::default(),
            mcp_servers: Vec::new(),
            toolsets: BTreeMap::new(),
            tools_dir: "tools".into(),
            tool_names: ToolNames::default(),
            matrices: BTreeMap::new(),
            run: RunSettings::default(),
            playwright: PlaywrightSettings::default(),
            farm: FarmSettings::default(),
            agents: AgentSettings::default(),
        }
    }
}

impl Config {
    /// Makes every relative path start at `base`. Programs without a slash are left to be found
    /// on the search path.
    pub(crate) fn resolve_paths(&mut self, base: &Path) {
        let file = |path: &mut PathBuf| {
            if path.is_relative() {
                *path = base.join(&*path);
            }
        };
        let program = |path: &mut PathBuf| {
            if path.components().count() > 1 {
                file(path);
            }
        };
        file(&mut self.trails_dir);
        file(&mut self.tools_dir);
        file(&mut self.run.output_dir);
        program(&mut self.playwright.node);
        self.playwright.cli.as_mut().map(file);
        self.farm.credentials.as_mut().map(file);
        self.farm.nats_server.as_mut().map(program);
        for slot in self.devices.web.values_mut() {
            slot.storage_state.as_mut().map(file);
            slot.executable.as_mut().map(program);
        }
        for phone in self.devices.ios.values_mut() {
            phone.start_in = Some(base.to_owned());
        }
        if let Some(simulated) = &mut self.devices.simulated {
            simulated.app.as_mut().map(file);
            simulated.faults.as_mut().map(file);
        }
        for matrix in self.matrices.values_mut() {
            matrix.resolve_paths(base);
        }
        for server in &mut self.mcp_servers {
            server.resolve_paths(base);
        }
    }
}
