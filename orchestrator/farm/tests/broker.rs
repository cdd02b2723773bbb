//! The broker: elections, restarts, two at once, deaths.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use chrono::DateTime;
use packtrain_drivers::{Classifier, DeviceInfo, Size};
use packtrain_farm::broker::{self, BrokerOptions};
use packtrain_farm::follow::{Followed, Follower};
use packtrain_farm::link::Link;
use packtrain_farm::live::{Liveness, Take};
use packtrain_farm::names::{self, BROKER, DEVICES, LEASES, LIVE};
use packtrain_farm::store::{Put, Stored};
use packtrain_farm::wire::{
    Capacity, Demand, DeviceAdvert, DeviceKey, End, Grant, HostAdvert, Lease, QueuePosition,
    RunAdvert,
};
use packtrain_model::{Blame, RunId, SessionId};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::nats::Nats;

/// Long enough that nothing expires within a test.
const LONG: Duration = Duration::from_secs(60);
/// Short enough to wait for.
const SHORT: Duration = Duration::from_secs(2);

/// A farm whose hosts and runs are played by the test.
struct Farm {
    nats: Nats,
    link: Link,
    alive: HashMap<String, Liveness>,
}

/// A broker of its own connection.
struct Broker {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Broker {
    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Gone without a word.
    async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

fn device(host: usize) -> DeviceKey {
    DeviceKey {
        host: format!("mac-{host}").parse().unwrap(),
        device: "android/emulator-5554".parse().unwrap(),
    }
}

fn run_id(run: &str) -> RunId {
    RunId(run.to_owned())
}

fn session_id(session: &str) -> SessionId {
    SessionId(session.to_owned())
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

impl Farm {
    /// A farm of hosts `mac-0`, `mac-1` and so on with a phone each, and a run `a`.
    async fn of(hosts: usize) -> Self {
        let nats = Nats::start().await;
        let link = nats.farm().await;
        let mut farm = Self {
            nats,
            link,
            alive: HashMap::new(),
        };
        for host in 0..hosts {
            farm.host(host).await;
        }
        farm.run("a", false).await;
        farm
    }

    async fn keep_alive(&mut self, key: String, value: Vec<u8>) {
        let taken = Liveness::take(&self.link, key.clone(), value, LONG, Take::Over, None).await;
        self.alive.insert(key, taken.unwrap().unwrap());
    }

    async fn host(&mut self, host: usize) {
        let device = device(host);
        let advert = HostAdvert {
            incarnation: format!("i-{host}"),
            version: "1".to_owned(),
            protocol: packtrain_farm::wire::Protocol::CURRENT,
            capacity: Capacity {
                sessions: 4,
                browsers: 0,
            },
            draining: false,
            seal: String::new(),
            system: String::new(),
        };
        self.keep_alive(names::host_key(&device.host), json(&advert))
            .await;
        let advert = DeviceAdvert {
            info: DeviceInfo {
                id: device.device.clone(),
                driver: "virtual".to_owned(),
                classifiers: vec![Classifier::from("android"), Classifier::from("phone")],
                model: "Pixel 9".to_owned(),
                system: "Android 14".to_owned(),
                screen: Size {
                    width: 390.0,
                    height: 844.0,
                },
            },
            api: Some(34),
            labels: BTreeMap::new(),
            tools: Vec::new(),
            has: Vec::new(),
            out_of_service: None,
        };
        let subject = names::key_subject(DEVICES, &names::device_key(&device));
        let put = self.link.put_if(&subject, 0, json(&advert).into(), None);
        assert!(matches!(put.await, Ok(Put::Done(_))));
    }

    async fn run(&mut self, run: &str, done: bool) {
        let advert = RunAdvert {
            incarnation: "r1".to_owned(),
            owner: "ada@laptop".to_owned(),
            min_devices: 1,
            done,
            stopping: false,
            given_up: Vec::new(),
            set_aside: Vec::new(),
        };
        self.keep_alive(names::run_key(&run_id(run)), json(&advert))
            .await;
    }

    /// The run wants a session on any device that matches.
    async fn ask(&self, session: &str, on: &str) {
        let demand = Demand {
            on: on.to_owned(),
            own: None,
            spread: String::new(),
            requeued: false,
            avoid: Vec::new(),
            avoid_hosts: Vec::new(),
            at: DateTime::UNIX_EPOCH,
        };
        let subject = names::demand(&run_id("a"), &session_id(session));
        let put = self.link.put_if(&subject, 0, json(&demand).into(), None);
        assert!(matches!(put.await, Ok(Put::Done(_))));
    }

    async fn end(&self, session: &str, device: &DeviceKey) -> Put {
        let subject = names::end(&run_id("a"), &session_id(session), &device.host);
        let end = End::Lost {
            blame: Blame::HostLost,
            cause: "the test said so".to_owned(),
        };
        let put = self.link.put_if(&subject, 0, json(&end).into(), None);
        put.await.unwrap()
    }

    async fn broker(&self, name: &str, ttl: Duration) -> Broker {
        let link = self.nats.link().await;
        let stop = CancellationToken::new();
        let options = BrokerOptions {
            name: name.to_owned(),
            replicas: 1,
            ttl,
        };
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            broker::run(link, options, stopped).await.unwrap();
        });
        Broker { stop, task }
    }

