//! Runs that agents start: how they go is told on the way, what there is of them can be fetched, and
//! they end with the agent that started them, unless it let them go on.

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, AgentLab};
use packtrain_tests::until;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{lab, listed, note, phone, typing_trail};

/// Starts a run on the phone; answers its handle and its resource.
#[track_caller]
fn starts(agent: &Agent, trail: &str, more: Value) -> (String, String) {
    let mut asked = json!({ "trails": [trail], "devices": [phone(1)] });
    if let Some(more) = more.as_object() {
        asked.as_object_mut().unwrap().extend(more.clone());
    }
    let started = agent.does("run_start", asked);
    let text = |name: &str| started.data[name].as_str().unwrap().to_owned();
    assert_eq!(started.result["content"][1]["uri"], text("resource"));
    (text("run"), text("resource"))
}

/// Waits until the run of an agent is over.
#[track_caller]
fn settled(agent: &Agent, run: &str) -> Value {
    loop {
        let waited = agent.does("run_wait", json!({ "run": run, "timeout_ms": 50_000 }));
        if waited.data["over"] == true {
            return waited.data;
        }
    }
}

/// Waits until a run has the phone.
fn until_it_has_the_phone(agent: &Agent) {
    until(|| {
        let state = listed(agent, &phone(1))["state"].clone();
        state.as_str().unwrap().contains("of run ")
    });
}

/// Whether the reports of a run that is not by hand are there, whose one session ended so.
fn finished(lab: &AgentLab, how: &str) -> bool {
    let runs = std::fs::read_dir(lab.lab().folder().join(".packtrain/runs")).unwrap();
    runs.flatten().any(|run| {
        let read = |name: &str| std::fs::read_to_string(run.path().join(name));
        let (Ok(report), Ok(junit)) = (read("report.json"), read("junit.xml")) else {
            return false;
        };
        let report: Value = serde_json::from_str(&report).unwrap_or_default();
        report["verdict"][how] == 1 && !junit.contains("by-hand")
    })
}

#[track_caller]
fn reads(agent: &Agent, uri: &str) -> String {
    let read = agent.request("resources/read", json!({ "uri": uri }));
    let read = read.unwrap();
    assert_eq!(read["contents"][0]["uri"], uri);
    read["contents"][0]["text"].as_str().unwrap().to_owned()
}

/// Follows a run to its end, by what it is told.
#[track_caller]
fn follows(lab: &AgentLab, agent: &Agent, subscribe: impl FnOnce(&Agent, &str)) {
    let trail = typing_trail(lab, "followed", 1);
    let (run, uri) = starts(agent, &trail, json!({}));
    subscribe(agent, &uri);
    let waiting = agent.start("run_wait", json!({ "run": run, "timeout_ms": 50_000 }));
    waiting.until_told("of 1 sessions settled");
    assert_eq!(agent.is_told("notifications/resources/updated")["uri"], uri);
    let over = waiting.called();
    assert_eq!(over.data["verdict"]["passed"], 1, "{over:?}");
    assert!(
        over.text.starts_with("finished: 1 passed, 0 failed"),
        "{over:?}"
    );
    assert_eq!(
        agent.does("run_status", json!({ "run": run })).data,
        over.data
    );

    let status: Value = serde_json::from_str(&reads(agent, &uri)).unwrap();
    // The answer has its text beside its data, for clients that show one of them.
    let mut data = over.data.clone();
    data.as_object_mut().unwrap().remove("text");
    assert_eq!(status, data);
    assert!(reads(agent, &format!("{uri}/report.html")).contains("followed"));
    assert!(reads(agent, &format!("{uri}/junit.xml")).contains("<testsuites"));
    let report: Value = serde_json::from_str(&reads(agent, &format!("{uri}/report.json"))).unwrap();
    assert_eq!(report["verdict"]["passed"], 1);
    let listed = agent.request("resources/list", json!({})).unwrap();
    for name in ["report.html", "report.json", "junit.xml"] {
        has(&listed.to_string(), &[&format!("{uri}/{name}")]);
    }
    // The phone is free again.
    agent.acquires(&phone(1));
}

