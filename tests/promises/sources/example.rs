//! The example's sources in three languages, on what it is made for.

use super::{nothing_runs, signup_example};

#[test]
fn the_example_signs_people_up_in_three_languages_on_phones_and_a_page() {
    let (lab, path) = signup_example();
    let devices = "virtual:android,virtual:ios,web/desktop";
    let flags = ["run", "--format=json", "--screenshots=none", "-d", devices];
    let ended = lab
        .command(&flags)
        .current_dir(lab.folder().join("signup"))
        .env("PATH", path)
        .output()
        .unwrap();
    let ended = packtrain_tests::Ended::from(ended).expect(0);
    nothing_runs(&lab);
    let events: Vec<_> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcomes = packtrain_tests::outcomes(&events);
    assert_eq!(outcomes.len(), 3);
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:?}"
    );
    // The sign-up happened by callbacks.
    let by = |tool: &str| {
        let called = events.iter().filter(|event| {
            event["event"] == "tool_finished" && event["tool"] == tool && event["depth"] == 0
        });
        called
            .filter(|event| event["via"]["callbacks"].as_u64() >= Some(5))
            .count()
    };
    for tool in ["shop_signUpTs", "shop_signUpPy", "shop_signUpNode"] {
        assert_eq!(by(tool), 3, "{tool}");
    }
}
