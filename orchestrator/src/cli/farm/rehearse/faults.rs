//! What is done to the farm, and when: the file of faults as a schedule. Pure.

use std::time::Duration;

use packtrain_config::HumanDuration;
use packtrain_virtual::document::{self, At, DocumentError, Source};
use serde::Deserialize;

/// The most faults that a rule stands for.
const MOST_TIMES: u32 = 1_000;

/// What is done, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Schedule(pub(super) Vec<Fault>);

/// Something that is done to the farm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fault {
    /// When.
    pub(super) when: FaultTime,
    /// What.
    pub(super) deed: FaultAction,
    /// To whom.
    pub(super) target: Target,
    /// How long it stays so.
    pub(super) lasting: Duration,
}

/// A moment of a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FaultTime {
    /// Once this share of the sessions has ended, 0 to 1.
    Share(f64),
    /// So long after the run began.
    Time(Duration),
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultAction {
    /// SIGKILL, and a new start afterwards.
    Kill,
    /// SIGSTOP, and SIGCONT afterwards.
    Stop,
}

/// Who is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Target {
    /// A host, whichever.
    Host,
    /// A broker, whichever.
    Broker,
    /// A run, whichever.
    Run,
    /// The server.
    Server,
    /// Any of these.
    Any,
}

impl Target {
    /// Those that there are, without any of them.
    pub(super) const KINDS: [Self; 4] = [Self::Host, Self::Broker, Self::Run, Self::Server];
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    after: Option<At<String>>,
    kill: Option<Target>,
    stop: Option<Target>,
    #[serde(rename = "for")]
    lasting: Option<At<String>>,
    times: Option<At<u32>>,
    every: Option<At<String>>,
}

impl Schedule {
    /// Reads a file of faults. `name` is what errors call it.
    pub(super) fn parse(text: &str, name: &str) -> Result<Self, DocumentError> {
        let source = Source::new(name, text);
        let rules: Vec<Vec<At<Rule>>> = document::read(&source)?;
        let mut faults = Vec::new();
        for rule in rules.into_iter().flatten() {
            let wrong = |why: &str| document::error(&source, rule.place, why, None);
            let rule = &rule.value;
            let (deed, target) = match (rule.kill, rule.stop) {
                (Some(target), None) => (FaultAction::Kill, target),
                (None, Some(target)) => (FaultAction::Stop, target),
                _ => return Err(wrong("a fault needs `kill` or `stop`")),
            };
            let lasting = rule.lasting.as_ref();
            let lasting = lasting.map(|text| duration(&source, text)).transpose()?;
            if deed == FaultAction::Stop && lasting.is_none() {
                return Err(wrong("`stop` needs `for`"));
            }
            let first = match &rule.after {
                Some(text) => when(&source, text)?,
                None => FaultTime::Time(Duration::ZERO),
            };
            let times = rule.times.as_ref().map_or(1, |times| times.value);
            if times == 0 || times > MOST_TIMES {
                return Err(wrong("`times` is 1 to 1000"));
            }
            let every = match &rule.every {
                Some(text) => Some(when(&source, text)?),
                None if times > 1 => return Err(wrong("`times` needs `every`")),
                None => None,
            };
            for number in 0..times {
                let when = first.later(every, number).ok_or_else(|| {
                    wrong("`after` and `every` must both be shares or both be times")
                })?;
                faults.push(Fault {
                    when,
                    deed,
                    target,
                    lasting: lasting.unwrap_or_default(),
                });
            }
        }
        Ok(Self(faults))
    }

    /// One of each kind, spread over the run; who says nothing for `ttl` is taken for dead.
    pub(super) fn of_each(ttl: Duration) -> Self {
        let kill = |share, target| Fault {
            when: FaultTime::Share(share),
            deed: FaultAction::Kill,
            target,
            lasting: Duration::ZERO,
        };
        Self(vec![
            kill(0.1, Target::Host),
            kill(0.25, Target::Broker),
            kill(0.4, Target::Run),
            kill(0.55, Target::Server),
            Fault {
                when: FaultTime::Share(0.7),
                deed: FaultAction::Stop,
                target: Target::Host,
                lasting: ttl + Duration::from_secs(2),
            },
        ])
    }
}

