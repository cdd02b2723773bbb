//! What arguments of tools for pages must fulfil besides their types. The tools and the driver say
//! the same when they are called; here it is said without a device.

use packtrain_drivers::WebTarget;
use packtrain_model::suggest::did_you_mean;

use super::{Navigate, Navigation, PressKey, Select, Upload};
use crate::builtin::InvalidArgument;

/// The names of keys that are longer than a sign: `KeyboardEvent.key` and `code` of the keyboard that
/// Playwright types on.
const KEYS: &str = "Alt AltGraph AltLeft AltRight ArrowDown ArrowLeft ArrowRight ArrowUp AudioVolumeDown \
    AudioVolumeMute AudioVolumeUp Backquote Backslash Backspace BracketLeft BracketRight CapsLock Clear \
    Comma ContextMenu Control ControlLeft ControlOrMeta ControlRight Delete Digit0 Digit1 Digit2 Digit3 \
    Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 End Enter Equal Escape F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 \
    F12 Home Insert KeyA KeyB KeyC KeyD KeyE KeyF KeyG KeyH KeyI KeyJ KeyK KeyL KeyM KeyN KeyO KeyP KeyQ \
    KeyR KeyS KeyT KeyU KeyV KeyW KeyX KeyY KeyZ MediaPlayPause MediaTrackNext MediaTrackPrevious Meta \
    MetaLeft MetaRight Minus NumLock Numpad0 Numpad1 Numpad2 Numpad3 Numpad4 Numpad5 Numpad6 Numpad7 \
    Numpad8 Numpad9 NumpadAdd NumpadDecimal NumpadDivide NumpadEnter NumpadMultiply NumpadSubtract \
    PageDown PageUp Pause Period PrintScreen Quote ScrollLock Semicolon Shift ShiftLeft ShiftRight Slash \
    Space Tab";

impl Navigate {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        match self.action {
            Navigation::Goto if self.url.trim().is_empty() => {
                Err(InvalidArgument::new("url", "missing `url`")
                    .hint("add `url`, or `action: BACK` or `action: FORWARD`"))
            }
            Navigation::Goto | Navigation::Back | Navigation::Forward => Ok(()),
        }
    }
}

impl Select {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())?;
        not_empty("values", &self.values)
    }
}

impl Upload {
    pub(super) fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())?;
        listed("files", &self.files)
    }
}

impl PressKey {
    pub(super) fn rule(self) -> Result<(), InvalidArgument> {
        let is_known =
            |key: &str| key.chars().nth(1).is_none() || KEYS.split(' ').any(|known| known == key);
        // `+` is a key too.
        let is_open = |keys: &str| keys != "+" && !keys.ends_with("++") && keys.ends_with('+');
        let key = match self.key.as_str() {
            keys if keys.is_empty() || is_open(keys) => keys,
            keys => match keys.split('+').find(|key| !is_known(key)) {
                Some(key) => key,
                None => return Ok(()),
            },
        };
        let few = "such as Enter, Escape, ArrowDown, PageUp, Control+A".to_owned();
        let meant = did_you_mean(key, KEYS.split(' '));
        Err(InvalidArgument {
            is_unknown_word: true,
            ..InvalidArgument::new("key", format!("unknown key `{key}`"))
        }
        .hint(meant.unwrap_or(few)))
    }
}

fn not_empty(key: &'static str, texts: &[String]) -> Result<(), InvalidArgument> {
    if texts.is_empty() {
        return Err(
            InvalidArgument::new(key, format!("`{key}` is empty")).hint("list at least one")
        );
    }
    Ok(())
}

/// At least one text, and none that is blank.
pub(super) fn listed(key: &'static str, texts: &[String]) -> Result<(), InvalidArgument> {
    not_empty(key, texts)?;
    texts.iter().try_for_each(|text| not_blank(key, text))
}

pub(super) fn regular(key: &'static str, pattern: &str) -> Result<(), InvalidArgument> {
    not_blank(key, pattern)?;
    let Some(why) = why_no_pattern(pattern) else {
        return Ok(());
    };
    Err(InvalidArgument::new(key, format!("`{key}` is {why}"))
        .hint("escape a character with a backslash: `\\(`"))
}

/// Why a text is not a regular expression; `None` when it is one.
pub fn why_no_pattern(pattern: &str) -> Option<String> {
    let wrong = match regex::Regex::new(pattern) {
        Ok(_) => return None,
        Err(regex::Error::Syntax(words)) => words,
        Err(error) => error.to_string(),
    };
    // The last line says what is wrong; those above draw the pattern.
    let why = wrong.lines().last().unwrap_or_default();
    let why = why.trim_start_matches("error: ");
    Some(format!("not a regular expression: {why}"))
}

/// What is blank is part of everything, so that expecting it would verify nothing.
pub(super) fn not_blank(key: &'static str, text: &str) -> Result<(), InvalidArgument> {
    if text.trim().is_empty() {
        return Err(
            InvalidArgument::new(key, format!("`{key}` is blank")).hint("say what is expected")
        );
    }
    Ok(())
}

pub(super) fn named(target: &WebTarget) -> Result<(), InvalidArgument> {
    if target.is_empty() {
        Err(InvalidArgument::new("", "missing `nodeSelector` or `ref`")
            .hint("add `nodeSelector` or `ref`, such as `ref: 'button \"Save\"'`"))
    } else {
        Ok(())
    }
}