    fn grants(&self) -> Follower {
        self.link.follow_runs(vec!["r.*.grant.*".to_owned()])
    }

    async fn lease(&self, host: usize) -> Option<Stored> {
        let key = names::device_key(&device(host));
        let subject = names::key_subject(LEASES, &key);
        self.link.last(&subject).await.unwrap()
    }
}

/// The next message; that everything was read is passed over.
async fn next(follower: &mut Follower) -> Stored {
    loop {
        if let Followed::Message(stored) = follower.next().await.unwrap() {
            return stored;
        }
    }
}

/// The session and the device of the next grant.
async fn next_grant(grants: &mut Follower) -> (String, DeviceKey) {
    let stored = next(grants).await;
    let session = names::decode(stored.tokens()[3]).unwrap();
    (session, stored.read::<Grant>().unwrap().device)
}

#[tokio::test]
async fn sessions_are_granted_in_order_as_devices_become_free() {
    let farm = Farm::of(1).await;
    let broker = farm.broker("one", LONG).await;
    for session in ["s1", "s2", "s3"] {
        farm.ask(session, "android & api>=33").await;
    }
    let mut grants = farm.grants();
    for wanted in ["s1", "s2", "s3"] {
        let (session, granted) = next_grant(&mut grants).await;
        assert_eq!((session.as_str(), &granted), (wanted, &device(0)));
        let lease: Lease = farm.lease(0).await.unwrap().read().unwrap();
        assert_eq!(
            (lease.session.0.as_str(), lease.incarnation.as_str()),
            (wanted, "i-0")
        );
        assert!(matches!(farm.end(&session, &granted).await, Put::Done(_)));
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_standby_takes_over_from_a_leader_that_died() {
    let farm = Farm::of(1).await;
    let first = farm.broker("first", SHORT).await;
    farm.ask("s1", "android").await;
    let mut grants = farm.grants();
    assert_eq!(next_grant(&mut grants).await.0, "s1");
    let second = farm.broker("second", SHORT).await;
    first.kill().await;
    farm.ask("s2", "android").await;
    farm.end("s1", &device(0)).await;
    assert_eq!(next_grant(&mut grants).await.0, "s2");
    second.stop().await;
}

#[tokio::test]
async fn a_broker_that_was_restarted_grants_nothing_twice() {
    let farm = Farm::of(2).await;
    let broker = farm.broker("one", LONG).await;
    for session in ["s1", "s2", "s3"] {
        farm.ask(session, "android").await;
    }
    let mut grants = farm.grants();
    let (first, of_first) = next_grant(&mut grants).await;
    let (second, of_second) = next_grant(&mut grants).await;
    assert_eq!((first.as_str(), second.as_str()), ("s1", "s2"));
    assert_ne!(of_first, of_second);
    let before = [farm.lease(0).await, farm.lease(1).await];
    broker.stop().await;
    let broker = farm.broker("two", LONG).await;
    farm.end("s1", &of_first).await;
    assert_eq!(next_grant(&mut grants).await, ("s3".to_owned(), of_first));
    broker.stop().await;
    let after = [farm.lease(0).await, farm.lease(1).await];
    let unchanged = after.iter().filter(|lease| before.contains(lease));
    assert_eq!(unchanged.count(), 1, "s2 goes on where it was");
}

#[tokio::test]
async fn a_broker_goes_on_when_its_server_was_restarted() {
    let mut farm = Farm::of(1).await;
    let broker = farm.broker("one", LONG).await;
    farm.ask("s1", "android").await;
    farm.ask("s2", "android").await;
    let mut grants = farm.grants();
    assert_eq!(next_grant(&mut grants).await.0, "s1");
    farm.nats.kill().await;
    farm.nats.restart().await;
    assert!(matches!(farm.end("s1", &device(0)).await, Put::Done(_)));
    assert_eq!(next_grant(&mut grants).await.0, "s2");
    assert!(matches!(farm.end("s2", &device(0)).await, Put::Done(_)));
    broker.stop().await;
}

#[tokio::test]
async fn brokers_that_lead_at_once_never_give_a_device_to_two() {
    const SESSIONS: usize = 120;
    let farm = Farm::of(6).await;
    let brokers = [
        farm.broker("one", LONG).await,
        farm.broker("two", LONG).await,
        farm.broker("three", LONG).await,
    ];
    for number in 0..SESSIONS {
        farm.ask(&format!("s{number}"), "android").await;
    }
    let mut grants = farm.grants();
    let mut leases = farm.link.follow_keys(LEASES, &[">".to_owned()]);
    let mut holders: HashMap<String, String> = HashMap::new();
    let mut ended = HashSet::new();
    let leader = names::key_subject(LIVE, BROKER);
    while ended.len() < SESSIONS {
        tokio::select! {
            lease = next(&mut leases) => {
                let Some(_) = lease.value else {
                    holders.remove(&lease.subject);
                    continue;
                };
                let session = lease.read::<Lease>().unwrap().session.0;
                if let Some(before) = holders.insert(lease.subject, session.clone()) {
                    assert!(ended.contains(&before), "{before} was under way when {session} came");
                }
            }
            (session, device) = next_grant(&mut grants) => {
                // Recorded first: a broker may act on the end before we hear of it.
                assert!(ended.insert(session.clone()), "{session} is granted twice");
                assert!(matches!(farm.end(&session, &device).await, Put::Done(_)));
                if ended.len() % 10 == 0 {
                    // The leader hears of this when its write is refused, or much later; another one
                    // leads at once.
                    let last = farm.link.last(&leader).await.unwrap().unwrap();
                    let _ = farm.link.take_key(LIVE, BROKER, last.sequence).await;
                }
            }
        }
    }
    for broker in brokers {
        broker.stop().await;
    }
}

#[tokio::test]
async fn sessions_of_a_host_that_died_are_lost_and_its_lease_is_taken_back() {
    let mut farm = Farm::of(1).await;
    let broker = farm.broker("one", SHORT).await;
    farm.ask("s1", "android").await;
    let mut grants = farm.grants();
    next_grant(&mut grants).await;
    let mut leases = farm.link.follow_keys(LEASES, &[">".to_owned()]);
    let mut ends = farm.link.follow_runs(vec!["r.*.end.*.*".to_owned()]);
    let host = farm
        .alive
        .remove(&names::host_key(&device(0).host))
        .unwrap();
    host.release().await;
    let end = next(&mut ends).await;
    assert_eq!(
        end.subject,
        names::end(&run_id("a"), &session_id("s1"), &device(0).host)
    );
    let cause = "its host mac-0 is gone".to_owned();
    let blame = Blame::HostLost;
    assert_eq!(end.read(), Ok(End::Lost { blame, cause }));
    while next(&mut leases).await.value.is_some() {}
    assert_eq!(
        farm.end("s1", &device(0)).await,
        Put::Refused,
        "a host that comes back is too late"
    );
    broker.stop().await;
}

#[tokio::test]
async fn a_run_is_told_why_it_waits_and_forgotten_when_it_is_done() {
    use futures::StreamExt as _;

    let mut farm = Farm::of(1).await;
    let mut notes = farm.link.listen(names::place(&run_id("a"))).await.unwrap();
    farm.ask("s1", "android & api>=35").await;
    let broker = farm.broker("one", LONG).await;
    let note = notes.next().await.unwrap();
    let standing: QueuePosition = serde_json::from_slice(&note.payload).unwrap();
    assert_eq!((standing.running, standing.waiting), (0, 1));
    assert_eq!(
        standing.reason.as_deref(),
        Some(
            "no device matches `android & api>=35`; the closest is android/emulator-5554@mac-0 (api>=35: it has 34)"
        )
    );
    let queue = broker::queue(&farm.link, LONG).await.unwrap();
    assert_eq!(queue, [standing]);
    let demand = names::demand(&run_id("a"), &session_id("s1"));
    assert!(farm.link.last(&demand).await.unwrap().is_some());
    // The server tells what it was asked for.
    let advisories = "$JS.EVENT.ADVISORY.API".to_owned();
    let mut purges = farm.link.listen(advisories).await.unwrap();
    farm.run("a", true).await;
    while let Some(told) = purges.next().await {
        if String::from_utf8_lossy(&told.payload).contains("STREAM.PURGE.RUNS") {
            break;
        }
    }
    assert_eq!(farm.link.last(&demand).await, Ok(None));
    broker.stop().await;
}
