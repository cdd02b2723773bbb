//! Axes: what a matrix varies of an iPhone. What lasts is written down first and put back at the
//! end, or by the next process to connect; how a device is held and what an app is launched with last no
//! longer than the session.

mod restore;
mod setting;

use std::time::Duration;

use packtrain_drivers::{AppliedAxis, CommandContext, DeviceEvent, SavedSetting, SessionOptions};
use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) use self::restore::Restoring;
use self::setting::{Appliance, Setting};
use super::{Result, WdaDriver, begin};
use crate::agent::{Failure, Launch, WdaRequest};

/// How long a setting may take until the device goes by it.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often it is asked meanwhile.
const EFFECT_POLL: Duration = Duration::from_millis(100);
/// Whence Foundation takes the languages of an app, and its region.
const LANGUAGES: &str = "-AppleLanguages";
const LOCALE: &str = "-AppleLocale";

impl WdaDriver {
    /// What every app is launched with in a session.
    pub(super) fn set_launch_arguments(&mut self, options: &SessionOptions) {
        let mut arguments = options.launch_arguments.clone();
        if let Some(locale) = options.axes.get("locale") {
            arguments.extend(locale_arguments(locale));
        }
        self.agent.launch_with(arguments);
    }

    /// Applies what a matrix wants of this device, as far as it can be; the others are missing
    /// from the answer, and an event tells why.
    pub(super) async fn apply_axes(
        &mut self,
        options: &SessionOptions,
        ctx: &CommandContext,
    ) -> Result<Vec<AppliedAxis>> {
        let mut plans = Vec::new();
        for (axis, want) in &options.axes {
            let planned = match axis.as_str() {
                "orientation" | "locale" => continue,
                _ => Setting::of_axis(axis, &self.access).ok_or("no such device supports it"),
            };
            match planned {
                Ok(setting) => plans.push((axis, want, setting)),
                Err(why) => self.not_applied(axis, why),
            }
        }
        let plans = self.keep(plans, ctx).await?;
        let mut applied = Vec::new();
        for (axis, want, setting) in plans {
            applied.push(self.apply(axis, want, setting, ctx).await?);
        }
        Ok(applied)
    }

