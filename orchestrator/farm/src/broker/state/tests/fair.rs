//! Who goes first.

use proptest::prelude::*;

use super::server::{Server, demand, key};
use crate::broker::state::Fact;
use crate::wire::Demand;

#[test]
fn a_thousand_sessions_for_one_device_are_served_in_order() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 1_000, "android");
    farm.play();
    let wanted: Vec<String> = (1..=1_000).map(|number| format!("s{number}")).collect();
    assert_eq!(farm.order("a"), wanted);
}

#[test]
fn a_late_small_run_beside_a_big_one_gets_its_share_by_the_next_ends() {
    let names: Vec<String> = (0..8)
        .map(|number| format!("android/{number}@mac-1"))
        .collect();
    let devices: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut farm = Server::with(&devices);
    farm.run_of("big", 5_000, "android");
    farm.run_of("small", 10, "android");
    assert_eq!(farm.in_flight("big"), 8);
    for _ in 0..4 {
        farm.end_oldest();
    }
    assert_eq!((farm.in_flight("big"), farm.in_flight("small")), (4, 4));
}

#[test]
fn two_runs_take_turns_on_one_device() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 4, "android");
    farm.run_of("b", 4, "android");
    farm.play();
    let runs: String = farm.granted.iter().map(|(run, _)| run.as_str()).collect();
    assert_eq!(runs, "abababab");
}

#[test]
fn runs_with_different_devices_share_a_full_host() {
    let mut farm = Server::with(&[]);
    farm.host("mac-1", 1);
    farm.device("android/1@mac-1");
    farm.device("ios/1@mac-1");
    farm.run_of("a", 3, "android");
    farm.run_of("b", 3, "ios");
    farm.play();
    let runs: String = farm.granted.iter().map(|(run, _)| run.as_str()).collect();
    assert_eq!(runs, "ababab");
}

#[test]
fn a_requeued_session_goes_first_and_to_another_device() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("a", 4, "android");
    let mut again = demand("android");
    again.requeued = true;
    again.avoid = vec![key("android/1@mac-1")];
    farm.ask("a", "s1.2", again);
    farm.end(&key("android/1@mac-1"));
    assert_eq!(
        farm.order("a"),
        ["s1", "s2", "s3"],
        "the device that lost it takes others"
    );
    farm.end(&key("android/2@mac-2"));
    assert_eq!(farm.order("a"), ["s1", "s2", "s3", "s1.2"]);
    farm.play();
    assert_eq!(farm.order("a").len(), 5);
}

#[test]
fn sessions_of_one_trail_go_to_different_devices_as_long_as_there_are_any() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-1"]);
    farm.run("a", 1);
    farm.run_of("b", 1, "device=android/2");
    let mut spread = demand("android");
    spread.spread = "trail".to_owned();
    for session in ["s1", "s2", "s3"] {
        farm.ask("a", session, spread.clone());
    }
    farm.end(&key("android/1@mac-1"));
    assert_eq!(farm.order("a"), ["s1"], "s2 waits for the other device");
    farm.end(&key("android/2@mac-1"));
    assert_eq!(
        farm.grants[&("a".to_owned(), "s2".to_owned())],
        key("android/2@mac-1")
    );
    assert_eq!(
        farm.order("a"),
        ["s1", "s2", "s3"],
        "both had one: any will do"
    );
}

#[test]
fn a_host_that_a_run_set_aside_gets_its_sessions_only_when_there_is_no_other() {
    let mut farm = Server::with(&["android/1@bare", "android/2@good"]);
    farm.run("a", 1);
    farm.set_aside("a", "bare");
    let mut spread = demand("android");
    spread.spread = "trail".to_owned();
    for session in ["s1", "s2"] {
        farm.ask("a", session, spread.clone());
    }
    assert_eq!(farm.order("a"), ["s1"], "the other waits for the good host");
    farm.run_of("b", 1, "android");
    assert_eq!(
        farm.in_flight("b"),
        1,
        "another run has what this does without"
    );
    farm.end(&key("android/1@bare"));
    farm.end(&key("android/2@good"));
    assert_eq!(farm.order("a"), ["s1", "s2"]);
    farm.end(&key("android/2@good"));
    farm.tell(Fact::Host("good".parse().unwrap(), None));
    farm.ask("a", "s3", spread);
    assert_eq!(farm.order("a"), ["s1", "s2", "s3"]);
}

#[test]
fn a_session_that_its_host_lost_is_not_kept_waiting_for_a_device_of_that_host() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-1", "android/3@mac-2"]);
    farm.run("a", 1);
    let mut spread = demand("device=android/1 | device=android/3");
    spread.spread = "trail".to_owned();
    farm.ask("a", "s1", spread.clone());
    farm.ask("a", "s2", spread.clone());
    assert_eq!(farm.in_flight("a"), 2);
    farm.end(&key("android/1@mac-1"));
    farm.end(&key("android/3@mac-2"));
    // A device of its own would be one of the host that lost it; the other host's had one already.
    spread.on = "android".to_owned();
    spread.requeued = true;
    spread.avoid = vec![key("android/1@mac-1")];
    spread.avoid_hosts = vec!["mac-1".parse().unwrap()];
    farm.ask("a", "s1.2", spread);
    assert_eq!(
        farm.grants[&("a".to_owned(), "s1.2".to_owned())],
        key("android/3@mac-2")
    );
}

