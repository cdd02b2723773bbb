//! A server in memory: it carries deeds out by compare-and-set, and checks what must never happen.

use std::collections::{BTreeMap, HashMap, HashSet};

use packtrain_drivers::{Classifier, DeviceId, DeviceInfo, Size};
use packtrain_model::{RunId, SessionId};
use tokio::time::Instant;

use crate::broker::state::{Effect, Fact, LeaseSeen, SessionKey, State};
use crate::wire::{
    Capacity, Demand, DeviceAdvert, DeviceKey, HostAdvert, HostName, Lease, QueuePosition,
    RunAdvert,
};

/// A farm of hosts, runs and one broker.
#[derive(Default)]
pub(super) struct Server {
    pub(super) state: State,
    pub(super) leases: HashMap<DeviceKey, (u64, Option<Lease>)>,
    /// The device of each grant, and the order of grants.
    pub(super) grants: HashMap<(String, String), DeviceKey>,
    pub(super) granted: Vec<(String, String)>,
    /// Sessions under way, by device.
    pub(super) running: BTreeMap<DeviceKey, (String, String)>,
    pub(super) lost: Vec<(String, String)>,
    /// Sessions that were granted another device than their own.
    pub(super) replacing: Vec<String>,
    pub(super) causes: Vec<String>,
    /// The waits that are under way, and how long each is.
    pub(super) waits: Vec<(Fact, std::time::Duration)>,
    pub(super) taken_back: Vec<DeviceKey>,
    pub(super) forgotten: Vec<String>,
    pub(super) capacities: HashMap<HostName, u32>,
    pub(super) ends: HashSet<(String, String, HostName)>,
    /// What the state took.
    pub(super) spent: std::time::Duration,
    /// Which starts of hosts heed their leases; all when it is not said.
    pub(super) incarnations: HashMap<HostName, String>,
    /// Whether other brokers write as well.
    pub(super) has_rivals: bool,
    sequence: u64,
}

pub(super) fn key(name: &str) -> DeviceKey {
    let (device, host) = name.split_once('@').unwrap();
    DeviceKey {
        host: host.parse().unwrap(),
        device: device.parse().unwrap(),
    }
}

pub(super) fn advert(device: &DeviceId) -> DeviceAdvert {
    DeviceAdvert {
        info: DeviceInfo {
            id: device.clone(),
            driver: "virtual".to_owned(),
            classifiers: vec![Classifier::from(device.platform().as_str()), "phone".into()],
            model: "Pixel 9".to_owned(),
            system: "Android 14".to_owned(),
            screen: Size {
                width: 390.0,
                height: 844.0,
            },
        },
        api: Some(31),
        labels: BTreeMap::new(),
        tools: Vec::new(),
        has: Vec::new(),
        out_of_service: None,
    }
}

pub(super) fn host_advert(incarnation: &str, sessions: u32) -> HostAdvert {
    HostAdvert {
        incarnation: incarnation.to_owned(),
        version: "1".to_owned(),
        protocol: crate::wire::Protocol::CURRENT,
        capacity: Capacity {
            sessions,
            browsers: sessions,
        },
        draining: false,
        seal: String::new(),
        system: String::new(),
    }
}

pub(super) fn demand(on: &str) -> Demand {
    Demand {
        on: on.to_owned(),
        spread: String::new(),
        own: None,
        requeued: false,
        avoid: Vec::new(),
        avoid_hosts: Vec::new(),
        at: chrono::DateTime::UNIX_EPOCH,
    }
}

pub(super) fn run_id(run: &str) -> RunId {
    RunId(run.to_owned())
}

pub(super) fn session_key(run: &str, session: &str) -> SessionKey {
    SessionKey {
        run: run_id(run),
        session: SessionId(session.to_owned()),
    }
}

/// A run that is alive, and nothing else.
pub(super) fn run_advert() -> RunAdvert {
    RunAdvert {
        incarnation: "r1".to_owned(),
        owner: String::new(),
        min_devices: 1,
        done: false,
        stopping: false,
        given_up: Vec::new(),
        set_aside: Vec::new(),
    }
}

fn names(session: &SessionKey) -> (String, String) {
    (session.run.0.clone(), session.session.0.clone())
}

