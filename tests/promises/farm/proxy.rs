//! What a network does to a farm: answers that are lost, connections that are open and silent, cut, or
//! without a server for a while. Each process comes through a proxy of its own.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use packtrain_tests::farm_lab::{FarmLab, FarmRun, Phones, TTL_SECONDS};
use packtrain_tests::nats_proxy::{Counts, Links, NatsProxy};
use packtrain_tests::process::Process;
use packtrain_tests::until;
use tokio::time::Instant;

use super::{farm, findings, tell};

const TTL: Duration = Duration::from_secs(TTL_SECONDS);
/// For how many lives of a key an idle farm is listened to.
const LIVES: u64 = 3;
/// How long hosts may take to have their phones in service.
const START_TIMEOUT: Duration = Duration::from_secs(40);
/// How long a farm may take to have nothing more to ask.
const SETTLING_TIMEOUT: Duration = Duration::from_secs(20);
/// How often clients ask whether their server is there.
const PING_SECONDS: u64 = 2;
/// What is acknowledged: everything that is stored.
const STORED: [&str; 3] = ["r.>", "$KV.>", "blob.*"];

/// A farm with two hosts of two phones each, and each process that it was asked for behind a proxy.
struct Networked {
    broker: Process,
    hosts: [Process; 2],
    phones: [Phones; 2],
    /// That of the broker, and of either host.
    ways: [NatsProxy; 3],
}

impl Networked {
    fn start(farm: &FarmLab) -> Self {
        let (way, broker) = through(farm, || farm.broker());
        until_set_up(farm);
        let phones = [farm.phones(2, None), farm.phones(2, None)];
        let (first_way, first) = through(farm, || farm.host("h1", &phones[0], &[]));
        let (second_way, second) = through(farm, || farm.host("h2", &phones[1], &[]));
        let net = Self {
            broker,
            hosts: [first, second],
            phones,
            ways: [way, first_way, second_way],
        };
        net.until_up(farm);
        net
    }

    /// Waits until all phones are in service.
    fn until_up(&self, farm: &FarmLab) {
        let begun = Instant::now();
        until(|| {
            let told = farm.ask(&["farm", "devices"]);
            let devices = told["devices"].as_array().unwrap();
            let up = devices.iter().filter(|it| it["out_of_service"].is_null());
            let is_up = up.count() == 4;
            assert!(
                is_up || (self.is_whole() && begun.elapsed() < START_TIMEOUT),
                "{told}\n{}\n{}",
                self.hosts[0].stderr(),
                self.hosts[1].stderr()
            );
            is_up
        });
    }

    fn counts(&self) -> [Counts; 3] {
        [0, 1, 2].map(|at| self.ways[at].counts())
    }

    /// All that were started are there.
    fn is_whole(&self) -> bool {
        self.broker.is_running() && self.hosts.iter().all(Process::is_running)
    }

    fn is_clean(&self, runs: &[&FarmRun]) {
        let hosts = [("h1", &self.phones[0]), ("h2", &self.phones[1])];
        assert_eq!(findings(runs, &hosts), []);
    }
}

/// Has what is started come through a proxy of its own.
fn through<R>(farm: &FarmLab, start: impl FnOnce() -> R) -> (NatsProxy, R) {
    let proxy = NatsProxy::start(farm.server(0, |server| server.address));
    let direct = farm.url();
    farm.set_url(&proxy.url());
    let started = start();
    farm.set_url(&direct);
    (proxy, started)
}

/// Waits until a broker has made what a farm needs.
fn until_set_up(farm: &FarmLab) {
    let url = farm.url();
    let devices = ["farm", "devices", "--farm", &url];
    until(|| farm.run_to_end(&devices).code == 0);
}

/// Waits until the farm has a host.
fn until_there(farm: &FarmLab, name: &str) {
    until(|| {
        let told = farm.ask(&["farm", "hosts"]);
        let hosts = told["hosts"].as_array().unwrap();
        hosts.iter().any(|host| host["host"] == name)
    });
}

/// A run of that many sessions of a trail, with a picture of each step.
fn sessions(farm: &FarmLab, trail: &str, count: usize) -> FarmRun {
    run(farm, trail, count, "all")
}

/// The same without pictures. Pictures are handed over before a session goes on, so that one with them
/// stands still where its host reaches nobody, whatever it still believes.
fn restless(farm: &FarmLab, trail: &str, count: usize) -> FarmRun {
    run(farm, trail, count, "none")
}

