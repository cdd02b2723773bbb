//! Maestro's commands as its flows write them: a bare word, or a mapping with one key.

use std::fmt;

use packtrain_drivers::Key;
use packtrain_model::suggest::did_you_mean;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::element::{Element, Short, Shortened};
use crate::builtin::{Way, caseless};

/// One command.
pub(super) enum MaestroCommand {
    TapOn(Element),
    LongPressOn(Element),
    AssertVisible(Element),
    AssertNotVisible(Element),
    ExtendedWaitUntil(Wait),
    CopyTextFrom(Element),
    InputText(String),
    EraseText(Option<u32>),
    PasteText,
    SetClipboard(String),
    PressKey(Key),
    Back,
    HideKeyboard,
    LaunchApp(Launch),
    StopApp(Option<String>),
    ClearState(Option<String>),
    OpenLink(String),
    Scroll,
    ScrollUntilVisible(Scroll),
    Swipe(Box<Swipe>),
    WaitForAnimationToEnd(Option<u64>),
    SetAirplaneMode(AirplaneMode),
    SetOrientation(Orientation),
}

/// The commands there are, in Maestro's spelling.
const NAMES: [&str; 24] = [
    "tapOn",
    "longPressOn",
    "assertVisible",
    "assertNotVisible",
    "extendedWaitUntil",
    "copyTextFrom",
    "inputText",
    "eraseText",
    "pasteText",
    "setClipboard",
    "pressKey",
    "back",
    "hideKeyboard",
    "launchApp",
    "stopApp",
    "killApp",
    "clearState",
    "openLink",
    "scroll",
    "scrollUntilVisible",
    "swipe",
    "waitForAnimationToEnd",
    "setAirplaneMode",
    "setOrientation",
];

/// A command and its name as flows write it.
pub(super) struct Named(pub(super) &'static str, pub(super) MaestroCommand);

impl Named {
    fn new(name: &str, command: MaestroCommand) -> Self {
        let known = NAMES.into_iter().find(|known| *known == name);
        // It has two names.
        let name = known.filter(|name| *name != "killApp").unwrap_or("stopApp");
        Self(name, command)
    }
}

impl MaestroCommand {
    /// A command that is written as a bare word.
    fn bare<E: Error>(name: &str) -> Result<Self, E> {
        Ok(match name {
            "back" => Self::Back,
            "hideKeyboard" => Self::HideKeyboard,
            "pasteText" => Self::PasteText,
            "scroll" => Self::Scroll,
            "eraseText" => Self::EraseText(None),
            "launchApp" => Self::LaunchApp(Launch::default()),
            "stopApp" | "killApp" => Self::StopApp(None),
            "clearState" => Self::ClearState(None),
            "waitForAnimationToEnd" => Self::WaitForAnimationToEnd(None),
            known if NAMES.contains(&known) => {
                return Err(E::custom(format!("missing value of `{known}`")));
            }
            unknown => return Err(unknown_command(unknown)),
        })
    }

    fn with<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<Self, A::Error> {
        fn short<'de, A: MapAccess<'de>, T: Short>(map: &mut A) -> Result<T, A::Error> {
            map.next_value::<Shortened<T>>().map(|value| value.0)
        }
        Ok(match name {
            "tapOn" => Self::TapOn(short(map)?),
            "longPressOn" => Self::LongPressOn(short(map)?),
            "assertVisible" => Self::AssertVisible(short(map)?),
            "assertNotVisible" => Self::AssertNotVisible(short(map)?),
            "extendedWaitUntil" => Self::ExtendedWaitUntil(map.next_value()?),
            "copyTextFrom" => Self::CopyTextFrom(short(map)?),
            "inputText" => Self::InputText(short::<A, Text>(map)?.text),
            "eraseText" => Self::EraseText(
                map.next_value::<Option<Shortened<Erase>>>()?
                    .and_then(|erase| erase.0.characters_to_erase),
            ),
            "pasteText" => nothing(map, Self::PasteText)?,
            "setClipboard" => Self::SetClipboard(short::<A, Text>(map)?.text),
            "pressKey" => Self::PressKey(key(&short::<A, PressKey>(map)?.key)?),
            "back" => nothing(map, Self::Back)?,
            "hideKeyboard" => nothing(map, Self::HideKeyboard)?,
            "launchApp" => Self::LaunchApp(short(map)?),
            "stopApp" | "killApp" => Self::StopApp(short::<A, App>(map)?.app_id),
            "clearState" => Self::ClearState(short::<A, App>(map)?.app_id),
            "openLink" => Self::OpenLink(short::<A, Link>(map)?.link),
            "scroll" => nothing(map, Self::Scroll)?,
            "scrollUntilVisible" => Self::ScrollUntilVisible(map.next_value()?),
            "swipe" => Self::Swipe(map.next_value()?),
            "waitForAnimationToEnd" => Self::WaitForAnimationToEnd(
                map.next_value::<Option<Animation>>()?
                    .and_then(|wait| wait.timeout),
            ),
            "setAirplaneMode" => Self::SetAirplaneMode(map.next_value::<AirplaneModeWord>()?.0),
            "setOrientation" => Self::SetOrientation(map.next_value::<OrientationWord>()?.0),
            unknown => return Err(unknown_command(unknown)),
        })
    }
}

/// The value of a command that takes none, `{}` or nothing at all.
fn nothing<'de, A: MapAccess<'de>>(
    map: &mut A,
    command: MaestroCommand,
) -> Result<MaestroCommand, A::Error> {
    map.next_value::<Option<Nothing>>()?;
    Ok(command)
}

/// A key by Maestro's name for it: `volume up` and `Volume_Up` are `VolumeUp`.
fn key<E: Error>(name: &str) -> Result<Key, E> {
    let name = name.trim().to_lowercase();
    let words = name
        .split([' ', '_'])
        .map(|word| match word.split_at_checked(1) {
            Some((first, rest)) => first.to_uppercase() + rest,
            None => word.to_owned(),
        });
    Key::deserialize(words.collect::<String>().into_deserializer())
}

fn unknown_command<E: Error>(name: &str) -> E {
    let meant = did_you_mean(name, NAMES).map(|meant| format!("; {meant}"));
    E::custom(format!(
        "Maestro's `{name}` is not supported here{}",
        meant.unwrap_or_default()
    ))
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CommandVisitor)
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Maestro command")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Named, E> {
        MaestroCommand::bare(name).map(|command| Named::new(name, command))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Err(A::Error::custom("invalid Maestro command: empty mapping"));
        };
        let command = MaestroCommand::with(&name, &mut map)?;
        match map.next_key::<String>()? {
            None => Ok(Named::new(&name, command)),
            Some(second) => Err(A::Error::custom(format!(
                "`{name}` and `{second}` are two commands; make each an item"
            ))),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What `extendedWaitUntil` waits for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`label` is for readers")]
pub(super) struct Wait {
    pub(super) visible: Option<Shortened<Element>>,
    pub(super) not_visible: Option<Shortened<Element>>,
    /// Milliseconds.
    pub(super) timeout: Option<u64>,
    pub(super) optional: Option<bool>,
    label: Option<String>,
}

/// How `launchApp` launches.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Launch {
    pub(super) app_id: Option<String>,
    pub(super) clear_state: Option<bool>,
    pub(super) stop_app: Option<bool>,
    /// For readers.
    label: Option<String>,
}

