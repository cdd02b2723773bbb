//! The demo is the product's: one trail, at once on phones and on browsers.

use packtrain_testing::has;
use packtrain_tests::Ended;
use serde_json::Value;

use crate::lab;

const PHONES: [&str; 2] = ["android/virtual-1", "ios/virtual-1"];

#[test]
fn the_demo_runs_its_trail_at_once_on_both_phones_and_on_every_browser() {
    let lab = lab();
    let ended = lab.run(&["demo"]).expect(0);
    // Light and dark, and in the browser wide and narrow.
    let events = lab.events();
    let ended_well = |platform: &str| {
        let started = events
            .iter()
            .filter(|event| event["event"] == "session_started");
        let here = started.filter(|event| {
            let device = event["device"]["id"].as_str().unwrap();
            device.starts_with(platform)
        });
        let passed = |session: &&Value| {
            let finished = events.iter().find(|event| {
                event["event"] == "session_finished" && event["session"] == session["session"]
            });
            finished.is_some_and(|finished| finished["outcome"] == "passed")
        };
        here.filter(passed).count()
    };
    let counts = ["android/", "ios/", "web/desktop"].map(ended_well);
    assert_eq!(counts, [2, 2, 4]);
    assert!(ended.stderr.contains("report.html"), "{}", ended.stderr);
    // The trail says which element it means, and nothing else is worth a note.
    for note in ["Notes:", "note:"] {
        assert!(!ended.stderr.contains(note), "{}", ended.stderr);
    }
    // One of its steps is by a tool source, on every device.
    let tool =
        |event: &&Value| event["event"] == "tool_finished" && event["tool"] == "shop_signUpNode";
    let by_source: Vec<_> = events.iter().filter(tool).collect();
    assert_eq!(by_source.len(), 8, "{by_source:?}");
    for event in by_source {
        assert_eq!(event["via"]["source"], "signup", "{event}");
    }
    // At once: every platform has begun before any has ended its last session.
    let sessions: Vec<_> = events
        .iter()
        .enumerate()
        .filter(|(_, event)| event["event"] == "session_started")
        .map(|(began, event)| {
            let platform = event["device"]["id"].as_str().unwrap().split('/').next();
            let ended = events.iter().position(|end| {
                end["event"] == "session_finished" && end["session"] == event["session"]
            });
            (platform.unwrap(), began, ended.unwrap())
        })
        .collect();
    let all_ended = ["android", "ios", "web"].map(|platform| {
        let of = sessions.iter().filter(|(at, ..)| *at == platform);
        of.map(|(.., ended)| *ended).max().unwrap()
    });
    let first_end = all_ended.into_iter().min().unwrap();
    let begun = sessions.iter().filter(|(_, began, _)| *began < first_end);
    let platforms: std::collections::BTreeSet<_> = begun.map(|(platform, ..)| *platform).collect();
    assert_eq!(platforms.len(), 3, "{platforms:?}");
}

#[test]
fn without_a_browser_the_demo_runs_the_phones_and_says_how_to_get_one() {
    let lab = lab();
    let output = lab
        .command(&["demo"])
        .env("PATH", "/nonexistent")
        .env("PACKTRAIN_BROWSER", "/nonexistent/browser")
        .output()
        .unwrap();
    let ended = Ended::from(output).expect(0);
    let outcomes = lab.outcomes();
    assert_eq!(outcomes.keys().collect::<Vec<_>>(), PHONES);
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:?}"
    );
    for part in ["no browser was found", "apt-get install chromium"] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("doctor --fix"), "{}", ended.stderr);
}

#[test]
fn the_demo_takes_a_platform_to_mean_its_own_phone() {
    let lab = lab();
    // No adb is to be found: nothing may look for a real phone.
    let output = lab
        .command(&["demo", "-d", "android"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    Ended::from(output).expect(0);
    assert_eq!(lab.outcomes(), [(PHONES[0].into(), "passed".into())].into());
}

#[test]
fn a_browser_that_nothing_drives_yet_is_made_ready_by_the_demo() {
    let lab = lab();
    let home = lab.folder().join("home");
    let output = lab
        .command(&["demo", "-d", "web/desktop"])
        .env("PACKTRAIN_HOME", &home)
        .env_remove("PACKTRAIN_PLAYWRIGHT_CLI")
        .output()
        .unwrap();
    let ended = Ended::from(output).expect(0);
    let outcomes = lab.outcomes();
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:?}"
    );
    let said = format!("from npm into {}", home.display());
    assert!(ended.stderr.contains(&said), "{}", ended.stderr);
}

#[test]
fn the_demos_difference_is_told_by_its_element_and_its_cause() {
    let lab = lab();
    lab.run(&["demo", "--differences", "-d", "web/desktop"])
        .expect(0);
    let text = std::fs::read_to_string(lab.run_folder().join("comparison.json")).unwrap();
    let compared: Value = serde_json::from_str(&text).unwrap();
    let clusters = compared["clusters"].as_array().unwrap();
    let planted = clusters.iter().find(|cluster| {
        cluster["title"]
            .as_str()
            .unwrap()
            .contains("Continue shopping")
    });
    let planted = planted.unwrap_or_else(|| panic!("{clusters:#?}"));
    let words = planted["words"].as_str().unwrap();
    assert_eq!(planted["verdict"], "cause", "{words}");
    has(
        words,
        &[
            "**all 6 of 6** cells with colorScheme=dark",
            "**none of 6** others",
        ],
    );
}