impl FaultTime {
    /// The moment `number` times `every` later; `None` when they are of different kinds.
    fn later(self, every: Option<Self>, number: u32) -> Option<Self> {
        match (self, every) {
            (first, None) => Some(first),
            (Self::Share(first), Some(Self::Share(every))) => {
                Some(Self::Share(first + every * f64::from(number)))
            }
            (Self::Time(first), Some(Self::Time(every))) => {
                Some(Self::Time(first + every * number))
            }
            (Self::Share(_), Some(Self::Time(_))) | (Self::Time(_), Some(Self::Share(_))) => None,
        }
    }

    /// Whether it has come.
    pub(super) fn is_past(self, share: f64, time: Duration) -> bool {
        match self {
            Self::Share(due) => share >= due,
            Self::Time(due) => time >= due,
        }
    }
}

/// `10%` or `20s`.
fn when(source: &Source, text: &At<String>) -> Result<FaultTime, DocumentError> {
    let Some(percent) = text.value.strip_suffix('%') else {
        return duration(source, text).map(FaultTime::Time);
    };
    let percent = percent.trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let wrong = || document::error(source, text.place, "a share is 0% to 100%", None);
    percent
        .map(|percent| FaultTime::Share(percent / 100.0))
        .ok_or_else(wrong)
}

fn duration(source: &Source, text: &At<String>) -> Result<Duration, DocumentError> {
    let parsed = text.value.parse::<HumanDuration>();
    parsed
        .map(HumanDuration::get)
        .map_err(|error| document::error(source, text.place, error.to_string(), None))
}

/// Dice that fall the same with the same seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of so many, from 0. `count` is not 0.
    pub(super) fn one_of(&mut self, count: usize) -> usize {
        // SplitMix64, Steele, Lea and Flood 2014.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % count.max(1) as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Fault>, String> {
        let parsed = Schedule::parse(text, "faults.yaml");
        parsed
            .map(|schedule| schedule.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_read_as_it_is_documented() {
        let faults = parse(
            "- { after: 10%, kill: host }\n\
             - { after: 20s, stop: host, for: 15s }\n\
             - { after: 30%, kill: any, times: 3, every: 2% }\n",
        );
        let faults = faults.unwrap();
        assert_eq!(faults.len(), 5);
        assert_eq!(faults[0].when, FaultTime::Share(0.1));
        assert_eq!(faults[1].when, FaultTime::Time(Duration::from_secs(20)));
        assert_eq!(
            (faults[1].deed, faults[1].lasting.as_secs()),
            (FaultAction::Stop, 15)
        );
        assert!(matches!(faults[4].when, FaultTime::Share(share) if (share - 0.34).abs() < 1e-9));
        assert_eq!(faults[4].target, Target::Any);
    }

    #[test]
    fn a_mistake_is_shown_where_it_is() {
        for (wrong, told) in [
            ("- { after: 10% }", "needs `kill` or `stop`"),
            ("- { kill: host, stop: host }", "needs `kill` or `stop`"),
            ("- { stop: host }", "needs `for`"),
            ("- { kill: moon }", "moon"),
            ("- { kill: host, after: 110% }", "0% to 100%"),
            ("- { kill: host, after: soon }", "not a duration"),
            ("- { kill: host, times: 2 }", "needs `every`"),
            (
                "- { kill: host, times: 2, after: 1%, every: 1s }",
                "both be shares",
            ),
            ("- { kill: host, often: true }", "often"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains(told), "{wrong}\n{error}");
            assert!(error.contains("faults.yaml:1"), "{error}");
        }
        assert_eq!(parse("[]").unwrap(), []);
    }

    #[test]
    fn the_same_seed_falls_the_same() {
        let rolls = |seed| {
            let mut dice = Dice::new(seed);
            std::iter::repeat_with(|| dice.one_of(6))
                .take(50)
                .collect::<Vec<_>>()
        };
        assert_eq!(rolls(7), rolls(7));
        assert_ne!(rolls(7), rolls(8));
        for face in 0..6 {
            assert!(rolls(1).contains(&face), "{face}");
        }
    }
}
