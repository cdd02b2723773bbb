//! An app on one device: what is installed and what its process holds. Only what differs from
//! the app file is kept, so that a device costs little.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::app::{App, Condition, Permission, PlatformText, Record, Template, Value};
use crate::shape::Platform;
use crate::world::dialogs::OpenDialog;
use crate::world::snapshot::NodeKey;

/// The most screens that back can return to.
const MAX_HISTORY: usize = 64;

/// An app that is installed.
#[derive(Debug)]
pub(super) struct Install {
    pub app: Arc<App>,
    /// Variables that outlive the process.
    pub kept: BTreeMap<String, Value>,
    pub granted: BTreeSet<Permission>,
    pub refusals: BTreeMap<Permission, u8>,
    pub installed_at: Duration,
    pub updated_at: Duration,
    /// Of the installed package, when it differs from the app file's.
    pub version: Option<String>,
}

impl Install {
    pub fn new(app: Arc<App>) -> Self {
        Self {
            app,
            kept: BTreeMap::new(),
            granted: BTreeSet::new(),
            refusals: BTreeMap::new(),
            installed_at: Duration::ZERO,
            updated_at: Duration::ZERO,
            version: None,
        }
    }

    /// What it held is gone, as after `pm clear`.
    pub fn wipe(&mut self) {
        self.kept.clear();
        self.granted.clear();
        self.refusals.clear();
    }
}

/// An app that runs.
#[derive(Debug)]
pub(super) struct RunningApp {
    pub app: Arc<App>,
    pub pid: u32,
    /// Its first picture is drawn then.
    pub ready_at: Duration,
    pub changed: BTreeMap<String, Value>,
    /// Screens by name, the current one last; never empty.
    pub screens: Vec<String>,
    pub focus: Option<NodeKey>,
    /// The next typed text replaces the field's.
    pub all_selected: bool,
    /// The focus stays but the keyboard was sent away.
    pub keyboard_hidden: bool,
    /// Text of fields that are not bound to a variable.
    pub typed: BTreeMap<NodeKey, String>,
    pub scrolled: BTreeMap<NodeKey, f64>,
    pub dialogs: Vec<OpenDialog>,
    /// The link it was opened with, and what follows its prefix.
    pub url: (String, String),
    /// What it speaks, unless it is what its file is written in.
    pub language: Option<String>,
}

impl RunningApp {
    pub fn new(app: Arc<App>, pid: u32, ready_at: Duration, kept: BTreeMap<String, Value>) -> Self {
        let start = app.app.start.value.clone();
        Self {
            app,
            pid,
            ready_at,
            changed: kept,
            screens: vec![start],
            focus: None,
            all_selected: false,
            keyboard_hidden: false,
            typed: BTreeMap::new(),
            scrolled: BTreeMap::new(),
            dialogs: Vec::new(),
            url: (String::new(), String::new()),
            language: None,
        }
    }

    /// The name of the screen that shows.
    pub fn screen_name(&self) -> &str {
        self.screens.last().map_or("", String::as_str)
    }

    /// The screen that shows.
    pub fn screen(&self) -> Option<&crate::app::Screen> {
        self.app.screens.get(self.screen_name())
    }

    pub fn variable(&self, name: &str) -> Option<&Value> {
        (self.changed.get(name)).or_else(|| self.app.state.get(name))
    }

    pub fn assign(&mut self, name: &str, value: Value) {
        self.changed.insert(name.to_owned(), value);
    }

    /// Goes to a screen; what was typed into the one left is kept with its variables.
    pub fn enter(&mut self, screen: &str, how: ScreenTransition) {
        match how {
            ScreenTransition::Push => {
                if self.screens.len() >= MAX_HISTORY {
                    self.screens.remove(0);
                }
            }
            ScreenTransition::Replace => {
                self.screens.pop();
            }
            ScreenTransition::Reset => self.screens.clear(),
        }
        self.screens.push(screen.to_owned());
        self.leave_field();
    }

    /// Nothing has the focus any more.
    pub fn leave_field(&mut self) {
        self.focus = None;
        self.all_selected = false;
        self.keyboard_hidden = false;
    }
}

/// How a screen is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenTransition {
    /// Back returns to the one before.
    Push,
    /// In its place.
    Replace,
    /// The history is forgotten.
    Reset,
}

/// A row of a list: where it is in its list, and what it shows.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub index: usize,
    pub record: Arc<Record>,
}

/// Everything a path in the app file can mean at one place.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub run: &'a RunningApp,
    pub granted: &'a BTreeSet<Permission>,
    pub row: Option<Row>,
    pub platform: Platform,
}

impl Scope<'_> {
    pub fn value(&self, path: &str) -> Value {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        match (first, &self.row) {
            ("item", Some(row)) => self.translated(row.record.get(rest)),
            ("index", Some(row)) => Value::Number(row.index as f64),
            ("n", Some(row)) => Value::Number((row.index + 1) as f64),
            ("permission", _) => Value::Bool(self.granted.iter().any(|p| p.name() == rest)),
            ("url", _) if rest == "rest" => Value::Text(self.run.url.1.clone()),
            ("url", _) => Value::Text(self.run.url.0.clone()),
            _ => part_of(self.run.variable(first), rest),
        }
    }

    pub fn holds(&self, condition: Option<&Condition>) -> bool {
        condition.is_none_or(|c| c.holds(&|path| self.value(path)))
    }

    pub fn words(&self, words: Option<&PlatformText>) -> String {
        words.map_or_else(String::new, |w| {
            self.said(w.on(self.platform))
                .fill(&|path| self.value(path))
        })
    }

    /// A text in the language of the app.
    pub fn said<'t>(&'t self, text: &'t Template) -> &'t Template {
        let language = self.run.language.as_deref();
        language
            .and_then(|language| self.run.app.translation(text.source(), language))
            .unwrap_or(text)
    }

    /// A field of a record, in the language of the app.
    fn translated(&self, value: Option<&Value>) -> Value {
        match (value, self.run.language.as_deref()) {
            (Some(Value::Text(text)), Some(language)) => {
                let found = self.run.app.translation(text, language);
                let text = found.map_or_else(|| text.clone(), |found| found.source().to_owned());
                Value::Text(text)
            }
            (value, _) => value.cloned().unwrap_or(Value::Null),
        }
    }
}

/// `count` and `sum.FIELD` of a list; the value itself when nothing is asked of it.
fn part_of(value: Option<&Value>, part: &str) -> Value {
    match (value, part) {
        (None, _) => Value::Null,
        (Some(value), "") => value.clone(),
        (Some(Value::List(list)), "count") => Value::Number(list.len() as f64),
        (Some(Value::List(list)), part) => {
            let Some(field) = part.strip_prefix("sum.") else {
                return Value::Null;
            };
            let fields = list.iter().filter_map(|record| record.get(field));
            Value::Number(fields.filter_map(Value::number).sum())
        }
        (Some(_), _) => Value::Null,
    }
}
