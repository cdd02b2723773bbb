//! `kill -9` of anything at any moment: each session has one verdict, told once, and what was held by
//! the dead is free in time.

use std::time::Duration;

use chrono::Utc;
use packtrain_farm::audit::journal;
use packtrain_model::{Blame, Outcome};
use packtrain_tests::farm_lab::FarmRun;

use super::entries;
use super::scene::{Dice, Scene, attempts_of, blamed, in_time, lost, note, reported, rounds};

/// A farm of two hosts with two phones each, a trail for it, and chance.
fn scene(steps: usize, step_ms: u64) -> (Scene, String, Dice) {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", steps, step_ms);
    (scene, trail, Dice::new())
}

fn judge(scene: &Scene, runs: &[FarmRun], dice: &Dice) {
    let runs: Vec<&FarmRun> = runs.iter().collect();
    assert_eq!(scene.findings(&runs), [], "{dice}");
}

#[test]
fn a_host_that_is_killed_costs_attempts_and_no_verdict() {
    let (mut scene, trail, mut dice) = scene(3, 250);
    scene.until_deaths_are_certain();
    let mut runs = Vec::new();
    for round in 1..=rounds() {
        let run = scene.run(&trail, 8);
        let killed = dice.moment(&run, Duration::from_millis(1_500));
        let name = ["h1", "h2"][usize::try_from(dice.below(2)).unwrap()];
        scene.host(name).process.kill();
        let took = (scene.witness).free_after(killed, |held| held.host.to_string() == name);
        in_time(took, &dice);
        run.expect(0);
        let lost = lost(&run);
        for attempt in &lost {
            assert_eq!(attempt.host(), name);
            let Some(Outcome::Infrastructure { blame, cause, .. }) = &attempt.outcome else {
                unreachable!("it was lost")
            };
            assert_eq!(*cause, format!("its host {name} is gone"));
            assert_eq!(*blame, Blame::HostLost);
        }
        reported(&run, 8);
        let (lost, took) = (lost.len(), took.num_milliseconds());
        note(&format!(
            "round {round}: {name} lost {lost} sessions, free after {took} ms"
        ));
        runs.push(run);
        scene.restart(name);
        scene.until_all_serve();
    }
    judge(&scene, &runs, &dice);
}

#[test]
fn a_run_that_is_killed_lets_its_devices_go_and_is_resumed_without_gap_or_duplicate() {
    let (scene, trail, mut dice) = scene(2, 300);
    scene.until_deaths_are_certain();
    let mut runs = Vec::new();
    for round in 1..=rounds() {
        let run = scene.run(&trail, 20);
        let killed = dice.moment(&run, Duration::from_millis(2_500));
        run.process.kill();
        let id = run.id();
        let before = run.told("session_finished");
        // Sometimes at once, when the farm does not know yet.
        let is_patient = dice.below(2) == 0;
        let took = is_patient.then(|| scene.witness.run_free_after(killed, &id));
        if let Some(took) = took {
            in_time(took, &dice);
        }
        let resumed = scene.farm.resume(&run, &[]);
        resumed.expect(0);
        assert_eq!(resumed.id(), id);
        assert_eq!(journal(&entries(&resumed.events())), [], "{dice}");
        reported(&resumed, 20);
        let blamed = blamed(&resumed);
        assert!(
            blamed.iter().all(|blame| *blame == Blame::RunLost),
            "{blamed:?}"
        );
        let lost = blamed.len();
        let took = took.map_or_else(
            || "resumed at once".to_owned(),
            |took| format!("free after {} ms", took.num_milliseconds()),
        );
        note(&format!(
            "round {round}: {before} of 20 were told, {lost} attempts lost, {took}"
        ));
        runs.push(resumed);
    }
    judge(&scene, &runs, &dice);
}

#[test]
fn a_broker_that_is_killed_is_followed_by_the_one_that_stands_by() {
    let (mut scene, trail, mut dice) = scene(2, 200);
    let mut runs = Vec::new();
    let standby = scene.farm.broker();
    scene.brokers.push(standby);
    for round in 1..=rounds() {
        let run = scene.run(&trail, 16);
        let killed = dice.moment(&run, Duration::from_millis(1_000));
        scene.brokers.remove(0).kill();
        let took = scene.witness.led_after(killed);
        in_time(took, &dice);
        run.expect(0);
        assert_eq!(lost(&run), [], "{dice}");
        reported(&run, 16);
        let took = took.num_milliseconds();
        note(&format!("round {round}: the standby led after {took} ms"));
        runs.push(run);
        let standby = scene.farm.broker();
        scene.brokers.push(standby);
    }
    judge(&scene, &runs, &dice);
}

#[test]
fn a_broker_that_is_killed_and_started_again_goes_on_where_it_was() {
    let (mut scene, trail, mut dice) = scene(2, 200);
    let mut runs = Vec::new();
    for round in 1..=rounds() {
        let run = scene.run(&trail, 16);
        let killed = dice.moment(&run, Duration::from_millis(1_000));
        scene.brokers.remove(0).kill();
        let again = scene.farm.broker();
        scene.brokers.push(again);
        let took = scene.witness.led_after(killed);
        in_time(took, &dice);
        run.expect(0);
        assert_eq!(lost(&run), [], "{dice}");
        reported(&run, 16);
        let took = took.num_milliseconds();
        note(&format!("round {round}: it led again after {took} ms"));
        runs.push(run);
    }
    judge(&scene, &runs, &dice);
}

#[test]
fn a_server_that_is_killed_and_started_again_costs_nobody_anything() {
    let (scene, trail, mut dice) = scene(2, 200);
    let mut runs = Vec::new();
    for round in 1..=rounds() {
        let run = scene.run(&trail, 16);
        let killed = dice.moment(&run, Duration::from_millis(1_500));
        scene.farm.server(0, |server| {
            server.kill();
            server.restart();
        });
        let away = (Utc::now() - killed).num_milliseconds();
        run.expect(0);
        let attempts = attempts_of(&run).len();
        assert_eq!(lost(&run), [], "{dice}");
        reported(&run, 16);
        note(&format!(
            "round {round}: the server was away for {away} ms, {attempts} attempts"
        ));
        runs.push(run);
    }
    judge(&scene, &runs, &dice);
}
