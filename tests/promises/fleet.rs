//! Many phones at once, some of which are broken.

use std::collections::BTreeMap;

use packtrain_tests::Lab;

use crate::lab;

const PHONES: usize = 200;
const BROKEN: usize = 20;

const TRAIL: &str = "\
config: { title: Look at the shop }
trailhead:
  step: Open the shop
  recording:
    android: { launchApp: { appId: com.example.shop } }
trail:
  - verify: The form is there
    recording:
      android:
        - assertVisibleBySelector: { nodeSelector: { androidAccessibility: { textRegex: Sign in } } }
";

const LOGS: &str = r#"
  - step: Crash with the secret in the log
    recording:
      android:
        - android_adbShell: { command: [log, -t, Shop, "token={{token}}"] }
        - android_adbShell: { command: [am, crash, com.example.shop] }
        - assertVisibleBySelector: { nodeSelector: { androidAccessibility: { textRegex: Shop keeps stopping } } }
"#;

/// Half of the broken ones are cut off, the others never get up again.
fn faults() -> String {
    format!(
        "\
rules:
  - match: {{ devices: {BROKEN}, device: '[02468]$', launch: com.example.shop }}
    do: drop
  - match: {{ devices: {BROKEN}, device: '[13579]$', launch: com.example.shop }}
    do: {{ boot_loop: 10m }}
"
    )
}

fn fleet() -> Lab {
    let lab = lab();
    lab.write("trails/look.trail.yaml", TRAIL)
        .write("faults.yaml", &faults())
        .write(
            "packtrain.yaml",
            "devices: { virtual: { profile: fast, seed: 7, faults: faults.yaml } }
",
        );
    lab
}

/// The broken phones of a run and the cause that was told for each.
fn run(lab: &Lab) -> BTreeMap<String, String> {
    let phones = format!("virtual:android:{PHONES}");
    let ended = lab
        .run(&["run", "trails", "-d", &phones, "--screenshots", "none"])
        .expect(2);
    let outcomes = lab.outcomes();
    assert_eq!(outcomes.len(), PHONES);
    let passed = outcomes.values().filter(|outcome| *outcome == "passed");
    assert_eq!(passed.count(), PHONES - BROKEN, "{outcomes:#?}");
    let events = lab.events();
    let broken = outcomes
        .into_iter()
        .filter(|(_, outcome)| outcome != "passed");
    broken
        .map(|(device, outcome)| {
            assert_eq!(outcome, "infrastructure", "{device}");
            let session = events
                .iter()
                .find(|event| {
                    event["event"] == "session_started" && event["device"]["id"] == device.as_str()
                })
                .unwrap()["session"]
                .clone();
            let end = events
                .iter()
                .find(|event| event["event"] == "session_finished" && event["session"] == session)
                .unwrap();
            let cause = end["cause"].as_str().unwrap().to_owned();
            assert!(ended.stderr.contains(&device), "{device} is named");
            assert!(ended.stderr.contains(&cause), "{cause}");
            (device, cause)
        })
        .collect()
}

#[test]
fn of_two_hundred_phones_exactly_the_broken_ones_are_named_and_a_seed_breaks_the_same_again() {
    let first = run(&fleet());
    assert_eq!(first.len(), BROKEN);
    let told = |words: &str| first.values().filter(|cause| cause.contains(words)).count();
    let (cut, away) = (
        told("the connection ended during"),
        told("cannot be reached"),
    );
    assert!(cut > 0 && away > 0 && cut + away == BROKEN, "{first:#?}");
    let names = |broken: &BTreeMap<String, String>| broken.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&first), names(&run(&fleet())));
}

#[test]
fn a_phones_own_log_is_kept_with_the_run_without_secrets() {
    let lab = lab();
    let trail = TRAIL.to_owned() + LOGS;
    lab.write("trails/look.trail.yaml", &trail).write(
        "packtrain.yaml",
        "devices: { virtual: { profile: fast } }\n",
    );
    let options = ["--screenshots", "none", "--secret", "token=swordfish"];
    let run = ["run", "trails", "-d", "virtual:android:2"];
    lab.run(&[&run[..], &options[..]].concat()).expect(0);
    let events = lab.events();
    let logs: Vec<_> = events
        .iter()
        .filter(|event| event["artifact"]["kind"] == "device_log")
        .collect();
    assert_eq!(logs.len(), 2, "one for each phone");
    for event in logs {
        let path = event["artifact"]["path"].as_str().unwrap();
        let log = lab.read(lab.run_folder().join(path));
        assert!(log.contains("FATAL EXCEPTION: main"), "{log}");
        assert!(log.contains("token={{token}}"), "{log}");
        assert!(!log.contains("swordfish"));
    }
    let told = events
        .iter()
        .filter(|event| event["report"]["kind"] == "crashed")
        .count();
    assert_eq!(told, 2);
    let left = std::fs::read_dir(lab.run_folder().join("logs")).unwrap();
    assert_eq!(left.count(), 0, "nothing is left as it was written");
}
