//! A farm with a broker and hosts whose phones outlive them, and chance that can be repeated.

use std::fmt;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, Utc};
use packtrain_farm::audit::{Attempt, Finding, attempts};
use packtrain_model::{Blame, Outcome};
use packtrain_tests::farm_lab::{FarmLab, FarmRun, Phones, TTL_SECONDS};
use packtrain_tests::process::Process;
use packtrain_tests::until;
use serde_json::Value;
use tokio::time::Instant;

use super::witness::Witness;
use super::{entries, farm, findings};

/// How much later than its life a key may be found to have expired.
const FREE_GRACE: TimeDelta = TimeDelta::milliseconds(500);

/// How long a broker that has just come believes nobody to be dead: they may be on their way back.
const NEW_BROKER_GRACE: Duration = Duration::from_secs(4);

/// A farm at work.
pub(super) struct Scene {
    /// The first of them leads.
    pub(super) brokers: Vec<Process>,
    pub(super) hosts: Vec<Host>,
    pub(super) witness: Witness,
    /// When the first broker led at the latest.
    led: Instant,
    // Last, so that everything else is gone when its folder goes.
    pub(super) farm: FarmLab,
}

/// A host with its phones.
pub(super) struct Host {
    pub(super) name: &'static str,
    pub(super) process: Process,
    pub(super) phones: Phones,
}

