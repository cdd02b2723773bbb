//! `getprop` and `settings`.

use crate::android::Android;
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::world::Rotation;

pub(super) async fn getprop(call: &mut Call<'_>) -> CommandResult {
    let android = call.android();
    let text = match call.arg(1) {
        None => (android.all_properties().iter())
            .map(|(name, value)| format!("[{name}]: [{value}]\n"))
            .collect(),
        Some(name) => match android.property(name) {
            unset if unset.is_empty() => format!("{}\n", call.arg(2).unwrap_or("")),
            value => value + "\n",
        },
    };
    call.say(text).await
}

pub(super) async fn settings(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["--user"]);
    let args: Vec<&str> = options.rest.iter().map(String::as_str).collect();
    let android = call.android();
    match args.as_slice() {
        [_, table, ..] if !matches!(*table, "system" | "secure" | "global") => {
            call.refuse(format!("Invalid namespace '{table}'\n"), 255)
                .await
        }
        ["get", table, key] => {
            let value = android.setting(table, key);
            let value = value.unwrap_or_else(|| "null".to_owned());
            call.say(value + "\n").await
        }
        ["put", table, key, value, ..] => {
            android.put_setting(table, key, Some(value));
            Ok(0)
        }
        ["delete", table, key] => {
            let there = android.setting(table, key).is_some();
            android.put_setting(table, key, None);
            call.say(format!("Deleted {} rows\n", u8::from(there)))
                .await
        }
        _ => {
            call.unhandled();
            call.refuse("Invalid command\n", 255).await
        }
    }
}

impl Android {
    /// A setting; what the device itself knows comes before what was put.
    pub(super) fn setting(&self, table: &str, key: &str) -> Option<String> {
        let flag = |on: bool| Some(u8::from(on).to_string());
        match (table, key) {
            ("global", "device_name") => {
                let put = self.settings.lock().get(table, key);
                put.or_else(|| Some(self.device().shape().model.to_owned()))
            }
            ("system", "user_rotation") => {
                let rotation = self.device().world(|world| world.rotation());
                Some(rotation.number().to_string())
            }
            ("global", "airplane_mode_on") => flag(self.state.lock().airplane),
            ("global", "wifi_on") => flag(!self.state.lock().wifi_off),
            ("global", "mobile_data") => flag(!self.state.lock().data_off),
            _ => self.settings.lock().get(table, key),
        }
    }

    /// Puts a setting, or deletes it; what it does to the device is done.
    pub(super) fn put_setting(&self, table: &str, key: &str, value: Option<&str>) {
        self.settings
            .lock()
            .put(table, key, value.map(str::to_owned));
        let device = self.device();
        let on = value.is_some_and(|value| value != "0");
        match (table, key) {
            ("system", "user_rotation") => {
                let number = value.and_then(|value| value.trim().parse().ok());
                if let Some(rotation) = number.and_then(Rotation::from_number) {
                    device.world(|world| world.rotate(rotation));
                }
            }
            ("system", "font_scale") => {
                let scale = value.and_then(|value| value.trim().parse().ok());
                device.world(|world| world.set_font_scale(scale.unwrap_or(1.0)));
            }
            ("global", "airplane_mode_on") => self.state.lock().airplane = on,
            ("global", "wifi_on") => self.state.lock().wifi_off = !on,
            ("global", "mobile_data") => self.state.lock().data_off = !on,
            _ => {}
        }
    }
}