impl Server {
    /// A farm with a leader and these devices, such as `android/1@mac-1`, on hosts with room.
    pub(super) fn with(devices: &[&str]) -> Self {
        let mut server = Self::default();
        server.tell(Fact::DeathsAreCertain(true));
        server.tell(Fact::Leading);
        for device in devices {
            let key = key(device);
            if !server.capacities.contains_key(&key.host) {
                server.host(&key.host.to_string(), 100);
            }
            server.device(device);
        }
        server
    }

    pub(super) fn host(&mut self, host: &str, sessions: u32) {
        let host: HostName = host.parse().unwrap();
        self.capacities.insert(host.clone(), sessions);
        self.tell(Fact::Host(host, Some(host_advert("i1", sessions))));
    }

    pub(super) fn device(&mut self, name: &str) {
        let device = key(name);
        let advert = advert(&device.device);
        self.tell(Fact::Device(device, Some(advert)));
    }

    pub(super) fn run(&mut self, run: &str, min_devices: u32) {
        let owner = format!("{run}@laptop");
        self.says(run, |advert| {
            advert.owner = owner;
            advert.min_devices = min_devices;
        });
    }

    pub(super) fn give_up(&mut self, run: &str, session: &str) {
        self.says(run, |advert| {
            advert.given_up = vec![SessionId(session.to_owned())]
        });
    }

    pub(super) fn set_aside(&mut self, run: &str, host: &str) {
        self.says(run, |advert| advert.set_aside = vec![host.parse().unwrap()]);
    }

    pub(super) fn stop(&mut self, run: &str) {
        self.says(run, |advert| advert.stopping = true);
    }

    pub(super) fn done(&mut self, run: &str) {
        self.says(run, |advert| advert.done = true);
    }

    fn says(&mut self, run: &str, change: impl FnOnce(&mut RunAdvert)) {
        let mut advert = run_advert();
        change(&mut advert);
        self.tell(Fact::Run(run_id(run), Some(advert)));
    }

    pub(super) fn ask(&mut self, run: &str, session: &str, demand: Demand) {
        self.sequence += 1;
        let key = session_key(run, session);
        self.tell(Fact::Demand(key, self.sequence, demand));
    }

    /// A run that wants so many sessions: `s1`, `s2` and so on.
    pub(super) fn run_of(&mut self, run: &str, sessions: usize, on: &str) {
        self.run(run, 1);
        for number in 1..=sessions {
            self.ask(run, &format!("s{number}"), demand(on));
        }
    }

    /// The session on a device ends.
    pub(super) fn end(&mut self, device: &DeviceKey) {
        let (run, session) = self.running.remove(device).unwrap();
        self.ends
            .insert((run.clone(), session.clone(), device.host.clone()));
        let key = session_key(&run, &session);
        self.tell(Fact::End(key, device.host.clone()));
    }

    /// The session that has been under way longest ends.
    pub(super) fn end_oldest(&mut self) {
        let oldest = self.granted.iter().find_map(|names| {
            let device = &self.grants[names];
            (self.running.get(device) == Some(names)).then(|| device.clone())
        });
        self.end(&oldest.unwrap());
    }

    /// Ends everything until nothing is under way.
    pub(super) fn play(&mut self) {
        while let Some(device) = self.running.keys().next().cloned() {
            self.end(&device);
        }
    }

    pub(super) fn in_flight(&self, run: &str) -> usize {
        self.running.values().filter(|(of, _)| of == run).count()
    }

    /// The sessions that were granted so far, of one run.
    pub(super) fn order(&self, run: &str) -> Vec<&str> {
        (self.granted.iter())
            .filter(|(of, _)| of == run)
            .map(|(_, session)| session.as_str())
            .collect()
    }

    pub(super) fn standing(&self, run: &str) -> QueuePosition {
        let mut queue = self.state.queue().into_iter();
        queue.find(|standing| standing.run.0 == run).unwrap()
    }

    pub(super) fn reason(&self, run: &str) -> String {
        self.standing(run).reason.unwrap_or_default()
    }

