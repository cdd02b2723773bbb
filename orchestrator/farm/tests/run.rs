//! The run's side, with a host and a broker that the test plays.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{BoxFuture, DeviceInfo, Size};
use packtrain_engine::{
    DeviceRequirement, SessionHost as _, SessionOptions, SessionOrder, SessionOutput, SessionStop,
    SessionValues,
};
use packtrain_farm::follow::{Followed, Follower};
use packtrain_farm::link::Link;
use packtrain_farm::names::{self, LIVE};
use packtrain_farm::run::{FarmHost, FarmRunOptions, Files};
use packtrain_farm::store::{Put, Stored};
use packtrain_farm::wire::{Demand, DeviceKey, End, Grant, Manifest, Protocol, RunAdvert};
use packtrain_model::trail::Trail;
use packtrain_model::{
    AttemptNumber, Blame, CancelCause, Outcome, PlannedSession, RunId, SessionId, SessionIndex,
};
use tempfile::TempDir;

use crate::nats::Nats;

/// Long enough that nothing expires within a test, and short enough to hear of a key that was taken.
const TTL: Duration = Duration::from_secs(6);

/// A run of one session, with nobody else on the farm.
struct Stage {
    _nats: Nats,
    link: Link,
    run: FarmHost,
    demands: Follower,
    folder: TempDir,
}

fn run_id() -> RunId {
    RunId("a".to_owned())
}

fn session_id(attempt: u32) -> SessionId {
    SessionId::new(SessionIndex(0), AttemptNumber(attempt))
}

