//! What a trail says about itself.

use std::collections::BTreeMap;

use super::args::ArgDeclaration;
use super::classifier::ByClassifier;
use crate::template::Undefined;

/// The `config:` block. Everything in it is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// Stable name of the trail.
    pub id: Option<String>,
    /// Title for people.
    pub title: Option<String>,
    /// What the trail is about.
    pub description: Option<String>,
    /// The app under test: the name of a target, an app id, or an address.
    pub target: Option<String>,
    /// What agents should know beside the steps.
    pub context: Option<String>,
    /// Priority, as people write it: `P1`.
    pub priority: Option<String>,
    /// The platform the trail is for; only the list form has it.
    pub platform: Option<String>,
    /// Labels to select trails by.
    pub tags: Vec<String>,
    /// Pinned drivers.
    pub devices: ByClassifier<String>,
    /// Reasons not to run.
    pub skip: ByClassifier<String>,
    /// What the session remembers from the start, in the order of the file.
    pub memory: Vec<(String, String)>,
    /// What becomes of templates that are not defined.
    pub undefined: Undefined,
    /// Notes, which Packtrain ignores.
    pub metadata: BTreeMap<String, String>,
    /// The configurations it runs in: the name of a matrix, or one.
    pub matrix: Option<serde_json::Value>,
    /// The arguments the trail takes, in the order of the file.
    pub args: Vec<ArgDeclaration>,
}

impl Config {
    /// The driver pinned for a device, as written: `PLAYWRIGHT_NATIVE`.
    pub fn driver_for(&self, lineage: &[String]) -> Option<&str> {
        self.devices
            .closest(lineage)
            .map(|entry| entry.value.as_str())
    }

    /// Why not to run on a device. Blank reasons do not count. With an empty lineage, that is
    /// without a device, any reason will do; it is then the first by classifier.
    pub fn skip_for(&self, lineage: &[String]) -> Option<&str> {
        let reason = |text: &'_ str| !text.trim().is_empty();
        let closest = lineage
            .iter()
            .filter_map(|name| self.skip.get(name))
            .find(|entry| reason(&entry.value));
        let any = || {
            self.skip
                .iter()
                .filter(|entry| entry.classifier.is_none() || lineage.is_empty())
                .filter(|entry| reason(&entry.value))
                .min_by_key(|entry| &entry.classifier)
        };
        closest.or_else(any).map(|entry| entry.value.trim())
    }
}
