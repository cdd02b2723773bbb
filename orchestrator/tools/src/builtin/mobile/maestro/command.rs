//! Maestro's commands as its flows write them: a bare word, or a mapping with one key.

use std::fmt;

use packtrain_drivers::Key;
use packtrain_model::suggest::did_you_mean;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::element::{Element, Short, Shortened};
use crate::builtin::{Way, caseless};

/// One command, by its name.
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) command: MaestroCommand,
    /// Go on when it fails.
    pub(super) is_optional: bool,
}

/// Defines the commands: in Maestro's spelling, what each takes, what says that it is optional, and what
/// the bare word stands for.
macro_rules! commands {
    ($(
        $name:literal => $command:ident($given:ident: $takes:ty)
            $(, optional $optional:expr)? $(, bare $bare:expr)?;
    )*) => {
        /// One command.
        pub(super) enum MaestroCommand { $($command($takes)),* }

        /// The names there are.
        const NAMES: &[&str] = &["killApp", $($name),*];

        impl Named {
            /// A command that is written as a bare word.
            fn bare<E: Error>(name: &str) -> Result<Self, E> {
                let (name, command) = match known_as(name) {
                    $($($name => ($name, MaestroCommand::$command($bare)),)?)*
                    known if NAMES.contains(&known) => {
                        return Err(E::custom(format!("missing value of `{known}`")));
                    }
                    unknown => return Err(unknown_command(unknown)),
                };
                Ok(Self { name, command, is_optional: false })
            }

            fn with<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<Self, A::Error> {
                let (name, optional, command) = match known_as(name) {
                    $($name => {
                        let $given: $takes = map.next_value()?;
                        let optional: Option<bool> = None$(.or($optional))?;
                        ($name, optional, MaestroCommand::$command($given))
                    })*
                    unknown => return Err(unknown_command(unknown)),
                };
                let is_optional = optional.unwrap_or(false);
                Ok(Self { name, command, is_optional })
            }
        }
    };
}

commands! {
    "tapOn" => TapOn(element: Shortened<Element>), optional element.0.optional;
    "longPressOn" => LongPressOn(element: Shortened<Element>), optional element.0.optional;
    "assertVisible" => AssertVisible(element: Shortened<Element>), optional element.0.optional;
    "assertNotVisible" => AssertNotVisible(element: Shortened<Element>), optional element.0.optional;
    "extendedWaitUntil" => ExtendedWaitUntil(wait: Wait), optional wait.optional;
    "copyTextFrom" => CopyTextFrom(element: Shortened<Element>), optional element.0.optional;
    "inputText" => InputText(text: Shortened<Text>);
    "eraseText" => EraseText(erase: Option<Shortened<Erase>>), bare None;
    "pasteText" => PasteText(nothing: Option<Nothing>), bare None;
    "setClipboard" => SetClipboard(text: Shortened<Text>);
    "pressKey" => PressKey(key: PressedKey);
    "back" => Back(nothing: Option<Nothing>), bare None;
    "hideKeyboard" => HideKeyboard(nothing: Option<Nothing>), bare None;
    "launchApp" => LaunchApp(options: Shortened<Launch>), bare Shortened::default();
    "stopApp" => StopApp(app: Shortened<App>), bare Shortened::default();
    "clearState" => ClearState(app: Shortened<App>), bare Shortened::default();
    "openLink" => OpenLink(link: Shortened<Link>);
    "scroll" => Scroll(nothing: Option<Nothing>), bare None;
    "scrollUntilVisible" => ScrollUntilVisible(scroll: Scroll),
        optional scroll.optional.or(scroll.element.0.optional);
    "swipe" => Swipe(way: Box<Swipe>);
    "waitForAnimationToEnd" => WaitForAnimationToEnd(wait: Option<Animation>), bare None;
    "setAirplaneMode" => SetAirplaneMode(mode: AirplaneModeWord);
    "setOrientation" => SetOrientation(orientation: OrientationWord);
}

/// One command has two names.
fn known_as(name: &str) -> &str {
    match name {
        "killApp" => "stopApp",
        name => name,
    }
}

/// A key by Maestro's name for it: `volume up` and `Volume_Up` are `VolumeUp`.
pub(super) struct PressedKey(pub(super) Key);

impl<'de> Deserialize<'de> for PressedKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pressed: Shortened<PressKey> = Shortened::deserialize(deserializer)?;
        let name = pressed.0.key.trim().to_lowercase();
        let words = name
            .split([' ', '_'])
            .map(|word| match word.split_at_checked(1) {
                Some((first, rest)) => first.to_uppercase() + rest,
                None => word.to_owned(),
            });
        Key::deserialize(words.collect::<String>().into_deserializer()).map(Self)
    }
}

fn unknown_command<E: Error>(name: &str) -> E {
    let meant = did_you_mean(name, NAMES.iter().copied()).map(|meant| format!("; {meant}"));
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
        Named::bare(name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Err(A::Error::custom("invalid Maestro command: empty mapping"));
        };
        let command = Named::with(&name, &mut map)?;
        match map.next_key::<String>()? {
            None => Ok(command),
            Some(second) => Err(A::Error::custom(format!(
                "`{name}` and `{second}` are two commands; make each an item"
            ))),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

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
pub(super) struct AirplaneModeWord(#[serde(deserialize_with = "caseless")] pub(super) AirplaneMode);

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
pub(super) struct OrientationWord(#[serde(deserialize_with = "caseless")] pub(super) Orientation);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Animation {
    /// Milliseconds.
    pub(super) timeout: Option<u64>,
}

/// Mappings with one key that matters, which can be written as that alone.
macro_rules! short {
    ($($name:ident { $field:ident: $type:ty } $from:expr, $expected:literal;)*) => {
        $(
            #[derive(Default, Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            #[expect(dead_code, reason = "`label` is for readers")]
            pub(super) struct $name {
                pub(super) $field: $type,
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
pub(super) struct Erase {
    pub(super) characters_to_erase: Option<u32>,
}

impl Short for Erase {
    fn short(text: String) -> Self {
        Self {
            characters_to_erase: text.trim().parse().ok(),
        }
    }

    const EXPECTED: &'static str = "a number of characters";
}
