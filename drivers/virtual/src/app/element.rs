//! What can stand on a screen.

use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};

use crate::app::condition::Condition;
use crate::app::loose::{Loose, Nothing};
use crate::app::rule::Rules;
use crate::app::template::PlatformText;
use crate::app::value::Record;
use crate::document::At;

/// What an element is; decides its Android class and its XCUIElementType.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Text that is only read.
    #[default]
    Text,
    /// A heading.
    Header,
    /// Something to tap.
    Button,
    /// A text that leads somewhere.
    Link,
    /// A picture; `desc` says what it shows.
    Image,
    /// A field for text.
    Input,
    /// A field for a password.
    Secure,
    /// A field for a search.
    Search,
    /// On or off.
    Switch,
    /// Ticked or not.
    Checkbox,
    /// Something that turns while one waits.
    Progress,
    /// A box around others.
    Group,
    /// A box whose content scrolls.
    Scroll,
    /// Rows that scroll.
    List,
    /// One row of a list.
    Cell,
    /// A page of the web.
    Webview,
}

impl Role {
    /// Whether text can be typed into it.
    pub const fn is_input(self) -> bool {
        matches!(self, Self::Input | Self::Secure | Self::Search)
    }

    /// Whether it is on or off.
    pub const fn is_toggle(self) -> bool {
        matches!(self, Self::Switch | Self::Checkbox)
    }

    /// Whether its content may be longer than itself.
    pub const fn scrolls(self) -> bool {
        matches!(self, Self::List | Self::Scroll)
    }

    /// How high it is in dp when the file does not say.
    pub const fn default_height(self) -> f64 {
        match self {
            Self::Text | Self::Link => 24.0,
            Self::Header => 36.0,
            Self::Input | Self::Secure | Self::Search => 56.0,
            Self::Cell => 72.0,
            Self::Image => 120.0,
            Self::Button | Self::Switch | Self::Checkbox | Self::Progress => 48.0,
            Self::Group | Self::Scroll | Self::List | Self::Webview => 0.0,
        }
    }
}

/// One element of a screen. Elements without a `frame` stand below each other.
#[derive(Debug, Clone, PartialEq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Element {
    /// Android resource id and accessibility identifier.
    pub id: Option<String>,
    /// What it is.
    pub role: Role,
    /// What it says.
    pub text: Option<PlatformText>,
    /// What a screen reader says: content description and accessibility label.
    pub desc: Option<PlatformText>,
    /// What stands in the empty field.
    pub hint: Option<PlatformText>,
    /// The variable a field or switch reads and writes.
    pub bind: Option<At<String>>,
    /// The variable with a number that two fingers on it multiply, by how far they move apart.
    pub zoom: Option<At<String>>,
    /// `[x, y, width, height]` in dp, from the top left of what it stands in. A width or height
    /// of 0 or less ends that far before the far edge; a negative y counts from the bottom.
    pub frame: Option<Frame>,
    /// Its height in dp where it stands below others.
    pub height: Option<f64>,
    /// Shown only when this holds.
    pub visible_if: Option<At<Condition>>,
    /// Can be used only when this holds.
    pub enabled_if: Option<At<Condition>>,
    /// Marked as selected when this holds.
    pub selected_if: Option<At<Condition>>,
    /// After a tap.
    pub tap: Rules,
    /// After a long press.
    pub long_press: Rules,
    /// After its value changed.
    pub change: Rules,
    /// After Enter in a field.
    pub submit: Rules,
    /// What stands in it.
    pub elements: Vec<Arc<Element>>,
    /// The records a list shows.
    pub items: Option<Items>,
    /// How many rows a list has; records are used again from the first.
    pub repeat: Option<usize>,
    /// Which rows are shown.
    pub filter: Option<At<Condition>>,
    /// How each row of a list looks; `${item.name}` is a field of its record.
    pub item: Option<Arc<Element>>,
}

/// The records of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// Those of a list in the state.
    Of(At<String>),
    /// These.
    These(Vec<Arc<Record>>),
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = At::<Loose<Nothing, Vec<Arc<Record>>>>::deserialize(deserializer)?;
        Ok(match read.value {
            Loose::Text(value) => Self::Of(At {
                value,
                place: read.place,
            }),
            Loose::Seq(records) => Self::These(records),
            Loose::Map(nothing) => match nothing {},
        })
    }
}

/// Where an element stands and how large it is, as written: see [`Element::frame`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(from = "[f64; 4]")]
pub struct Frame {
    /// From the left.
    pub x: f64,
    /// From the top; negative from the bottom.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl From<[f64; 4]> for Frame {
    fn from([x, y, w, h]: [f64; 4]) -> Self {
        Self { x, y, w, h }
    }
}