    /// Tells a fact and carries out what follows, as long as anything does.
    pub(super) fn tell(&mut self, fact: Fact) {
        let mut facts = vec![fact];
        while let Some(fact) = facts.pop() {
            let began = Instant::now();
            let deeds = self.state.apply(fact);
            self.spent += began.elapsed();
            for deed in deeds {
                if let Effect::Wait(_, time) = deed {
                    let answer = self.carry_out(deed);
                    self.waits.push((answer, time));
                } else {
                    facts.push(self.carry_out(deed));
                }
            }
        }
        for (host, capacity) in &self.capacities {
            let busy = self
                .running
                .keys()
                .filter(|device| device.host == *host)
                .count();
            assert!(
                busy <= *capacity as usize,
                "{host} has {busy} of {capacity}"
            );
        }
    }

    /// A session that waits for something better has waited long enough.
    pub(super) fn let_waits_end(&mut self) {
        for (waited, _) in std::mem::take(&mut self.waits) {
            self.tell(waited);
        }
    }

    pub(super) fn carry_out(&mut self, deed: Effect) -> Fact {
        match deed {
            Effect::Grant {
                session,
                grant,
                incarnation,
                expected,
            } => {
                let replaces = grant.replaces.then(|| session.session.0.clone());
                self.replacing.extend(replaces);
                self.put(session, grant.device, incarnation, expected)
            }
            Effect::Confirm(session, grant) => {
                let granted = (self.grants.entry(names(&session))).or_insert(grant.device);
                Fact::Confirmed(session, granted.clone())
            }
            Effect::Lose {
                session,
                host,
                blame,
                cause,
            } => {
                self.causes.push(format!("{}: {cause}", blame.word()));
                let (of, id) = names(&session);
                if self.ends.insert((of.clone(), id.clone(), host.clone())) {
                    self.lost.push((of.clone(), id.clone()));
                }
                self.running
                    .retain(|_, names| *names != (of.clone(), id.clone()));
                Fact::Lost(session, host)
            }
            Effect::Check(session, device) => Fact::Checked(session, self.seen(device)),
            Effect::Wait(session, _) => Fact::Waited(session),
            Effect::TakeBack(device, expected) => {
                let entry = self.leases.entry(device.clone()).or_default();
                if entry.0 == expected {
                    *entry = (expected + 1, None);
                    self.taken_back.push(device.clone());
                    self.running.remove(&device);
                }
                Fact::TakenBack(self.seen(device))
            }
            Effect::Forget(run) => {
                self.forgotten.push(run.0.clone());
                Fact::Forgotten(run)
            }
        }
    }

    /// What stands as a device's lease.
    pub(super) fn seen(&self, device: DeviceKey) -> LeaseSeen {
        let (revision, lease) = self.leases.get(&device).cloned().unwrap_or_default();
        LeaseSeen {
            device,
            revision,
            lease,
        }
    }

    fn put(
        &mut self,
        session: SessionKey,
        device: DeviceKey,
        incarnation: String,
        expected: u64,
    ) -> Fact {
        let entry = self.leases.entry(device.clone()).or_default();
        if entry.0 != expected {
            return Fact::LeaseRefused(session, self.seen(device));
        }
        let revision = expected + 1;
        let is_heeded = (self.incarnations.get(&device.host)).is_none_or(|now| *now == incarnation);
        let lease = Lease {
            run: session.run.clone(),
            session: session.session.clone(),
            incarnation,
        };
        *entry = (revision, Some(lease));
        let names = names(&session);
        // A host begins as soon as it has the lease.
        if is_heeded {
            let before = self.running.insert(device.clone(), names.clone());
            // What ended is of no account: the host has been told, or hears of it by this very lease.
            let is_over = |(run, session): &(String, String)| {
                let end = (run.clone(), session.clone(), device.host.clone());
                self.ends.contains(&end)
            };
            assert!(
                before.as_ref().is_none_or(is_over),
                "{device} has two sessions: {before:?} and {names:?}"
            );
        }
        let granted = match self.grants.get(&names).cloned() {
            Some(granted) => {
                assert!(
                    self.has_rivals || !self.granted.contains(&names),
                    "{names:?} is granted twice"
                );
                granted
            }
            None => {
                self.grants.insert(names.clone(), device.clone());
                self.granted.push(names);
                device.clone()
            }
        };
        Fact::Granted {
            session,
            device,
            revision,
            granted,
        }
    }
}
