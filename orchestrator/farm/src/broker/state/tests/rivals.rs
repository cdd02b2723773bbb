//! Two brokers that lead at once, each behind in its own way, while hosts and runs die.

use proptest::prelude::*;
use proptest::sample::Index;

use super::server::{Server, advert, demand, host_advert, key, run_advert, run_id, session_key};
use crate::broker::state::{Effect, Fact, LeaseSeen, SessionKey, State};
use crate::wire::{DeviceKey, HostName, Lease};

const HOSTS: [&str; 2] = ["h0", "h1"];
const DEVICES: [&str; 3] = ["android/1@h0", "ios/2@h0", "android/3@h1"];
const RUNS: [&str; 2] = ["r0", "r1"];
const ON: [&str; 3] = ["android", "ios", "*"];

/// Something that happens next, and to which of those it could happen to.
#[derive(Debug, Clone)]
enum Turn {
    Ask { run: usize, on: usize },
    End(Index),
    CarryOut { broker: usize, deed: Index },
    Answer { broker: usize, answer: Index },
    Read { broker: usize, log: usize },
    HostDies(usize),
    HostComes(usize),
    RunDies(usize),
    RunComes(usize),
}

fn turn() -> impl Strategy<Value = Turn> {
    let index = any::<Index>;
    prop_oneof![
        4 => (0..2usize, 0..3usize).prop_map(|(run, on)| Turn::Ask { run, on }),
        4 => index().prop_map(Turn::End),
        8 => (0..2usize, index()).prop_map(|(broker, deed)| Turn::CarryOut { broker, deed }),
        8 => (0..2usize, index()).prop_map(|(broker, answer)| Turn::Answer { broker, answer }),
        16 => (0..2usize, 0..3usize).prop_map(|(broker, log)| Turn::Read { broker, log }),
        1 => (0..2usize).prop_map(Turn::HostDies),
        2 => (0..2usize).prop_map(Turn::HostComes),
        1 => (0..2usize).prop_map(Turn::RunDies),
        2 => (0..2usize).prop_map(Turn::RunComes),
    ]
}

/// A broker with what it has not heard yet.
#[derive(Default)]
struct Rival {
    state: State,
    deeds: Vec<Effect>,
    answers: Vec<Fact>,
    /// How far it has read who is alive, what happens to runs, and leases.
    read: [usize; 3],
}

impl Rival {
    fn learn(&mut self, fact: Fact) {
        self.deeds.extend(self.state.apply(fact));
    }
}

#[derive(Default)]
struct Farm {
    server: Server,
    logs: [Vec<Fact>; 3],
    rivals: [Rival; 2],
    asked: Vec<(String, String)>,
    starts: usize,
}

impl Farm {
    fn new() -> Self {
        let mut farm = Self::default();
        farm.server.has_rivals = true;
        for host in 0..HOSTS.len() {
            farm.host_comes(host);
        }
        for run in 0..RUNS.len() {
            farm.run_comes(run);
        }
        for device in DEVICES.map(key) {
            let advert = advert(&device.device);
            farm.logs[0].push(Fact::Device(device, Some(advert)));
        }
        for rival in &mut farm.rivals {
            rival.learn(Fact::DeathsAreCertain(true));
            rival.learn(Fact::Leading);
        }
        farm
    }

    fn host_comes(&mut self, host: usize) {
        // One that was not seen to die is restarted anyway.
        self.starts += 1;
        let incarnation = format!("i{}", self.starts);
        self.stop_sessions(host, &incarnation);
        let advert = host_advert(&incarnation, 2);
        let host = HOSTS[host].parse().unwrap();
        self.logs[0].push(Fact::Host(host, Some(advert)));
    }

    fn stop_sessions(&mut self, host: usize, incarnation: &str) {
        let host: HostName = HOSTS[host].parse().unwrap();
        (self.server.running).retain(|device, _| device.host != host);
        (self.server.incarnations).insert(host, incarnation.to_owned());
    }

    fn run_comes(&mut self, run: usize) {
        let run = run_id(RUNS[run]);
        self.logs[0].push(Fact::Run(run, Some(run_advert())));
    }

    fn end(&mut self, device: &DeviceKey) {
        let names = self.server.running[device].clone();
        let host = device.host.clone();
        // A host that was given a session twice has no use for the second.
        (self.server.running).retain(|device, other| device.host != host || *other != names);
        let (run, session) = names;
        if (self.server.ends).insert((run.clone(), session.clone(), host.clone())) {
            let session = session_key(&run, &session);
            self.logs[1].push(Fact::End(session, host));
        }
    }

