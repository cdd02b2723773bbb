//! The tools that are Packtrain's own: their names, what they take, what they are for.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use packtrain_toolsets::schema::lean;
use rmcp::handler::server::tool::schema_for_type;
use rmcp::model::{Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::act::ActArgs;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    /// What a device has to be: `android & api>=33`, `web | ios`, `model~"Pixel*"`. Devices that are
    /// not are listed with the reason.
    pub(super) on: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcquireArgs {
    /// A device (`android/emulator-5554`, `web/desktop`), a platform, or a part of one's name.
    pub(super) device: Option<String>,
    /// What it has to be, as in `device_list`; the first that is free is taken.
    pub(super) on: Option<String>,
    /// What to open on it, an app's id or an address; answers what the screen shows then.
    pub(super) open: Option<String>,
    /// How long to wait when it is in use, in milliseconds; 45000 when not given, 120000 at most.
    pub(super) wait_ms: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReleaseArgs {
    /// The lease, from `device_acquire`.
    pub(super) lease: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotArgs {
    /// The lease, from `device_acquire`.
    pub(super) lease: String,
    /// The mark of an earlier snapshot: only what has changed since is answered.
    pub(super) since: Option<u64>,
    /// A text to wait for.
    pub(super) wait_for: Option<String>,
    /// How long to wait for it, in milliseconds; without it for the screen to change and come to rest.
    pub(super) wait_ms: Option<u64>,
    /// Only this element and what is in it.
    #[serde(rename = "ref")]
    pub(super) reference: Option<String>,
    /// The same by its role and name.
    pub(super) role: Option<String>,
    pub(super) name: Option<String>,
    /// 400 when not given.
    pub(super) max_lines: Option<usize>,
    /// Where each element is.
    #[serde(default)]
    pub(super) bounds: bool,
    /// What is scrolled out of sight and the keyboard's keys, too.
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

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckArgs {
    /// Trail files and folders of the project; its trails folder when not given.
    #[serde(default)]
    pub(super) trails: Vec<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartArgs {
    /// Trail files and folders of the project; its trails folder when not given.
    #[serde(default)]
    pub(super) trails: Vec<String>,
    /// Devices, platforms or parts of names; all that the trails declare when not given.
    #[serde(default)]
    pub(super) devices: Vec<String>,
    /// The trails' arguments.
    #[serde(default)]
    pub(super) args: BTreeMap<String, serde_json::Value>,
    /// Values to remember, over the trails' own.
    #[serde(default)]
    pub(super) memory: BTreeMap<String, String>,
    /// Only trails with one of these tags.
    #[serde(default)]
    pub(super) tags: Vec<String>,
    /// A matrix of the configuration: the trails run in each of its cells.
    pub(super) matrix: Option<String>,
    /// How often a session that does not pass is tried again.
    pub(super) retries: Option<u32>,
    /// Let it go on when you are gone.
    #[serde(default)]
    pub(super) detach: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArgs {
    /// The run, from `run_start`.
    pub(super) run: String,
    /// How long to wait, in milliseconds; 30000 when not given, 50000 at most. A run that goes on is no
    /// error: call again.
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArgs {
    /// The run, from `run_start`.
    pub(super) run: String,
}

static DEFINITIONS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        own::<ListArgs>(
            "device_list",
            "Lists the devices: what each is, whether it is free or who has it and who waits, and why it does not match.",
            true,
        ),
        own::<AcquireArgs>(
            "device_acquire",
            "Takes a device for you alone and returns its lease, which every other call names. Waits in a fair queue while it is in use. Give it back with device_release.",
            false,
        )
        // It opens what it is given.
        .with_annotations(ToolAnnotations::new().read_only(false)),
        own::<ReleaseArgs>("device_release", "Gives a device back.", false),
        own::<SnapshotArgs>(
            "snapshot",
            "Reads the screen as text: one element a line, with references like [e4] that act and other tools take as `ref`. With `since`, only what has changed.",
            true,
        ),
        own::<ActArgs>(
            "act",
            "Acts on the screen, action by action, stops at the first that fails, and returns once what the screen shows then, or what has changed. An element is named by `ref`, by `role` and `name`, or by `text`, as snapshot shows them, and waited for. type replaces what is there; swipe up shows what lies below. Every tool that you may call is an action, too: {tool, args}.",
            false,
        )
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true)),
        own::<ScreenshotArgs>(
            "screenshot",
            "Takes a screenshot and returns a link to it. `snapshot` costs far less.",
            true,
        ),
        own::<CheckArgs>(
            "trail_check",
            "Checks trails without a device: mistakes with file and line.",
            true,
        ),
        own::<StartArgs>(
            "run_start",
            "Starts trails on devices, all at once, and returns the run at once. A device that you hold is waited for: give it back first.",
            false,
        ),
        own::<WaitArgs>(
            "run_wait",
            "Waits for a run and returns how it went, or how far it is.",
            true,
        ),
        own::<RunArgs>(
            "run_status",
            "Returns how far a run is, or how it went.",
            true,
        ),
        own::<RunArgs>("run_cancel", "Stops a run.", false),
    ]
});

/// Packtrain's own tools, but those about toolsets.
pub(super) fn definitions() -> Vec<Tool> {
    DEFINITIONS.clone()
}

fn own<T: JsonSchema + 'static>(name: &'static str, about: &'static str, reads: bool) -> Tool {
    let schema = lean(&schema_for_type::<T>());
    Tool::new(name, about, Arc::new(schema))
        .with_annotations(ToolAnnotations::new().read_only(reads).open_world(false))
}

#[cfg(test)]
mod tests {
    use packtrain_toolsets::catalog::{OWN_TOOLS, is_own};

    #[test]
    fn their_names_are_taken() {
        let names: Vec<_> = super::definitions()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(names, OWN_TOOLS);
        assert!(is_own("equip-toolset") && !is_own("tap"));
    }
}
