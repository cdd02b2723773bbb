//! The app model: what a virtual phone shows and does, told once for Android and iOS in one
//! declarative file. A file holds one app per YAML document.
//!
//! This module knows the file; [`crate::world`] knows how a device lives it.

mod check;
mod condition;
mod element;
mod loose;
mod rule;
mod template;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::condition::{Comparison, Condition};
pub use self::element::{Element, Frame, Items, Role};
use self::loose::{Loose, Nothing};
pub use self::rule::{Ask, Delay, Permission, Rule, Rules};
pub use self::template::{Expression, PerPlatform, PlatformText, Template};
pub use self::value::{Record, Value};
use crate::document::{self, At, DocumentError, Source};
use crate::shape::Platform;

/// What is wrong with an app file, and where.
pub type AppError = DocumentError;

/// A bundle id or package name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AppId(pub String);

impl AppId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AppId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl From<At<String>> for AppId {
    fn from(id: At<String>) -> Self {
        Self(id.value)
    }
}

impl std::fmt::Display for AppId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One app: its identity, its state, its screens and its dialogs. Checked when read: every name
/// that is used exists.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// Who the app is.
    pub app: Identity,
    /// The app's variables and what they hold on a fresh start.
    #[serde(default)]
    pub state: BTreeMap<String, Value>,
    /// The screens by name.
    pub screens: BTreeMap<String, Screen>,
    /// The dialogs by name.
    #[serde(default)]
    pub dialogs: BTreeMap<String, Dialog>,
    /// What the app says in other languages: by language (`de` or `de-AT`), then by the text as
    /// it stands in this file. What is missing there stays as it is, as in an app that was not
    /// translated to the end.
    #[serde(default)]
    pub texts: BTreeMap<String, BTreeMap<String, Template>>,
}

/// Who an app is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Package name and bundle id.
    pub id: PerPlatform<AppId>,
    /// What stands under its icon.
    pub name: String,
    /// Its version, quoted: `"2.4.1"`.
    #[serde(default = "first_version")]
    pub version: String,
    /// The screen it opens with.
    pub start: At<String>,
    /// Android: the class of the launcher activity, relative to the package.
    #[serde(default = "main_activity")]
    pub activity: String,
    /// Whether it is on the device from the beginning.
    #[serde(default = "yes")]
    pub preinstalled: bool,
    /// Whether the keyboard covers the screen or the screen gives way.
    #[serde(default)]
    pub keyboard: KeyboardMode,
    /// The width the frames were drawn for; they are stretched to the device.
    #[serde(default = "canvas")]
    pub canvas: f64,
    /// Variables that outlive the process, until the app's data is cleared; all when it is absent.
    #[serde(default)]
    pub keep: Option<Vec<At<String>>>,
    /// What happens when a link that starts so is opened: the longest match wins. `${url}` is
    /// the whole link, `${url.rest}` what follows.
    #[serde(default)]
    pub links: BTreeMap<String, Rules>,
}

/// What happens to the screen while the keyboard is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyboardMode {
    /// The screen ends above the keyboard.
    #[default]
    Resize,
    /// The keyboard lies over the screen.
    Cover,
}

/// One screen.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Screen {
    /// Shown in a bar at the top, with a way back when there is one.
    pub title: Option<PlatformText>,
    /// Elements at the right end of the bar.
    pub bar: Vec<Arc<Element>>,
    /// Where back leads instead of the screen before: a screen, or `exit`.
    pub back: Option<At<String>>,
    /// Android: the activity class, when it is not the launcher's.
    pub activity: Option<String>,
    /// Whether something always moves, so that the screen is never idle.
    pub animates: bool,
    /// What happens when the screen is entered.
    pub enter: Rules,
    /// What is on it, from the top.
    pub elements: Vec<Arc<Element>>,
}

/// A dialog above the screen.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialog {
    /// Whether it belongs to the system instead of the app.
    pub system: bool,
    /// In bold.
    pub title: Option<PlatformText>,
    /// The message.
    pub text: Option<PlatformText>,
    /// The answers, in reading order. Each closes the dialog, then does its rules.
    pub buttons: Vec<DialogButton>,
    /// Whether back or a tap beside it closes it.
    pub cancelable: bool,
}

/// One answer to a dialog. In the file, a plain text is a button that only closes.
#[derive(Debug, Clone, PartialEq)]
pub struct DialogButton {
    /// What it says.
    pub text: PlatformText,
    /// What it does after the dialog is closed.
    pub tap: Rules,
}

impl<'de> Deserialize<'de> for DialogButton {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Long {
            text: PlatformText,
            #[serde(default)]
            tap: Rules,
        }
        let At { value, place } = At::<Loose<Long, Nothing>>::deserialize(deserializer)?;
        Ok(match value {
            Loose::Text(value) => Self {
                text: PlatformText::from(At { value, place }),
                tap: Rules::default(),
            },
            Loose::Map(Long { text, tap }) => Self { text, tap },
            Loose::Seq(nothing) => match nothing {},
        })
    }
}

fn first_version() -> String {
    "1.0".to_owned()
}

fn main_activity() -> String {
    ".MainActivity".to_owned()
}

const fn yes() -> bool {
    true
}

const fn canvas() -> f64 {
    360.0
}

impl App {
    /// Reads one app. `source_name` is what errors call the text, usually its path.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, AppError> {
        let mut apps = Self::parse_all(text, source_name)?;
        if apps.len() == 1 {
            return Ok(apps.remove(0));
        }
        let source = Source::new(source_name, text);
        let message = format!("one app was expected, the file holds {}", apps.len());
        Err(document::error(
            &source,
            document::Position::default(),
            message,
            None,
        ))
    }

    /// Reads a file with any number of apps, one per YAML document.
    ///
    /// # Errors
    /// As [`App::parse`].
    pub fn parse_all(text: &str, source_name: &str) -> Result<Vec<Self>, AppError> {
        let source = Source::new(source_name, text);
        let apps: Vec<Self> = document::read(&source)?;
        for app in &apps {
            check::check(app, &source)?;
        }
        Ok(apps)
    }

    /// What the text that is written `source` is in a language (`de-DE`): that of the language
    /// with its country before that of the language alone.
    pub fn translation(&self, source: &str, language: &str) -> Option<&Template> {
        let alone = language.split(['-', '_']).next();
        [Some(language), alone]
            .into_iter()
            .flatten()
            .find_map(|language| self.texts.get(language)?.get(source))
    }

    /// The app's id on `platform`.
    pub fn id(&self, platform: Platform) -> &AppId {
        self.app.id.on(platform)
    }
}

#[cfg(test)]
mod tests;