    /// What is written is in the logs for the other one.
    fn carry_out(&mut self, broker: usize, deed: usize) {
        let deed = self.rivals[broker].deeds.remove(deed);
        let answer = self.server.carry_out(deed);
        let written = match answer.clone() {
            Fact::Granted {
                session,
                device,
                granted,
                ..
            } => {
                if granted == device {
                    self.logs[1].push(Fact::Grant(session, granted));
                }
                Some(device)
            }
            Fact::TakenBack(seen) => Some(seen.device),
            Fact::Confirmed(session, device) => {
                self.logs[1].push(Fact::Grant(session, device));
                None
            }
            Fact::Lost(session, host) => {
                self.logs[1].push(Fact::End(session, host));
                None
            }
            _ => None,
        };
        if let Some(device) = written {
            self.logs[2].push(Fact::Lease(self.server.seen(device)));
        }
        self.rivals[broker].answers.push(answer);
    }

    fn read(&mut self, broker: usize, log: usize) -> bool {
        let rival = &mut self.rivals[broker];
        let fact = self.logs[log].get(rival.read[log]).cloned();
        let is_there = fact.is_some();
        if let Some(fact) = fact {
            rival.read[log] += 1;
            rival.learn(fact);
        }
        is_there
    }

    fn play(&mut self, turn: &Turn) {
        match turn {
            Turn::Ask { run, on } => {
                let session = format!("s{}", self.asked.len());
                self.asked.push((RUNS[*run].to_owned(), session.clone()));
                let (session, number) = (session_key(RUNS[*run], &session), self.asked.len());
                self.logs[1].push(Fact::Demand(session, number as u64, demand(ON[*on])));
            }
            Turn::End(which) if !self.server.running.is_empty() => {
                let which = which.index(self.server.running.len());
                let device = self.server.running.keys().nth(which).cloned();
                self.end(&device.unwrap());
            }
            Turn::CarryOut { broker, deed } if !self.rivals[*broker].deeds.is_empty() => {
                let deed = deed.index(self.rivals[*broker].deeds.len());
                self.carry_out(*broker, deed);
            }
            Turn::Answer { broker, answer } if !self.rivals[*broker].answers.is_empty() => {
                let rival = &mut self.rivals[*broker];
                let answer = rival.answers.remove(answer.index(rival.answers.len()));
                rival.learn(answer);
            }
            Turn::Read { broker, log } => {
                self.read(*broker, *log);
            }
            Turn::HostDies(host) => {
                self.stop_sessions(*host, "nobody");
                let host = HOSTS[*host].parse().unwrap();
                self.logs[0].push(Fact::Host(host, None));
            }
            Turn::HostComes(host) => self.host_comes(*host),
            Turn::RunDies(run) => {
                let run = run_id(RUNS[*run]);
                self.logs[0].push(Fact::Run(run, None));
            }
            Turn::RunComes(run) => self.run_comes(*run),
            Turn::End(_) | Turn::CarryOut { .. } | Turn::Answer { .. } => {}
        }
    }

    /// Everything that is under way comes to its end.
    fn settle(&mut self) {
        loop {
            let mut has_news = false;
            for broker in 0..2 {
                for log in 0..3 {
                    while self.read(broker, log) {
                        has_news = true;
                    }
                }
                while !self.rivals[broker].deeds.is_empty() {
                    self.carry_out(broker, 0);
                    has_news = true;
                }
                for answer in std::mem::take(&mut self.rivals[broker].answers) {
                    self.rivals[broker].learn(answer);
                    has_news = true;
                }
            }
            if has_news {
                continue;
            }
            let Some(device) = self.server.running.keys().next().cloned() else {
                return;
            };
            self.end(&device);
        }
    }
}

/// A state that has one run, and grants its one session `android/1@h0`; there is `android/2@h1` beside it.
fn granting() -> (State, SessionKey, [DeviceKey; 2]) {
    let mut state = State::new();
    let mut tell = |fact| state.apply(fact);
    tell(Fact::DeathsAreCertain(true));
    tell(Fact::Leading);
    let devices = [key("android/1@h0"), key("android/2@h1")];
    for device in &devices {
        tell(Fact::Host(device.host.clone(), Some(host_advert("i1", 2))));
        tell(Fact::Device(device.clone(), Some(advert(&device.device))));
    }
    let session = session_key("r0", "s1");
    tell(Fact::Run(run_id("r0"), Some(run_advert())));
    let deeds = tell(Fact::Demand(session.clone(), 1, demand("device=android/1")));
    assert!(
        matches!(&deeds[..], [Effect::Grant { grant, .. }] if grant.device == devices[0]),
        "{deeds:?}"
    );
    (state, session, devices)
}

