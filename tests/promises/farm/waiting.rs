//! Who waits, why, and for how long; and who is let go.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use packtrain_farm::audit::{parse_session, unfair};
use packtrain_testing::has;
use packtrain_tests::farm_lab::{FarmRun, TTL_SECONDS};
use packtrain_tests::until;
use serde_json::Value;

use super::entries;
use super::scene::{Scene, attempts_of, lost, reported};

/// What the queue says of a run.
fn standing(scene: &Scene, run: &FarmRun) -> Option<Value> {
    let (id, queue) = (run.id(), scene.farm.ask(&["farm", "queue"]));
    let mut runs = queue["runs"].as_array().unwrap().iter();
    let of_run = runs.find(|standing| standing["run"] == id.as_str());
    of_run.cloned()
}

/// Waits until the queue says why a run waits, and the run says so itself.
#[track_caller]
fn until_waits_for(scene: &Scene, run: &FarmRun, why: &str) {
    until(|| {
        let reason = standing(scene, run).map(|standing| standing["reason"].clone());
        reason.is_some_and(|reason| reason.as_str().is_some_and(|told| told.contains(why)))
    });
    run.process.until_said(why);
    assert!(run.process.stderr().contains("farm: waiting: "));
}

/// Runs a command that has to succeed.
#[track_caller]
fn order(scene: &Scene, words: &[&str]) {
    let url = scene.farm.url();
    let ended = scene.farm.run_to_end(&[words, &["--farm", &url]].concat());
    ended.expect(0);
}

/// When a run's sessions began, and where, in order.
fn starts(run: &FarmRun) -> Vec<(DateTime<Utc>, String)> {
    let attempts = attempts_of(run).into_iter();
    attempts
        .map(|attempt| (attempt.started, attempt.device.to_string()))
        .collect()
}

#[test]
fn what_nothing_can_satisfy_waits_alone_and_says_why() {
    let scene = Scene::of(&[("h1", 2)]);
    let trail = scene.farm.trail("marked", 2, 50);
    let impossible = scene.run_on(&trail, "android & api>=99", 2, &[]);
    until_waits_for(&scene, &impossible, "no device matches `android & api>=99`");
    let standing = standing(&scene, &impossible).unwrap();
    assert_eq!(standing["running"], 0);
    assert_eq!(standing["waiting"], 2);
    has(standing["reason"].as_str().unwrap(), &["the closest is"]);

    let possible = scene.run(&trail, 4);
    possible.expect(0);
    assert!(impossible.process.is_running());
    assert_eq!(impossible.told("session_started"), 0);
    impossible.process.signal("-INT");
    impossible.expect(2);
    assert_eq!(scene.findings(&[&possible]), []);
}

#[test]
fn a_run_that_wants_more_devices_than_there_are_waits_for_the_next_host() {
    let mut scene = Scene::of(&[("h1", 2)]);
    let trail = scene.farm.trail("marked", 2, 100);
    let run = scene.run_on(&trail, "android", 4, &["--min-devices", "4"]);
    until_waits_for(
        &scene,
        &run,
        "it waits for 4 devices that match; there are 2 in service",
    );
    assert_eq!(scene.witness.grants(&run.id()).len(), 0);
    scene.add("h2", 2);
    run.expect(0);
    reported(&run, 4);
    let on_second = starts(&run)
        .into_iter()
        .filter(|(_, device)| device.ends_with("@h2"));
    assert_eq!(on_second.count(), 2);
    assert_eq!(scene.findings(&[&run]), []);
}

#[test]
fn all_that_want_one_device_are_served_in_order() {
    let scene = Scene::of(&[("h1", 1)]);
    let trail = scene.farm.trail("marked", 1, 50);
    let one = scene.run(&trail, 30);
    one.expect(0);
    let order: Vec<_> = attempts_of(&one)
        .iter()
        .map(|attempt| parse_session(&attempt.session).unwrap())
        .collect();
    assert_eq!(order, (0..30).map(|number| (number, 1)).collect::<Vec<_>>());

    // Of several runs, too: who asked first goes first.
    let long = scene.farm.trail("long", 60, 1_000);
    let before = scene.run(&long, 1);
    before.until_told("session_started", 1);
    let others: Vec<FarmRun> = (0..3)
        .map(|_| {
            let run = scene.run(&trail, 1);
            until(|| standing(&scene, &run).is_some());
            run
        })
        .collect();
    before.process.signal("-INT");
    before.expect(2);
    others.iter().for_each(|run| run.expect(0));
    let begun: Vec<_> = others.iter().map(|run| starts(run)[0].0).collect();
    assert!(begun.is_sorted(), "{begun:?}");
}

#[test]
fn a_late_run_beside_a_long_one_has_its_share_within_a_sessions_length() {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", 2, 200);
    let early = scene.run(&trail, 60);
    early.until_told("session_finished", 8);
    let late = scene.run(&trail, 4);
    late.expect(0);
    let left = 60 - early.told("session_finished");
    assert!(left > 20, "the long run had {left} sessions left");
    early.expect(0);
    let journals = [entries(&early.events()), entries(&late.events())];
    let journals: Vec<_> = journals.iter().map(Vec::as_slice).collect();
    // What asking and granting take.
    let slack = TimeDelta::milliseconds(500);
    assert_eq!(unfair(&journals, 4, slack), []);
    assert_eq!(scene.findings(&[&early, &late]), []);
}

