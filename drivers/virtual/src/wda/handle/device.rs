//! The phone itself: buttons, lock, pasteboard, battery, location.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use serde_json::{Value, json};

use super::{Done, Handler};
use crate::app::{AppId, Permission};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::route::recorded;
use crate::world::{Display, Key, Theme};

/// Base64 as Foundation reads it: with or without signs at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Handler<'_> {
    pub(super) async fn press_button(&mut self) -> Done {
        let name = self.arguments.text("name").unwrap_or("(null)");
        match name.to_lowercase().as_str() {
            "home" => self.homescreen().await,
            // Nothing here can be heard.
            "volumeup" | "volumedown" => self.act().await,
            _ => {
                return Err(WdaError::failed(&format!(
                    "The button '{name}' is not supported. The device under test only supports the following buttons: (home, volumedown, volumeup)"
                )));
            }
        }
        Ok(())
    }

    /// Keys by their numbers on USB: page and usage.
    pub(super) fn io_hid_event(&mut self) {
        let number = |name| self.arguments.number(name).unwrap_or(0.0) as u32;
        let key = match (number("page"), number("usage")) {
            (0x0c, 0x30) => Key::Power,
            (0x0c, 0x40) => Key::Home,
            (0x07, 0x28 | 0x58) => Key::Enter,
            (0x07, 0x29) => Key::Escape,
            (0x07, 0x2a) => Key::Backspace,
            (0x07, 0x2b) => Key::Tab,
            (0x07, 0x4c) => Key::Delete,
            _ => Key::Other,
        };
        self.world(|world| world.key(key));
    }

    pub(super) async fn light(&mut self, display: Display) {
        self.act().await;
        self.world(|world| world.set_display(display));
    }

    pub(super) fn battery_info(&self) -> Value {
        // (`UIDeviceBatteryState`): charging, or full.
        let percent = self.device().battery();
        json!({
            "level": f64::from(percent) / 100.0,
            "state": if percent == 100 { 3 } else { 2 },
        })
    }

    pub(super) fn device_info(&self) -> Result<Value, WdaError> {
        let dark = self.world(|world| world.theme() == Theme::Dark);
        let mut info = recorded("device_info")?;
        info["uuid"] = super::uuid(u64::from(self.device().ordinal()), 0x5061_636b).into();
        info["userInterfaceStyle"] = if dark { "dark" } else { "light" }.into();
        Ok(info)
    }

    pub(super) fn appearance(&mut self) -> Done {
        let name = self.arguments.text("name").map(str::to_lowercase);
        let theme = match name.as_deref() {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => {
                return Err(WdaError::invalid_argument(
                    "The appearance name must be either 'light' or 'dark'",
                ));
            }
        };
        self.world(|world| world.set_theme(theme));
        Ok(())
    }

    pub(super) fn set_pasteboard(&mut self) -> Done {
        self.is_text()?;
        let content = self.arguments.text("content").unwrap_or_default();
        let is_sign = |sign: &char| sign.is_ascii_alphanumeric() || "+/=".contains(*sign);
        let signs: String = content.chars().filter(is_sign).collect();
        let content = LENIENT.decode(signs).map_err(|_| {
            WdaError::invalid_argument("Cannot decode the pasteboard content from base64")
        })?;
        let text = String::from_utf8_lossy(&content);
        self.world(|world| world.set_clipboard(&text));
        Ok(())
    }

    pub(super) fn get_pasteboard(&mut self) -> Result<Value, WdaError> {
        self.is_text()?;
        let content = self.world(|world| world.clipboard().to_owned());
        Ok(general_purpose::STANDARD.encode(content).into())
    }

    /// A phone's pasteboard holds pictures, too; nothing here can show one.
    fn is_text(&self) -> Done {
        let kind = self.arguments.text("contentType").unwrap_or("plaintext");
        match kind.to_lowercase().as_str() {
            "plaintext" | "url" => Ok(()),
            other => Err(WdaError::failed(&format!(
                "Unsupported content type: {other}"
            ))),
        }
    }

    pub(super) fn get_simulated_location(&self) -> Value {
        let (latitude, longitude) = self.state.location.unzip();
        json!({
            "latitude": latitude,
            "longitude": longitude,
            "altitude": latitude.map(|_| 0.0),
        })
    }

    pub(super) fn set_simulated_location(&mut self) -> Done {
        let number = |name| self.arguments.number(name);
        let location = number("latitude").zip(number("longitude"));
        let missing = "Both latitude and longitude must be provided";
        let location = location.ok_or_else(|| WdaError::invalid_argument(missing))?;
        self.state.location = Some(location);
        Ok(())
    }

    /// Takes a permission from the app, which may ask for it again. Others than these no app has.
    pub(super) fn reset_app_auth(&mut self) -> Done {
        let missing = "The 'resource' argument must be set to a valid resource identifier (numeric value). See https://developer.apple.com/documentation/xctest/xcuiprotectedresource?language=objc";
        let resource = self.arguments.number("resource");
        let resource = resource.ok_or_else(|| WdaError::invalid_argument(missing))?;
        // (`XCUIProtectedResource`)
        let permission = match resource as i64 {
            1 => Permission::Contacts,
            4 => Permission::Photos,
            5 => Permission::Microphone,
            6 => Permission::Camera,
            0x4000_0002 => Permission::Location,
            _ => return Ok(()),
        };
        let app = AppId::from(self.active_app()?.bundle_id.as_str());
        self.world(|world| world.set_permission(&app, permission, false));
        Ok(())
    }

    /// Waits in vain: no virtual phone posts a notification.
    pub(super) async fn expect_notification(&mut self) -> Done {
        let missing = || WdaError::invalid_argument("Notification name argument must be provided");
        let name = self.arguments.text("name").ok_or_else(missing)?;
        let patience = self.arguments.number("timeout").unwrap_or(60.0);
        let longest = super::MAX_WAIT_TIME.as_secs_f64();
        let time = Duration::from_secs_f64(patience.clamp(0.0, longest));
        self.device().sleep(time).await;
        let message =
            format!("Did not receive any expected {name} notifications within {patience}s");
        Err(WdaError::new(ErrorKind::TIMEOUT, message))
    }
}
