//! The demo is the product's: one trail, at once on phones and on browsers.

use packtrain_tests::Ended;

use crate::lab;

const PHONES: [&str; 2] = ["android/virtual-1", "ios/virtual-1"];

#[test]
fn the_demo_runs_its_trail_at_once_on_both_phones_and_on_every_browser() {
    let lab = lab();
    let ended = lab.run(&["demo"]).expect(0);
    let outcomes = lab.outcomes();
    let browsers = ["desktop", "phone", "tablet", "night"].map(|name| format!("web/{name}"));
    for device in PHONES
        .into_iter()
        .chain(browsers.iter().map(String::as_str))
    {
        assert_eq!(
            outcomes.get(device).map(String::as_str),
            Some("passed"),
            "{device}"
        );
    }
    assert_eq!(outcomes.len(), 6, "{outcomes:?}");
    assert!(ended.stderr.contains("report.html"), "{}", ended.stderr);
    // One of its steps is by a tool source, on every device.
    let tool = |event: &&serde_json::Value| {
        event["event"] == "tool_finished" && event["tool"] == "shop_signUpNode"
    };
    let events = lab.events();
    let by_source: Vec<_> = events.iter().filter(tool).collect();
    assert_eq!(by_source.len(), 6, "{by_source:?}");
    for event in by_source {
        assert_eq!(event["via"]["source"], "signup", "{event}");
    }
    // At once: every device has begun before any has ended.
    let events = lab.events();
    let place = |name: &str| events.iter().position(|event| event["event"] == name);
    let last_started = events
        .iter()
        .rposition(|event| event["event"] == "session_started");
    assert!(last_started < place("session_finished"));
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
    assert_eq!(
        lab.outcomes(),
        [("web/desktop".into(), "passed".into())].into()
    );
    let said = format!("from npm into {}", home.display());
    assert!(ended.stderr.contains(&said), "{}", ended.stderr);
}
