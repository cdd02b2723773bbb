//! Phones, real and virtual.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Endpoint;

/// How Android devices are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AndroidSettings {
    /// Where the adb server listens.
    pub adb: Endpoint,
    /// What reads the screen and taps on the device.
    pub agent: AndroidAgent,
    /// Devices on the network to connect to, by the address of their adb daemon.
    #[schemars(extend("examples" = [["192.168.1.20:5555"]]))]
    pub connect: Vec<Endpoint>,
}

impl Default for AndroidSettings {
    fn default() -> Self {
        Self {
            adb: Endpoint::new("127.0.0.1", 5037),
            agent: AndroidAgent::default(),
            connect: Vec::new(),
        }
    }
}

/// What acts on an Android device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AndroidAgent {
    /// The uiautomator2 server where it can be used, the shell elsewhere.
    #[default]
    Auto,
    /// The uiautomator2 server: fast, needs its file on the device.
    U2,
    /// Shell commands only: slow, works everywhere.
    Shell,
}

/// An iPhone or a simulator. Either `wda` or `udid` says which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IosSettings {
    /// The URL of a WebDriverAgent that is already running.
    #[schemars(extend("examples" = ["http://127.0.0.1:8100"]))]
    pub wda: Option<String>,
    /// The device's udid; WebDriverAgent is reached over USB.
    pub udid: Option<String>,
    /// Bundle id of the WebDriverAgent runner to start on the device.
    #[schemars(extend("examples" = ["com.facebook.WebDriverAgentRunner.xctrunner"]))]
    pub bundle_id: Option<String>,
    /// A command that starts WebDriverAgent, program first; it is stopped with the run. `{port}` is
    /// where it is expected to listen, and relative paths begin at the file's folder.
    pub start: Vec<String>,
    /// The folder where that command is started.
    #[serde(skip)]
    pub start_in: Option<PathBuf>,
    /// What kind of device this is, the broadest word first; recordings for `ios-...` of these words
    /// and for fewer of them are used.
    #[schemars(extend("examples" = [["ios", "iphone"]]))]
    pub classifiers: Vec<String>,
}

/// Virtual phones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct VirtualSettings {
    /// The file that describes the app on them; the example shop without one.
    pub app: Option<PathBuf>,
    /// How many Android phones there are.
    pub android: u32,
    /// How many iPhones there are.
    pub ios: u32,
    /// A file of fault rules.
    pub faults: Option<PathBuf>,
    /// How fast they respond.
    pub profile: VirtualProfile,
    /// Random seed.
    pub seed: u64,
}

/// How fast virtual phones respond.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VirtualProfile {
    /// As slowly as a phone.
    #[default]
    Phone,
    /// As fast as the computer, for tests.
    Fast,
}