impl Short for Launch {
    fn short(text: String) -> Self {
        Self {
            app_id: Some(text),
            ..Self::default()
        }
    }

    const EXPECTED: &'static str = "an app's id, or a mapping";
}

/// What `scrollUntilVisible` looks for, and how.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the speed is that of all swipes, `label` is for readers"
)]
pub(super) struct Scroll {
    pub(super) element: Shortened<Element>,
    #[serde(default, deserialize_with = "caseless")]
    pub(super) direction: Way,
    /// Milliseconds.
    pub(super) timeout: Option<u64>,
    speed: Option<u32>,
    pub(super) visibility_percentage: Option<u32>,
    #[serde(default)]
    pub(super) center_element: bool,
    wait_to_settle_timeout_ms: Option<u64>,
    pub(super) optional: Option<bool>,
    label: Option<String>,
}

/// Where `swipe` goes: in a direction, or between two places.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`label` is for readers")]
pub(super) struct Swipe {
    #[serde(default, deserialize_with = "some_way")]
    pub(super) direction: Option<Way>,
    pub(super) from: Option<Shortened<Element>>,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    /// Milliseconds.
    pub(super) duration: Option<u64>,
    wait_to_settle_timeout_ms: Option<u64>,
    label: Option<String>,
}

fn some_way<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Way>, D::Error> {
    caseless(deserializer).map(Some)
}

/// Whether there shall be a network.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum AirplaneMode {
    Enabled,
    Disabled,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct AirplaneModeWord(#[serde(deserialize_with = "caseless")] AirplaneMode);

/// How the phone is held.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Orientation {
    Portrait,
    #[serde(alias = "LANDSCAPE", alias = "LANDSCAPE_RIGHT")]
    LandscapeLeft,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct OrientationWord(#[serde(deserialize_with = "caseless")] Orientation);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Animation {
    /// Milliseconds.
    timeout: Option<u64>,
}

/// Mappings with one key that matters, which can be written as that alone.
macro_rules! short {
    ($($name:ident { $field:ident: $type:ty } $from:expr, $expected:literal;)*) => {
        $(
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            #[expect(dead_code, reason = "`label` is for readers")]
            struct $name {
                $field: $type,
                label: Option<String>,
            }

            impl Short for $name {
                fn short(text: String) -> Self {
                    let from: fn(String) -> $type = $from;
                    Self { $field: from(text), label: None }
                }

                const EXPECTED: &'static str = $expected;
            }
        )*
    };
}

short! {
    Text { text: String } |text| text, "a text";
    PressKey { key: String } |key| key, "a key";
    App { app_id: Option<String> } Some, "an app's id";
    Link { link: String } |link| link, "an address";
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Erase {
    characters_to_erase: Option<u32>,
}

impl Short for Erase {
    fn short(text: String) -> Self {
        Self {
            characters_to_erase: text.trim().parse().ok(),
        }
    }

    const EXPECTED: &'static str = "a number of characters";
}
