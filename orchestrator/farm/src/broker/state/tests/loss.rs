//! Hosts, runs and brokers that die.

use packtrain_model::SessionId;

use super::server::{Server, advert, demand, host_advert, key, run_advert, run_id, session_key};
use crate::broker::state::{Effect, Fact, State};
use crate::wire::{Lease, OutOfService};

fn names(run: &str, session: &str) -> (String, String) {
    (run.to_owned(), session.to_owned())
}

#[test]
fn a_dead_hosts_sessions_are_lost_and_nothing_is_granted_there() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android");
    farm.tell(Fact::Host("mac-1".parse().unwrap(), None));
    assert_eq!(farm.lost, [names("a", "s1")]);
    assert_eq!(farm.causes, ["host lost: its host mac-1 is gone"]);
    assert_eq!(farm.taken_back, [key("android/1@mac-1")]);
    farm.host("mac-1", 1);
    assert_eq!(
        farm.order("a"),
        ["s1", "s2"],
        "the other waits until the host is back"
    );
}

#[test]
fn no_death_is_believed_before_it_is_certain() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android");
    farm.tell(Fact::DeathsAreCertain(false));
    farm.tell(Fact::Host("mac-1".parse().unwrap(), None));
    farm.tell(Fact::Run(run_id("a"), None));
    assert!(farm.lost.is_empty());
    farm.host("mac-1", 1);
    farm.run("a", 1);
    farm.tell(Fact::DeathsAreCertain(true));
    assert!(farm.lost.is_empty());
    farm.tell(Fact::DeathsAreCertain(false));
    farm.tell(Fact::Host("mac-1".parse().unwrap(), None));
    farm.tell(Fact::DeathsAreCertain(true));
    assert_eq!(farm.lost, [names("a", "s1")]);
}

#[test]
fn a_host_that_was_started_anew_lost_what_it_had() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 1, "android");
    let advert = host_advert("i2", 1);
    farm.tell(Fact::Host("mac-1".parse().unwrap(), Some(advert)));
    assert_eq!(farm.lost, [names("a", "s1")]);
    assert_eq!(farm.causes, ["host lost: its host mac-1 was restarted"]);
}

#[test]
fn a_session_on_a_device_that_its_host_does_not_have_is_lost() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-1"]);
    farm.run_of("a", 1, "android");
    let device = farm.grants[&names("a", "s1")].clone();
    farm.tell(Fact::Device(device, None));
    assert_eq!(farm.lost, [names("a", "s1")]);
    assert_eq!(
        farm.causes,
        ["device error: its host mac-1 does not have the device any more"]
    );
}

#[test]
fn a_dead_runs_devices_are_free_and_its_demands_wait_until_it_is_resumed() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android");
    farm.run_of("b", 1, "android");
    farm.tell(Fact::Run(run_id("a"), None));
    assert_eq!(farm.lost, [names("a", "s1")]);
    assert_eq!(farm.causes, ["lost with its run: its run is gone"]);
    assert_eq!(farm.order("b"), ["s1"]);
    farm.play();
    assert_eq!(farm.order("a"), ["s1"]);
    assert!(farm.reason("a").contains("until it is resumed"));
    farm.run("a", 1);
    assert_eq!(farm.order("a"), ["s1", "s2"]);
}

#[test]
fn a_session_that_its_run_has_given_up_gives_its_device_back() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android");
    farm.give_up("a", "s1");
    assert_eq!(farm.lost, [names("a", "s1")]);
    assert_eq!(farm.causes, ["host error: its run has given it up"]);
    assert_eq!(farm.taken_back, [key("android/1@mac-1")]);
    assert_eq!(farm.order("a"), ["s1", "s2"]);
    farm.give_up("a", "s1");
    assert_eq!(farm.lost.len(), 1, "once");
}

