//! What an agent does by hand is a run like any other: its journal and its reports have every call.

use packtrain_tests::until;
use serde_json::{Value, json};

use super::{lab, phone, refused, types};

/// What of a run's tool calls is told by its journal, each with how it ended.
fn calls(events: &[Value]) -> Vec<(String, String)> {
    let ended = events
        .iter()
        .filter(|event| event["event"] == "tool_finished" && event["depth"] == 0)
        // Looking is no act.
        .filter(|event| event["tool"] != "readScreen");
    ended
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            (text("tool"), text("outcome"))
        })
        .collect()
}

#[test]
fn calls_of_an_agent_are_in_the_report_like_any_others() {
    let lab = lab(1);
    for agent in [
        lab.stdio("Claude"),
        lab.http("Claude"),
        lab.requests("Claude"),
    ] {
        let taken = agent
            .does("device_acquire", json!({ "device": phone(1) }))
            .data;
        let lease = taken["lease"].as_str().unwrap();
        let run = taken["run"].as_str().unwrap();
        types(&agent, lease, "by-hand");
        let wrong = json!({ "lease": lease, "actual": "one", "expected": "other" });
        let told = refused(agent.call("assertEquals", wrong));
        assert!(told.starts_with("failed: "), "{told}");
        agent.does("snapshot", json!({ "lease": lease }));
        let released = agent.does("device_release", json!({ "lease": lease }));
        assert_eq!(released.data["run"], run);

        let events = lab.events(run);
        let passed = |tool: &str| (tool.to_owned(), "passed".to_owned());
        let called = calls(&events);
        let expected = [
            passed("launchApp"),
            passed("tap"),
            passed("inputText"),
            ("assertEquals".to_owned(), "failed".to_owned()),
        ];
        assert_eq!(called, expected);
        let last = events.last().unwrap();
        assert_eq!(last["event"], "run_finished", "{last}");
        assert_eq!(last["verdict"]["passed"], 1, "{last}");

        lab.run(&[
            "report",
            run,
            "--html",
            "shown.html",
            "--summary",
            "shown.md",
        ])
        .expect(0);
        let html = lab.lab().read("shown.html");
        let report = lab.lab().read(format!(".packtrain/runs/{run}/report.json"));
        for words in ["Driven by Claude", "launchApp", "inputText", "assertEquals"] {
            assert!(html.contains(words), "{words}");
            assert!(report.contains(words), "{words}");
        }
        let listed = lab.ask(&["runs"]).to_string();
        assert!(listed.contains(run), "{listed}");
    }
}

#[test]
fn a_session_by_hand_that_broke_off_is_cancelled_and_whole() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let taken = agent
        .does("device_acquire", json!({ "device": phone(1) }))
        .data;
    let lease = taken["lease"].as_str().unwrap();
    types(&agent, lease, "half");
    agent.kill();
    let run = taken["run"].as_str().unwrap();
    let last = || lab.events(run).pop();
    until(|| last().is_some_and(|event| event["event"] == "run_finished"));
    let last = last().unwrap();
    assert_eq!(last["verdict"]["cancelled"], 1, "{last}");
    assert_eq!(calls(&lab.events(run)).len(), 3);
    lab.run(&["report", run, "--html", "shown.html"]).expect(0);
    assert!(lab.lab().read("shown.html").contains("inputText"));
}
