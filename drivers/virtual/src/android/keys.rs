//! Android's key codes and what they do. Source: `android.view.KeyEvent`.

use crate::world::Key;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// It types this.
    Types(char),
    /// It does this.
    Does(Key),
    /// It changes what another key does while it is held.
    Control,
    /// As [`Stroke::Control`].
    Shift,
}

/// Number and name of a key, and what it does.
const KEYS: &[(u32, &str, Stroke)] = &[
    (3, "HOME", Stroke::Does(Key::Home)),
    (4, "BACK", Stroke::Does(Key::Back)),
    (17, "STAR", Stroke::Types('*')),
    (18, "POUND", Stroke::Types('#')),
    (19, "DPAD_UP", Stroke::Does(Key::Other)),
    (20, "DPAD_DOWN", Stroke::Does(Key::Other)),
    (21, "DPAD_LEFT", Stroke::Does(Key::Other)),
    (22, "DPAD_RIGHT", Stroke::Does(Key::Other)),
    (23, "DPAD_CENTER", Stroke::Does(Key::Enter)),
    (24, "VOLUME_UP", Stroke::Does(Key::Other)),
    (25, "VOLUME_DOWN", Stroke::Does(Key::Other)),
    (26, "POWER", Stroke::Does(Key::Power)),
    (27, "CAMERA", Stroke::Does(Key::Other)),
    (55, "COMMA", Stroke::Types(',')),
    (56, "PERIOD", Stroke::Types('.')),
    (59, "SHIFT_LEFT", Stroke::Shift),
    (60, "SHIFT_RIGHT", Stroke::Shift),
    (61, "TAB", Stroke::Does(Key::Tab)),
    (62, "SPACE", Stroke::Types(' ')),
    (66, "ENTER", Stroke::Does(Key::Enter)),
    (67, "DEL", Stroke::Does(Key::Backspace)),
    (68, "GRAVE", Stroke::Types('`')),
    (69, "MINUS", Stroke::Types('-')),
    (70, "EQUALS", Stroke::Types('=')),
    (71, "LEFT_BRACKET", Stroke::Types('[')),
    (72, "RIGHT_BRACKET", Stroke::Types(']')),
    (73, "BACKSLASH", Stroke::Types('\\')),
    (74, "SEMICOLON", Stroke::Types(';')),
    (75, "APOSTROPHE", Stroke::Types('\'')),
    (76, "SLASH", Stroke::Types('/')),
    (77, "AT", Stroke::Types('@')),
    (81, "PLUS", Stroke::Types('+')),
    (82, "MENU", Stroke::Does(Key::Other)),
    (84, "SEARCH", Stroke::Does(Key::Enter)),
    (92, "PAGE_UP", Stroke::Does(Key::Other)),
    (93, "PAGE_DOWN", Stroke::Does(Key::Other)),
    (111, "ESCAPE", Stroke::Does(Key::Escape)),
    (112, "FORWARD_DEL", Stroke::Does(Key::Delete)),
    (113, "CTRL_LEFT", Stroke::Control),
    (114, "CTRL_RIGHT", Stroke::Control),
    (122, "MOVE_HOME", Stroke::Does(Key::Other)),
    (123, "MOVE_END", Stroke::Does(Key::Other)),
    (160, "NUMPAD_ENTER", Stroke::Does(Key::Enter)),
    (164, "VOLUME_MUTE", Stroke::Does(Key::Other)),
    (187, "APP_SWITCH", Stroke::Does(Key::Other)),
    (223, "SLEEP", Stroke::Does(Key::Sleep)),
    (224, "WAKEUP", Stroke::Does(Key::Wake)),
    (277, "CUT", Stroke::Does(Key::Cut)),
    (278, "COPY", Stroke::Does(Key::Copy)),
    (279, "PASTE", Stroke::Does(Key::Paste)),
];

/// The key of that number or name, with or without `KEYCODE_` in front.
pub fn stroke_of(text: &str) -> Stroke {
    match text.parse::<u32>() {
        Ok(code) => stroke_of_code(code),
        Err(_) => {
            let upper = text.to_uppercase();
            let name = upper.strip_prefix("KEYCODE_").unwrap_or(&upper);
            let mut letters = name.chars();
            match (letters.next(), letters.next()) {
                (Some(c), None) if c.is_ascii_alphanumeric() => {
                    Stroke::Types(c.to_ascii_lowercase())
                }
                _ => (KEYS.iter())
                    .find(|(_, known, _)| *known == name)
                    .map_or(Stroke::Does(Key::Other), |(_, _, stroke)| *stroke),
            }
        }
    }
}

/// The key of that number.
pub fn stroke_of_code(code: u32) -> Stroke {
    let typed = |first: char, offset: u32| {
        char::from_u32(first as u32 + offset).map_or(Stroke::Does(Key::Other), Stroke::Types)
    };
    match code {
        7..=16 => typed('0', code - 7),
        29..=54 => typed('a', code - 29),
        _ => (KEYS.iter())
            .find(|(known, ..)| *known == code)
            .map_or(Stroke::Does(Key::Other), |(_, _, stroke)| *stroke),
    }
}

/// What a key does while Control is held.
pub const fn with_control(stroke: Stroke) -> Stroke {
    match stroke {
        Stroke::Types('a') => Stroke::Does(Key::SelectAll),
        Stroke::Types('c') => Stroke::Does(Key::Copy),
        Stroke::Types('v') => Stroke::Does(Key::Paste),
        Stroke::Types('x') => Stroke::Does(Key::Cut),
        other => other,
    }
}

impl crate::android::Android {
    /// Presses a key.
    pub(super) async fn strike_key(&self, stroke: Stroke) {
        match stroke {
            Stroke::Types(c) => {
                self.device().type_text(&c.to_string()).await;
            }
            Stroke::Does(key) => self.device().press(key).await,
            Stroke::Control | Stroke::Shift => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_number_and_by_name() {
        for text in ["66", "ENTER", "KEYCODE_ENTER", "keycode_enter"] {
            assert_eq!(stroke_of(text), Stroke::Does(Key::Enter), "{text}");
        }
        assert_eq!(stroke_of("29"), Stroke::Types('a'));
        assert_eq!(stroke_of("KEYCODE_Z"), Stroke::Types('z'));
        assert_eq!(stroke_of("KEYCODE_7"), Stroke::Types('7'));
        assert_eq!(stroke_of("14"), Stroke::Types('7'));
        assert_eq!(stroke_of("NO_SUCH_KEY"), Stroke::Does(Key::Other));
    }
}