#[test]
fn a_run_tells_how_it_goes_and_its_reports_can_be_fetched() {
    let lab = lab(1);
    let subscribe = |agent: &Agent, uri: &str| {
        let asked = json!({ "uri": uri });
        agent.request("resources/subscribe", asked).unwrap();
    };
    let agent = lab.stdio("by-pipe");
    follows(&lab, &agent, subscribe);
    drop(agent);
    let agent = lab.http("by-session");
    agent.listen();
    follows(&lab, &agent, subscribe);
}

#[test]
fn who_makes_single_requests_listens_for_updates() {
    let lab = lab(1);
    let agent = lab.requests("by-request");
    let mut listening = None;
    follows(&lab, &agent, |agent, uri| {
        let filter = json!({ "resourceSubscriptions": [uri] });
        let asked = json!({ "notifications": filter });
        listening = Some(agent.send("subscriptions/listen", asked));
        agent.is_told("notifications/subscriptions/acknowledged");
    });
}

#[test]
fn a_run_that_is_cancelled_gives_its_device_back() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "long", 100);
    for agent in [
        lab.stdio("by-pipe"),
        lab.http("by-session"),
        lab.requests("by-request"),
    ] {
        let (run, _) = starts(&agent, &trail, json!({}));
        until_it_has_the_phone(&agent);
        agent.does("run_cancel", json!({ "run": run }));
        let over = settled(&agent, &run);
        assert_eq!(over["verdict"]["cancelled"], 1, "{over}");
        let lease = agent.acquires(&phone(1));
        agent.does("device_release", json!({ "lease": lease }));
    }
}

#[test]
fn a_run_ends_with_the_agent_that_started_it() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "long", 100);
    let other = lab.stdio("other");
    for going in [lab.stdio("going"), lab.http("going")] {
        starts(&going, &trail, json!({}));
        until_it_has_the_phone(&other);
        let gone = Instant::now();
        match lab.agent("going").unwrap()["transport"].as_str() {
            Some("stdio") => going.kill(),
            _ => going.end_session(),
        }
        let taken = json!({ "device": phone(1), "wait_ms": 60_000 });
        let lease = other.does("device_acquire", taken).data["lease"].clone();
        let took = gone.elapsed();
        note(&format!(
            "the run's phone is free after {} ms",
            took.as_millis()
        ));
        assert!(took.as_secs() < 5, "{took:?}");
        other.does("device_release", json!({ "lease": lease }));
        // Its reports are written all the same.
        until(|| finished(&lab, "cancelled"));
    }
}

#[test]
fn a_run_that_was_let_go_on_outlives_the_agent_that_started_it() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "detached", 2);
    let (other, going) = (lab.stdio("other"), lab.stdio("going"));
    starts(&going, &trail, json!({ "detach": true }));
    until_it_has_the_phone(&other);
    going.kill();
    lab.until_gone("going");
    assert_eq!(listed(&other, &phone(1))["free"], false);
    other.acquires(&phone(1));
    until(|| finished(&lab, "passed"));
}

#[test]
fn a_run_that_cannot_begin_says_why() {
    let lab = lab(1);
    lab.lab()
        .write("trails/wrong.trail.yaml", "trail:\n  - stepp: x\n");
    let agent = lab.stdio("clumsy");
    let (run, _) = starts(&agent, "trails/wrong.trail.yaml", json!({}));
    let over = settled(&agent, &run);
    let problem = over["problem"].as_str().unwrap();
    has(problem, &["it ended with 3", "stepp"]);
    let checked = agent.call(
        "trail_check",
        json!({ "trails": ["trails/wrong.trail.yaml"] }),
    );
    assert_eq!(checked.data["ok"], false, "{checked:?}");
    assert!(checked.text.contains("wrong.trail.yaml:2"), "{checked:?}");
}
