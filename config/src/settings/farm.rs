//! Settings of a project on a farm, and of this computer as a host; and where the farm is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A farm: devices of other computers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FarmSettings {
    /// Files that travel to hosts although git ignores them, in the form of .gitignore.
    #[schemars(extend("examples" = [["builds/*.apk"]]))]
    pub include: Vec<String>,
    /// What the devices of this computer are called when it is a host, by kind: `lab: berlin`.
    pub labels: BTreeMap<String, String>,
    /// Addresses of the farm's servers; those in the credentials by default.
    #[schemars(extend("examples" = [["tls://nats-1:4222", "tls://nats-2:4222"]]))]
    pub servers: Vec<String>,
    /// What devices have to be when `run --farm` does not say so with `--on`.
    #[schemars(extend("examples" = ["android & api>=33"]))]
    pub on: Option<String>,
    /// The file that says who one is on the farm; the one that joining left by default.
    pub credentials: Option<PathBuf>,
    /// The nats-server that `packtrain farm up` starts; looked for in the usual places without it.
    pub nats_server: Option<PathBuf>,
}