impl Scene {
    /// Hosts by name, and how many phones each has.
    pub(super) fn of(hosts: &[(&'static str, usize)]) -> Self {
        let farm = farm();
        let broker = farm.broker();
        until(|| {
            let words = ["farm", "hosts", "--format", "json", "--farm", &farm.url()];
            farm.run_to_end(&words).stdout.contains("\"broker\":true")
        });
        let mut scene = Self {
            brokers: vec![broker],
            hosts: Vec::new(),
            led: Instant::now(),
            witness: Witness::of(&farm),
            farm,
        };
        for (name, phones) in hosts {
            scene.add(name, *phones);
        }
        scene.until_all_serve();
        scene
    }

    /// One more host.
    pub(super) fn add(&mut self, name: &'static str, phones: usize) {
        let phones = self.farm.phones(phones, None);
        let process = self.farm.host(name, &phones, &[]);
        self.hosts.push(Host {
            name,
            process,
            phones,
        });
    }

    /// Waits until all phones of all hosts are in service.
    #[track_caller]
    pub(super) fn until_all_serve(&self) {
        let all = self.hosts.iter().map(|host| host.phones.addresses.len());
        self.farm.until_devices(all.sum());
    }

    /// Waits until the broker has been there for long enough to know who is dead.
    #[track_caller]
    pub(super) fn until_deaths_are_certain(&self) {
        until(|| self.led.elapsed() > NEW_BROKER_GRACE);
    }

    pub(super) fn host(&self, name: &str) -> &Host {
        self.hosts.iter().find(|host| host.name == name).unwrap()
    }

    /// Starts a host again, with the phones it had.
    pub(super) fn restart(&mut self, name: &str) {
        let place = self.hosts.iter().position(|host| host.name == name);
        let host = &mut self.hosts[place.unwrap()];
        host.process = self.farm.host(name, &host.phones, &[]);
    }

    /// So many sessions of a trail, anywhere.
    pub(super) fn run(&self, trail: &str, sessions: usize) -> FarmRun {
        self.run_on(trail, "android", sessions, &[])
    }

    /// So many sessions of a trail, on what matches.
    pub(super) fn run_on(&self, trail: &str, on: &str, sessions: usize, more: &[&str]) -> FarmRun {
        let count = sessions.to_string();
        let words = [trail, "--on", on, "--count", &count, "--observe", "none"];
        self.farm.run(&[&words, more].concat())
    }

    /// What is wrong with these runs, which were all that there were, as their journals, the phones and
    /// the server tell it.
    pub(super) fn findings(&self, runs: &[&FarmRun]) -> Vec<Finding> {
        let hosts = self.hosts.iter();
        let phones: Vec<_> = hosts.map(|host| (host.name, &host.phones)).collect();
        assert_eq!(self.witness.doubled(), [""; 0]);
        findings(runs, &phones)
    }

    /// The devices of a host, as runs call them.
    pub(super) fn devices_of(&self, name: &str) -> Vec<String> {
        let addresses = self.host(name).phones.addresses.iter();
        addresses
            .map(|address| format!("android/{address}@{name}"))
            .collect()
    }
}

/// The attempts that a run's journal tells of.
pub(super) fn attempts_of(run: &FarmRun) -> Vec<Attempt> {
    attempts(&entries(&run.events()))
}

/// The attempts of a run that were lost with a host or with the run's process.
pub(super) fn lost(run: &FarmRun) -> Vec<Attempt> {
    let all = attempts_of(run).into_iter();
    all.filter(Attempt::is_lost).collect()
}

/// What they were lost with.
pub(super) fn blamed(run: &FarmRun) -> Vec<Blame> {
    let lost = lost(run).into_iter();
    let blames = lost.filter_map(|attempt| {
        let Some(Outcome::Infrastructure { blame, .. }) = attempt.outcome else {
            return None;
        };
        Some(blame)
    });
    blames.collect()
}

/// Checks that it was within the life of a key and what finding out takes.
#[track_caller]
pub(super) fn in_time(took: TimeDelta, told: &dyn fmt::Display) {
    let limit = TimeDelta::seconds(i64::try_from(TTL_SECONDS).unwrap()) + FREE_GRACE;
    assert!(
        took <= limit,
        "{told}: {} ms are more than {} ms",
        took.num_milliseconds(),
        limit.num_milliseconds()
    );
}

/// Checks the reports of a run that passed: they are there, whole, and name these hosts.
#[track_caller]
pub(super) fn reported(run: &FarmRun, sessions: usize) {
    let folder = run.folder().unwrap();
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let (report, junit) = (read("report.json"), read("junit.xml"));
    let told: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(told["state"], "finished");
    assert_eq!(told["verdict"]["passed"], sessions);
    for attempt in attempts_of(run) {
        let device = attempt.device.to_string();
        assert!(device.contains("@h"), "{device} names no host");
        assert!(report.contains(&device), "no {device} in report.json");
        if attempt.outcome.is_some_and(|outcome| outcome.is_passed()) {
            assert!(junit.contains(&device), "no {device} in junit.xml");
        }
    }
}

/// Says something that is shown when the test fails.
#[expect(clippy::print_stdout, reason = "it is what the test harness shows")]
pub(super) fn note(what: &str) {
    println!("{what}");
}

/// How often something is done at random; `PACKTRAIN_TEST_ROUNDS` says otherwise.
pub(super) fn rounds() -> usize {
    let given = std::env::var("PACKTRAIN_TEST_ROUNDS").ok();
    given.map_or(3, |given| given.parse().unwrap())
}

/// Chance, from a seed that failures name; `PACKTRAIN_TEST_SEED` repeats it.
#[derive(Debug)]
pub(super) struct Dice {
    seed: u64,
    state: u64,
    thrown: Vec<u64>,
}

impl Dice {
    pub(super) fn new() -> Self {
        let given = std::env::var("PACKTRAIN_TEST_SEED").ok();
        let seed = given.map_or_else(
            || {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                u64::from(now.unwrap().subsec_nanos())
            },
            |given| given.parse().unwrap(),
        );
        // Shown when the test fails, whatever it fails by.
        note(&format!("PACKTRAIN_TEST_SEED={seed}"));
        Self {
            seed,
            state: seed,
            thrown: Vec::new(),
        }
    }

    /// A number below another: SplitMix64.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let thrown = (z ^ (z >> 31)) % end;
        self.thrown.push(thrown);
        thrown
    }

    /// Waits until a run has begun its first session, and then for a while, at most so long; answers
    /// when that was.
    #[track_caller]
    pub(super) fn moment(&mut self, run: &FarmRun, at_most: Duration) -> DateTime<Utc> {
        run.until_told("session_started", 1);
        let wait = self.below(u64::try_from(at_most.as_millis()).unwrap());
        let moment = Instant::now() + Duration::from_millis(wait);
        until(|| Instant::now() >= moment);
        Utc::now()
    }
}

impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PACKTRAIN_TEST_SEED={} threw {:?}",
            self.seed, self.thrown
        )
    }
}
