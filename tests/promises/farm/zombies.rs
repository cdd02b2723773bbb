//! SIGSTOP for longer than keys live, and SIGCONT: a process that comes back to what is others' by now does
//! nothing to it.

use chrono::Utc;
use packtrain_model::{Blame, Outcome};
use packtrain_tests::farm_lab::FarmRun;
use packtrain_tests::process::Process;
use packtrain_tests::until;

use super::scene::{Scene, attempts_of, blamed, in_time, lost, reported};

/// A session that lasts longer than keys live, three seconds and more: its steps, and how long each
/// lasts on the phone, in milliseconds.
const LONG: (usize, u64) = (2, 2000);

fn scene() -> (Scene, String) {
    let scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", LONG.0, LONG.1);
    (scene, trail)
}

/// A run with a session under way on each of the four phones, and both of `h1` in the midst of a
/// step: a process stopped now has no command on its way.
fn busy(scene: &Scene, trail: &str, sessions: usize) -> FarmRun {
    let run = scene.run(trail, sessions);
    run.until_told("session_started", 4);
    let phones = &scene.host("h1").phones;
    until(|| {
        let (now, mut arrived) = (Utc::now().timestamp_micros(), phones.arrived());
        arrived.retain(|arrived| arrived.what.contains("packtrain-step"));
        phones.addresses.iter().all(|phone| {
            let last = arrived.iter().rev().find(|one| one.address == *phone);
            last.is_some_and(|last| (100_000..1_500_000).contains(&(now - last.at_us)))
        })
    });
    run
}

/// What was lost, and why.
fn causes(run: &FarmRun) -> Vec<String> {
    let causes = lost(run).into_iter().map(|attempt| match attempt.outcome {
        Some(Outcome::Infrastructure { cause, .. }) => cause,
        other => panic!("{other:?} is no loss"),
    });
    causes.collect()
}

/// The commands that have reached the phones of a host since then.
fn arrived_since(scene: &Scene, host: &str, since: chrono::DateTime<Utc>) -> Vec<String> {
    let arrived = scene.host(host).phones.arrived().into_iter();
    arrived
        .filter(|arrived| arrived.at_us > since.timestamp_micros() && arrived.kind == "command")
        .filter(|arrived| arrived.what.contains("packtrain-step"))
        .map(|arrived| arrived.what)
        .collect()
}

#[test]
fn a_host_that_was_asleep_gives_no_command_to_what_is_not_its_own_any_more() {
    let (scene, trail) = scene();
    scene.until_deaths_are_certain();
    let run = busy(&scene, &trail, 4);
    let host = &scene.host("h1").process;
    host.freeze();
    let asleep = Utc::now();
    let took = (scene.witness).free_after(asleep, |held| held.host.to_string() == "h1");
    in_time(took, &"asleep");
    let id = run.id();
    until(|| scene.witness.grants(&id).len() == 6);
    let awake = Utc::now();
    host.thaw();
    run.expect(0);
    reported(&run, 4);
    assert_eq!(causes(&run), ["its host h1 is gone"; 2]);
    // It is back, and well.
    scene.until_all_serve();
    assert_eq!(arrived_since(&scene, "h1", awake), [""; 0]);
    let next = scene.run(&trail, 4);
    next.expect(0);
    assert_eq!(attempts_of(&next).len(), 4);
    assert_eq!(scene.findings(&[&run, &next]), []);
}

#[test]
fn a_host_that_was_asleep_while_another_took_its_name_ends_and_touches_no_phone() {
    let (scene, trail) = scene();
    let run = busy(&scene, &trail, 4);
    let host = &scene.host("h1").process;
    host.freeze();
    let (url, folder) = (scene.farm.url(), scene.farm.lab().folder().to_owned());
    let words = ["host", "--farm", &url, "--name", "h1", "-d", "android"];
    let mut command = scene.farm.command(&words);
    command
        .current_dir(folder.join("hosts/h1"))
        .env("XDG_CACHE_HOME", folder.join(".another-cache"));
    let another = Process::start("another", &mut command, &folder.join("logs/another.log"));
    let id = run.id();
    until(|| scene.witness.grants(&id).len() == 6);
    host.thaw();
    assert_eq!(host.ended(), 2);
    let said = host.stderr();
    assert!(said.contains("another one of the same name"), "{said}");
    run.expect(0);
    reported(&run, 4);
    assert_eq!(causes(&run).len(), 2);
    assert!(another.is_running());
    assert_eq!(scene.findings(&[&run]), []);
}

