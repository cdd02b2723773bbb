//! A server in memory: it carries deeds out by compare-and-set, and checks what must never happen.

use std::collections::{BTreeMap, HashMap, HashSet};

use packtrain_drivers::{Classifier, DeviceId, DeviceInfo, Size};
use packtrain_model::{RunId, SessionId};

use crate::broker::state::{Deed, Fact, State};
use crate::wire::{
    Capacity, Demand, DeviceAdvert, DeviceKey, HostAdvert, HostName, Lease, RunAdvert, Standing,
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

fn names(run: &RunId, session: &SessionId) -> (String, String) {
    (run.0.clone(), session.0.clone())
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
        self.tell(Fact::Host {
            host,
            advert: host_advert("i1", sessions),
        });
    }

    pub(super) fn device(&mut self, name: &str) {
        let device = key(name);
        let advert = advert(&device.device);
        self.tell(Fact::Device { device, advert });
    }

    pub(super) fn run(&mut self, run: &str, min_devices: u32) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: format!("{run}@laptop"),
            min_devices,
            done: false,
            stopping: false,
            given_up: Vec::new(),
            set_aside: Vec::new(),
        };
        self.tell(Fact::Run {
            run: run_id(run),
            advert,
        });
    }

    pub(super) fn give_up(&mut self, run: &str, session: &str) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: String::new(),
            min_devices: 1,
            done: false,
            stopping: false,
            given_up: vec![SessionId(session.to_owned())],
            set_aside: Vec::new(),
        };
        self.tell(Fact::Run {
            run: run_id(run),
            advert,
        });
    }

    pub(super) fn set_aside(&mut self, run: &str, host: &str) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: String::new(),
            min_devices: 1,
            done: false,
            stopping: false,
            given_up: Vec::new(),
            set_aside: vec![host.parse().unwrap()],
        };
        self.tell(Fact::Run {
            run: run_id(run),
            advert,
        });
    }

    pub(super) fn stop(&mut self, run: &str) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: String::new(),
            min_devices: 1,
            done: false,
            stopping: true,
            given_up: Vec::new(),
            set_aside: Vec::new(),
        };
        self.tell(Fact::Run {
            run: run_id(run),
            advert,
        });
    }

    pub(super) fn done(&mut self, run: &str) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: String::new(),
            min_devices: 1,
            done: true,
            stopping: false,
            given_up: Vec::new(),
            set_aside: Vec::new(),
        };
        self.tell(Fact::Run {
            run: run_id(run),
            advert,
        });
    }

    pub(super) fn ask(&mut self, run: &str, session: &str, demand: Demand) {
        self.sequence += 1;
        self.tell(Fact::Demand {
            run: run_id(run),
            session: SessionId(session.to_owned()),
            sequence: self.sequence,
            demand,
        });
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
        self.tell(Fact::End {
            run: RunId(run),
            session: SessionId(session),
            host: device.host.clone(),
        });
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

    pub(super) fn standing(&self, run: &str) -> Standing {
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
            let began = std::time::Instant::now();
            let deeds = self.state.apply(fact);
            self.spent += began.elapsed();
            for deed in deeds {
                if let Deed::Wait { time, .. } = &deed {
                    let time = *time;
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

    /// Whoever waits for something better has waited for long enough.
    pub(super) fn let_waits_end(&mut self) {
        for (waited, _) in std::mem::take(&mut self.waits) {
            self.tell(waited);
        }
    }

    pub(super) fn carry_out(&mut self, deed: Deed) -> Fact {
        match deed {
            Deed::Grant {
                run,
                session,
                grant,
                incarnation,
                expected,
            } => {
                let replaces = grant.replaces.then(|| session.0.clone());
                self.replacing.extend(replaces);
                self.put(run, session, grant.device, incarnation, expected)
            }
            Deed::Confirm {
                run,
                session,
                grant,
            } => {
                let granted = (self.grants.entry(names(&run, &session)))
                    .or_insert(grant.device)
                    .clone();
                Fact::Confirmed {
                    run,
                    session,
                    granted,
                }
            }
            Deed::Lose {
                run,
                session,
                host,
                blame,
                cause,
            } => {
                self.causes.push(format!("{}: {cause}", blame.word()));
                let (of, id) = names(&run, &session);
                if self.ends.insert((of.clone(), id.clone(), host.clone())) {
                    self.lost.push((of.clone(), id.clone()));
                }
                self.running
                    .retain(|_, names| *names != (of.clone(), id.clone()));
                Fact::Lost { run, session, host }
            }
            Deed::Check {
                run,
                session,
                device,
            } => {
                let (revision, lease) = self.leases.get(&device).cloned().unwrap_or_default();
                Fact::Checked {
                    run,
                    session,
                    device,
                    revision,
                    lease,
                }
            }
            Deed::Wait { run, session, .. } => Fact::Waited { run, session },
            Deed::TakeBack { device, expected } => {
                let entry = self.leases.entry(device.clone()).or_default();
                if entry.0 == expected {
                    *entry = (expected + 1, None);
                    self.taken_back.push(device.clone());
                    self.running.remove(&device);
                }
                let (revision, lease) = self.leases[&device].clone();
                Fact::TakenBack {
                    device,
                    revision,
                    lease,
                }
            }
            Deed::Forget { run } => {
                self.forgotten.push(run.0.clone());
                Fact::Forgotten { run }
            }
        }
    }

    fn put(
        &mut self,
        run: RunId,
        session: SessionId,
        device: DeviceKey,
        incarnation: String,
        expected: u64,
    ) -> Fact {
        let entry = self.leases.entry(device.clone()).or_default();
        if entry.0 != expected {
            let (revision, lease) = entry.clone();
            return Fact::LeaseRefused {
                run,
                session,
                device,
                revision,
                lease,
            };
        }
        let revision = expected + 1;
        let is_heeded = (self.incarnations.get(&device.host)).is_none_or(|now| *now == incarnation);
        let lease = Lease {
            run: run.clone(),
            session: session.clone(),
            incarnation,
        };
        *entry = (revision, Some(lease));
        let names = names(&run, &session);
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
        if let Some(granted) = self.grants.get(&names).cloned() {
            if self.has_rivals && granted == device {
                return Fact::Granted {
                    run,
                    session,
                    device,
                    revision,
                };
            }
            assert!(
                self.has_rivals || !self.granted.contains(&names),
                "{names:?} is granted twice"
            );
            return Fact::GrantRefused {
                run,
                session,
                device,
                revision,
                granted,
            };
        }
        self.grants.insert(names.clone(), device.clone());
        self.granted.push(names);
        Fact::Granted {
            run,
            session,
            device,
            revision,
        }
    }
}
