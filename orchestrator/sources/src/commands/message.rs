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

/// Defines a message: the type and its description, out of one text.
macro_rules! message {
    ($name:ident, $shown:expr, $about:expr, {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)*
    }) => {
        #[doc = $about]
        #[derive(Debug, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(in crate::commands) struct $name { $($(#[doc = $doc])+ pub(in crate::commands) $field: $type,)* }

        impl $crate::commands::message::IsMessage for $name {
            const MESSAGE: $crate::commands::message::Message = $crate::commands::message::Message {
                name: $shown,
                about: $about,
                fields: &[$($crate::commands::message::Field {
                    name: stringify!($field),
                    about: concat!($($doc),+),
                    shape: <$type as $crate::commands::message::FieldType>::SHAPE,
                    required: <$type as $crate::commands::message::FieldType>::REQUIRED,
                }),*],
            };
        }
    };
}
pub(super) use message;

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

/// A word of a list: what it is on the wire, and what tools have instead.
macro_rules! words {
    ($(#[doc = $about:literal] $list:ident { $($word:ident = $wire:literal, $tools:literal;)* })*) => {$(
        #[doc = $about]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
        pub(super) enum $list {
            $(#[serde(rename = $wire)] $word,)*
        }

        impl $list {
            /// As tools have it.
            pub(super) const fn word(self) -> &'static str {
                match self {
                    $(Self::$word => $tools,)*
                }
            }
        }

        impl FieldType for $list {
            const SHAPE: Shape = Shape::Word(&Words {
                name: stringify!($list),
                about: $about.trim_ascii_start(),
                words: &[$($wire),*],
            });
        }
    )*};
}

words! {
    /// A direction.
    Direction {
        Up = "DIRECTION_UP", "UP";
        Down = "DIRECTION_DOWN", "DOWN";
        Left = "DIRECTION_LEFT", "LEFT";
        Right = "DIRECTION_RIGHT", "RIGHT";
    }

    /// What becomes of an app's data and process.
    LaunchMode {
        Reinstall = "LAUNCH_MODE_REINSTALL", "REINSTALL";
        Resume = "LAUNCH_MODE_RESUME", "RESUME";
        ForceRestart = "LAUNCH_MODE_FORCE_RESTART", "FORCE_RESTART";
    }
}
