//! The tools that are Packtrain's own: their names, what they take, what they are for.

use std::collections::BTreeMap;

use rmcp::handler::server::tool::schema_for_type;
use rmcp::model::{Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// The argument that says which device a call is for.
pub(super) const LEASE: &str = "lease";

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    /// What a device has to be: `android & api>=33`, `web | ios`, `model~"Pixel*"`. Devices that are
    /// not are listed with the reason.
    #[serde(default)]
    pub(super) on: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcquireArgs {
    /// A device (`android/emulator-5554`, `web/desktop`), a platform, or a part of one's name.
    #[serde(default)]
    pub(super) device: Option<String>,
    /// What it has to be, as in `device_list`; the first that is free is taken.
    #[serde(default)]
    pub(super) on: Option<String>,
    /// How long to wait when it is in use, in milliseconds; 20000 when not given, 120000 at most.
    #[serde(default)]
    pub(super) wait_ms: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReleaseArgs {
    /// The lease, from `device_acquire`.
    pub(super) lease: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotArgs {
    /// The lease, from `device_acquire`.
    pub(super) lease: String,
    /// The mark of an earlier snapshot: only what has changed since is answered.
    #[serde(default)]
    pub(super) since: Option<u64>,
    /// Say where each element is.
    #[serde(default)]
    pub(super) bounds: bool,
    /// Elements that are scrolled out of sight, too.
    #[serde(default)]
    pub(super) offscreen: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScreenshotArgs {
    /// The lease, from `device_acquire`.
    pub(super) lease: String,
    /// Answer the picture itself besides the link to it; it costs many tokens.
    #[serde(default)]
    pub(super) inline: bool,
}

/// What all of them are.
pub(super) fn definitions() -> Vec<Tool> {
    vec![
        own::<ListArgs>(
            "device_list",
            "Lists the devices: what each is, whether it is free or who has it and who waits, and why it does not match.",
            true,
        ),
        own::<AcquireArgs>(
            "device_acquire",
            "Takes a device for you alone and answers its lease, which every other call names. Waits in a fair queue while it is in use. Give it back with device_release.",
            false,
        ),
        own::<ReleaseArgs>(
            "device_release",
            "Gives a device back.",
            false,
        ),
        own::<SnapshotArgs>(
            "snapshot",
            "Reads the screen as text: one element a line, with references like [e4] that other tools take as `ref`. With `since`, only what has changed.",
            true,
        ),
        own::<ScreenshotArgs>(
            "screenshot",
            "Takes a picture of the screen and answers a link to it. `snapshot` costs far less.",
            true,
        ),
    ]
}

fn own<T: JsonSchema + 'static>(name: &'static str, about: &'static str, reads: bool) -> Tool {
    Tool::new(name, about, schema_for_type::<T>())
        .with_annotations(ToolAnnotations::new().read_only(reads).open_world(false))
}

/// The names of all of them.
pub(super) fn names() -> BTreeMap<String, Tool> {
    let all = definitions().into_iter();
    all.map(|tool| (tool.name.to_string(), tool)).collect()
}
