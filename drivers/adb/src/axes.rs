//! Axes: what a matrix varies of a phone. What was there before is written down first; then each
//! is set and read back.

mod restore;
mod setting;

use std::time::Duration;

use packtrain_drivers::{
    AppliedAxis, Axes, AxisRestore, DeviceEvent, EventSink, SavedSetting, Size, axes,
};
use tokio::time::Instant;

pub(crate) use self::restore::Restoring;
use self::setting::{Reading, Setting};
use crate::device::{AndroidDevice, Result, reason};

/// The first Android with languages for each app.
const APP_LOCALES: u32 = 33;
/// The first Android with a command for airplane mode.
const AIRPLANE_COMMAND: u32 = 30;
/// How long a setting may take until the device goes by it.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often it is asked meanwhile.
const EFFECT_POLL: Duration = Duration::from_millis(100);
/// The axes in the order in which they are applied: what changes the screen comes first.
const ORDER: [&str; 8] = [
    "size",
    "density",
    "orientation",
    "animation",
    "colorScheme",
    "fontScale",
    "offline",
    "locale",
];
/// How fast things move; 0 is not at all.
const ANIMATIONS: [&str; 3] = [
    "window_animation_scale",
    "transition_animation_scale",
    "animator_duration_scale",
];

/// An axis and what is to be set for it.
struct Plan<'a> {
    axis: &'a str,
    want: &'a str,
    /// Each with the value it gets.
    settings: Vec<(Setting, String)>,
}

/// What has to be known of a device.
#[derive(Clone, Copy)]
struct Facts<'a> {
    api_level: u32,
    app: Option<&'a str>,
    /// It would lose itself with its network.
    hangs_on_its_network: bool,
    /// The screen, as the device stands by itself, is wider than high.
    lies_naturally: bool,
}

impl AndroidDevice {
    /// Applies what a matrix wants of this device, as far as it can be; the others are missing
    /// from the answer, and `events` tells why.
    pub(crate) async fn apply_axes(
        &mut self,
        wanted: &Axes,
        app: Option<&str>,
        restore: &mut AxisRestore,
        events: &EventSink,
        deadline: Instant,
    ) -> Result<Vec<AppliedAxis>> {
        let note = |axis: &str, why: &str| {
            events.report(DeviceEvent::Logged {
                level: "warning".to_owned(),
                text: format!("the axis {axis} is not applied: {why}"),
                source: None,
            });
        };
        let level = self.shell("getprop ro.build.version.sdk", deadline).await?;
        let screen = wanted.get("size").and_then(|size| axes::size(size));
        let facts = Facts {
            api_level: level.out().trim().parse().unwrap_or(0),
            app,
            hangs_on_its_network: self.phone.hangs_on_its_network(),
            lies_naturally: screen.map_or(self.screen.width > self.screen.height, |(w, h)| w > h),
        };
        let order = |axis: &str| ORDER.iter().position(|known| *known == axis);
        let mut wanted: Vec<_> = wanted.iter().collect();
        wanted.sort_by_key(|(axis, _)| order(axis));
        let (mut plans, mut before) = (Vec::new(), Vec::new());
        for (axis, want) in wanted {
            let planned = match plan(axis, want, facts) {
                Ok(plan) => self.look(plan, deadline).await?,
                Err(why) => Err(why.to_owned()),
            };
            match planned {
                Ok((plan, saved)) => {
                    before.extend(saved);
                    plans.push(plan);
                }
                Err(why) => note(axis, &why),
            }
        }
        if !before.is_empty()
            && let Err(why) = restore.keep(before).await
        {
            for plan in plans {
                note(plan.axis, &why);
            }
            return Ok(Vec::new());
        }
        let mut applied = Vec::new();
        for plan in plans {
            applied.push(self.apply(&plan, facts, deadline).await?);
            if plan.axis == "size"
                && let Some((width, height)) = applied.last().and_then(|axis| axes::size(&axis.got))
            {
                self.screen = Size::new(f64::from(width), f64::from(height));
            }
        }
        Ok(applied)
    }

    /// What the settings of a plan are now, or why they cannot be told.
    async fn look<'a>(
        &self,
        plan: Plan<'a>,
        deadline: Instant,
    ) -> Result<std::result::Result<(Plan<'a>, Vec<SavedSetting>), String>> {
        let mut saved = Vec::new();
        for (setting, _) in &plan.settings {
            let output = self.shell(&setting.reads(), deadline).await?;
            let Some(reading) = setting.read(&output.out()) else {
                return Ok(Err(reason(&output)));
            };
            saved.push(SavedSetting {
                axis: plan.axis.to_owned(),
                setting: setting.name(),
                was: reading.value,
            });
        }
        Ok(Ok((plan, saved)))
    }

    /// Sets what a plan says, and reads it back until the device goes by it.
    async fn apply(
        &self,
        plan: &Plan<'_>,
        facts: Facts<'_>,
        deadline: Instant,
    ) -> Result<AppliedAxis> {
        let start = Instant::now();
        let mut how = Vec::new();
        let mut refusal = None;
        for (setting, value) in &plan.settings {
            let command = setting.writes(Some(value));
            let output = self.shell(&command, deadline).await?;
            if output.exit != 0 {
                refusal = Some(reason(&output));
            }
            how.push(command);
        }
        if let ("locale", Some(app)) = (plan.axis, facts.app) {
            // An app that runs was started in another language.
            let id = crate::wire::shell::quote(app);
            self.shell(&format!("am force-stop {id}"), deadline).await?;
        }
        let limit = deadline.min(start + EFFECT_TIMEOUT);
        let got = loop {
            let got = self.got(plan, facts, deadline).await?;
            // Radios and the window manager take a moment; tables and services have answered.
            let is_late = matches!(plan.axis, "offline" | "orientation") && refusal.is_none();
            if got == plan.want || !is_late || Instant::now() + EFFECT_POLL >= limit {
                break got;
            }
            tokio::time::sleep(EFFECT_POLL).await;
        };
        if let Some(refusal) = refusal {
            how.push(refusal);
        }
        Ok(AppliedAxis {
            axis: plan.axis.to_owned(),
            want: plan.want.to_owned(),
            got,
            how: how.join("; "),
            took_ms: start.elapsed(),
        })
    }

    /// What the device says it has, in the notation of what was wanted.
    async fn got(&self, plan: &Plan<'_>, facts: Facts<'_>, deadline: Instant) -> Result<String> {
        if plan.axis == "orientation" {
            // What the window manager goes by, which need not be what was put into the table.
            let output = self.shell("wm user-rotation", deadline).await?;
            if let Some(turned) = user_rotation(&output.out()) {
                return Ok(orientation(turned, facts).to_owned());
            }
        }
        let mut readings = Vec::new();
        for (setting, _) in &plan.settings {
            let output = self.shell(&setting.reads(), deadline).await?;
            match setting.read(&output.out()) {
                Some(reading) => readings.push(reading),
                None => return Ok(reason(&output)),
            }
        }
        Ok(told(plan, &readings, facts))
    }
}

