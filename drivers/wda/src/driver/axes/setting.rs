//! Settings of an iPhone that axes change: by `simctl ui` on simulators, by WebDriverAgent
//! elsewhere.

use packtrain_drivers::CommandContext;
use serde_json::{Value, json};

use crate::access::DeviceAccess;
use crate::agent::{Agent, Failure, WdaRequest};
use crate::driver::Result;

/// A setting that a matrix may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// One of `simctl ui`.
    Simulator(&'static str),
    /// Bright or dark, by WebDriverAgent.
    Appearance,
}

/// The settings of `simctl ui`.
const OF_SIMULATORS: [&str; 3] = ["appearance", "content_size", "increase_contrast"];
/// The name of [`Setting::Appearance`].
const APPEARANCE: &str = "wda appearance";

impl Setting {
    /// The setting behind an axis, where the device has it.
    pub(super) fn of_axis(axis: &str, access: &DeviceAccess) -> Option<Self> {
        let is_simulator = matches!(access, DeviceAccess::Simulator { .. });
        match axis {
            "colorScheme" if is_simulator => Some(Self::Simulator("appearance")),
            "colorScheme" => Some(Self::Appearance),
            "textSize" if is_simulator => Some(Self::Simulator("content_size")),
            "contrast" if is_simulator => Some(Self::Simulator("increase_contrast")),
            _ => None,
        }
    }

    /// Its name in the file of what is to be restored.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Simulator("appearance") => "simctl ui appearance",
            Self::Simulator("content_size") => "simctl ui content_size",
            Self::Simulator(_) => "simctl ui increase_contrast",
            Self::Appearance => APPEARANCE,
        }
    }

    /// The setting of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all = OF_SIMULATORS.map(Self::Simulator).into_iter();
        all.chain([Self::Appearance])
            .find(|setting| setting.name() == name)
    }

    /// Whether the device goes by it only a while after it was set.
    pub(super) const fn is_late(self) -> bool {
        matches!(self, Self::Appearance)
    }

    /// What it is set to for an axis' value.
    pub(super) fn value(self, axis_value: &str) -> &str {
        match axis_value {
            "normal" => "disabled",
            "increased" => "enabled",
            other => other,
        }
    }

    /// The axis' value that it stands for.
    pub(super) fn axis_value(self, value: &str) -> &str {
        match value {
            "disabled" => "normal",
            "enabled" => "increased",
            other => other,
        }
    }
}

/// Who reads and writes settings.
pub(super) struct Appliance<'a> {
    agent: &'a mut Agent,
    access: &'a DeviceAccess,
}

impl<'a> Appliance<'a> {
    pub(super) const fn new(agent: &'a mut Agent, access: &'a DeviceAccess) -> Self {
        Self { agent, access }
    }

    /// What a setting is, or why it is unknown.
    pub(super) async fn read(
        &mut self,
        setting: Setting,
        ctx: &CommandContext,
    ) -> Result<std::result::Result<String, String>> {
        match (setting, self.access) {
            (Setting::Simulator(option), DeviceAccess::Simulator { simctl, udid }) => {
                let told = simctl.ui(udid, option, None).await;
                Ok(told
                    .map_err(|error| error.to_string())
                    .and_then(|told| match told.as_str() {
                        "" | "unsupported" | "unknown" => {
                            Err(format!("the simulator says it is `{told}`"))
                        }
                        _ => Ok(told),
                    }))
            }
            (Setting::Simulator(_), _) => Ok(Err("it is not a simulator".to_owned())),
            (Setting::Appearance, _) => {
                let doing = "read the appearance";
                let request = WdaRequest::get(doing, "/wda/device/info").at_top();
                let info: Value = match self.agent.ask(&request, ctx).await {
                    Ok(reply) => reply.parse(doing)?,
                    Err(Failure::Refused(refusal)) => return Ok(Err(refusal.to_string())),
                    Err(Failure::Driver(error)) => return Err(error),
                };
                let style = info["userInterfaceStyle"].as_str().unwrap_or_default();
                Ok(match style {
                    "light" | "dark" => Ok(style.to_owned()),
                    other => Err(format!("WebDriverAgent says it is `{other}`")),
                })
            }
        }
    }

    /// Sets a setting, or says why it could not.
    pub(super) async fn write(
        &mut self,
        setting: Setting,
        value: &str,
        ctx: &CommandContext,
    ) -> Result<std::result::Result<(), String>> {
        match (setting, self.access) {
            (Setting::Simulator(option), DeviceAccess::Simulator { simctl, udid }) => {
                let set = simctl.ui(udid, option, Some(value)).await;
                Ok(set.map(drop).map_err(|error| error.to_string()))
            }
            (Setting::Simulator(_), _) => Ok(Err("it is not a simulator".to_owned())),
            (Setting::Appearance, _) => {
                let body = json!({"name": value});
                let doing = "set the appearance";
                let request = WdaRequest::post(doing, "/wda/device/appearance", &body);
                match self.agent.ask(&request.at_top().harmless(), ctx).await {
                    Ok(_) => Ok(Ok(())),
                    Err(Failure::Refused(refusal)) => Ok(Err(refusal.to_string())),
                    Err(Failure::Driver(error)) => Err(error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_found_by_its_name_and_speaks_the_axis_words() {
        for option in OF_SIMULATORS {
            let setting = Setting::Simulator(option);
            assert_eq!(setting.name(), format!("simctl ui {option}"));
            assert_eq!(Setting::named(setting.name()), Some(setting));
        }
        assert_eq!(Setting::named(APPEARANCE), Some(Setting::Appearance));
        assert_eq!(Setting::named("simctl ui"), None);
        let contrast = Setting::Simulator("increase_contrast");
        assert_eq!(contrast.value("increased"), "enabled");
        assert_eq!(contrast.axis_value("disabled"), "normal");
    }
}
