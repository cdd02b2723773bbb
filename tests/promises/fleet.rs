//! Many phones at once, some of which are broken.

use std::collections::BTreeMap;
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab};
use serde_json::Value;

use crate::lab;

const PHONES: usize = 200;
const BROKEN: usize = 20;

const TRAIL: &str = "\
config: { title: Look at the shop }
trailhead:
  step: Open the shop
  recording:
    android: { launchApp: { appId: com.example.shop } }
    ios: { launchApp: { appId: com.example.shop } }
trail:
  - verify: The form is there
    recording:
      android:
        - assertVisibleBySelector: { nodeSelector: { androidAccessibility: { textRegex: Sign in } } }
      ios:
        - assertVisibleBySelector: { nodeSelector: { iosMaestro: { textRegex: Sign in } } }
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
  - match: {{ devices: {BROKEN}, device: 'virtual-[0-9]*[02468]$', launch: com.example.shop }}
    do: drop
  - match: {{ devices: {BROKEN}, device: 'virtual-[0-9]*[13579]$', launch: com.example.shop }}
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
    let ends = ends(lab);
    let broken = outcomes
        .into_iter()
        .filter(|(_, outcome)| outcome != "passed");
    broken
        .map(|(device, outcome)| {
            assert_eq!(outcome, "infrastructure", "{device}");
            let cause = ends[&device]["cause"].as_str().unwrap().to_owned();
            assert!(ended.stderr.contains(&device), "{device} is named");
            assert!(ended.stderr.contains(&cause), "{cause}");
            (device, cause)
        })
        .collect()
}

/// The end of each device's session.
fn ends(lab: &Lab) -> BTreeMap<String, Value> {
    let mut devices = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for event in lab.events() {
        let session = event["session"].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("session_started") => {
                let id = event["device"]["id"].as_str().unwrap().to_owned();
                devices.insert(session, id);
            }
            Some("session_finished") => {
                ends.insert(devices[&session].clone(), event);
            }
            _ => {}
        }
    }
    ends
}

#[test]
fn of_two_hundred_phones_exactly_the_broken_ones_are_named_and_a_seed_breaks_the_same_again() {
    let first = run(&fleet());
    assert_eq!(first.len(), BROKEN);
    let told = |words: &str| first.values().filter(|cause| cause.contains(words)).count();
    let away = told("the device is offline now");
    let cut = told("the connection ended during") - away;
    assert!(cut > 0 && away > 0 && cut + away == BROKEN, "{first:#?}");
    let names = |broken: &BTreeMap<String, String>| broken.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&first), names(&run(&fleet())));
}

/// A run on so many phones by a shell with a limit of files.
fn limited(lab: &Lab, limit: &str, phones: usize) -> Ended {
    let program = lab.command::<&str>(&[]);
    let phones = format!("virtual:android:{phones}");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(["run", "trails", "-d", &phones])
        .current_dir(lab.folder());
    for (name, value) in program.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell.output().unwrap().into()
}

/// Every phone of the newest run has passed, and what it has shown is on the disk.
fn nothing_is_lost(lab: &Lab, phones: usize) {
    let outcomes = lab.outcomes();
    assert_eq!(outcomes.len(), phones);
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:#?}"
    );
    let events = lab.events();
    let lost = events.iter().find(|event| event["event"] == "sink_failed");
    assert_eq!(lost, None);
    let mut pictures = BTreeMap::<_, usize>::new();
    for event in events
        .iter()
        .filter(|event| event["event"] == "artifact_saved")
    {
        let artifact = &event["artifact"];
        let size = std::fs::metadata(lab.run_folder().join(artifact["path"].as_str().unwrap()));
        assert_eq!(size.unwrap().len(), artifact["bytes"]);
        if artifact["kind"] == "screenshot" {
            *pictures.entry(event["session"].to_string()).or_default() += 1;
        }
    }
    // One for each step.
    assert!(
        pictures.len() == phones && pictures.values().all(|count| *count == 2),
        "{pictures:?}"
    );
}

#[test]
fn two_hundred_phones_lose_nothing_in_a_shell_with_a_low_soft_limit() {
    let lab = lab();
    lab.write("trails/look.trail.yaml", TRAIL);
    limited(&lab, "-S -n 256", PHONES).expect(0);
    nothing_is_lost(&lab, PHONES);
}