/// What is to be set for an axis, or why this device does not have it.
fn plan<'a>(
    axis: &'a str,
    want: &'a str,
    facts: Facts<'_>,
) -> std::result::Result<Plan<'a>, &'static str> {
    let one = |setting: Setting, value: &str| vec![(setting, value.to_owned())];
    let settings = match axis {
        "size" => one(Setting::Size, want),
        "density" => one(Setting::Density, want),
        "fontScale" => one(Setting::entry("system", "font_scale"), want),
        "colorScheme" => one(Setting::Night, if want == "dark" { "yes" } else { "no" }),
        "orientation" => {
            let turn = u8::from((want == "landscape") != facts.lies_naturally);
            vec![
                (
                    Setting::entry("system", "accelerometer_rotation"),
                    "0".to_owned(),
                ),
                (Setting::entry("system", "user_rotation"), turn.to_string()),
            ]
        }
        "animation" => {
            let scale = if want == "true" { "1" } else { "0" };
            let entry = |key| (Setting::entry("global", key), scale.to_owned());
            ANIMATIONS.map(entry).into()
        }
        "offline" if facts.hangs_on_its_network => {
            return Err("the phone is connected over the network that this turns off");
        }
        "offline" if facts.api_level >= AIRPLANE_COMMAND => {
            one(Setting::Airplane, if want == "true" { "1" } else { "0" })
        }
        "offline" => {
            let on = if want == "true" { "0" } else { "1" };
            let radio = |which: &str| (Setting::Radio(which.to_owned()), on.to_owned());
            ["wifi", "data"].map(radio).into()
        }
        "locale" if facts.api_level < APP_LOCALES => {
            return Err("per-app languages need Android 13");
        }
        "locale" => {
            let app = facts.app.ok_or("no app under test is set")?;
            one(Setting::AppLocales(app.to_owned()), want)
        }
        _ => return Err("Android does not have it"),
    };
    Ok(Plan {
        axis,
        want,
        settings,
    })
}

/// What readings come to, in the notation of what was wanted.
fn told(plan: &Plan<'_>, readings: &[Reading], facts: Facts<'_>) -> String {
    let value = |index: usize| {
        let reading: Option<&Reading> = readings.get(index);
        reading.and_then(|reading| reading.effective.as_deref())
    };
    let first = value(0).unwrap_or("null");
    match plan.axis {
        "colorScheme" => match first {
            "yes" => "dark",
            "no" => "light",
            other => other,
        }
        .to_owned(),
        "locale" if first.eq_ignore_ascii_case(plan.want) => plan.want.to_owned(),
        // Android goes by 1 where nothing was ever set.
        "fontScale" => alike(value(0).unwrap_or("1"), plan.want),
        "density" => alike(first, plan.want),
        "orientation" => match (value(0), value(1).and_then(|turn| turn.parse().ok())) {
            (Some("0"), Some(turn)) => orientation(turn, facts).to_owned(),
            _ => "free".to_owned(),
        },
        "animation" => {
            let moves = |reading: &Reading| {
                let scale = reading.effective.as_deref().unwrap_or("1");
                scale.parse::<f64>().is_ok_and(|scale| scale > 0.0)
            };
            match readings.iter().filter(|reading| moves(reading)).count() {
                0 => "false".to_owned(),
                all if all == readings.len() => "true".to_owned(),
                some => format!("{some} of {}", readings.len()),
            }
        }
        "offline" => {
            let on = |reading: &Reading| reading.effective.as_deref().is_some_and(|on| on != "0");
            let airplane = plan.settings.len() == 1;
            let offline = if airplane {
                readings.iter().all(on)
            } else {
                !readings.iter().any(on)
            };
            offline.to_string()
        }
        _ => first.to_owned(),
    }
}

/// A number as it was wanted when it is that one: `1.30` is `1.3`.
fn alike(got: &str, want: &str) -> String {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let is_same = number(got)
        .zip(number(want))
        .is_some_and(|(got, want)| (got - want).abs() < 1e-6);
    if is_same { want } else { got }.to_owned()
}

/// How a screen stands that was turned by so many quarters.
const fn orientation(turned: u8, facts: Facts<'_>) -> &'static str {
    if (turned % 2 == 1) == facts.lies_naturally {
        "portrait"
    } else {
        "landscape"
    }
}

/// The quarters in `lock 1`; Android 11 and newer print it.
fn user_rotation(out: &str) -> Option<u8> {
    out.trim().strip_prefix("lock ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