/// The session's lease of a device.
fn leased(session: &SessionKey, device: &DeviceKey, revision: u64) -> LeaseSeen {
    LeaseSeen {
        device: device.clone(),
        revision,
        lease: Some(Lease {
            run: session.run.clone(),
            session: session.session.clone(),
            incarnation: "i1".to_owned(),
        }),
    }
}

/// A device whose lease was taken back.
fn taken_back(device: DeviceKey) -> Fact {
    Fact::TakenBack(LeaseSeen {
        device,
        revision: 3,
        lease: None,
    })
}

fn takes_back(deeds: &[Effect], wanted: &DeviceKey) -> bool {
    let mut deeds = deeds.iter();
    deeds.any(|deed| matches!(deed, Effect::TakeBack(device, _) if device == wanted))
}

/// This one's grant was first: the rival's lease is taken back, and its own is not.
#[test]
fn a_session_whose_lease_a_rival_put_too_keeps_that_of_its_grant() {
    let (mut state, session, [ours, theirs]) = granting();
    let mut deeds = state.apply(Fact::Lease(leased(&session, &theirs, 1)));
    deeds.extend(state.apply(Fact::Granted {
        session,
        device: ours.clone(),
        revision: 2,
        granted: ours.clone(),
    }));
    assert!(takes_back(&deeds, &theirs), "{deeds:?}");
    assert!(!takes_back(&deeds, &ours), "{deeds:?}");
}

/// The grant came before everything was read, and its lease, put since, has yet to be heard of.
#[test]
fn a_new_leader_looks_again_before_a_grant_without_a_lease_is_lost() {
    let (_, session, [ours, _]) = granting();
    let mut state = State::new();
    let asked = Fact::Demand(session.clone(), 1, demand("*"));
    let granted = Fact::Grant(session, ours.clone());
    let before = [asked, granted].map(|fact| state.apply(fact));
    assert_eq!(before, [[], []]);
    let deeds = state.apply(Fact::Leading);
    assert!(
        matches!(&deeds[..], [Effect::Check(_, device)] if *device == ours),
        "{deeds:?}"
    );
}

/// Two others put a lease each and died, and the device of one is gone: the session has the other one.
#[test]
fn a_session_has_its_second_lease_when_its_first_goes_without_a_grant() {
    let (mut state, session, [ours, theirs]) = granting();
    let _ = state.apply(Fact::Lease(leased(&session, &theirs, 1)));
    let _ = state.apply(Fact::Device(theirs.clone(), None));
    let seen = leased(&session, &ours, 2);
    let deeds = state.apply(Fact::LeaseRefused(session, seen));
    assert!(takes_back(&deeds, &theirs), "{deeds:?}");
    let deeds = state.apply(taken_back(theirs));
    assert!(
        matches!(&deeds[..], [Effect::Confirm(_, grant)] if grant.device == ours),
        "{deeds:?}"
    );
}

/// Two brokers put a lease each for the same session, and the other one's grant was first: what stands is
/// the lease of the grant, in whichever order this one hears of it.
#[test]
fn a_session_that_a_rival_granted_elsewhere_is_not_lost() {
    for hears_of_the_lease_first in [false, true] {
        let (mut state, session, [ours, theirs]) = granting();
        let mut tell = |fact| state.apply(fact);
        let seen = leased(&session, &theirs, 1);
        let mut deeds = tell(Fact::Granted {
            session: session.clone(),
            device: ours.clone(),
            revision: 2,
            granted: theirs.clone(),
        });
        if hears_of_the_lease_first {
            deeds.extend(tell(Fact::Lease(seen.clone())));
        }
        let mut answers = vec![Fact::Checked(session, seen), taken_back(ours.clone())];
        if hears_of_the_lease_first {
            answers.reverse();
        }
        for answer in answers {
            deeds.extend(tell(answer));
        }
        assert!(takes_back(&deeds, &ours), "{deeds:?}");
        let is_lost = |deed: &Effect| matches!(deed, Effect::Lose { .. });
        assert!(!deeds.iter().any(is_lost), "{deeds:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn rivals_give_no_device_to_two_and_leave_no_session_behind(
        turns in prop::collection::vec(turn(), 0..300),
    ) {
        let mut farm = Farm::new();
        for turn in &turns {
            farm.play(turn);
        }
        for host in 0..HOSTS.len() {
            farm.host_comes(host);
        }
        for run in 0..RUNS.len() {
            farm.run_comes(run);
        }
        farm.settle();
        for (run, session) in &farm.asked {
            let names = (run.clone(), session.clone());
            let device = farm.server.grants.get(&names);
            prop_assert!(device.is_some(), "{:?} was not granted", names);
            let host = device.unwrap().host.clone();
            let end = (run.clone(), session.clone(), host);
            prop_assert!(farm.server.ends.contains(&end), "{:?} has no end", names);
        }
    }
}