fn device() -> DeviceKey {
    DeviceKey {
        host: "mac-1".parse().unwrap(),
        device: "android/1".parse().unwrap(),
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

async fn next(follower: &mut Follower) -> Stored {
    loop {
        if let Followed::Message(stored) = follower.next().await.unwrap() {
            return stored;
        }
    }
}

impl Stage {
    async fn begin() -> Self {
        let nats = Nats::start().await;
        let link = nats.farm().await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.trail.yaml"), "trail:\n- step: x\n").unwrap();
        let options = FarmRunOptions {
            run: run_id(),
            owner: "ada@laptop".to_owned(),
            min_devices: 1,
            secrets: Vec::new(),
            ttl: TTL,
            resumed: false,
        };
        let manifest = Manifest {
            run: run_id(),
            protocol: Protocol::CURRENT,
            files: std::collections::BTreeMap::new(),
            root: String::new(),
            config: None,
            sources: false,
            secrets: Vec::new(),
            resume: None,
        };
        let files = Files::Bundle(folder.path().to_owned());
        let run = FarmHost::begin(link.clone(), options, manifest, files).await;
        Self {
            demands: link.follow_runs(vec!["r.*.demand.*".to_owned()]),
            run: run.unwrap(),
            link,
            folder,
            _nats: nats,
        }
    }

    /// Asks for an attempt of the session.
    fn attempt(&self, number: u32) -> BoxFuture<'static, Outcome> {
        let path = self.folder.path().join("a.trail.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let trail = Trail::parse(&text, &path.display().to_string()).unwrap();
        let attempt = AttemptNumber(number);
        let order = SessionOrder {
            run: run_id(),
            session: session_id(number),
            attempt,
            planned: PlannedSession::default(),
            trail: Arc::new(trail.trail),
            requires: DeviceRequirement::Matching("android".to_owned()),
            target: Default::default(),
            cell: packtrain_engine::CellSettings::default(),
            values: SessionValues::default(),
            options: SessionOptions::default(),
        };
        // Nobody takes what is told.
        let (output, _) = SessionOutput::elsewhere(1);
        self.run.run(order, output, SessionStop::default())
    }

    async fn put(&self, subject: String, value: Vec<u8>) {
        let put = self.link.put_if(&subject, 0, value.into(), None).await;
        assert!(matches!(put, Ok(Put::Done(_))), "{subject}: {put:?}");
    }

    async fn grant(&self, attempt: u32) {
        let device = device();
        let grant = Grant {
            info: DeviceInfo {
                id: device.device.clone(),
                driver: "virtual".to_owned(),
                classifiers: Vec::new(),
                model: String::new(),
                system: String::new(),
                screen: Size::new(1.0, 1.0),
            },
            device,
            replaces: false,
        };
        let subject = names::grant(&run_id(), &session_id(attempt));
        self.put(subject, json(&grant)).await;
    }

    async fn end(&self, attempt: u32, end: End) {
        let subject = names::end(&run_id(), &session_id(attempt), &device().host);
        self.put(subject, json(&end)).await;
    }

    /// What the next session that is asked for wants.
    async fn demand(&mut self) -> Demand {
        next(&mut self.demands).await.read().unwrap()
    }

    /// What is asked for after the first attempt has ended so.
    async fn demand_after(&mut self, end: End) -> (Outcome, Demand) {
        let first = tokio::spawn(self.attempt(1));
        self.demand().await;
        self.grant(1).await;
        self.end(1, end).await;
        let outcome = first.await.unwrap();
        let second = tokio::spawn(self.attempt(2));
        let demand = self.demand().await;
        second.abort();
        (outcome, demand)
    }
}

fn is_hosts(outcome: &Outcome) -> bool {
    let blame = Blame::Host;
    matches!(outcome, Outcome::Infrastructure { blame: whose, .. } if *whose == blame)
}

#[tokio::test]
async fn a_session_that_is_given_up_is_told_to_the_farm_and_its_host_is_avoided() {
    let mut stage = Stage::begin().await;
    let first = tokio::spawn(stage.attempt(1));
    assert!(stage.demand().await.avoid_hosts.is_empty());
    stage.grant(1).await;
    let subject = names::events(&run_id(), &session_id(1), &device().host);
    stage.put(subject, b"garbage".to_vec()).await;
    assert!(is_hosts(&first.await.unwrap()));
    let mut adverts = (stage.link).follow_keys(LIVE, &[names::run_key(&run_id())]);
    while next(&mut adverts)
        .await
        .read::<RunAdvert>()
        .unwrap()
        .given_up
        != [session_id(1)]
    {}
    let second = tokio::spawn(stage.attempt(2));
    assert_eq!(stage.demand().await.avoid_hosts, [device().host]);
    second.abort();
}

#[tokio::test]
async fn a_loss_that_says_nothing_against_its_host_has_nothing_avoided() {
    let mut stage = Stage::begin().await;
    let lost = Outcome::Infrastructure {
        blame: Blame::HostDrained,
        cause: "its host mac-1 was drained".to_owned(),
        hint: None,
        unstarted: Vec::new(),
    };
    let drained = End::Settled {
        outcome: lost.clone(),
        items: 0,
    };
    let (outcome, demand) = stage.demand_after(drained).await;
    assert_eq!(outcome, lost);
    assert!(demand.requeued);
    assert!(demand.avoid.is_empty() && demand.avoid_hosts.is_empty());
}

#[tokio::test]
async fn what_was_lost_with_an_earlier_process_of_the_run_is_no_hosts_fault() {
    let cancelled = Outcome::Cancelled {
        by: CancelCause::Interrupt,
    };
    let stopped = End::Settled {
        outcome: cancelled,
        items: 0,
    };
    let gone = End::Lost {
        blame: Blame::RunLost,
        cause: "its run is gone".to_owned(),
    };
    for end in [stopped, gone] {
        let mut stage = Stage::begin().await;
        let (outcome, demand) = stage.demand_after(end).await;
        let is_runs = matches!(
            outcome,
            Outcome::Infrastructure {
                blame: Blame::RunLost,
                ..
            }
        );
        assert!(is_runs, "{outcome:?}");
        assert!(demand.avoid.is_empty() && demand.avoid_hosts.is_empty());
    }
}

#[tokio::test]
async fn what_a_host_says_to_have_skipped_is_no_verdict() {
    let mut stage = Stage::begin().await;
    let skipped = End::Settled {
        outcome: Outcome::Skipped {
            reason: "no".to_owned(),
        },
        items: 0,
    };
    let (outcome, demand) = stage.demand_after(skipped).await;
    assert!(is_hosts(&outcome), "{outcome:?}");
    assert_eq!(demand.avoid_hosts, [device().host]);
}

#[tokio::test]
async fn a_run_that_is_carried_on_elsewhere_ends_no_session_here() {
    let mut stage = Stage::begin().await;
    let mut session = stage.attempt(1);
    tokio::select! {
        outcome = &mut session => panic!("{outcome:?}"),
        _ = stage.demand() => {}
    }
    let key = names::key_subject(LIVE, &names::run_key(&run_id()));
    let last = stage.link.last(&key).await.unwrap().unwrap();
    let mut advert: RunAdvert = last.read().unwrap();
    advert.incarnation = "another".to_owned();
    advert.owner = "eve@desktop".to_owned();
    let put = (stage.link).put_if(&key, last.sequence, json(&advert).into(), Some(TTL));
    assert!(matches!(put.await, Ok(Put::Done(_))));
    tokio::select! {
        biased;
        outcome = &mut session => panic!("{outcome:?}"),
        _ = stage.run.until_taken() => {}
    }
    assert!(stage.run.taken().is_some());
    assert!(futures::poll!(&mut session).is_pending());
}
