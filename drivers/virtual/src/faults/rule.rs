//! One rule of a fault file.

use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde::de::{self, Deserializer};

use crate::document::At;
use crate::faults::Event;

/// At which event, when, and what goes wrong.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// At which event.
    #[serde(rename = "match")]
    pub matches: At<Matches>,
    /// When; always if nothing is said.
    #[serde(default)]
    pub when: Trigger,
    /// What.
    #[serde(rename = "do")]
    pub fault: At<Fault>,
}

/// A regular expression for each kind of event; a rule names one of them, and maybe devices.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matches {
    /// Only on devices whose name (`android/virtual-1`), serial or udid matches.
    pub device: Option<Pattern>,
    /// Only on so many devices of each platform. The fleet's seed chooses which: the same for all
    /// rules, so that a rule for 5 strikes some of those that one for 20 does.
    pub devices: Option<usize>,
    /// See [`Event::Connect`].
    pub connect: Option<Pattern>,
    /// See [`Event::Service`].
    pub service: Option<Pattern>,
    /// See [`Event::Command`].
    pub command: Option<Pattern>,
    /// See [`Event::Route`].
    pub route: Option<Pattern>,
    /// See [`Event::Touch`].
    pub touch: Option<Pattern>,
    /// See [`Event::Launch`].
    pub launch: Option<Pattern>,
    /// See [`Event::Tree`].
    pub tree: Option<Pattern>,
    /// See [`Event::Install`].
    pub install: Option<Pattern>,
    /// See [`Event::Push`].
    pub push: Option<Pattern>,
}

/// When a rule fires, of the events it matches. All that is said must hold.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trigger {
    /// At the nth, counted from 1.
    pub nth: Option<u64>,
    /// At every nth.
    pub every: Option<u64>,
    /// With this probability, 0 to 1.
    pub probability: Option<f64>,
    /// From this time of the device on.
    pub from: Option<Millis>,
    /// Before this time of the device.
    pub until: Option<Millis>,
    /// At most so often.
    pub times: Option<u64>,
}

/// What goes wrong. Faults of the device and of its screen can be told of any event; the others
/// mean something only where their comment says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Any event: it takes this much longer.
    Delay(Millis),
    /// Command, route, push or install; on iOS also launch and tree: it fails with this text.
    Fail(String),
    /// Command: it prints this and exits so, without doing anything.
    Answer {
        /// Standard output.
        #[serde(default)]
        stdout: String,
        /// Standard error.
        #[serde(default)]
        stderr: String,
        /// Exit code.
        #[serde(default)]
        exit: u8,
    },

    /// Command, Android, or route, iOS: it is answered as if it was done, and nothing is.
    Ignore,

    /// Connect; on iOS also route: the connection is closed at once.
    Refuse,
    /// Connect; on iOS also route: the connection is reset at once, as while rebooting.
    Reset,
    /// Connect, Android: the greeting is never answered; clients show `offline`.
    NeverCnxn,
    /// Connect, Android: the user never accepts the key.
    Unauthorized,
    /// Connect, Android: the user accepts the key after this time.
    AcceptAfter(Millis),
    /// Any event: the connection is cut.
    Drop,
    /// Connect, service or route: the connection is cut after the device has sent so many bytes
    /// more.
    DropAfter {
        /// Bytes.
        bytes: u64,
    },
    /// Service: what the client sends is never acknowledged.
    HalfOpen,
    /// Connect; on iOS also route: the device sends no faster than this.
    Slow {
        /// Bytes per second.
        bytes_per_second: u64,
    },
    /// Connect: the connection is cut after this time, again and again.
    Flap(Millis),

    /// The device is away for this time, then starts afresh.
    Reboot(Millis),
    /// The device restarts again as soon as it is up, for ever, every so often.
    BootLoop(Millis),
    /// The device comes back under another serial.
    Serial(String),
    /// Push or install: no room is left.
    StorageFull,
    /// The device's clock is wrong by so many milliseconds.
    ClockSkew(i64),
    /// The battery is at so many percent.
    Battery(u8),

    // These also strike at the command or route that reads the tree.
    /// Tree: the screen does not come to rest.
    NotIdle,
    /// Tree: there is no root.
    NullRoot,
    /// Tree: there is nothing in it.
    EmptyTree,
    /// Tree: it ends after so many bytes.
    Truncate(usize),
    /// Tree: it is that of so many reads before.
    Stale(usize),
    /// A dialog of the system lies on top.
    Dialog {
        /// In bold.
        #[serde(default)]
        title: String,
        /// The message.
        text: String,
        /// The answers.
        #[serde(default = "ok")]
        buttons: Vec<String>,
    },
    /// The keyboard comes up.
    Keyboard,
    /// The app in front crashes.
    Crash,
    /// The app in front does not answer.
    Anr,
    /// Launch: nothing happens.
    IgnoreLaunch,
    /// Touch: it has no effect.
    Swallow,
    /// Command, Android: no window has the focus for this time.
    NoFocus(Millis),

    /// Route; on iOS also connect: the agent's process ends.
    AgentDies,
    /// Command, Android: the agent cannot listen, its port is taken.
    PortBusy,
    /// Command or tree, Android: `UiAutomationService already registered`.
    UiAutomationTaken,
    /// Route: no answer comes.
    NoAnswer,
    /// Connect or route, iOS: what comes is rubbish.
    Garbage,

    /// Route, iOS: the element is gone.
    StaleElement,
    /// Route, iOS: another client took the session.
    SessionKilled,
    /// Connect or route, iOS: WebDriverAgent is down for this time.
    WdaCrash(Millis),
    /// Connect or route, iOS: the cable is out for this time.
    Detach(Millis),
    /// Connect, iOS: lockdown answers `PasswordProtected`.
    PasswordProtected,
    /// Connect, iOS: lockdown answers `InvalidHostID`.
    InvalidHostId,
}