#[test]
fn a_host_that_is_started_anew_knows_nothing_of_what_it_had() {
    let (mut scene, trail) = scene();
    let run = busy(&scene, &trail, 4);
    scene.host("h1").process.kill();
    scene.restart("h1");
    run.expect(0);
    reported(&run, 4);
    let known = ["its host h1 is gone", "its host h1 was restarted"];
    let causes = causes(&run);
    assert_eq!(causes.len(), 2);
    assert!(
        causes.iter().all(|cause| known.contains(&&**cause)),
        "{causes:?}"
    );
    assert_eq!(scene.findings(&[&run]), []);
}

#[test]
fn a_run_that_was_asleep_has_lost_its_devices_and_asks_again() {
    let (scene, trail) = scene();
    scene.until_deaths_are_certain();
    let run = busy(&scene, &trail, 4);
    run.process.freeze();
    let (asleep, id) = (Utc::now(), run.id());
    let took = scene.witness.free_after(asleep, |held| held.run.0 == id);
    in_time(took, &"asleep");
    let other = scene.run(&trail, 4);
    other.expect(0);
    assert_eq!(attempts_of(&other).len(), 4);
    run.process.thaw();
    run.expect(0);
    reported(&run, 4);
    assert_eq!(causes(&run), ["its run is gone"; 4]);
    assert_eq!(blamed(&run), [Blame::RunLost; 4]);
    let said = run.process.stderr();
    assert!(said.contains("⊘ lost with its run ("), "{said}");
    assert!(!said.contains("host error"), "{said}");
    assert_eq!(scene.findings(&[&run, &other]), []);
}

#[test]
fn a_run_that_was_asleep_leaves_its_journal_to_who_carried_it_on() {
    let (scene, trail) = scene();
    let run = busy(&scene, &trail, 6);
    run.process.freeze();
    let resumed = scene.farm.resume(&run, &[]);
    resumed.expect(0);
    run.process.thaw();
    run.expect(2);
    let said = run.process.stderr();
    assert!(said.contains("continued by another process"), "{said}");
    reported(&resumed, 6);
    assert_eq!(scene.findings(&[&resumed]), []);
}

#[test]
fn a_run_that_was_finished_elsewhere_makes_no_report_and_says_nothing_of_how_it_ended() {
    let (scene, trail) = scene();
    let junit = scene.farm.lab().folder().join("junit.xml");
    let words = ["--junit", junit.to_str().unwrap()];
    let run = scene.run_on(&trail, "android", 4, &words);
    run.until_told("session_started", 4);
    run.process.freeze();
    let resumed = scene.farm.resume_elsewhere(&run, &[]);
    resumed.expect(0);
    reported(&resumed, 4);
    // What took longer than this process was there is told so.
    let finished = resumed.events().pop().unwrap();
    assert_eq!(finished["event"], "run_finished");
    let begun = attempts_of(&resumed)[0].started;
    let at: chrono::DateTime<Utc> = finished["at"].as_str().unwrap().parse().unwrap();
    let least = (at - begun).num_milliseconds() as f64;
    assert!(finished["duration_ms"].as_f64().unwrap() >= least - 500.0);
    let made = std::fs::read(&junit).unwrap();
    run.process.thaw();
    run.expect(2);
    let said = run.process.stderr();
    assert!(said.contains("continued by another process"), "{said}");
    assert!(!said.contains("cancelled"), "{said}");
    assert_eq!(run.told("session_finished") + run.told("run_finished"), 0);
    let folder = run.folder().unwrap();
    for report in ["report.html", "report.json", "junit.xml"] {
        assert!(!folder.join(report).exists(), "{report}");
        assert!(resumed.folder().unwrap().join(report).exists(), "{report}");
    }
    assert_eq!(std::fs::read(&junit).unwrap(), made);
}

#[test]
fn a_broker_that_was_asleep_stands_by() {
    let mut scene = Scene::of(&[("h1", 2), ("h2", 2)]);
    let trail = scene.farm.trail("marked", 2, 200);
    let standby = scene.farm.broker();
    scene.brokers.push(standby);
    let run = busy(&scene, &trail, 24);
    scene.brokers[0].freeze();
    let took = scene.witness.led_after(Utc::now());
    in_time(took, &"asleep");
    scene.brokers[0].thaw();
    run.expect(0);
    reported(&run, 24);
    assert_eq!(lost(&run), []);
    // And when it has to lead again, it does.
    let next = busy(&scene, &trail, 12);
    let killed = Utc::now();
    scene.brokers.remove(1).kill();
    in_time(scene.witness.led_after(killed), &"killed");
    next.expect(0);
    assert_eq!(scene.findings(&[&run, &next]), []);
}
