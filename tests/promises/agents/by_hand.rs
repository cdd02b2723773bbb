//! What an agent does by hand is a run like any other: its journal and its reports have every call.

use packtrain_tests::until;
use serde_json::{Value, json};

use super::{lab, opens, phone, refused, types};

/// What of a run's tool calls is told by its journal, each with how it ended.
fn calls(events: &[Value]) -> Vec<(String, String)> {
    let ended = events
        .iter()
        .filter(|event| event["event"] == "tool_finished" && event["depth"] == 0)
        // Looking is not an act.
        .filter(|event| event["tool"] != "readScreen");
    ended
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            (text("tool"), text("outcome"))
        })
        .collect()
}

fn event<'a>(events: &'a [Value], name: &str) -> &'a Value {
    let mut events = events.iter();
    events.find(|event| event["event"] == name).unwrap()
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
        assert_eq!(last["verdict"]["failed"], 1, "{last}");
        let words = "1 of 6 calls did not pass; first `assertEquals`: ";
        let step = event(&events, "step_finished");
        for ended in [step, event(&events, "session_finished")] {
            assert_eq!(ended["outcome"], "failed", "{ended}");
            assert!(
                ended["message"].as_str().unwrap().starts_with(words),
                "{ended}"
            );
        }

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
        assert!(report.contains(words), "{report}");
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

#[test]
fn a_session_by_hand_passes_when_every_call_did() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let asked = json!({ "device": phone(1) });
    let taken = agent.does("device_acquire", asked).data;
    let lease = taken["lease"].as_str().unwrap();
    types(&agent, lease, "right");
    agent.does("device_release", json!({ "lease": lease }));
    let events = lab.events(taken["run"].as_str().unwrap());
    assert_eq!(event(&events, "run_finished")["verdict"]["passed"], 1);
}

#[test]
fn a_call_that_is_under_way_when_the_device_goes_back_is_no_pass() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let asked = json!({ "device": phone(1) });
    let taken = agent.does("device_acquire", asked).data;
    let (lease, run) = (&taken["lease"], taken["run"].as_str().unwrap());
    opens(&agent, lease.as_str().unwrap());
    let waiting = json!({ "lease": lease, "timeToWaitInSeconds": 60 });
    let waiting = agent.start("wait", waiting);
    until(|| lab.events(run).iter().any(|event| event["tool"] == "wait"));
    agent.does("device_release", json!({ "lease": lease }));
    let told = refused(waiting.called());
    assert!(told.starts_with("unknown_lease: "), "{told}");
    let events = lab.events(run);
    let last = event(&events, "run_finished");
    assert_eq!(last["verdict"]["failed"], 1, "{last}");
    let step = event(&events, "step_finished");
    let words = "1 of 4 calls did not pass; first `wait`: it was cancelled before it finished";
    assert_eq!(step["message"], words, "{step}");
    // Its calls end before it does.
    let ended = |event: &&Value| event["event"] == "tool_finished" && event["tool"] == "wait";
    let call = events.iter().find(ended).unwrap();
    assert!(call["seq"].as_u64() < step["seq"].as_u64(), "{call} {step}");
}

#[test]
fn an_acquire_that_comes_to_nothing_leaves_no_run() {
    let lab = lab(1);
    let holder = lab.stdio("holder");
    let lease = holder.acquires(&phone(1));
    let runs = || {
        let folders = std::fs::read_dir(lab.lab().folder().join(".packtrain/runs")).unwrap();
        folders.count()
    };
    assert_eq!(runs(), 1);
    let waits = lab.stdio("waits");
    let asked = json!({ "device": phone(1), "wait_ms": 60_000 });
    let waiting = waits.start("device_acquire", asked);
    waiting.until_told("in use by holder");
    waits.kill();
    lab.until_gone("waits");
    holder.does("device_release", json!({ "lease": lease }));
    // Its tools cannot be read, which shows when the device is leased.
    lab.lab()
        .write("tools/wrong.tool.yaml", "id: wrong\n  x: [\n");
    let told = refused(holder.call("device_acquire", json!({ "device": phone(1) })));
    assert!(told.contains("tools/wrong.tool.yaml:2"), "{told}");
    assert_eq!(runs(), 1);
}
