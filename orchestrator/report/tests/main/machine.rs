//! JUnit and JSON.

use std::collections::HashSet;

use packtrain_model::{Blame, Entry, Outcome, RunEvent};
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps};
use packtrain_report::{HtmlOptions, JunitOptions, RunView};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};

use crate::{compared, golden, html, json, junit, plain, small, summary, view};

fn report(view: &RunView) -> Report {
    let xml = junit(view, &JunitOptions::default());
    Report::deserialize_from_str(&xml).unwrap()
}

fn cases(report: &Report) -> impl Iterator<Item = &TestCase> {
    let suites = report.test_suites.iter();
    suites.flat_map(|suite| &suite.test_cases)
}

fn case<'a>(report: &'a Report, name: &str) -> &'a TestCase {
    let mut cases = cases(report);
    cases.find(|case| case.name.as_str() == name).unwrap()
}

fn class(case: &TestCase) -> &str {
    case.classname.as_ref().unwrap().as_str()
}

#[test]
fn junit_is_as_agreed() {
    let options = JunitOptions {
        run_folder: Some(".packtrain/runs/20261121-093015-k3f9".to_owned()),
    };
    golden::expect("junit.xml", &junit(&view(&small()), &options));
}

#[test]
fn json_is_as_agreed() {
    let sample = plain(2, 1);
    let view = view(&sample);
    let text = packtrain_report::json(&view, &compared(&view)).unwrap();
    golden::expect("summary.json", &text);
}

#[test]
fn no_two_test_cases_have_the_same_names() {
    let sample = plain(30, 4);
    let report = report(&view(&sample));
    let by_class: HashSet<_> = cases(&report)
        .map(|case| (class(case), case.name.as_str()))
        .collect();
    let by_name: HashSet<_> = cases(&report).map(|case| case.name.as_str()).collect();
    assert_eq!(report.tests, 120);
    assert_eq!((by_class.len(), by_name.len()), (120, 120));
}

#[test]
fn trails_of_one_name_in_two_folders_have_different_classes() {
    let mut sample = small();
    let Some(Entry {
        event: RunEvent::RunStarted { trails, .. },
        ..
    }) = sample.entries.first_mut()
    else {
        panic!("a run starts with its start");
    };
    for trail in &mut *trails {
        trail.path = format!("{}/same.trail.yaml", trail.name);
        trail.name = "same".to_owned();
        trail.title = "Same".to_owned();
    }
    let report = report(&view(&sample));
    let classes: HashSet<_> = cases(&report).map(class).collect();
    assert_eq!(classes.len(), 24);
}

#[test]
fn a_trail_dealt_out_to_any_device_keeps_its_name_whatever_device_it_got() {
    let mut sample = plain(1, 2);
    if let RunEvent::RunStarted { options, .. } = &mut sample.entries[0].event {
        options.shard = "split".to_owned();
    }
    let report = report(&view(&sample));
    assert_eq!(report.test_suites.len(), 1);
    let case = case(&report, "Buy two cups");
    assert_eq!(class(case), "checkout");
}

#[test]
fn failures_are_the_apps_and_errors_are_ours() {
    let report = report(&view(&small()));
    let kind = |name: &str| match &case(&report, name).status {
        TestCaseStatus::NonSuccess { kind, .. } => Some(*kind),
        TestCaseStatus::Success { .. } | TestCaseStatus::Skipped { .. } => None,
    };
    let name = |title: &str, device: &str| kind(&format!("{title} [{device}]"));
    assert_eq!(
        name("Buy two cups", "android/192.168.1.40:5555"),
        Some(NonSuccessKind::Failure)
    );
    assert_eq!(
        name("Search finds products", "ios/00008112-000E"),
        Some(NonSuccessKind::Failure)
    );
    assert_eq!(
        name("Dark mode stays on after a restart", "android/R58M12ABCDE"),
        Some(NonSuccessKind::Error)
    );
    assert_eq!(report.skipped, 1);
}

#[test]
fn a_pass_after_a_failure_is_a_pass_with_a_flaky_run() {
    let report = report(&view(&small()));
    let case = case(&report, "Search finds products [android/emulator-5556]");
    let TestCaseStatus::Success { flaky_runs } = &case.status else {
        panic!("it passed in the end: {case:?}");
    };
    assert_eq!(flaky_runs.len(), 1);
    assert!(
        flaky_runs[0]
            .message
            .as_ref()
            .unwrap()
            .contains("Desk lamp")
    );
}

#[test]
fn a_run_cut_short_is_an_error_in_junit_and_says_so_in_json() {
    let sample = small();
    let view = RunView::from_events(sample.entries[..40].to_vec());
    assert_eq!(report(&view).errors, 24);
    let json: serde_json::Value = json(&view);
    assert_eq!(json["state"], "cut_short");
    assert_eq!(json["exit_code"], 2);
    assert_eq!(json["unfinished"], 24);
    for trail in json["trails"].as_array().unwrap() {
        assert_eq!(trail["divergences"], serde_json::json!([]));
    }
}

