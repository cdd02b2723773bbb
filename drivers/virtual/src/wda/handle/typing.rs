//! Text and keys.

use std::time::Duration;

use serde_json::Value;

use super::{Done, Handler};
use crate::wda::element_type::ElementType;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::request::unrecognized;
use crate::wda::tree::RawValue;
use crate::world::{Key, World};

impl Handler<'_> {
    pub(super) async fn set_value(&mut self) -> Done {
        let (tree, at) = self.element().await?;
        let text = self
            .arguments
            .get("value")
            .or_else(|| self.arguments.get("text"));
        let missing = "Neither 'value' nor 'text' parameter is provided";
        let text = match text.ok_or_else(|| WdaError::invalid_argument(missing))? {
            Value::Array(parts) => joined(parts)?,
            Value::String(text) => text.clone(),
            _ => return Err(unrecognized("length")),
        };
        let inside = tree.subtree(at).filter_map(|inner| tree.get(inner));
        if !inside.into_iter().any(|inner| inner.flags.keyboard_focus) {
            self.tap_element(&tree, at).await;
        }
        self.type_text(&text, ErrorKind::INVALID_ELEMENT_STATE)
            .await
    }

    pub(super) async fn clear(&mut self) -> Done {
        let (tree, at) = self.element().await?;
        let Some(element) = tree.get(at) else {
            return Ok(());
        };
        match &element.value {
            RawValue::None => return Ok(()),
            RawValue::Text(_) => {}
            RawValue::Flag(_) => {
                return Err(WdaError::invalid_state(format!(
                    "The value of '{}' is not a string and thus cannot be edited",
                    element.kind.name()
                )));
            }
        }
        if !element.flags.keyboard_focus {
            self.tap_element(&tree, at).await;
        }
        self.act().await;
        let emptied = element.node.is_some_and(|node| {
            self.world(|world| world.keyboard_shown() && world.set_text(node, ""))
        });
        emptied
            .then_some(())
            .ok_or_else(|| no_keyboard(ErrorKind::INVALID_ELEMENT_STATE))
    }

    pub(super) async fn keys(&mut self) -> Done {
        let text = match self.arguments.get("value") {
            Some(Value::Array(parts)) => joined(parts)?,
            Some(_) => return Err(unrecognized("componentsJoinedByString:")),
            None => String::new(),
        };
        self.type_text(&text, ErrorKind::INVALID_ELEMENT_STATE)
            .await
    }

    pub(super) async fn dismiss_keyboard(&mut self) -> Done {
        let shown = |handler: &Self| handler.world(|world| world.keyboard_shown());
        if !shown(self) {
            return Ok(());
        }
        let names = self
            .arguments
            .get("keyNames")
            .and_then(Value::as_array)
            .cloned();
        let tree = self.tree().await?;
        for (at, element) in tree.iter() {
            let mut above = tree.ancestors(at).filter_map(|above| tree.get(above));
            let named = |name: &Value| *name == element.label.as_str();
            if above.any(|above| above.kind == ElementType::KEYBOARD)
                && names.iter().flatten().any(named)
            {
                self.tap_element(&tree, at).await;
                if !shown(self) {
                    return Ok(());
                }
            }
        }
        self.spend(Duration::from_secs(3)).await;
        if !shown(self) {
            return Ok(());
        }
        Err(WdaError::described(
            ErrorKind::INVALID_ELEMENT_STATE,
            "Did not know how to dismiss the keyboard. Try to dismiss it in the way supported by your application under test.",
        ))
    }

    /// Types into whatever has the focus, at the speed the settings allow.
    pub(super) async fn type_text(&self, text: &str, failure: ErrorKind) -> Done {
        self.act().await;
        let named = self
            .arguments
            .number("frequency")
            .filter(|speed| *speed >= 1.0);
        let allowed = self.state.settings.seconds("maxTypingFrequency");
        let speed = named.unwrap_or(allowed.as_secs_f64()).clamp(1.0, 1_000.0);
        let letters = text.chars().count() as f64;
        self.spend(Duration::from_secs_f64((letters / speed).min(600.0)))
            .await;
        let swallowed = self.device().swallows(|| "text".to_owned()).await;
        let typed = swallowed || self.world(|world| press_keys(world, text));
        typed.then_some(()).ok_or_else(|| no_keyboard(failure))
    }
}

/// Types letter by letter; control characters are keys. False when nobody listens.
fn press_keys(world: &mut World, text: &str) -> bool {
    if !world.keyboard_shown() {
        return false;
    }
    let mut letters = String::new();
    let mut heard = true;
    let flush = |world: &mut World, letters: &mut String| {
        let typed = std::mem::take(letters);
        typed.is_empty() || world.type_text(&typed)
    };
    for letter in text.chars() {
        let key = match letter {
            '\u{8}' => Key::Backspace,
            '\u{7f}' => Key::Delete,
            '\t' => Key::Tab,
            '\r' | '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            // Keys without a letter, as WebDriver numbers them; a phone's keyboard has none.
            '\u{e000}'..='\u{f8ff}' => continue,
            _ => {
                letters.push(letter);
                continue;
            }
        };
        heard &= flush(world, &mut letters);
        world.key(key);
    }
    flush(world, &mut letters) && heard
}

fn joined(parts: &[Value]) -> Result<String, WdaError> {
    let mut text = String::new();
    for part in parts {
        match part {
            Value::String(part) => text.push_str(part),
            Value::Number(number) => text.push_str(&number.to_string()),
            _ => return Err(unrecognized("description")),
        }
    }
    Ok(text)
}

fn no_keyboard(kind: ErrorKind) -> WdaError {
    WdaError::described(kind, "The on-screen keyboard must be present to send keys")
}