impl Fault {
    /// The kinds of event it can strike at; empty for all.
    pub const fn kinds(&self) -> &'static [&'static str] {
        match self {
            Self::Delay(_)
            | Self::Drop
            | Self::Reboot(_)
            | Self::BootLoop(_)
            | Self::Serial(_)
            | Self::ClockSkew(_)
            | Self::Battery(_)
            | Self::Dialog { .. }
            | Self::Keyboard
            | Self::Crash
            | Self::Anr => &[],
            Self::Fail(_) => &["command", "route", "push", "install", "launch", "tree"],
            Self::Answer { .. } | Self::NoFocus(_) | Self::PortBusy => &["command"],
            Self::Ignore => &["command", "route"],
            Self::NeverCnxn | Self::Unauthorized | Self::AcceptAfter(_) | Self::Flap(_) => {
                &["connect"]
            }
            Self::PasswordProtected | Self::InvalidHostId => &["connect"],
            Self::DropAfter { .. } => &["connect", "service", "route"],
            Self::HalfOpen => &["service"],
            Self::StorageFull => &["push", "install"],
            Self::NotIdle
            | Self::NullRoot
            | Self::EmptyTree
            | Self::Truncate(_)
            | Self::Stale(_) => &["tree", "command", "route"],
            Self::IgnoreLaunch => &["launch"],
            Self::Swallow => &["touch"],
            Self::UiAutomationTaken => &["command", "tree"],
            Self::NoAnswer | Self::StaleElement | Self::SessionKilled => &["route"],
            Self::Refuse
            | Self::Reset
            | Self::Slow { .. }
            | Self::AgentDies
            | Self::Garbage
            | Self::WdaCrash(_)
            | Self::Detach(_) => &["connect", "route"],
        }
    }
}

fn ok() -> Vec<String> {
    vec!["OK".to_owned()]
}

impl Matches {
    /// The pattern of each kind of event.
    const fn patterns(&self) -> [(&'static str, &Option<Pattern>); 9] {
        [
            ("connect", &self.connect),
            ("service", &self.service),
            ("command", &self.command),
            ("route", &self.route),
            ("touch", &self.touch),
            ("launch", &self.launch),
            ("tree", &self.tree),
            ("install", &self.install),
            ("push", &self.push),
        ]
    }

    /// The kinds of event a rule can name.
    pub(super) fn kinds(&self) -> [&'static str; 9] {
        self.patterns().map(|(kind, _)| kind)
    }

    /// The kinds of event that are named.
    pub(super) fn named(&self) -> Vec<&'static str> {
        let named = |(kind, pattern): (_, &Option<Pattern>)| pattern.as_ref().map(|_| kind);
        self.patterns().into_iter().filter_map(named).collect()
    }
}

impl FaultRule {
    /// Whether it is about the device of these names.
    pub(super) fn concerns(&self, names: &[String]) -> bool {
        let device = self.matches.value.device.as_ref();
        device.is_none_or(|device| names.iter().any(|name| device.0.is_match(name)))
    }

    pub(super) fn matches(&self, event: Event<'_>) -> bool {
        let (kind, text) = event.parts();
        let mut patterns = self.matches.value.patterns().into_iter();
        let pattern =
            patterns.find_map(|(known, pattern)| pattern.as_ref().filter(|_| known == kind));
        pattern.is_some_and(|pattern| pattern.0.is_match(text))
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(|error| {
            // The crate draws a picture over several lines; its last line says what is wrong.
            let all = error.to_string();
            let last = all
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ");
            de::Error::custom(format!("`{text}` is not a regular expression: {last}"))
        })
    }
}

/// A duration, written as milliseconds or with a unit: `250`, `250ms`, `2s`, `1m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Millis(pub Duration);

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| {
            de::Error::custom(format!("`{text}` is not a duration; write 250ms, 2s or 1m"))
        })
    }
}

impl Millis {
    fn read(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.trim().parse().ok()?;
        let each = match &text[digits.len()..] {
            "" | "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            _ => return None,
        };
        Some(Self(Duration::from_millis(number.checked_mul(each)?)))
    }
}
