//! The phone itself: buttons, lock, pasteboard, battery, location, and WebDriverAgent's own pages.

use std::time::Duration;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use serde_json::{Value, json};

use super::Handler;
use crate::app::{AppId, Permission};
use crate::wda::error::{ErrorKind, WdaError};
use crate::world::{Display, Key, Theme};

/// The page behind `/health`.
pub(super) const HEALTH: &str =
    "<!DOCTYPE html><html><title>Health Check</title><body><p>I-AM-ALIVE</p></body></html>";

/// The page behind `/calibrate`: a browser on the phone puts the place of each tap into its title.
pub(super) const CALIBRATION: &str = "<html>\
    <title>{\"x\":null,\"y\":null}</title>\
    <header>\
    <script>document.addEventListener(\"click\",function(e){document.title=JSON.stringify({x:e.clientX,y:e.clientY})})</script>\
    </header>\
    </html>";

/// Base64 as Foundation reads it: with or without signs at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Handler<'_> {
    /// Ends WebDriverAgent, as soon as the answer is out.
    pub(super) fn shutdown(&mut self) -> &'static str {
        self.inner.stop_after_answer();
        "Shutting down"
    }

    pub(super) async fn press_button(&mut self) -> Result<Value, WdaError> {
        let name = self.arguments.text("name").unwrap_or("(null)");
        let home = match name.to_lowercase().as_str() {
            "home" => true,
            // Nothing here can be heard.
            "volumeup" | "volumedown" => false,
            _ => {
                return Err(unknown(&format!(
                    "The button '{name}' is not supported. The device under test only supports the following buttons: (home, volumedown, volumeup)"
                )));
            }
        };
        self.act().await;
        if home {
            self.world(|world, now| world.home(now));
        }
        Ok(Value::Null)
    }

    /// Keys by their numbers on USB: page and usage.
    pub(super) fn io_hid_event(&mut self) -> Result<Value, WdaError> {
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
        self.world(|world, now| world.key(key, now));
        Ok(Value::Null)
    }

    pub(super) async fn lock(&mut self) -> Value {
        self.act().await;
        self.world(|world, now| world.set_display(Display::Off, now));
        Value::Null
    }

    pub(super) async fn unlock(&mut self) -> Value {
        self.act().await;
        self.world(|world, now| world.set_display(Display::On, now));
        Value::Null
    }

    pub(super) fn locked(&self) -> Value {
        self.world(|world, _| world.display() == Display::Off)
            .into()
    }

    pub(super) fn battery_info(&self) -> Value {
        // (`UIDeviceBatteryState`): charging, or full.
        let percent = self.device().battery();
        json!({
            "level": f64::from(percent) / 100.0,
            "state": if percent == 100 { 3 } else { 2 },
        })
    }

    pub(super) fn device_info(&self) -> Value {
        let theme = self.world(|world, _| world.theme());
        json!({
            "currentLocale": "en_US",
            "timeZone": "GMT",
            // Since iOS 16 an app is told no more than this.
            "name": "iPhone",
            "model": "iPhone",
            "uuid": super::sessions::uuid(u64::from(self.inner.ordinal), 0x5061_636b),
            "userInterfaceIdiom": 0,
            "userInterfaceStyle": match theme {
                Theme::Light => "light",
                Theme::Dark => "dark",
            },
            "isSimulator": false,
            "thermalState": 0,
        })
    }

    pub(super) fn appearance(&mut self) -> Result<Value, WdaError> {
        let name = self
            .arguments
            .text("name")
            .unwrap_or_default()
            .to_lowercase();
        let theme = match name.as_str() {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => {
                return Err(WdaError::invalid_argument(
                    "The appearance name must be either 'light' or 'dark'",
                ));
            }
        };
        self.world(|world, now| world.set_theme(theme, now));
        Ok(Value::Null)
    }

    pub(super) fn set_pasteboard(&mut self) -> Result<Value, WdaError> {
        let content = self.arguments.text("content").unwrap_or_default();
        let signs: String = content
            .chars()
            .filter(|sign| sign.is_ascii_alphanumeric() || "+/=".contains(*sign))
            .collect();
        let content = LENIENT.decode(signs).map_err(|_| {
            WdaError::invalid_argument("Cannot decode the pasteboard content from base64")
        })?;
        match self.content_type().as_str() {
            "plaintext" | "url" => {
                let text = String::from_utf8_lossy(&content).into_owned();
                self.world(|world, _| world.set_clipboard(&text));
                self.state.pasteboard_image = None;
            }
            "image" => {
                let magic: [&[u8]; 3] = [b"\x89PNG", b"\xff\xd8\xff", b"GIF8"];
                if !magic.iter().any(|magic| content.starts_with(magic)) {
                    return Err(unknown(
                        "No image can be parsed from the given pasteboard data",
                    ));
                }
                self.state.pasteboard_image = Some(content);
            }
            other => return Err(unsupported_content(other)),
        }
        Ok(Value::Null)
    }

    pub(super) fn get_pasteboard(&mut self) -> Result<Value, WdaError> {
        let content = match self.content_type().as_str() {
            "plaintext" | "url" => self.world(|world, _| world.clipboard().as_bytes().to_vec()),
            "image" => self.state.pasteboard_image.clone().unwrap_or_default(),
            other => return Err(unsupported_content(other)),
        };
        Ok(general_purpose::STANDARD.encode(content).into())
    }

    fn content_type(&self) -> String {
        self.arguments
            .text("contentType")
            .unwrap_or("plaintext")
            .to_lowercase()
    }

    pub(super) fn get_simulated_location(&self) -> Value {
        let (latitude, longitude) = self.state.location.unzip();
        json!({
            "latitude": latitude,
            "longitude": longitude,
            "altitude": latitude.map(|_| 0.0),
        })
    }

    pub(super) fn set_simulated_location(&mut self) -> Result<Value, WdaError> {
        let number = |name| self.arguments.number(name);
        let (Some(latitude), Some(longitude)) = (number("latitude"), number("longitude")) else {
            return Err(WdaError::invalid_argument(
                "Both latitude and longitude must be provided",
            ));
        };
        self.state.location = Some((latitude, longitude));
        Ok(Value::Null)
    }

    pub(super) fn clear_simulated_location(&mut self) -> Value {
        self.state.location = None;
        Value::Null
    }

    pub(super) fn reset_app_auth(&mut self) -> Result<Value, WdaError> {
        let Some(resource) = self.arguments.number("resource") else {
            return Err(WdaError::invalid_argument(
                "The 'resource' argument must be set to a valid resource identifier (numeric value). See https://developer.apple.com/documentation/xctest/xcuiprotectedresource?language=objc",
            ));
        };
        let app = AppId::from(self.active_app()?.bundle_id.as_str());
        // (`XCUIProtectedResource`)
        let permission = match resource as i64 {
            1 => Permission::Contacts,
            4 => Permission::Photos,
            5 => Permission::Microphone,
            6 => Permission::Camera,
            0x4000_0002 => Permission::Location,
            _ => return Ok(Value::Null),
        };
        self.world(|world, _| world.set_permission(&app, permission, false));
        Ok(Value::Null)
    }

    /// No virtual phone ever posts the notification that is waited for.
    pub(super) async fn expect_notification(&mut self) -> Result<Value, WdaError> {
        let Some(name) = self.arguments.text("name") else {
            return Err(WdaError::invalid_argument(
                "Notification name argument must be provided",
            ));
        };
        let kind = self.arguments.text("type").unwrap_or("plain");
        if !["plain", "darwin"].contains(&kind) {
            return Err(WdaError::invalid_argument(format!(
                "Notification type could only be 'plain' or 'darwin'. Got '{kind}' instead"
            )));
        }
        let patience = self.arguments.number("timeout").unwrap_or(60.0);
        let message =
            format!("Did not receive any expected {name} notifications within {patience}s");
        let patience = Duration::from_secs_f64(patience.clamp(0.0, 600.0));
        self.device().sleep(patience).await;
        Err(WdaError::new(ErrorKind::Timeout, message))
    }

    pub(super) fn voice_over_move(&self) -> Result<Value, WdaError> {
        let Some(direction) = self.arguments.get("direction") else {
            return Err(WdaError::invalid_argument(
                "The 'direction' argument must be provided",
            ));
        };
        let direction = direction.as_str().unwrap_or_default();
        if direction.is_empty() {
            return Err(unknown(
                "VoiceOver move direction must be a non-empty string",
            ));
        }
        let known = ["backward", "forward", "in", "out"];
        if !known.contains(&direction.to_lowercase().as_str()) {
            return Err(WdaError::described(
                ErrorKind::InvalidArgument,
                &format!(
                    "Unsupported VoiceOver move direction '{direction}'. Supported directions: ({})",
                    known.join(", ")
                ),
            ));
        }
        Err(no_voice_over())
    }

    pub(super) fn accessibility_audit(&mut self) -> Result<Value, WdaError> {
        Err(unknown(
            "Accessibility audit is only supported since iOS 17/Xcode 15",
        ))
    }
}

fn unsupported_content(kind: &str) -> WdaError {
    unknown(&format!("Unsupported content type: {kind}"))
}

/// What needs a later system than the one here.
pub(super) fn no_recording() -> WdaError {
    unknown(
        "The current OS runtime does not support screen recording. This API requires an iOS 17+ runtime",
    )
}

pub(super) fn no_voice_over() -> WdaError {
    unknown(
        "The current OS runtime does not support VoiceOver control. This API requires an iOS 27+ runtime",
    )
}

fn unknown(text: &str) -> WdaError {
    WdaError::described(ErrorKind::UnknownError, text)
}

pub(super) fn no_siri() -> WdaError {
    unknown("Siri service is not available on the device under test")
}

/// WebDriverAgent itself is never allowed to know where the phone is.
pub(super) fn location() -> Value {
    json!({
        "authorizationStatus": 0,
        "latitude": 0,
        "longitude": 0,
        "altitude": 0,
    })
}
