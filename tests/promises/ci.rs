//! What a CI asks for: runs in parts that become one, what runs again, and what it reads of it all.

use std::collections::BTreeSet;
use std::path::PathBuf;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab};
use serde_json::Value;

use crate::lab;

const DEVICES: &str = "virtual:android:1,virtual:ios:1";

/// A trail that needs no app, and passes when the texts are the same.
fn trail(title: &str, tag: &str, text: &str) -> String {
    let check = format!("- assertEquals: {{ actual: \"{text}\", expected: one }}");
    format!(
        "config: {{ title: \"{title}\", tags: [{tag}] }}\ntrail:\n  - step: \"Compare\"\n    \
         recording:\n      android:\n        {check}\n      ios:\n        {check}\n"
    )
}

/// Five trails, of which one fails, for two phones.
fn bench() -> Lab {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "devices: { virtual: { profile: fast, seed: 7 } }\n",
    );
    for (name, tag) in [("a", "smoke"), ("b", "smoke"), ("c", "slow"), ("d", "slow")] {
        let trail = trail(&format!("Trail {name}"), tag, "one");
        lab.write(&format!("trails/{name}.trail.yaml"), &trail);
    }
    lab.write("trails/e.trail.yaml", &trail("Trail e", "slow", "two"));
    lab
}

fn run(lab: &Lab, more: &[&str]) -> Ended {
    let mut arguments = vec!["run", "trails", "-d", DEVICES];
    arguments.extend(more);
    // The machine that the tests run on may be a CI's.
    let mut command = lab.command(&arguments);
    for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"] {
        command.env_remove(name);
    }
    command.output().unwrap().into()
}

fn list(lab: &Lab, more: &[&str]) -> Vec<String> {
    let more: Vec<_> = ["--list"].iter().chain(more).copied().collect();
    let listed = run(lab, &more).expect(0).stdout;
    listed.lines().map(str::to_owned).collect()
}

/// Runs a part and answers its folder.
fn part(lab: &Lab, part: &str, more: &[&str], code: i32) -> String {
    let folder = format!("part-{}", &part[..1]);
    let arguments = ["--shard", part, "--output", &folder];
    run(lab, &[&arguments, more].concat()).expect(code);
    let run = std::fs::read_link(lab.folder().join(&folder).join("latest")).unwrap();
    format!("{folder}/{}", run.display())
}

fn merge(lab: &Lab, parts: &[String]) -> Ended {
    let mut arguments = vec!["report", "merge"];
    arguments.extend(parts.iter().map(String::as_str));
    lab.run(&arguments)
}

fn report(folder: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("report.json")).unwrap()).unwrap()
}

/// What a report says but for times, names of runs and files.
fn essence(report: &Value) -> (Value, Value, Vec<Value>) {
    let sessions = report["trails"].as_array().unwrap().iter().map(|trail| {
        let sessions = trail["sessions"].as_array().unwrap().iter();
        let sessions = sessions.map(|session| {
            serde_json::json!({
                "session": session["session"],
                "device": session["device"],
                "outcome": session["outcome"],
                "message": session["message"],
                "divergences": trail["divergences"],
                "path": trail["path"],
            })
        });
        sessions.collect()
    });
    (
        report["verdict"].clone(),
        report["exit_code"].clone(),
        sessions.collect(),
    )
}

#[test]
fn all_parts_together_are_the_whole_and_nothing_is_in_two() {
    let lab = bench();
    let whole = list(&lab, &[]);
    assert_eq!(whole.len(), 10, "{whole:?}");
    for of in [1, 2, 3, 12] {
        let mut all = Vec::new();
        for number in 1..=of {
            all.extend(list(&lab, &["--shard", &format!("{number}/{of}")]));
        }
        all.sort();
        assert_eq!(all, whole, "of {of}");
    }
}