fn run(farm: &FarmLab, trail: &str, count: usize, pictures: &str) -> FarmRun {
    let count = count.to_string();
    let words = [trail, "--on", "android", "--count", &count];
    let observing = ["--observe", "none", "--screenshots", pictures];
    farm.run(&[&words[..], &observing].concat())
}

/// How many sessions of a run have begun on a host.
fn begun_on(run: &FarmRun, host: &str) -> usize {
    let events = run.events();
    let begun = events
        .iter()
        .filter(|event| event["event"] == "session_started");
    let suffix = format!("@{host}");
    begun
        .filter(|event| event["device"]["id"].as_str().unwrap().ends_with(&suffix))
        .count()
}

/// Now, in microseconds since 1970.
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_micros()).unwrap()
}

/// Waits until that much time has passed: what is promised is promised for that long.
fn pass(time: Duration) {
    let begun = Instant::now();
    until(|| begun.elapsed() >= time);
}

/// What a client asked besides saying that it is alive.
fn besides(counts: &Counts, key: &str) -> BTreeMap<String, u64> {
    counts.besides(&[key, "$JS.FC.>"])
}

/// What the clients ask in vain while nothing happens, and how often each says that it is alive.
fn idle(net: &Networked, over: Duration) -> Vec<String> {
    let before = net.counts();
    pass(over);
    let after = net.counts();
    let keys = ["$KV.live.broker", "$KV.live.host.h1", "$KV.live.host.h2"];
    let lives = over.as_secs() / TTL_SECONDS;
    let mut wrong = Vec::new();
    for ((key, before), after) in keys.into_iter().zip(&before).zip(&after) {
        let counts = after.since(before);
        tell(&format!("{key}: {counts:?}"));
        let others = besides(&counts, key);
        if !others.is_empty() {
            wrong.push(format!("{key} asks for {others:?}"));
        }
        // Three for each life, one more or less for where the counting begins.
        let renewals = counts.to(key);
        if !(3 * lives - 1..=3 * lives + 1).contains(&renewals) {
            wrong.push(format!("{key} was written {renewals} times"));
        }
        if counts.pings > over.as_secs() / PING_SECONDS + 1 {
            wrong.push(format!("{key}: {} pings", counts.pings));
        }
        if counts.links > 0 {
            wrong.push(format!("{key} connected again"));
        }
    }
    wrong
}

/// Waits until nobody has asked anything for as long as a key lives.
fn until_settled(net: &Networked) {
    let begun = Instant::now();
    let mut last = net.counts();
    let mut since = begun;
    until(|| {
        let now = net.counts();
        let asked = last.iter().zip(&now).map(|(last, now)| now.since(last));
        let asked: Vec<_> = asked
            .filter(|asked| {
                let is_quiet = asked.besides(&["$KV.live.>", "$JS.FC.>"]).is_empty();
                !is_quiet || asked.links > 0
            })
            .collect();
        if !asked.is_empty() {
            assert!(begun.elapsed() < SETTLING_TIMEOUT, "never quiet: {asked:?}");
            (last, since) = (now, Instant::now());
        }
        since.elapsed() >= TTL
    });
}

#[test]
fn an_idle_farm_sends_nothing_but_heartbeats() {
    let farm = farm();
    let net = Networked::start(&farm);
    until_settled(&net);
    let over = TTL * u32::try_from(LIVES).unwrap();
    assert_eq!(idle(&net, over), Vec::<String>::new());
    assert!(net.is_whole());
}

#[test]
fn an_idle_farm_that_was_used_is_as_quiet_as_one_that_was_not() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("short", 2, 50);
    let run = sessions(&farm, &trail, 6);
    run.expect(0);
    until_settled(&net);
    assert_eq!(idle(&net, TTL), Vec::<String>::new());
    net.is_clean(&[&run]);
}

#[test]
fn where_one_in_five_answers_is_lost_nothing_is_done_twice() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("steps", 3, 100);
    let thin = |way: &NatsProxy| STORED.map(|stored| way.thin_acks(stored, 5));
    net.ways.iter().for_each(|way| _ = thin(way));
    let (way, run) = through(&farm, || sessions(&farm, &trail, 8));
    thin(&way);
    run.expect(0);
    let dropped: u64 = net.counts().iter().map(|counts| counts.dropped).sum();
    tell(&format!("{dropped} answers were lost"));
    assert!(dropped >= 5, "only {dropped} answers were lost");
    assert_eq!(run.told("session_finished"), 8);
    assert!(net.is_whole());
    net.is_clean(&[&run]);
}

