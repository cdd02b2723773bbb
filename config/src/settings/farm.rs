//! What a farm is told of a project, and of this computer as a host.

use std::collections::BTreeMap;

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
}
