//! What is known of an iOS device, and what its WebDriverAgent tells of it.

use packtrain_drivers::{CommandContext, DriverError, Size};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::{Agent, WdaRequest};

/// What a device may be called by iOS itself, which says nothing of its model.
const GENERIC: [&str; 3] = ["iPhone", "iPad", "iPod touch"];
/// Longest text that is believed, in bytes.
const MAX_TEXT: usize = 64;

/// What is known of a device before it is connected.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeviceFacts {
    /// Whether it is an iPad.
    pub tablet: Option<bool>,
    /// What people call it: `iPhone 14 Pro`.
    pub model: Option<String>,
    /// Version of iOS.
    pub version: Option<String>,
    /// Its screen as it is held upright, in points.
    pub screen: Option<Size>,
}

/// A screen as WebDriverAgent tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Screen {
    /// Held upright, in points.
    pub(crate) size: Size,
    /// Pixels per point.
    pub(crate) scale: f64,
}

impl DeviceFacts {
    /// What the answer to `/status` says.
    pub(crate) fn of_status(status: &Value) -> Self {
        let text = |pointer: &str| {
            let text = status.pointer(pointer).and_then(Value::as_str);
            text.filter(|text| text.len() <= MAX_TEXT)
                .map(str::to_owned)
        };
        Self {
            tablet: text("/device").map(|device| device == "ipad"),
            version: text("/os/version"),
            ..Self::default()
        }
    }

    /// These facts, and where there are none those of another source.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            tablet: self.tablet.or(other.tablet),
            model: self.model.or(other.model),
            version: self.version.or(other.version),
            screen: self.screen.or(other.screen),
        }
    }
}

impl Screen {
    /// Asks WebDriverAgent.
    pub(crate) async fn of(agent: &mut Agent, ctx: &CommandContext) -> Result<Self, DriverError> {
        #[derive(Deserialize)]
        struct ScreenInfo {
            #[serde(rename = "screenSize")]
            size: Extent,
            #[serde(default)]
            scale: f64,
        }
        #[derive(Deserialize)]
        struct Extent {
            width: f64,
            height: f64,
        }
        let request = WdaRequest::get("read the size of the screen", "/wda/screen").at_top();
        let reply = agent.ask(&request, ctx).await;
        let reply = reply.map_err(|failure| failure.into_error(request.doing()))?;
        let info: ScreenInfo = reply.parse(request.doing())?;
        // Upright, as a session begins.
        let (a, b) = (info.size.width, info.size.height);
        Ok(Self {
            size: Size::new(a.min(b), a.max(b)),
            scale: if info.scale > 0.0 { info.scale } else { 1.0 },
        })
    }
}

/// What the device is called, where that says more than what it is: a simulator has the name of
/// its model, an iPhone before iOS 16 the one its owner gave it.
pub(crate) async fn name(agent: &mut Agent, ctx: &CommandContext) -> Option<String> {
    #[derive(Deserialize)]
    struct NameInfo {
        name: String,
    }
    let request = WdaRequest::get("read the name of the device", "/wda/device/info").at_top();
    let reply = agent.ask(&request, ctx).await.ok()?;
    let NameInfo { name } = reply.parse(request.doing()).ok()?;
    let says_more = !GENERIC.contains(&name.as_str());
    (says_more && (1..=MAX_TEXT).contains(&name.len())).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_adds_what_the_one_before_it_did_not_know() {
        let status = json!({"device": "ipad", "os": {"version": "16.4"}});
        let known = DeviceFacts {
            model: Some("iPad Air".into()),
            version: Some("15.0".into()),
            ..DeviceFacts::default()
        };
        let facts = DeviceFacts::of_status(&status).or(known);
        assert_eq!(facts.tablet, Some(true));
        assert_eq!(facts.model.as_deref(), Some("iPad Air"));
        assert_eq!(facts.version.as_deref(), Some("16.4"));
        assert_eq!(facts.screen, None);
    }
}