/// `s1.2` of run `a` avoids the only phone of `mac-1`, which is free; that of `mac-2` has a session of
/// another run.
fn one_that_avoids_what_is_free() -> Server {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("b", 1, "host=mac-2");
    farm.run("a", 1);
    let mut again = demand("android");
    again.spread = "trail".to_owned();
    again.requeued = true;
    again.avoid = vec![key("android/1@mac-1")];
    again.avoid_hosts = vec!["mac-1".parse().unwrap()];
    farm.ask("a", "s1.2", again);
    farm
}

#[test]
fn a_session_goes_back_to_what_lost_it_when_nothing_better_is_free_for_a_while() {
    let mut farm = one_that_avoids_what_is_free();
    assert!(farm.order("a").is_empty());
    let reason = "a retried session waits a moment for another device";
    assert_eq!(farm.reason("a"), reason);
    farm.let_waits_end();
    let granted = &farm.grants[&("a".to_owned(), "s1.2".to_owned())];
    assert_eq!(*granted, key("android/1@mac-1"));
    assert!(farm.waits.is_empty());
}

#[test]
fn a_session_that_was_lost_takes_what_is_better_and_free_at_once() {
    let mut farm = one_that_avoids_what_is_free();
    farm.end(&key("android/2@mac-2"));
    let granted = &farm.grants[&("a".to_owned(), "s1.2".to_owned())];
    assert_eq!(*granted, key("android/2@mac-2"));
    // That its wait ends says nothing any more.
    farm.let_waits_end();
    assert_eq!(farm.order("a"), ["s1.2"]);
}

#[test]
fn a_session_waits_longer_for_something_better_the_more_often_it_was_lost_and_never_for_ever() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("b", 1, "host=mac-2");
    farm.run("a", 1);
    for losses in [1, 2, 3, 40] {
        let mut again = demand("android");
        again.requeued = true;
        again.avoid = vec![key("android/1@mac-1"); losses];
        farm.ask("a", &format!("s{losses}"), again);
    }
    let waits: Vec<u64> = farm.waits.iter().map(|(_, time)| time.as_secs()).collect();
    assert_eq!(waits, [5, 10, 20, 80]);
}

#[test]
fn a_session_that_was_lost_with_all_devices_of_its_own_busy_goes_back_to_one_that_was_had() {
    let mut farm = Server::with(&["android/1@mac-1", "android/2@mac-2"]);
    farm.run_of("b", 1, "host=mac-2");
    farm.run("a", 1);
    let mut spread = demand("android");
    spread.spread = "trail".to_owned();
    farm.ask("a", "s1", spread.clone());
    farm.end(&key("android/1@mac-1"));
    // Its host was restarted, which says nothing against it: it is not avoided.
    spread.requeued = true;
    farm.ask("a", "s1.2", spread);
    assert_eq!(farm.order("a"), ["s1"]);
    farm.let_waits_end();
    assert_eq!(farm.order("a"), ["s1", "s1.2"]);
}

#[test]
fn a_session_goes_back_to_what_lost_it_rather_than_wait_for_a_host_that_takes_nothing() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.host("mac-2", 0);
    farm.device("android/2@mac-2");
    farm.run("a", 1);
    let mut again = demand("android");
    again.spread = "trail".to_owned();
    again.avoid = vec![key("android/1@mac-1")];
    farm.ask("a", "s1.2", again);
    assert_eq!(
        farm.grants[&("a".to_owned(), "s1.2".to_owned())],
        key("android/1@mac-1")
    );
}

