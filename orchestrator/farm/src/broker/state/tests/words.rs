//! Why a run waits, in words.

use super::server::{Server, demand};

#[test]
fn a_run_that_waits_says_why() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android & api>=33");
    assert_eq!(
        farm.reason("a"),
        "no device matches `android & api>=33`; the closest is android/1@mac-1 (api>=33: it has 31)"
    );
    farm.run_of("b", 2, "android");
    assert_eq!(farm.standing("b").reason, None);
    farm.run_of("c", 1, "android");
    assert_eq!(
        farm.reason("c"),
        "the only device that matches is busy with b (b@laptop)"
    );
    farm.run_of("d", 1, "android");
    assert_eq!(farm.standing("d").ahead, 1);
    assert_eq!(
        farm.reason("d"),
        "the only device that matches is busy with b (b@laptop); 1 run is ahead"
    );
    farm.run_of("e", 1, "api>=new");
    assert_eq!(
        farm.reason("e"),
        "expected a number, found `new` at column 6 of `api>=new`"
    );
}

#[test]
fn a_run_waits_for_as_many_devices_as_it_needs() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run("a", 2);
    farm.ask("a", "s1", demand("android"));
    assert_eq!(
        farm.reason("a"),
        "it waits for 2 devices that match; there are 1 in service"
    );
    farm.device("android/2@mac-1");
    assert_eq!(farm.order("a"), ["s1"]);
}

#[test]
fn a_full_host_is_named() {
    let mut farm = Server::with(&[]);
    farm.host("mac-1", 1);
    farm.device("android/1@mac-1");
    farm.device("ios/1@mac-1");
    farm.run_of("a", 1, "android");
    farm.run_of("b", 1, "ios");
    assert_eq!(
        farm.reason("b"),
        "the hosts of its devices are full: mac-1 takes 1 sessions"
    );
}

#[test]
fn only_what_changed_is_told() {
    let mut farm = Server::with(&["android/1@mac-1"]);
    farm.run_of("a", 2, "android");
    farm.run_of("b", 1, "android");
    assert_eq!(farm.state.tell().len(), 2);
    assert_eq!(farm.state.tell(), []);
    farm.end_oldest();
    let told = farm.state.tell();
    let runs: Vec<&str> = told
        .iter()
        .map(|standing| standing.run.0.as_str())
        .collect();
    assert_eq!(runs, ["a", "b"], "a waits for its turn now");
    farm.play();
    assert_eq!(farm.state.tell().len(), 2, "that nothing is left is told");
    assert_eq!(farm.state.tell(), []);
}
