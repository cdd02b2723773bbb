//! What goes wrong, told as rules: at which event, when, and what. A device has its own dice and
//! counters, so that a run that failed replays exactly.
//!
//! Knows nothing of the platforms: they report their events with [`FaultState::fire`] and do
//! what it answers.

mod rule;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

pub use self::rule::{Fault, FaultRule, Matches, Millis, Pattern, Trigger};
use crate::document::{self, DocumentError, Position, Source};
use crate::latency::Dice;

/// The rules of a fleet.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// What the dice of the devices start from.
    pub seed: u64,
    /// The rules; all that match an event apply, in order.
    pub rules: Vec<Arc<FaultRule>>,
}

impl Faults {
    /// Reads the rules of a fleet. `source_name` is what errors call the text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, DocumentError> {
        let source = Source::new(source_name, text);
        let mut all: Vec<Self> = document::read(&source)?;
        let faults = match (all.pop(), all.is_empty()) {
            (Some(faults), true) => faults,
            (None, _) => Self::default(),
            (Some(_), false) => {
                return Err(document::error(
                    &source,
                    Position::default(),
                    "one document was expected",
                    None,
                ));
            }
        };
        for rule in &faults.rules {
            let [kind] = rule.matches.value.named()[..] else {
                let message = "a rule matches exactly one kind of event";
                let hint = Some(format!("one of {}", Matches::default().kinds().join(", ")));
                return Err(document::error(&source, rule.matches.place, message, hint));
            };
            let kinds = rule.fault.value.kinds();
            if !kinds.is_empty() && !kinds.contains(&kind) {
                let message = format!("this never strikes at a {kind}");
                let hint = Some(format!("match {} instead", kinds.join(" or ")));
                return Err(document::error(&source, rule.fault.place, message, hint));
            }
        }
        Ok(faults)
    }
}

/// Something that happens on a device, at which a fault can strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A client connects; its address.
    Connect(&'a str),
    /// Android: a client opens a service, named as adbd sees it.
    Service(&'a str),
    /// Android: a command line of a shell.
    Command(&'a str),
    /// A request to an agent: `POST /session`, `jsonrpc click`.
    Route(&'a str),
    /// A touch or key, whatever it came through: `tap sign_in`, `swipe`, `pinch picture`,
    /// `text`, `key back`.
    Touch(&'a str),
    /// An app is launched; its id.
    Launch(&'a str),
    /// Somebody reads the tree; through what: `uiautomator`, `u2`, `wda`.
    Tree(&'a str),
    /// An app is installed; its id.
    Install(&'a str),
    /// A file is pushed; its path.
    Push(&'a str),
}

impl<'a> Event<'a> {
    /// What rules call its kind, and what their patterns are held against.
    pub const fn parts(self) -> (&'static str, &'a str) {
        match self {
            Self::Connect(text) => ("connect", text),
            Self::Service(text) => ("service", text),
            Self::Command(text) => ("command", text),
            Self::Route(text) => ("route", text),
            Self::Touch(text) => ("touch", text),
            Self::Launch(text) => ("launch", text),
            Self::Tree(text) => ("tree", text),
            Self::Install(text) => ("install", text),
            Self::Push(text) => ("push", text),
        }
    }
}

/// The faults of one device: its rules, how often each was met, and its dice.
#[derive(Debug)]
pub struct FaultState {
    /// Name and serial.
    names: [String; 2],
    rules: Vec<Armed>,
    seed: u64,
    /// How many rules there ever were, so that an injected one gets dice of its own.
    made: u64,
}

#[derive(Debug)]
struct Armed {
    rule: Arc<FaultRule>,
    matched: u64,
    fired: u64,
    dice: Dice,
}

impl FaultState {
    /// The faults of the device with this name and serial, number `index` of `count` in its fleet,
    /// whose dice start from `seed` and that of the rules.
    pub fn new(
        faults: &Faults,
        names: [String; 2],
        (index, count): (usize, usize),
        seed: u64,
    ) -> Self {
        let seed = faults.seed.wrapping_add(seed);
        let mut state = Self {
            names,
            rules: Vec::new(),
            seed: dice_of(seed, index).roll(),
            made: 0,
        };
        for rule in &faults.rules {
            let wanted = rule.matches.value.devices.unwrap_or(count);
            if wanted >= count || is_chosen(seed, (index, count), wanted) {
                state.inject(rule.clone());
            }
        }
        state
    }

    /// One more rule for this device.
    pub fn inject(&mut self, rule: Arc<FaultRule>) {
        self.made += 1;
        self.rules.push(Armed {
            rule,
            matched: 0,
            fired: 0,
            dice: Dice::new(
                self.seed
                    .wrapping_add(self.made.wrapping_mul(0xA076_1D64_78BD_642F)),
            ),
        });
    }

    /// No rule applies any more.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Whether there are no rules, so that events need not be described.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What goes wrong at this event, `now` since the device was made.
    pub fn fire(&mut self, event: Event<'_>, now: Duration) -> Vec<Fault> {
        let names = &self.names;
        (self.rules.iter_mut())
            .filter(|armed| armed.rule.matches(event) && armed.rule.concerns(names))
            .filter_map(|armed| armed.fires(now).then(|| armed.rule.fault.value.clone()))
            .collect()
    }
}

/// The dice of the device number `index`.
const fn dice_of(seed: u64, index: usize) -> Dice {
    Dice::new(seed ^ (index as u64).rotate_left(32))
}

/// Whether the device number `index` is one of the `wanted` of `count` that draw the lowest
/// numbers.
fn is_chosen(seed: u64, (index, count): (usize, usize), wanted: usize) -> bool {
    // Other dice than those by which the rules fire. The index settles a draw.
    let drawn = |index: usize| (dice_of(!seed, index).roll(), index);
    let own = drawn(index);
    (0..count).filter(|other| drawn(*other) < own).count() < wanted
}

impl Armed {
    fn fires(&mut self, now: Duration) -> bool {
        self.matched += 1;
        let when = &self.rule.when;
        let in_window = when.from.is_none_or(|from| now >= from.0)
            && when.until.is_none_or(|until| now < until.0);
        // The dice roll at every event that is met, so that one rule's window does not shift
        // the others' luck.
        let lucky = when.probability.is_none_or(|p| self.dice.happens(p));
        let fires = in_window
            && lucky
            && when.nth.is_none_or(|nth| self.matched == nth)
            && when
                .every
                .is_none_or(|every| self.matched.is_multiple_of(every.max(1)))
            && when.times.is_none_or(|times| self.fired < times);
        self.fired += u64::from(fires);
        fires
    }
}

#[cfg(test)]
mod tests;