#[test]
fn a_host_whose_word_on_a_device_is_not_answered_hears_what_it_is_asked() {
    let farm = farm();
    let net = Networked::start(&farm);
    net.ways[1].drop_acks("$KV.device.>", u64::MAX);
    let device = format!("android/{}@h1", net.phones[0].addresses[0]);
    for words in [
        ["quarantine", &device].as_slice(),
        &["drain", "h1"],
        &["drain", "h1", "--undo"],
    ] {
        let url = farm.url();
        let words = [&["farm"], words, &["--farm", &url]].concat();
        farm.run_to_end(&words).expect(0);
    }
    assert!(net.counts()[1].dropped > 0, "it was said in vain");
}

#[test]
fn a_host_that_is_cut_off_without_knowing_stops_by_itself_and_its_sessions_run_elsewhere() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("long", 12, 300);
    let run = restless(&farm, &trail, 4);
    until(|| begun_on(&run, "h1") == 2 && begun_on(&run, "h2") == 2);
    net.ways[1].stall_all();
    let silent = now_us();
    run.expect(0);
    let last = net.phones[0].arrived().pop().unwrap().at_us;
    let went_on = Duration::from_micros(u64::try_from(last - silent).expect("it was under way"));
    tell(&format!("the last command came after {went_on:?}"));
    let lost = run.told("session_will_retry");
    assert_eq!(lost, 2, "it lost what it had");
    assert!(went_on >= TTL / 3, "it stopped by itself after {went_on:?}");
    assert!(went_on <= TTL, "it went on for {went_on:?}");
    // What it was doing then nobody wants any more.
    net.ways[1].flow(Links::All);
    until_there(&farm, "h1");
    let after = restless(&farm, &trail, 4);
    after.expect(0);
    assert_eq!(begun_on(&after, "h1"), 2);
    assert!(net.is_whole());
    net.is_clean(&[&run, &after]);
}

#[test]
fn a_run_that_is_cut_off_without_knowing_loses_its_devices_and_goes_on_when_it_is_back() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("long", 12, 300);
    let (way, run) = through(&farm, || restless(&farm, &trail, 4));
    run.until_told("session_started", 4);
    way.stall_all();
    // The devices are free for others meanwhile.
    let other = restless(&farm, &trail, 4);
    other.expect(0);
    way.flow(Links::All);
    run.expect(0);
    assert_eq!(run.told("session_finished"), 4);
    assert!(net.is_whole());
    net.is_clean(&[&run, &other]);
}

#[test]
fn a_broker_that_is_cut_off_without_knowing_is_replaced_and_does_no_harm_when_it_is_back() {
    let farm = farm();
    let net = Networked::start(&farm);
    let _standby = farm.broker();
    let trail = farm.trail("steps", 3, 100);
    let run = sessions(&farm, &trail, 24);
    run.until_told("session_started", 5);
    net.ways[0].stall_all();
    let before = run.told("session_started");
    // Beyond what was granted before.
    run.until_told("session_started", before + 8);
    net.ways[0].flow(Links::All);
    run.expect(0);
    assert_eq!(run.told("session_will_retry"), 0);
    assert!(net.is_whole());
    net.is_clean(&[&run]);
}

#[test]
fn connections_that_are_all_cut_at_once_again_and_again_cost_no_session() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("steps", 4, 150);
    let (way, run) = through(&farm, || sessions(&farm, &trail, 12));
    for begun in [1, 5, 9] {
        run.until_told("session_started", begun);
        way.cut();
        net.ways.iter().for_each(NatsProxy::cut);
    }
    run.expect(0);
    assert_eq!(run.told("session_will_retry"), 0);
    assert!(net.is_whole());
    net.is_clean(&[&run]);
}

#[test]
fn a_server_that_was_away_for_longer_than_keys_live_finds_everybody_alive() {
    let farm = farm();
    let net = Networked::start(&farm);
    let trail = farm.trail("long", 8, 300);
    let run = restless(&farm, &trail, 6);
    run.until_told("session_started", 4);
    farm.server(0, packtrain_tests::nats_server::NatsServer::kill);
    pass(TTL * 2);
    farm.server(0, packtrain_tests::nats_server::NatsServer::restart);
    run.expect(0);
    assert_eq!(run.told("session_will_retry"), 0);
    assert!(net.is_whole());
    net.is_clean(&[&run]);
}
