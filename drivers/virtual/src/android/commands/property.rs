//! `getprop`, `setprop`, `settings`, `device_config`.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::lock;
use crate::world::Rotation;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "getprop" => getprop(call).await,
        "setprop" => setprop(call).await,
        "settings" => settings(call).await,
        _ => {
            if call.arg(1) == Some("get") {
                call.out("null\n").await?;
            }
            Ok(0)
        }
    }
}

async fn getprop(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let android = call.android();
    let text = match options.rest.first() {
        None => (android.all_properties().iter())
            .map(|(name, value)| format!("[{name}]: [{value}]\n"))
            .collect(),
        Some(name) => {
            let value = android.property(name);
            let fallback = options.rest.get(1).cloned().unwrap_or_default();
            format!("{}\n", if value.is_empty() { fallback } else { value })
        }
    };
    call.out(text).await?;
    Ok(0)
}

async fn setprop(call: &mut Call<'_>) -> CommandResult {
    let (Some(name), Some(value)) = (call.arg(1), call.arg(2)) else {
        return call.fail("Needs 2 arguments", 1).await;
    };
    if call.android().set_property(name, value) {
        return Ok(0);
    }
    call.err(format!(
        "Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.\n"
    ))
    .await?;
    Ok(1)
}

/// Shared by `settings` and `cmd settings`.
pub(super) async fn settings(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["--user"]);
    let args: Vec<&str> = options.rest.iter().map(String::as_str).collect();
    let android = call.android();
    let bad_table = |table: &str| !matches!(table, "system" | "secure" | "global");
    match args.as_slice() {
        [_, table, ..] if bad_table(table) => {
            call.err(format!("Invalid namespace '{table}'\n")).await?;
            Ok(255)
        }
        ["get", table, key] => {
            let value = android.setting(table, key);
            call.out(format!("{}\n", value.as_deref().unwrap_or("null")))
                .await?;
            Ok(0)
        }
        ["put", table, key, value, ..] => {
            android.put_setting(table, key, Some(value));
            Ok(0)
        }
        ["delete" | "reset", table, key] => {
            let there = android.setting(table, key).is_some();
            android.put_setting(table, key, None);
            call.out(format!("Deleted {} rows\n", u8::from(there)))
                .await?;
            Ok(0)
        }
        ["list", table] => {
            let all = lock(&android.settings).all(table);
            let lines: String = all.iter().map(|(k, v)| format!("{k}={v}\n")).collect();
            call.out(lines).await?;
            Ok(0)
        }
        _ => {
            call.err("Invalid command\n").await?;
            Ok(255)
        }
    }
}

impl crate::android::Android {
    /// A setting; what the device itself knows comes before what was put.
    pub(super) fn setting(&self, table: &str, key: &str) -> Option<String> {
        let flag = |on: bool| Some(String::from(if on { "1" } else { "0" }));
        match (table, key) {
            ("global", "device_name") => {
                let put = lock(&self.settings).get(table, key);
                put.or_else(|| Some(self.device().shape().model.to_owned()))
            }
            ("system", "user_rotation") => {
                let rotation = self.device().world(|world, _| world.rotation());
                Some(rotation.number().to_string())
            }
            ("global", "airplane_mode_on") => flag(lock(&self.state).airplane),
            ("global", "wifi_on") => flag(!lock(&self.state).wifi_off),
            ("global", "mobile_data") => flag(!lock(&self.state).data_off),
            _ => lock(&self.settings).get(table, key),
        }
    }

    /// Puts a setting, or deletes it; what it does to the device is done.
    pub(super) fn put_setting(&self, table: &str, key: &str, value: Option<&str>) {
        lock(&self.settings).put(table, key, value.map(str::to_owned));
        let on = value.is_some_and(|value| value != "0");
        match (table, key) {
            ("system", "user_rotation") => {
                let number = value.and_then(|value| value.trim().parse().ok());
                if let Some(rotation) = number.and_then(Rotation::from_number) {
                    self.device()
                        .world(|world, now| world.rotate(rotation, now));
                }
            }
            ("system", "font_scale") => {
                let scale = value.and_then(|value| value.trim().parse().ok());
                self.device()
                    .world(|world, now| world.set_font_scale(scale.unwrap_or(1.0), now));
            }
            ("global", "airplane_mode_on") => lock(&self.state).airplane = on,
            ("global", "wifi_on") => lock(&self.state).wifi_off = !on,
            ("global", "mobile_data") => lock(&self.state).data_off = !on,
            _ => {}
        }
    }
}