#[test]
fn an_impossible_requirement_waits_alone() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 1, "ios & api>=33");
    farm.ask("a", "s2", demand("android"));
    farm.run_of("b", 1, "api>=");
    farm.run_of("c", 1, "android");
    farm.play();
    assert_eq!((farm.order("a"), farm.order("c")), (vec!["s2"], vec!["s1"]));
    assert_eq!(farm.granted.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_can_run_runs_once_and_nothing_is_given_twice(
        hosts in prop::collection::vec((1u32..4, prop::collection::vec(0usize..3, 1..5)), 1..4),
        wanted in prop::collection::vec((0usize..3, 0usize..6, 0usize..3), 1..40),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        const PLATFORMS: [&str; 3] = ["android", "ios", "web"];
        const ON: [&str; 6] = ["android", "ios", "web", "android | ios", "*", "label=none"];
        let mut farm = Server::with(&[]);
        let mut platforms = std::collections::HashSet::new();
        for (place, (sessions, devices)) in hosts.iter().enumerate() {
            farm.host(&format!("h{place}"), *sessions);
            for (number, platform) in devices.iter().enumerate() {
                platforms.insert(*platform);
                farm.device(&format!("{}/{number}@h{place}", PLATFORMS[*platform]));
            }
        }
        let mut possible = 0;
        let mut ends = ends.iter();
        for run in ["r0", "r1", "r2"] {
            farm.run(run, 1);
        }
        for (number, (run, on, word)) in wanted.iter().enumerate() {
            possible += usize::from(match on {
                0..=2 => platforms.contains(on),
                3 => platforms.contains(&0) || platforms.contains(&1),
                4 => true,
                _ => false,
            });
            let mut demand = demand(ON[*on]);
            demand.spread = ["", "x", "y"][*word].to_owned();
            demand.requeued = number % 7 == 3;
            farm.ask(&format!("r{run}"), &format!("s{number}"), demand);
            if let Some(end) = ends.next()
                && !farm.running.is_empty()
            {
                let device = farm.running.keys().nth(end.index(farm.running.len())).cloned();
                farm.end(&device.unwrap());
            }
        }
        farm.play();
        prop_assert_eq!(farm.granted.len(), possible);
    }

    #[test]
    fn runs_that_want_the_same_have_the_same_but_for_one(
        devices in 1usize..9,
        ends in prop::collection::vec(any::<prop::sample::Index>(), 20..60),
    ) {
        let mut farm = Server::with(&[]);
        farm.host("h", 100);
        for number in 0..devices {
            farm.device(&format!("android/{number}@h"));
        }
        farm.run_of("a", 200, "android");
        farm.run_of("b", 200, "phone");
        for _ in 0..devices * 2 {
            farm.end_oldest();
        }
        for end in ends {
            let device = farm.running.keys().nth(end.index(farm.running.len())).cloned();
            farm.end(&device.unwrap());
            prop_assert!(farm.in_flight("a").abs_diff(farm.in_flight("b")) <= 1);
        }
    }
}

/// A session that was planned on a device.
fn on_its_own(own: &str) -> Demand {
    Demand {
        spread: "trail de".to_owned(),
        own: Some(key(own)),
        ..demand("android")
    }
}

#[test]
fn a_session_waits_for_the_device_it_was_planned_on_and_a_while_for_one_that_is_away() {
    let (a, b) = ("android/a@mac-1", "android/b@mac-2");
    let mut farm = Server::with(&[a, b]);
    let away = |farm: &mut Server, device| farm.tell(Fact::Device(key(device), None));
    farm.run("r", 1);
    away(&mut farm, b);
    farm.ask("r", "s1", on_its_own(b));
    farm.ask("r", "s2", on_its_own(a));
    farm.ask("r", "s3", on_its_own(a));
    assert_eq!(farm.order("r"), ["s2"], "the other waits for its own");
    farm.device(b);
    assert_eq!(farm.order("r"), ["s2", "s1"], "it was plugged in again");
    assert_eq!(farm.running[&key(b)].1, "s1");
    farm.end(&key(b));
    // Busy is not away, however long.
    farm.let_waits_end();
    assert_eq!(farm.order("r").len(), 2);
    farm.tell(Fact::Host("mac-1".parse().unwrap(), None));
    assert_eq!(farm.order("r").len(), 2, "its host may come back");
    farm.let_waits_end();
    assert_eq!(farm.running[&key(b)].1, "s3");
    assert_eq!(farm.replacing, ["s3"], "and its run is told");
}

#[test]
fn five_thousand_sessions_on_a_thousand_devices_are_all_granted() {
    let mut farm = Server::with(&[]);
    for host in 0..4 {
        farm.host(&format!("h{host}"), 250);
        for number in 0..250 {
            let platform = ["android", "ios"][number % 2];
            farm.device(&format!("{platform}/{number}@h{host}"));
        }
    }
    let before = farm.spent;
    for run in ["a", "b", "c", "d", "e"] {
        farm.run(run, 1);
        for number in 0..1_000 {
            let mut demand = demand(["android", "ios & os>=14", "phone", "*"][number % 4]);
            demand.spread = format!("trail-{}", number / 10);
            farm.ask(run, &format!("s{number}"), demand);
        }
    }
    farm.play();
    assert_eq!(farm.granted.len(), 5_000);
    println!("5,000 sessions on 1,000 devices: {:?}", farm.spent - before);
}

#[test]
fn every_trail_on_each_of_a_thousand_devices_is_granted() {
    let mut farm = Server::with(&[]);
    let mut ids = Vec::new();
    for host in 0..4 {
        farm.host(&format!("h{host}"), 250);
        for number in 0..250 {
            let id = format!("android/{number}@h{host}");
            farm.device(&id);
            ids.push(id);
        }
    }
    let before = farm.spent;
    farm.run("a", 1);
    for trail in 0..5 {
        for (number, id) in ids.iter().enumerate() {
            let demand = Demand {
                spread: format!("trail-{trail}"),
                ..on_its_own(id)
            };
            farm.ask("a", &format!("s{trail}-{number}"), demand);
        }
    }
    farm.play();
    assert_eq!(farm.granted.len(), 5_000);
    println!(
        "5 trails on each of 1,000 devices: {:?}",
        farm.spent - before
    );
}
