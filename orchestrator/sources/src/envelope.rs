//! What a source receives with each call: who calls, on which device, where callbacks go. Both
//! generations' fields stand side by side (docs/tool-sources.md has the table).

use std::collections::BTreeMap;

use packtrain_drivers::DeviceInfo;
use packtrain_tools::{SessionScope, Target};
use serde_json::{Map, Value, json};

use super::metadata::CONTEXT_ARGUMENT;
use crate::invocation::InvocationId;

/// What goes into a call besides its arguments.
pub(super) struct Envelope {
    device: Value,
    memory: BTreeMap<String, String>,
    meta: Map<String, Value>,
}

impl Envelope {
    /// Of a call in a session.
    pub(super) fn new(session: &SessionScope, id: &InvocationId, base_url: &str) -> Self {
        let device = session.lease.device();
        let memory = session.memory().shown();
        let mut trailblaze = json!({
            "baseUrl": base_url,
            "sessionId": session.id,
            "invocationId": id.as_str(),
            "device": device_of(device),
            "memory": memory,
            "capabilities": { "sampling": false },
        });
        if let Some(target) = target_of(&session.target, session.app_ids()) {
            trailblaze["target"] = target;
        }
        let mut meta = Map::new();
        meta.insert("trailblaze".to_owned(), trailblaze);
        meta.insert("trailblazeInvocationId".to_owned(), json!(id.as_str()));
        Self {
            device: json!({
                "platform": device.id.platform().as_str(),
                "widthPixels": whole(device.screen.width),
                "heightPixels": whole(device.screen.height),
                "driverType": device.driver,
            }),
            memory,
            meta,
        }
    }

    /// Puts the session into the arguments, as sources of before expect it.
    pub(super) fn put_into(&self, arguments: &mut Map<String, Value>) {
        let context = json!({ "memory": self.memory, "device": self.device });
        arguments.insert(CONTEXT_ARGUMENT.to_owned(), context);
    }

    /// The `_meta` of the request.
    pub(super) fn into_meta(self) -> Map<String, Value> {
        self.meta
    }
}

fn device_of(device: &DeviceInfo) -> Value {
    let (width, height) = (whole(device.screen.width), whole(device.screen.height));
    json!({
        "platform": device.id.platform().as_str(),
        "widthPixels": width,
        "heightPixels": height,
        "width": width,
        "height": height,
        "driverType": device.driver,
        "id": device.id.name(),
        "instanceId": device.id.name(),
    })
}

/// A length on the screen as sources expect it: many read whole numbers only, and `1080.0` is none.
fn whole(length: f64) -> i64 {
    length.round() as i64
}

fn target_of(target: &Target, app_ids: &[String]) -> Option<Value> {
    let name = target.name.as_deref()?;
    let mut told = json!({ "id": name, "appIds": app_ids, "displayName": name });
    if let Some(id) = app_ids.first() {
        told["appId"] = json!(id);
    }
    if let Some(url) = &target.base_url {
        told["baseUrls"] = json!([url]);
        told["resolvedBaseUrl"] = json!(url);
    }
    Some(told)
}

/// What a process learns from its environment about the device that it is started for.
pub(crate) fn device_env(device: &DeviceInfo) -> Vec<(&'static str, String)> {
    vec![
        (
            "TRAILBLAZE_DEVICE_PLATFORM",
            device.id.platform().as_str().to_uppercase(),
        ),
        ("TRAILBLAZE_DEVICE_DRIVER", device.driver.clone()),
        (
            "TRAILBLAZE_DEVICE_WIDTH_PX",
            whole(device.screen.width).to_string(),
        ),
        (
            "TRAILBLAZE_DEVICE_HEIGHT_PX",
            whole(device.screen.height).to_string(),
        ),
    ]
}