#[test]
fn a_run_that_was_stopped_keeps_what_it_has_until_that_ends_and_gets_nothing_more() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 3, "android");
    farm.stop("a");
    assert!(farm.lost.is_empty());
    farm.run_of("b", 1, "android");
    farm.play();
    assert_eq!(farm.order("a"), ["s1"]);
    assert_eq!(farm.order("b"), ["s1"]);
    assert_eq!(farm.reason("a"), "it was stopped");
}

#[test]
fn a_run_that_is_done_is_forgotten_and_gives_its_devices_back() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 3, "android");
    farm.run_of("b", 1, "android");
    farm.done("a");
    assert_eq!(farm.forgotten, ["a"]);
    assert_eq!(farm.taken_back, [key("android/1@mac-1")]);
    assert!(farm.lost.is_empty());
    assert_eq!(farm.order("b"), ["s1"]);
    farm.done("a");
    farm.tell(Fact::Run(run_id("a"), None));
    assert_eq!(farm.forgotten, ["a"], "once");
    assert_eq!(farm.state.queue().len(), 1);
}

#[test]
fn draining_hosts_and_broken_devices_get_nothing_new() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    let mut draining = host_advert("i1", 100);
    draining.draining = true;
    farm.tell(Fact::Host("mac-1".parse().unwrap(), Some(draining)));
    let device = key("android/2@mac-2");
    let mut broken = advert(&device.device);
    broken.out_of_service = Some(OutOfService::Quarantined("it broke 3 times".to_owned()));
    farm.tell(Fact::Device(device, Some(broken)));
    farm.run_of("a", 1, "android");
    assert!(farm.granted.is_empty());
    assert_eq!(
        farm.reason("a"),
        "all 2 devices that match are out of service: android/1@mac-1 (its host mac-1 is draining), \
         android/2@mac-2 (quarantined: it broke 3 times)"
    );
    farm.device("android/2@mac-2");
    assert_eq!(farm.order("a"), ["s1"]);
}

#[test]
fn a_refused_lease_is_learnt_and_the_session_goes_elsewhere() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-1"]);
    let other = Lease {
        run: run_id("b"),
        session: SessionId("s9".to_owned()),
        incarnation: "i1".to_owned(),
    };
    farm.leases.insert(key("android/1@mac-1"), (7, Some(other)));
    farm.run_of("a", 1, "android");
    assert_eq!(farm.grants[&names("a", "s1")], key("android/2@mac-1"));
}

#[test]
fn a_lease_for_a_session_that_was_granted_elsewhere_is_taken_back() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.grants.insert(names("a", "s1"), key("android/2@mac-2"));
    farm.run_of("a", 2, "android/1");
    assert_eq!(farm.taken_back, [key("android/1@mac-1")]);
    assert_eq!(farm.order("a"), ["s2"]);
}

/// What a new leader is told of a farm: hosts, devices, runs, the stream, and leases at last.
fn rebuild(farm: &mut Server, demands: &[(&str, &str)]) {
    farm.state = State::new();
    farm.tell(Fact::DeathsAreCertain(false));
    for (host, capacity) in farm.capacities.clone() {
        let advert = host_advert("i1", capacity);
        farm.tell(Fact::Host(host, Some(advert)));
    }
    for device in farm.leases.clone().into_keys() {
        let advert = advert(&device.device);
        farm.tell(Fact::Device(device, Some(advert)));
    }
    for (place, (run, session)) in demands.iter().enumerate() {
        farm.run(run, 1);
        let session = session_key(run, session);
        farm.tell(Fact::Demand(session, place as u64 + 1, demand("android")));
    }
    for ((run, session), device) in farm.grants.clone() {
        farm.tell(Fact::Grant(session_key(&run, &session), device));
    }
    for (run, session, host) in farm.ends.clone() {
        farm.tell(Fact::End(session_key(&run, &session), host));
    }
    for device in farm.leases.clone().into_keys() {
        farm.tell(Fact::Lease(farm.seen(device)));
    }
    farm.tell(Fact::Leading);
    farm.tell(Fact::DeathsAreCertain(true));
}