#[test]
fn a_host_that_is_drained_ends_what_it_has_and_gets_nothing_new() {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", 2, 250);
    let run = scene.run(&trail, 20);
    run.until_told("session_started", 4);
    order(&scene, &["farm", "drain", "h1"]);
    let is_draining = || {
        let hosts = scene.farm.ask(&["farm", "hosts"]);
        let hosts = hosts["hosts"].as_array().unwrap().clone();
        hosts
            .iter()
            .any(|host| host["host"] == "h1" && host["draining"] == true)
    };
    until(is_draining);
    let drained = Utc::now();
    run.expect(0);
    reported(&run, 20);
    assert_eq!(lost(&run), []);
    let given = |since: DateTime<Utc>| {
        let held = scene.witness.held().into_iter();
        held.filter(|held| held.host.to_string() == "h1" && held.from > since)
            .count()
    };
    assert_eq!(given(drained), 0);

    order(&scene, &["farm", "drain", "h1", "--undo"]);
    until(|| !is_draining());
    let next = scene.run(&trail, 4);
    next.expect(0);
    assert_eq!(given(drained), 2);
    assert_eq!(scene.findings(&[&run, &next]), []);
}

#[test]
fn a_device_in_quarantine_gets_nothing_until_it_is_let_out() {
    let scene = Scene::of(&[("h1", 2)]);
    let trail = scene.farm.trail("marked", 2, 50);
    let devices = scene.devices_of("h1");
    let out = &devices[0];
    let cause = "the screen is cracked";
    order(&scene, &["farm", "quarantine", out, "--cause", cause]);
    until(|| {
        let told = scene.farm.ask(&["farm", "devices"]);
        let told = told["devices"].as_array().unwrap().clone();
        let why = format!("in quarantine: {cause}");
        told.iter()
            .any(|device| device["device"] == **out && device["out_of_service"] == *why)
    });
    let run = scene.run(&trail, 4);
    run.expect(0);
    assert!(starts(&run).iter().all(|(_, device)| device == &devices[1]));

    order(&scene, &["farm", "quarantine", out, "--undo"]);
    scene.until_all_serve();
    let next = scene.run(&trail, 2);
    next.expect(0);
    assert!(starts(&next).iter().any(|(_, device)| device == out));
    assert_eq!(scene.findings(&[&run, &next]), []);
}

#[test]
fn ctrl_c_on_a_run_ends_its_sessions_on_hosts_and_their_devices_are_free_at_once() {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", 10, 1_000);
    let run = scene.run(&trail, 8);
    run.until_told("session_started", 4);
    let stopped = Utc::now();
    run.process.signal("-INT");
    run.expect(2);
    let id = run.id();
    let took = scene.witness.free_after(stopped, |held| held.run.0 == id);
    let life = TimeDelta::seconds(i64::try_from(TTL_SECONDS).unwrap());
    assert!(took < life, "{} ms", took.num_milliseconds());
    let events = run.events();
    let ended = events
        .iter()
        .filter(|event| event["event"] == "session_finished");
    assert_eq!(ended.count(), 8);

    let quick = scene.farm.trail("quick", 1, 50);
    let next = scene.run(&quick, 4);
    next.expect(0);
    assert_eq!(scene.findings(&[&run, &next]), []);
}

#[test]
fn ctrl_c_on_a_host_lets_its_sessions_end_and_the_run_goes_on_elsewhere() {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", 2, 400);
    let run = scene.run(&trail, 12);
    run.until_told("session_started", 4);
    let host = &scene.host("h1").process;
    host.signal("-INT");
    assert_eq!(host.ended(), 0);
    run.expect(0);
    reported(&run, 12);
    assert_eq!(lost(&run), []);
    assert_eq!(attempts_of(&run).len(), 12);
    assert_eq!(scene.findings(&[&run]), []);
}

#[test]
fn a_secret_reaches_the_hosts_phone_and_no_file_anywhere() {
    let scene = Scene::of(&[("h1", 1)]);
    scene.farm.lab().write(
        "trails/secret.trail.yaml",
        "config: { id: secret }\ntrail:\n  - step: Sign in\n    recording:\n      android:\n        \
         - android_adbShell: { command: [getprop, packtrain-step-1] }\n        \
         - android_adbShell: { command: [input, text, '{{password}}'] }\n",
    );
    let secret = ["--secret", "password=correct-horse-battery"];
    let run = scene.run_on("trails/secret.trail.yaml", "android", 2, &secret);
    run.expect(0);
    let phones = &scene.host("h1").phones;
    let typed = phones.arrived().into_iter();
    let typed = typed.filter(|arrived| arrived.what.contains("correct-horse-battery"));
    assert!(typed.count() >= 2);

    let folder = scene.farm.lab().folder();
    let told = [".cache", "n1", "runs", "logs", "hosts"].map(|name| folder.join(name));
    let files: Vec<PathBuf> = told.iter().flat_map(|folder| files(folder)).collect();
    let of_server = files.iter().filter(|file| file.starts_with(&told[1]));
    assert!(of_server.count() > 5 && files.len() > 20, "{files:?}");
    for file in files {
        let content = std::fs::read(&file).unwrap_or_default();
        let found = content.windows(13).any(|window| window == b"correct-horse");
        assert!(!found, "it is in {}", file.display());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.is_symlink())
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}