#[test]
fn json_says_which_devices_left_the_way_where_and_what_they_share() {
    let sample = plain(12, 1);
    let view = view(&sample);
    let mut compared = compared(&view);
    compared.clusters[0].place = "iPhones and iPads only".to_owned();
    let json = packtrain_report::json(&view, &compared).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let divergence = &json["trails"][0]["divergences"][0];
    assert_eq!(divergence["first_divergent_step"], 6);
    assert_eq!(
        divergence["only"],
        serde_json::json!(["iPhones and iPads only"])
    );
    assert_eq!(divergence["devices"].as_array().unwrap().len(), 4);
    assert_eq!(json["trails"][0]["reference"].as_array().unwrap().len(), 7);
}

#[test]
fn a_mixed_run_has_failures_and_infrastructure_errors_side_by_side() {
    let view = view(&small());
    let document: serde_json::Value = json(&view);
    assert_eq!(document["exit_code"], 1);
    let verdict = &document["verdict"];
    assert_eq!(
        (&verdict["failed"], &verdict["infrastructure"]),
        (&3.into(), &1.into())
    );
    let text = summary(&view, &[], Layout::default());
    assert!(
        text.contains("\n✗ 3 of 24 failed: iOS only, and 1 other. 1 not tested: "),
        "{text}"
    );
    assert!(text.contains(" 1 not tested"), "{text}");
    let report = report(&view);
    // What is not recorded is a failure in JUnit too.
    assert_eq!((report.failures, report.errors), (4, 1));
}

#[test]
fn an_infrastructure_error_says_whom_it_blames() {
    for (blame, key, word) in [
        (Blame::Device, "device", "device error"),
        (Blame::Source, "source", "tool source error"),
        (Blame::Host, "host", "host error"),
        (Blame::Configuration, "configuration", "not applicable"),
        (Blame::HostLost, "host_lost", "host lost"),
        (Blame::HostDrained, "host_drained", "host drained"),
        (Blame::RunLost, "run_lost", "lost with its run"),
    ] {
        let mut sample = small();
        for entry in &mut sample.entries {
            if let RunEvent::StepFinished { outcome, .. }
            | RunEvent::SessionWillRetry { outcome, .. }
            | RunEvent::SessionFinished { outcome, .. } = &mut entry.event
                && let Outcome::Infrastructure { blame: named, .. } = outcome
            {
                *named = blame;
            }
        }
        let view = view(&sample);
        let document: serde_json::Value = json(&view);
        let trail = &document["trails"][2];
        assert_eq!(trail["sessions"][4]["blame"], key);
        assert_eq!(trail["divergences"][0]["blame"], key);
        let text = summary(&view, &[], Layout::default());
        assert!(
            text.contains(&format!("⊘ {word} at the trailhead")),
            "{text}"
        );
        let mut lines = EventLines::new(Layout::default(), Detail::Sessions, Timestamps::None);
        let lines: Vec<String> = sample
            .entries
            .iter()
            .flat_map(|entry| lines.lines(entry))
            .collect();
        let ended = format!("dark-mode on android/R58M12ABCDE            ⊘ {word}  ");
        assert!(
            lines.iter().any(|line| line.starts_with(&ended)),
            "{lines:#?}"
        );
        let report = report(&view);
        let case = case(
            &report,
            "Dark mode stays on after a restart [android/R58M12ABCDE]",
        );
        let TestCaseStatus::NonSuccess { message, .. } = &case.status else {
            panic!("it was lost: {case:?}");
        };
        let message = message.as_ref().unwrap().as_str();
        assert!(
            message.contains(&format!("\": {word}: device `")),
            "{message}"
        );
        let page = html(&view, None, &HtmlOptions::default(), &mut |_| None).unwrap();
        assert!(page.contains(&format!("\"word\":\"{word}\"")));
    }
}

#[test]
fn what_calls_noticed_is_in_junit_json_and_html() {
    let sample = plain(2, 1);
    let view = view(&sample);
    let note = "2 elements match role=button[name=\"Add to basket\"]; the first was used";
    let report = report(&view);
    let log = case(&report, "Buy two cups [web/desktop]")
        .system_out
        .as_ref()
        .unwrap();
    assert_eq!(
        log.as_str()
            .matches(&format!("     note: {note}\n"))
            .count(),
        1
    );
    let document: serde_json::Value = json(&view);
    let noted = document["trails"][0]["notes"].as_array().unwrap();
    let noted = noted.iter().find(|one| one["note"] == note).unwrap();
    assert_eq!(noted["step"], 3);
    assert_eq!(noted["sessions"], serde_json::json!(["s1", "s2"]));
    let page = html(&view, None, &HtmlOptions::default(), &mut |_| None).unwrap();
    assert!(page.contains("<a href=\"#s1-3\">step 3</a>: 2 elements match role=button["));
}
