//! Three servers: each leader dies in turn while a run is under way, and nothing is lost but time.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use packtrain_tests::farm_cluster::FarmCluster;
use packtrain_tests::farm_lab::FarmRun;
use packtrain_tests::nats_server::NatsServer;
use packtrain_tests::until;

use super::findings;

/// Longer than an election and what clients need to notice it, shorter than the life of a key.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// When sessions of a run began.
fn began(run: &FarmRun) -> Vec<DateTime<Utc>> {
    let events = run.events();
    let begun = events
        .iter()
        .filter(|event| event["event"] == "session_started");
    begun
        .map(|event| event["at"].as_str().unwrap().parse().unwrap())
        .collect()
}

/// The longest time without a new session from `since` on.
fn pause(run: &FarmRun, since: DateTime<Utc>) -> Duration {
    let moments = began(run).into_iter().filter(|at| *at >= since);
    let mut last = since;
    let mut longest = Duration::ZERO;
    for at in moments {
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
        &trail, "--on", "android", "--count", "60", "--observe", "none",
    ]);
    run.until_told("session_started", 4);
    let mut told = Vec::new();
    for led in ["RUNS", "KV_live", "KV_lease", "meta"] {
        let mut leader = None;
        until(|| {
            leader = cluster.leader(led);
            leader.is_some()
        });
        let leader = leader.unwrap();
        let (killed, begun) = (Utc::now(), run.told("session_started"));
        let clock = Instant::now();
        farm.server(leader, NatsServer::kill);
        until(|| cluster.leader(led).is_some_and(|new| new != leader));
        let elected = clock.elapsed();
        run.until_told("session_started", begun + 4);
        let paused = pause(&run, killed);
        assert!(paused <= LONGEST_PAUSE, "{led}: no grant for {paused:?}");
        told.push(format!(
            "{led}: led by another after {elected:.1?}, no session began for {paused:.1?}"
        ));
        farm.server(leader, NatsServer::restart);
        until(|| cluster.is_whole());
    }
    run.expect(0);
    // `--nocapture` shows them.
    std::io::Write::write_all(&mut std::io::stdout(), told.join("\n").as_bytes()).unwrap();
    assert_eq!(run.told("session_finished"), 60);
    assert_eq!(run.told("session_will_retry"), 0);
    assert!(brokers.iter().chain(&hosts).all(|it| it.is_running()));
    assert_eq!(findings(&[&run], &[("h1", &phones[0]), ("h2", &phones[1])]), []);
}
