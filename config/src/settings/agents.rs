//! What agents, the clients of the MCP server, may do, and where they reach it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents may do besides using devices, and where they reach the daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AgentSettings {
    /// Whether tools and trails that they call may run commands of this computer.
    pub host_commands: bool,
    /// Whether tools and trails that they call may run shell commands on devices.
    pub device_shell: bool,
    /// Schemes of addresses that they may open besides http, https, data and those of base URLs.
    #[schemars(extend("examples" = [["shop"]]))]
    pub schemes: Vec<String>,
    /// The port on loopback of the daemon's MCP endpoint; a free one when 0.
    pub port: u16,
}