    /// Writes down what the settings are before they are changed; keeps those that may be.
    async fn keep<'a>(
        &mut self,
        plans: Vec<(&'a String, &'a String, Setting)>,
        ctx: &CommandContext,
    ) -> Result<Vec<(&'a String, &'a String, Setting)>> {
        let (mut kept, mut before) = (Vec::new(), Vec::new());
        for (axis, want, setting) in plans {
            let mut appliance = Appliance::new(&mut self.agent, &self.access);
            match appliance.read(setting, ctx).await? {
                Ok(was) => {
                    before.push(SavedSetting {
                        axis: axis.clone(),
                        setting: setting.name().to_owned(),
                        was: Some(was),
                    });
                    kept.push((axis, want, setting));
                }
                Err(why) => self.not_applied(axis, &why),
            }
        }
        if !before.is_empty()
            && let Err(why) = self.axes.keep(before).await
        {
            for (axis, ..) in std::mem::take(&mut kept) {
                self.not_applied(axis, &why);
            }
        }
        Ok(kept)
    }

    async fn apply(
        &mut self,
        axis: &str,
        want: &str,
        setting: Setting,
        ctx: &CommandContext,
    ) -> Result<AppliedAxis> {
        let start = Instant::now();
        let mut appliance = Appliance::new(&mut self.agent, &self.access);
        let value = setting.value(want);
        let mut how = format!("{} {value}", setting.name());
        let refused = appliance.write(setting, value, ctx).await?.err();
        let limit = Instant::now() + ctx.remaining_up_to(EFFECT_TIMEOUT);
        let got = loop {
            let read = appliance.read(setting, ctx).await?;
            let got = read.map_or_else(|why| why, |value| setting.axis_value(&value).to_owned());
            let is_late = setting.is_late() && refused.is_none();
            if got == want || !is_late || Instant::now() + EFFECT_POLL >= limit {
                break got;
            }
            tokio::time::sleep(EFFECT_POLL).await;
        };
        if let Some(refused) = refused {
            how = format!("{how}: {refused}");
        }
        Ok(applied(axis, want, got, how, start))
    }

    /// Launches the app under test and ends it again: what it was launched with is all that
    /// WebDriverAgent can tell of an app's language.
    pub(super) async fn apply_locale(
        &mut self,
        options: &SessionOptions,
        ctx: &CommandContext,
    ) -> Result<Option<AppliedAxis>> {
        let Some(want) = options.axes.get("locale") else {
            return Ok(None);
        };
        let Some(app) = &options.app else {
            self.not_applied("locale", "no app under test is set");
            return Ok(None);
        };
        let start = Instant::now();
        let how = locale_arguments(want).join(" ");
        let got = match self.agent.bind(app, Launch::Afresh, ctx).await {
            Ok(_) => self.launched_in(app, ctx).await?,
            Err(Failure::Refused(refusal)) => refusal.to_string(),
            Err(Failure::Driver(error)) => return Err(error),
        };
        let body = json!({"bundleId": app});
        let stop = WdaRequest::post("stop the app", "/wda/apps/terminate", &body).harmless();
        if let Err(Failure::Driver(error)) = self.agent.ask(&stop, ctx).await {
            return Err(error);
        }
        self.agent.open_session(ctx).await?;
        let got = if got.eq_ignore_ascii_case(want) {
            want.clone()
        } else {
            got
        };
        Ok(Some(applied("locale", want, got, how, start)))
    }

    /// The locale among the arguments of the app in front.
    async fn launched_in(&mut self, app: &str, ctx: &CommandContext) -> Result<String> {
        let doing = "read the app's launch arguments";
        let request = WdaRequest::get(doing, "/wda/activeAppInfo");
        let info: Value = match self.agent.ask(&request, ctx).await {
            Ok(reply) => reply.parse(doing)?,
            Err(Failure::Refused(refusal)) => return Ok(refusal.to_string()),
            Err(Failure::Driver(error)) => return Err(error),
        };
        if info["bundleId"] != app {
            return Ok(format!("{} is in front", info["bundleId"]));
        }
        let arguments = info["processArguments"]["args"].as_array();
        let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
        Ok(locale_in(&arguments.collect::<Vec<_>>()).unwrap_or_else(|| "none".to_owned()))
    }

    /// Turns the device and looks how it is held. An app in front that knows one way only to be
    /// held, as the home screen of a phone does, has WebDriverAgent say that it could not.
    pub(super) async fn apply_orientation(
        &mut self,
        options: &SessionOptions,
        ctx: &CommandContext,
    ) -> Result<Option<AppliedAxis>> {
        let Some(want) = options.axes.get("orientation") else {
            return Ok(None);
        };
        let start = Instant::now();
        self.state.turned = true;
        self.state.screen = None;
        let turn = begin::turn(&want.to_ascii_uppercase());
        if let Err(Failure::Driver(error)) = self.agent.ask(&turn, ctx).await {
            return Err(error);
        }
        let mut got = "unknown".to_owned();
        for path in ["/wda/deviceOrientation", "/orientation"] {
            let held = WdaRequest::get("read the device's orientation", path);
            match self.agent.ask(&held, ctx).await {
                Ok(reply) => {
                    let told = reply.json().to_ascii_lowercase();
                    let known = ["portrait", "landscape"];
                    let known = known.into_iter().find(|known| told.contains(known));
                    if let Some(known) = known {
                        known.clone_into(&mut got);
                        break;
                    }
                }
                Err(Failure::Refused(_)) => {}
                Err(Failure::Driver(error)) => return Err(error),
            }
        }
        let how = "/orientation".to_owned();
        Ok(Some(applied("orientation", want, got, how, start)))
    }

    fn not_applied(&self, axis: &str, why: &str) {
        self.agent.events().report(DeviceEvent::Logged {
            level: "warning".to_owned(),
            text: format!("the axis {axis} is not applied: {why}"),
            source: None,
        });
    }
}

fn applied(axis: &str, want: &str, got: String, how: String, start: Instant) -> AppliedAxis {
    AppliedAxis {
        axis: axis.to_owned(),
        want: want.to_owned(),
        got,
        how,
        took_ms: start.elapsed(),
    }
}

/// The arguments that have an app speak the language of `de-DE`.
fn locale_arguments(locale: &str) -> [String; 4] {
    [
        LANGUAGES.to_owned(),
        format!("({locale})"),
        LOCALE.to_owned(),
        locale.replace('-', "_"),
    ]
}

/// The locale that such arguments set, if both agree.
fn locale_in(arguments: &[&str]) -> Option<String> {
    let after = |name: &str| {
        let at = arguments.iter().rposition(|argument| *argument == name)?;
        arguments.get(at + 1).copied()
    };
    let locale = after(LOCALE)?.replace('_', "-");
    let languages = after(LANGUAGES)?.strip_prefix('(')?.strip_suffix(')')?;
    (languages == locale).then_some(locale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_app_was_launched_with_says_its_locale() {
        let arguments = locale_arguments("zh-Hans-CN");
        assert_eq!(arguments[1], "(zh-Hans-CN)");
        assert_eq!(arguments[3], "zh_Hans_CN");
        let given = arguments.each_ref().map(String::as_str);
        assert_eq!(locale_in(&given).as_deref(), Some("zh-Hans-CN"));
        assert_eq!(locale_in(&given[..3]), None);
        assert_eq!(locale_in(&[LANGUAGES, "(fr)", LOCALE, "de_DE"]), None);
        assert_eq!(locale_in(&[]), None);
    }
}
