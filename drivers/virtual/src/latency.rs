//! How long things take on a virtual device. `phone` looks like a phone, `fast` is for unit tests.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

/// A duration that varies: `ms` plus up to `jitter` milliseconds by the device's seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct VariableDuration {
    /// Milliseconds, at least.
    pub ms: u64,
    /// Milliseconds more, at most.
    pub jitter: u64,
}

impl VariableDuration {
    /// Exactly `ms` milliseconds.
    pub const fn ms(ms: u64) -> Self {
        Self { ms, jitter: 0 }
    }

    /// The duration for one draw of a device's dice.
    pub fn pick(self, dice: &mut Dice) -> Duration {
        Duration::from_millis(self.ms.saturating_add(dice.up_to(self.jitter)))
    }
}

/// The times of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// `uiautomator dump`: the quiet it waits for before it looks.
    pub dump_quiet: VariableDuration,
    /// `uiautomator dump`: how long it waits for quiet before it gives up.
    pub dump_patience: VariableDuration,
    /// `uiautomator dump`: starting the runtime and writing the file.
    pub dump: VariableDuration,
    /// `input` from Android 12 on.
    pub input: VariableDuration,
    /// `input` before, when it started a runtime.
    pub old_input: VariableDuration,
    /// `screencap`.
    pub screencap: VariableDuration,
    /// A tree from an agent that stays on the device.
    pub agent_dump: VariableDuration,
    /// Any other call to such an agent.
    pub agent_call: VariableDuration,
    /// From starting the agent to its first answer.
    pub agent_start: VariableDuration,
    /// WebDriverAgent: a tree.
    pub source: VariableDuration,
    /// WebDriverAgent: an action, beside the time of its gesture.
    pub action: VariableDuration,
    /// Starting an app that did not run.
    pub cold_start: VariableDuration,
    /// Bringing one to the front that did.
    pub warm_start: VariableDuration,
    /// Installing, beside the transfer.
    pub install: VariableDuration,
    /// Bytes per second an install takes in.
    pub install_rate: u64,
    /// From a reboot to the first answer.
    pub boot: VariableDuration,
    /// How long the screen moves after a change of screen, dialog or keyboard.
    pub transition: VariableDuration,
}

impl Latency {
    /// Times as on a phone of the middle class.
    pub fn phone() -> Self {
        Self::named("phone")
    }

    /// No waiting but where the order of things needs some.
    pub fn fast() -> Self {
        Self::named("fast")
    }

    fn named(name: &str) -> Self {
        static PROFILES: LazyLock<HashMap<String, Latency>> = LazyLock::new(|| {
            serde_json::from_str(include_str!("latency.json")).expect("the tests have read it")
        });
        PROFILES.get(name).cloned().unwrap_or_default()
    }
}

/// A device's dice: the same seed gives the same numbers, on every machine. (SplitMix64)
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice for one device.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit`, both possible.
    pub const fn up_to(&mut self, limit: u64) -> u64 {
        match limit.checked_add(1) {
            Some(n) => self.roll() % n,
            None => self.roll(),
        }
    }

    /// Whether something of that probability happens now.
    pub fn happens(&mut self, probability: f64) -> bool {
        (self.roll() >> 11) as f64 / ((1_u64 << 53) as f64) < probability
    }
}
