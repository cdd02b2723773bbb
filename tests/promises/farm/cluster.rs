//! Three servers: each leader dies in turn while a run is under way, and nothing is lost but time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_tests::farm_cluster::FarmCluster;
use packtrain_tests::farm_lab::FarmRun;
use packtrain_tests::nats_server::NatsServer;
use packtrain_tests::until;

use super::{findings, tell};

/// Longer than an election and what clients need to notice it, no longer than a key lives.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Enough for the run to outlast every leader.
const SESSIONS: usize = 100;

/// When sessions of a run began, those from `since` on.
fn began_since(run: &FarmRun, since: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let events = run.events();
    let begun = events
        .iter()
        .filter(|event| event["event"] == "session_started");
    begun
        .map(|event| event["at"].as_str().unwrap().parse().unwrap())
        .filter(|at| *at >= since)
        .collect()
}

/// The longest time without a new session from `since` on.
fn pause(run: &FarmRun, since: DateTime<Utc>) -> Duration {
    let mut last = since;
    let mut longest = Duration::ZERO;
    for at in began_since(run, since) {
        longest = longest.max((at - last).to_std().unwrap_or_default());
        last = last.max(at);
    }
    longest
}

#[test]
fn each_leader_dies_under_load_and_nothing_is_lost_but_time() {
    let program = env!("CARGO_BIN_EXE_packtrain-under-test");
    let cluster = FarmCluster::start(program, &["h1", "h2"]);
    let farm = &cluster.farm;
    let brokers = [farm.broker(), farm.broker()];
    until(|| cluster.is_whole());
    let phones = [farm.phones(2, None), farm.phones(2, None)];
    let hosts = [
        farm.host("h1", &phones[0], &[]),
        farm.host("h2", &phones[1], &[]),
    ];
    farm.until_devices(4);
    let trail = farm.trail("steps", 3, 250);
    let run = farm.run(&[
        &trail,
        "--on",
        "android",
        "--count",
        &SESSIONS.to_string(),
        "--observe",
        "none",
    ]);
    run.until_told("session_started", 4);
    // A server that leads several takes them with it.
    let mut alive = vec!["RUNS", "KV_live", "KV_lease", "meta"];
    while let Some(led) = alive.first() {
        let mut leader = None;
        until(|| {
            leader = cluster.leader(led);
            leader.is_some()
        });
        let leader = leader.unwrap();
        let (dead, rest) = alive
            .iter()
            .partition::<Vec<&str>, _>(|led| cluster.leader(led) == Some(leader));
        alive = rest;
        let killed = Utc::now();
        farm.server(leader, NatsServer::kill);
        let is_led = |led: &&str| cluster.leader(led).is_some_and(|new| new != leader);
        until(|| dead.iter().all(is_led));
        let elected = (Utc::now() - killed).to_std().unwrap();
        until(|| {
            assert!(run.process.is_running(), "{}", run.process.stderr());
            began_since(&run, killed).len() >= 4
        });
        let paused = pause(&run, killed);
        assert!(paused <= LONGEST_PAUSE, "{dead:?}: no grant for {paused:?}");
        tell(&format!(
            "{dead:?} led by others after {elected:.1?}, no session began for {paused:.1?}"
        ));
        farm.server(leader, NatsServer::restart);
        until(|| cluster.is_whole());
    }
    run.expect(0);
    assert_eq!(run.told("session_finished"), SESSIONS);
    assert_eq!(run.told("session_will_retry"), 0);
    assert!(brokers.iter().chain(&hosts).all(|it| it.is_running()));
    assert_eq!(
        findings(&[&run], &[("h1", &phones[0]), ("h2", &phones[1])]),
        []
    );
}
