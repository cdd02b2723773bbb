//! A disk that is full: what was lost is said, and nothing is called passed that nobody can read.
//!
//! A limit on the size of files stands for the disk; a write beyond it fails like one.

use std::process::Stdio;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab};

use crate::lab;

fn project() -> Lab {
    let lab = lab();
    lab.write(
        "look.trail.yaml",
        "config: { id: look }\ntrail:\n  - step: \"Look\"\n    recording:\n      android: []\n  - step: \"Look again\"\n    recording:\n      android: []\n",
    );
    lab
}

/// A run in which no file gets larger than `blocks` of 512 bytes.
fn run(lab: &Lab, blocks: u32, arguments: &[&str]) -> Ended {
    let run = ["run", "look.trail.yaml", "-d", "virtual:android"];
    limited(lab, blocks, &[&run[..], arguments].concat())
}

/// The program, when no file gets larger than `blocks` of 512 bytes.
fn limited(lab: &Lab, blocks: u32, arguments: &[&str]) -> Ended {
    let program = lab.command::<&str>(&[]);
    let mut shell = std::process::Command::new("sh");
    shell
        .args([
            "-c",
            &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""),
            "sh",
        ])
        .arg(program.get_program())
        .args(arguments)
        .current_dir(lab.folder())
        .env("XDG_CONFIG_HOME", lab.folder().join(".config"))
        .stdin(Stdio::null());
    shell.output().unwrap().into()
}

#[test]
fn a_journal_that_cannot_be_written_to_its_end_is_no_pass() {
    let lab = project();
    for format in ["text", "json"] {
        let ended = run(&lab, 2, &["--format", format]).expect(2);
        for part in [
            "error: the run's journal could not be written completely",
            "File too large",
            "make room on the disk",
        ] {
            assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
        }
    }
}

#[test]
fn a_picture_that_cannot_be_saved_is_told_and_the_journal_goes_on() {
    let lab = project();
    let ended = run(&lab, 8, &[]).expect(0);
    has(&ended.stderr, &[".png was not saved"]);
    assert!(
        !ended.stderr.contains("receives nothing more"),
        "{}",
        ended.stderr
    );
    let events = lab.events();
    assert_eq!(events.last().unwrap()["event"], "run_finished");
    let failed = events
        .iter()
        .find(|event| event["event"] == "sink_failed")
        .unwrap();
    let unsaved = failed["unsaved"].as_str().unwrap();
    assert!(unsaved.starts_with("pictures/"), "{unsaved}");
}

#[test]
fn a_report_is_whole_or_as_it_was_before() {
    let lab = project();
    run(&lab, 100_000, &["--html", "copy.html"]).expect(0);
    let there = || {
        let entries = std::fs::read_dir(lab.run_folder()).unwrap();
        let folder = entries.map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = folder.filter(|path| path.is_file()).collect();
        files.push(lab.folder().join("copy.html"));
        files.sort();
        let content = |path| (std::fs::read(&path).unwrap(), path);
        files.into_iter().map(content).collect::<Vec<_>>()
    };
    let before = there();
    let again = ["report", "latest", "--html", "copy.html"];
    let said = limited(&lab, 1, &again).expect(2).stderr;
    for part in ["report.html: File too large", "cannot write copy.html"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(there() == before, "{said}");
}

#[test]
fn a_copy_that_cannot_be_written_hides_no_failure_and_keeps_no_other_report_away() {
    let lab = lab();
    lab.write(
        "fail.trail.yaml",
        "config: { id: fail }\ntrail:\n  - step: x\n    recording:\n      android:\n        - runCommand: { command: \"false\" }\n",
    );
    std::fs::create_dir(lab.folder().join("taken")).unwrap();
    let copies = ["--junit", "taken", "--html", "copy.html"];
    let run = ["run", "fail.trail.yaml", "-d", "virtual:android"];
    let ended = lab.run(&[&run[..], &copies[..]].concat()).expect(1);
    for part in ["error: cannot write taken", "Failed: step 1: "] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
    for report in ["junit.xml", "report.html", "report.json"] {
        assert!(lab.run_folder().join(report).is_file(), "{report}");
    }
    assert!(lab.folder().join("copy.html").is_file());
}

#[test]
fn output_that_is_lost_is_told_and_is_no_pass() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let lab = lab();
    let mut command = lab.command(&["schema", "trail"]);
    let ended = command.stdout(full.unwrap()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("standard output"), "{said}");
}
