//! Android's key codes and what they do. Source: `android.view.KeyEvent`.

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as ValueError;

use crate::android::recorded;
use crate::world::Key;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// It types this.
    Types(char),
    /// It does this.
    Does(Key),
}

/// The key that `fits` says, by number and name, and what it does.
fn find(fits: impl Fn(&str, &str) -> bool) -> Stroke {
    let other = Stroke::Does(Key::Other);
    let mut rows = recorded::table("keys").map(|line| line.splitn(3, ' ').collect::<Vec<_>>());
    let found = rows.find(|row| matches!(row.as_slice(), [code, name, _] if fits(code, name)));
    let does = found.and_then(|row| row.get(2).copied());
    does.map_or(other, |does| match does {
        "Space" => Stroke::Types(' '),
        name if name.len() > 1 => match Key::deserialize(name.into_deserializer()) {
            Ok(key) => Stroke::Does(key),
            Err(ValueError { .. }) => other,
        },
        text => text.chars().next().map_or(other, Stroke::Types),
    })
}

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
                _ => find(|_, known| known == name),
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
        _ => find(|known, _| known == code.to_string()),
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