#[test]
fn where_the_limit_cannot_be_raised_a_run_is_refused_that_would_lose_something() {
    let lab = lab();
    lab.write("trails/look.trail.yaml", TRAIL);
    let said = limited(&lab, "-n 256", PHONES).expect(2).stderr;
    assert!(said.contains("the limit is 256: 54 devices fit"), "{said}");
    assert!(!lab.folder().join(".packtrain/runs").exists());
    limited(&lab, "-n 256", 54).expect(0);
    nothing_is_lost(&lab, 54);
}

/// What breaks on which phone, and what is told of it.
const BREAKS: [(&str, &str, &str); 10] = [
    (
        "android/virtual-1",
        "{ command: ^am start }, do: drop",
        "the connection ended during `am start",
    ),
    (
        "android/virtual-2",
        "{ command: ^am start }, do: { reboot: 60m }",
        // Or that it is offline as well, when that is known by then.
        "the connection ended during `am start",
    ),
    (
        "android/virtual-3",
        "{ connect: '' }, do: unauthorized",
        "the device is unauthorized",
    ),
    (
        "android/virtual-4",
        "{ command: ^am start }, do: { delay: 60m }",
        "` took longer than",
    ),
    (
        "android/virtual-5",
        "{ tree: '' }, do: { truncate: 300 }",
        "reading the screen took longer than",
    ),
    (
        "ios/virtual-1",
        "{ route: source }, do: { wda_crash: 60m }",
        "read the screen: ",
    ),
    (
        "ios/virtual-2",
        "{ route: source }, do: { reboot: 60m }",
        "nothing listens at",
    ),
    (
        "ios/virtual-3",
        "{ route: source }, do: garbage",
        "what answered does not speak HTTP",
    ),
    (
        "ios/virtual-4",
        "{ route: source }, do: no_answer",
        "took longer than",
    ),
    (
        "ios/virtual-5",
        "{ route: source }, do: drop",
        "read the screen: ",
    ),
];

/// Those of them that give no answer within the session's time.
const HANGS: [&str; 3] = ["android/virtual-4", "android/virtual-5", "ios/virtual-4"];

#[test]
fn a_phone_that_drops_reboots_refuses_hangs_or_lies_ends_only_its_own_session_with_a_hint() {
    let lab = lab();
    let rules: String = BREAKS
        .iter()
        .map(|(phone, rule, _)| {
            let rule = rule.replacen('{', &format!("{{ device: {phone}$,"), 1);
            format!("  - {{ match: {rule} }}\n")
        })
        .collect();
    lab.write("trails/look.trail.yaml", TRAIL)
        .write("faults.yaml", &format!("rules:\n{rules}"))
        .write(
            "packtrain.yaml",
            "devices: { virtual: { profile: fast, faults: faults.yaml } }\n",
        );
    let phones = ["-d", "virtual:android:6,virtual:ios:6"];
    let options = ["--screenshots", "none", "--timeout", "12s"];
    let run = [&["run", "trails"], &phones[..], &options[..]].concat();
    let ended = lab.run(&run).expect(1);

    let mut outcomes = lab.outcomes();
    for well in ["android/virtual-6", "ios/virtual-6"] {
        assert_eq!(outcomes.remove(well).as_deref(), Some("passed"), "{well}");
    }
    let ends = ends(&lab);
    for (phone, _, told) in BREAKS {
        let end = &ends[phone];
        // What hangs for longer than the session may take has failed, and no device is blamed.
        let (word, key) = if HANGS.contains(&phone) {
            ("failed", "message")
        } else {
            ("infrastructure", "cause")
        };
        assert_eq!(outcomes[phone], word, "{phone}");
        let cause = end[key].as_str().unwrap();
        assert!(cause.contains(told), "{phone}: {cause}");
        let hint = end["hint"].as_str().unwrap_or_default();
        assert!(!hint.is_empty(), "{phone}: {cause}");
        for said in [phone, cause, hint] {
            assert!(ended.stderr.contains(said), "{said}");
        }
    }
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
        has(&log, &["FATAL EXCEPTION: main", "token={{token}}"]);
        assert!(!log.contains("swordfish"));
    }
    let told = events
        .iter()
        .filter(|event| event["report"]["kind"] == "crashed")
        .count();
    assert_eq!(told, 2);
    let raw = lab.run_folder().join("logs");
    assert!(!raw.exists(), "nothing is left as it was written");
}
