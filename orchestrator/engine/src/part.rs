//! A part of a plan that several machines share. Pure: every machine that has the same plan and the
//! same weights divides it in the same way, so that together they run all of it and nothing twice.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use packtrain_model::PlannedSession;

use crate::resolve::{Plan, Planned};

/// One of several machines: `2/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    number: u32,
    of: u32,
}

impl Part {
    /// Most machines that share a plan.
    pub const MOST: u32 = 10_000;

    /// Which machine, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many machines there are.
    pub const fn of(self) -> u32 {
        self.of
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, of) = text
            .split_once('/')
            .ok_or_else(|| format!("invalid part `{text}`: expected one such as 2/4"))?;
        let read = |word: &str| {
            let word = word.trim();
            word.parse::<u32>()
                .map_err(|_| format!("`{word}` is not a number"))
        };
        let (number, of) = (read(number)?, read(of)?);
        if of > Self::MOST {
            return Err(format!("expected at most {} parts", Self::MOST));
        }
        if number == 0 || number > of {
            return Err(format!("invalid part {number} of {of}"));
        }
        Ok(Self { number, of })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The part of a plan that one machine runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenPart {
    /// Which.
    pub part: Part,
    /// What the other machines run.
    pub elsewhere: Vec<PlannedSession>,
}

/// Which machine, from 0, each session goes to: the longest first, each to the machine that has least
/// to do so far. A session of which nothing is known counts as the median of the others; when nothing
/// is known of any, all count alike.
pub fn divide(weights: &[Option<Duration>], machines: u32) -> Vec<u32> {
    let mut known: Vec<u128> = weights.iter().flatten().map(Duration::as_micros).collect();
    known.sort_unstable();
    let median = known.get(known.len() / 2).copied().unwrap_or(1);
    let weight = |place: usize| {
        weights[place]
            .map_or(median, |known| known.as_micros())
            .max(1)
    };
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&place| (Reverse(weight(place)), place));
    let mut loads = vec![0_u128; machines.max(1) as usize];
    let mut machine_of = vec![0; weights.len()];
    for place in order {
        let least = (0_u32..)
            .zip(&loads)
            .min_by_key(|(machine, load)| (**load, *machine));
        let machine = least.map_or(0, |(machine, _)| machine);
        loads[machine as usize] += weight(place);
        machine_of[place] = machine;
    }
    machine_of
}

impl Plan {
    /// Keeps what one machine runs of the plan, and remembers the rest. `weight` tells how long a
    /// session takes, when that is known; it must answer the same on every machine.
    pub fn take(&mut self, part: Part, weight: impl Fn(&Plan, &Planned) -> Option<Duration>) {
        let weights: Vec<_> = self.sessions.iter().map(|p| weight(self, p)).collect();
        let machines = divide(&weights, part.of);
        let own = part.number - 1;
        let all = std::mem::take(&mut self.sessions);
        let mut elsewhere = Vec::new();
        for ((place, machine), mut planned) in (0_u32..).zip(machines).zip(all) {
            planned.place = Some(place);
            if machine == own {
                self.sessions.push(planned);
            } else {
                elsewhere.push(planned.event());
            }
        }
        self.part = Some(TakenPart { part, elsewhere });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use packtrain_drivers::{DeviceId, Platform};
    use packtrain_model::{Cell, RunId, Trail};
    use proptest::prelude::*;

    use super::*;
    use crate::request::{RunOptions, Shard};

    fn plan(sessions: usize) -> Plan {
        let planned = (0..sessions).map(|number| Planned {
            trail: 0,
            devices: vec![DeviceId::new(Platform::Web, format!("d{number}"))],
            on: None,
            skip: None,
            alike: false,
            cell: Cell::default(),
            repeat: None,
            place: None,
        });
        Plan {
            run: RunId("r".into()),
            trails: vec![Arc::new(Trail::empty("t"))],
            matrices: vec![None],
            devices: Vec::new(),
            sessions: planned.collect(),
            shard: Shard::All,
            part: None,
            options: RunOptions::default(),
        }
    }

    #[test]
    fn a_part_is_a_number_of_several() {
        assert_eq!("2/4".parse::<Part>().unwrap().to_string(), "2/4");
        for wrong in [
            "",
            "2",
            "0/4",
            "5/4",
            "a/b",
            "1/0",
            "-1/2",
            "1/99999999999",
            "1/20000",
        ] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_times_machines_take_turns() {
        assert_eq!(divide(&[None; 5], 2), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn the_longest_goes_first_and_alone() {
        let weights = [1, 1, 1, 9, 1, 1].map(|s| Some(Duration::from_secs(s)));
        assert_eq!(divide(&weights, 2), [1, 1, 1, 0, 1, 1]);
    }

    #[test]
    fn a_session_without_a_time_counts_as_the_median() {
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(
            divide(&[seconds(4), None, seconds(4), None], 2),
            [0, 1, 0, 1]
        );
    }

    proptest! {
        #[test]
        fn all_parts_together_are_the_whole_and_nothing_is_in_two(
            times in prop::collection::vec(prop::option::of(0_u64..100_000), 0..60),
            of in 1_u32..9,
        ) {
            let mut places = BTreeSet::new();
            let mut count = 0;
            for number in 1..=of {
                let mut part = plan(times.len());
                let wanted = format!("{number}/{of}").parse().unwrap();
                let time = |_: &Plan, planned: &Planned| {
                    let at: usize = planned.devices[0].name()[1..].parse().unwrap();
                    times[at].map(Duration::from_millis)
                };
                part.take(wanted, time);
                let elsewhere = part.part.unwrap().elsewhere;
                prop_assert_eq!(elsewhere.len() + part.sessions.len(), times.len());
                count += part.sessions.len();
                places.extend(part.sessions.iter().map(|planned| planned.place.unwrap()));
            }
            prop_assert_eq!(count, times.len());
            prop_assert_eq!(places, (0..).take(times.len()).collect());
        }

        #[test]
        fn no_machine_has_more_than_its_share_and_one_session(
            times in prop::collection::vec(1_u64..100_000, 1..60),
            of in 1_u32..9,
        ) {
            let weights: Vec<_> = times.iter().map(|ms| Some(Duration::from_millis(*ms))).collect();
            let machines = divide(&weights, of);
            let load = |machine| -> u64 {
                let own = times.iter().zip(&machines).filter(|(_, on)| **on == machine);
                own.map(|(time, _)| time).sum()
            };
            let most = (0..of).map(load).max().unwrap();
            let share = times.iter().sum::<u64>() / u64::from(of);
            prop_assert!(most <= share + 1 + times.iter().max().unwrap());
        }
    }
}