#[test]
fn a_new_leader_has_what_was_lost_wait_for_a_better_device_anew() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("b", 1, "host=mac-2");
    farm.waits.clear();
    farm.state = State::new();
    let mut again = demand("android");
    again.requeued = true;
    again.avoid = vec![key("android/1@mac-1")];
    farm.host("mac-1", 1);
    farm.device("android/1@mac-1");
    farm.host("mac-2", 1);
    farm.device("android/2@mac-2");
    let seen = farm.seen(key("android/2@mac-2"));
    farm.run("b", 1);
    farm.run("a", 1);
    farm.ask("a", "s1.2", again);
    assert!(farm.waits.is_empty(), "it does not lead yet");
    let (session, device) = (session_key("b", "s1"), key("android/2@mac-2"));
    farm.tell(Fact::Grant(session, device));
    farm.tell(Fact::Lease(seen));
    farm.tell(Fact::Leading);
    assert_eq!(farm.waits.len(), 1);
    assert!(farm.order("a").is_empty());
    farm.let_waits_end();
    assert_eq!(farm.order("a"), ["s1.2"]);
}

const DEMANDS: [(&str, &str); 3] = [("a", "s1"), ("a", "s2"), ("a", "s3")];

#[test]
fn a_new_leader_grants_nothing_twice_and_goes_on() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 3, "android");
    farm.end_oldest();
    rebuild(&mut farm, &DEMANDS);
    assert_eq!(farm.order("a"), ["s1", "s2"]);
    assert!(farm.lost.is_empty() && farm.taken_back.is_empty());
    farm.play();
    assert_eq!(farm.order("a"), ["s1", "s2", "s3"]);
}

#[test]
fn a_new_leader_writes_the_grant_that_the_old_one_did_not_get_to() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 3, "android");
    farm.grants.clear();
    rebuild(&mut farm, &DEMANDS);
    assert_eq!(farm.grants[&names("a", "s1")], key("android/1@mac-1"));
    assert!(farm.lost.is_empty() && farm.taken_back.is_empty());
    farm.play();
    assert_eq!(farm.order("a"), ["s1", "s2", "s3"]);
}

#[test]
fn a_new_leader_loses_what_was_taken_back_or_died_while_nobody_led() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("a", 2, "android");
    farm.leases.insert(key("android/1@mac-1"), (9, None));
    farm.capacities.remove(&"mac-2".parse().unwrap());
    farm.running.clear();
    rebuild(&mut farm, &DEMANDS[..2]);
    farm.lost.sort();
    assert_eq!(farm.lost, [names("a", "s1"), names("a", "s2")]);
    farm.causes.sort();
    assert_eq!(
        farm.causes,
        [
            "host lost: its device was taken back",
            "host lost: its host mac-2 is gone"
        ]
    );
}

#[test]
fn a_lease_of_a_run_that_was_purged_blocks_nothing() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("old", 1, "android");
    farm.grants.clear();
    farm.running.clear();
    rebuild(&mut farm, &[("a", "s1")]);
    assert_eq!(farm.order("a"), ["s1"]);
}

#[test]
fn nothing_is_done_before_it_leads() {
    let mut state = State::new();
    let device = key("android/1@mac-1");
    let facts = [
        Fact::DeathsAreCertain(true),
        Fact::Host(device.host.clone(), Some(host_advert("i1", 1))),
        Fact::Device(device.clone(), Some(advert(&device.device))),
        Fact::Run(run_id("a"), Some(run_advert())),
        Fact::Demand(session_key("a", "s1"), 1, demand("android")),
    ];
    for fact in facts {
        assert_eq!(state.apply(fact), []);
    }
    assert!(matches!(
        state.apply(Fact::Leading)[..],
        [Effect::Grant { .. }]
    ));
}
