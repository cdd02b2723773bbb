//! What a message of the typed commands looks like, in a form that documents are made of. The same
//! definition makes the type that requests are read into.

use serde::{Deserialize, Serialize};

/// A request or a response.
#[derive(Debug)]
pub struct Message {
    /// `TapRequest`.
    pub name: &'static str,
    /// What it is for, with a blank in front of each line.
    pub(super) about: &'static str,
    /// In the order of their numbers, which begin with 1. One is never taken out or moved: clients
    /// know it by its number.
    pub fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// `timeout_ms`; in JSON `timeoutMs`.
    pub name: &'static str,
    pub(super) about: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether a message without it is a mistake.
    pub required: bool,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A text.
    Text,
    /// A whole number from 0 to 2³¹-1.
    Integer,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// Any JSON.
    Json,
    /// A word of a list.
    Word(&'static Words),
}

/// A list of words.
#[derive(Debug)]
pub struct Words {
    /// `Direction`.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The words as they go over the wire, `DIRECTION_UP`. Their numbers begin with 1.
    pub words: &'static [&'static str],
}

/// A type that a field can have.
pub(super) trait FieldType {
    const SHAPE: Shape;
    const REQUIRED: bool = true;
}

impl FieldType for String {
    const SHAPE: Shape = Shape::Text;
}

impl FieldType for bool {
    const SHAPE: Shape = Shape::Flag;
}

impl FieldType for u32 {
    const SHAPE: Shape = Shape::Integer;
}

impl FieldType for f64 {
    const SHAPE: Shape = Shape::Number;
}

impl FieldType for serde_json::Value {
    const SHAPE: Shape = Shape::Json;
}

impl<T: FieldType> FieldType for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const REQUIRED: bool = false;
}

/// A type that is a message.
pub(super) trait IsMessage {
    const MESSAGE: Message;
}

/// Defines messages: the type and its description, out of one text.
macro_rules! messages {
    ($(
        $(#[doc = $about:literal])+
        $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[doc = $about])+
        #[derive(Debug, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct $name { $($(#[doc = $doc])+ pub(super) $field: $type,)* }

        impl $crate::commands::message::IsMessage for $name {
            const MESSAGE: $crate::commands::message::Message = $crate::commands::message::Message {
                name: stringify!($name),
                about: concat!($($about),+),
                fields: &[$($crate::commands::message::Field {
                    name: stringify!($field),
                    about: concat!($($doc),+),
                    shape: <$type as $crate::commands::message::FieldType>::SHAPE,
                    required: <$type as $crate::commands::message::FieldType>::REQUIRED,
                }),*],
            };
        }
    )*};
}
pub(super) use messages;

impl Words {
    /// What every word begins with: `LAUNCH_MODE_`.
    pub fn prefix(&self) -> String {
        let mut prefix = String::new();
        for letter in self.name.chars() {
            if letter.is_uppercase() && !prefix.is_empty() {
                prefix.push('_');
            }
            prefix.extend(letter.to_uppercase());
        }
        prefix + "_"
    }
}

impl Message {
    /// What it is for.
    pub fn about(&self) -> &'static str {
        self.about.trim_start()
    }
}

impl Field {
    /// What it means.
    pub fn about(&self) -> &'static str {
        self.about.trim_start()
    }

    /// Its name in JSON.
    pub fn json_name(&self) -> String {
        let mut words = self.name.split('_');
        let mut name = words.next().unwrap_or_default().to_owned();
        for word in words {
            let (first, rest) = word.split_at(1);
            name.push_str(&first.to_uppercase());
            name.push_str(rest);
        }
        name
    }
}

/// A direction on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub(super) enum Direction {
    #[serde(rename = "DIRECTION_UP")]
    Up,
    #[serde(rename = "DIRECTION_DOWN")]
    Down,
    #[serde(rename = "DIRECTION_LEFT")]
    Left,
    #[serde(rename = "DIRECTION_RIGHT")]
    Right,
}

impl FieldType for Direction {
    const SHAPE: Shape = Shape::Word(&Words {
        name: "Direction",
        about: "A direction.",
        words: &[
            "DIRECTION_UP",
            "DIRECTION_DOWN",
            "DIRECTION_LEFT",
            "DIRECTION_RIGHT",
        ],
    });
}

/// What becomes of an app's data and process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub(super) enum LaunchMode {
    #[serde(rename = "LAUNCH_MODE_REINSTALL")]
    Reinstall,
    #[serde(rename = "LAUNCH_MODE_RESUME")]
    Resume,
    #[serde(rename = "LAUNCH_MODE_FORCE_RESTART")]
    ForceRestart,
}

impl FieldType for LaunchMode {
    const SHAPE: Shape = Shape::Word(&Words {
        name: "LaunchMode",
        about: "What becomes of an app's data and process.",
        words: &[
            "LAUNCH_MODE_REINSTALL",
            "LAUNCH_MODE_RESUME",
            "LAUNCH_MODE_FORCE_RESTART",
        ],
    });
}