#[test]
fn four_parts_merged_are_what_one_run_would_have_been() {
    let lab = bench();
    run(&lab, &[]).expect(1);
    let one = essence(&report(lab.run_folder()));
    let parts: Vec<_> = (1..=4)
        .map(|number| {
            // The ninth and the tenth session fail, which are the first's and the second's.
            let code = i32::from(number < 3);
            part(&lab, &format!("{number}/4"), &[], code)
        })
        .collect();
    let ended = merge(&lab, &parts).expect(1);
    assert!(ended.stderr.contains("2 failed"), "{}", ended.stderr);
    let folder = lab.run_folder();
    assert_eq!(essence(&report(folder.clone())), one);
    for event in lab.events() {
        if event["event"] == "artifact_saved" {
            let path = event["artifact"]["path"].as_str().unwrap();
            assert!(folder.join(path).is_file(), "{path}");
        }
    }
    for name in ["report.html", "junit.xml"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[test]
fn a_merge_without_a_part_is_never_a_pass() {
    let lab = bench();
    let only = ["--tags", "smoke"];
    let parts: Vec<_> = (1..=3)
        .map(|number| part(&lab, &format!("{number}/3"), &only, 0))
        .collect();
    merge(&lab, &parts).expect(0);
    let ended = merge(&lab, &parts[..2]).expect(2);
    assert!(ended.stderr.contains("part 3/3"), "{}", ended.stderr);
    let twice = [&parts[..], &parts[..1]].concat();
    let ended = merge(&lab, &twice).expect(3);
    assert!(ended.stderr.contains("both part 1/3"), "{}", ended.stderr);
    let other = part(&lab, "3/3", &["--tags", "slow", "--grep", "Trail [cd]"], 0);
    let mixed = [parts[0].clone(), parts[1].clone(), other];
    let ended = merge(&lab, &mixed).expect(3);
    has(&ended.stderr, &["only one has the trail"]);
}

#[test]
fn parts_are_divided_by_times_that_every_machine_is_given() {
    let lab = bench();
    run(&lab, &[]).expect(1);
    let mut times = report(lab.run_folder());
    for trail in times["trails"].as_array_mut().unwrap() {
        let is_long = trail["path"] == "trails/c.trail.yaml";
        for session in trail["sessions"].as_array_mut().unwrap() {
            let took = if is_long && session["device"] == "ios/virtual-1" {
                90_000
            } else {
                1000
            };
            session["duration_ms"] = took.into();
        }
    }
    lab.write("times.json", &times.to_string());
    let long = list(&lab, &["--shard", "1/2", "--times", "times.json"]);
    assert_eq!(long, ["trails/c.trail.yaml  ios/virtual-1"]);
    let rest = list(&lab, &["--shard", "2/2", "--times", "times.json"]);
    assert_eq!(rest.len(), 9, "{rest:?}");
    // One that only some machines have must not divide the run in two ways.
    let ended = run(
        &lab,
        &["--shard", "1/2", "--times", "nowhere.json", "--list"],
    )
    .expect(3);
    assert!(ended.stderr.contains("nowhere.json"), "{}", ended.stderr);
    run(&lab, &["--shard", "1/2,2/2", "--list"]).expect(3);
    run(&lab, &["--shard", "3/2", "--list"]).expect(3);
}

#[test]
fn what_failed_runs_again_and_nothing_when_nothing_did() {
    let lab = bench();
    let ended = run(&lab, &["--last-failed"]).expect(3);
    assert!(ended.stderr.contains("no earlier run"), "{}", ended.stderr);
    run(&lab, &[]).expect(1);
    let listed = list(&lab, &["--last-failed"]);
    let both =
        ["android", "ios"].map(|platform| format!("trails/e.trail.yaml  {platform}/virtual-1"));
    assert_eq!(listed, both);
    let ended = run(&lab, &["--last-failed"]).expect(1);
    let id = lab
        .run_folder()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    has(&ended.stderr, &["2 of 10 sessions did not pass in run"]);
    assert_eq!(lab.events()[0]["sessions"].as_array().unwrap().len(), 2);
    lab.write("trails/e.trail.yaml", &trail("Trail e", "slow", "one"));
    run(&lab, &["--last-failed"]).expect(0);
    let ended = run(&lab, &["--last-failed"]).expect(0);
    assert!(ended.stderr.contains("nothing to run"), "{}", ended.stderr);
    assert!(!ended.stderr.contains(&id), "{}", ended.stderr);
}

#[test]
fn what_failed_runs_again_without_a_word_about_devices() {
    let lab = bench();
    run(&lab, &[]).expect(1);
    let listed = lab.run(&["run", "--last-failed", "--list"]).expect(0);
    let listed: Vec<_> = listed.stdout.lines().collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    for (line, platform) in listed.iter().zip(["android", "ios"]) {
        let end = format!("/trails/e.trail.yaml  {platform}/virtual-1");
        assert!(line.ends_with(&end), "{line}");
    }
}

#[test]
fn all_devices_are_those_that_are_configured() {
    let lab = bench();
    lab.write(
        "packtrain.yaml",
        "devices: { virtual: { android: 1, profile: fast } }\n",
    );
    let words = ["run", "trails/a.trail.yaml", "--all-devices", "--list"];
    let listed = lab.run(&words).expect(0);
    assert_eq!(listed.stdout, "trails/a.trail.yaml  android/virtual-1\n");
}

#[test]
fn trails_are_chosen_by_what_they_are_called() {
    let lab = bench();
    for (pattern, count) in [
        ("Trail [ab]", 4),
        ("^slow$", 6),
        ("trails/c", 2),
        ("(?i)TRAIL E", 2),
    ] {
        assert_eq!(list(&lab, &["--grep", pattern]).len(), count, "{pattern}");
    }
    let ended = run(&lab, &["--grep", "nothing like it"]).expect(3);
    has(&ended.stderr, &["no trail matches"]);
    run(&lab, &["--grep", "("]).expect(3);
    assert!(
        !lab.folder().join(".packtrain/runs").exists(),
        "nothing ran"
    );
}

#[test]
fn a_list_for_programs_names_trail_device_and_part() {
    let lab = bench();
    let more = [
        "--list", "--format", "json", "--shard", "1/2", "--repeat", "2",
    ];
    let listed: Value = serde_json::from_str(&run(&lab, &more).expect(0).stdout).unwrap();
    assert_eq!(listed["part"], "1/2");
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 10);
    assert_eq!(sessions[0]["path"], "trails/a.trail.yaml");
    assert_eq!(sessions[0]["device"], "android/virtual-1");
    assert_eq!(sessions[0]["repeat"], 1);
}

#[test]
fn repetitions_are_told_apart_everywhere() {
    let lab = bench();
    run(&lab, &["--grep", "Trail a", "--repeat", "3"]).expect(0);
    let folder = lab.run_folder();
    let junit = lab.read(folder.join("junit.xml"));
    let names = junit.match_indices("<testcase name=\"").map(|(at, start)| {
        let rest = &junit[at + start.len()..];
        rest[..rest.find('"').unwrap()].to_owned()
    });
    let names: BTreeSet<_> = names.collect();
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(names.contains("Trail a [ios/virtual-1 #2]"), "{names:?}");
    let report = report(folder);
    assert_eq!(report["trails"][0]["sessions"][1]["repeat"], 2);
    assert_eq!(report["verdict"]["passed"], 6);
}

#[test]
fn a_log_says_as_much_as_it_is_asked_for() {
    let lab = bench();
    let quiet = run(&lab, &["--quiet", "--grep", "Trail a"])
        .expect(0)
        .stderr;
    assert!(!quiet.contains("Trail a"), "{quiet}");
    assert!(quiet.contains("Both passed."), "{quiet}");
    let quiet = run(&lab, &["-q"]).expect(1).stderr;
    assert!(quiet.contains("e on ios/virtual-1"), "{quiet}");
    assert!(!quiet.contains("a on ios/virtual-1"), "{quiet}");
    let lines = run(&lab, &["--lines", "sessions", "--no-report"])
        .expect(1)
        .stderr;
    for trail in ["a", "b", "c", "d", "e"] {
        let label = format!("  {trail} on android/virtual-1  ");
        let count = lines.lines().filter(|line| line.contains(&label)).count();
        assert_eq!(count, 1, "{lines}");
    }
    let tools = run(&lab, &["--lines", "tools", "--grep", "Trail a"])
        .expect(0)
        .stderr;
    assert!(tools.contains("assertEquals"), "{tools}");
    run(&lab, &["--lines", "tools", "--quiet"]).expect(3);
}

#[test]
fn a_run_of_many_trails_closes_with_its_failures_and_how_to_run_them_again() {
    let lab = bench();
    let said = run(&lab, &[]).expect(1).stderr;
    let closing = said.split_once("Failures:").unwrap().1;
    for part in [
        "✗ Trail e on ",
        ", step 1: ",
        "packtrain run trails/e.trail.yaml -d virtual:android",
        "packtrain run trails/e.trail.yaml -d virtual:ios",
    ] {
        assert!(closing.contains(part), "{part}\n{said}");
    }
    let command = closing
        .lines()
        .find_map(|line| line.trim().strip_prefix("packtrain "));
    let words: Vec<_> = command.unwrap().split(' ').collect();
    lab.run(&words).expect(1);
    assert_eq!(lab.events()[0]["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_ci_is_given_a_summary_and_annotations_that_no_text_can_break_out_of() {
    let lab = bench();
    let evil = "x%0A::error::%\\n::stop-commands::t\\n##[error]no, a:b";
    lab.write("trails/e.trail.yaml", &trail("Evil, t: %", "slow", evil));
    let github = |more: &[&str]| -> Ended {
        let arguments = ["run", "trails", "-d", DEVICES];
        let mut command = lab.command(&[&arguments[..], more].concat());
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_WORKSPACE", lab.folder().parent().unwrap())
            .env("GITHUB_STEP_SUMMARY", lab.folder().join("step.md"));
        command.output().unwrap().into()
    };
    lab.write("step.md", "before\n");
    let ended = github(&["--summary", "own.md"]).expect(1);
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1, "{}", ended.stdout);
    let folder = lab.folder().file_name().unwrap().to_str().unwrap();
    let start = format!("::error file={folder}/trails/e.trail.yaml,line=");
    assert!(lines[0].starts_with(&start), "{}", ended.stdout);
    assert!(
        lines[0].contains("title=Evil%2C t%3A %25"),
        "{}",
        ended.stdout
    );
    let is_command = |line: &str| line.trim_start().starts_with("::");
    assert!(!ended.stderr.lines().any(is_command), "{}", ended.stderr);
    assert!(!ended.stderr.contains("##["), "{}", ended.stderr);
    let appended = lab.read("step.md");
    assert!(
        appended.starts_with("before\n## ✗ 2 of 10 failed: "),
        "{appended}"
    );
    assert_eq!(
        appended.strip_prefix("before\n").unwrap(),
        lab.read("own.md")
    );
    has(
        &appended,
        &[
            "| Evil, t: % | ✗ 2 failed |",
            "`packtrain run trails/e.trail.yaml -d virtual:android`",
        ],
    );
    // What programs read on standard output stays theirs.
    let ended = github(&["--format", "json"]).expect(1);
    assert!(
        ended.stdout.lines().all(|line| line.starts_with('{')),
        "{}",
        ended.stdout
    );
    assert!(ended.stderr.contains("::error file="), "{}", ended.stderr);
}

#[test]
fn no_path_in_junit_is_absolute() {
    let elsewhere = lab();
    let lab = bench();
    let output = elsewhere.folder().join("runs").display().to_string();
    let trails = lab.folder().join("trails").display().to_string();
    let arguments = [
        "run",
        &trails,
        "-d",
        DEVICES,
        "--output",
        &output,
        "--junit",
        "out/junit.xml",
    ];
    lab.run(&arguments).expect(1);
    let junit = lab.read("out/junit.xml");
    assert!(junit.contains("file=\"trails/e.trail.yaml\""), "{junit}");
    let attached = junit.split("[[ATTACHMENT|").skip(1);
    let paths: Vec<_> = attached
        .map(|rest| rest.split("]]").next().unwrap())
        .collect();
    assert!(!paths.is_empty(), "{junit}");
    for path in paths {
        assert!(path.starts_with("../"), "{path}");
        assert!(lab.folder().join("out").join(path).is_file(), "{path}");
    }
    assert!(
        !junit.contains(&*elsewhere.folder().display().to_string()),
        "{junit}"
    );
    assert!(
        !junit.contains(&*lab.folder().display().to_string()),
        "{junit}"
    );
}
