//! An agent that goes, however it goes: what it had is free for others soon, and nobody else notices.

use std::time::Duration;

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, AgentLab};
use serde_json::json;
use tokio::time::Instant;

use super::{lab, listed, note, opens, phone, refused, sees, types};

/// How soon the device of an agent that is gone is somebody else's.
const FREE_TIMEOUT: Duration = Duration::from_secs(5);

/// Builds a toolset of some tools and equips it.
#[track_caller]
fn equips(agent: &Agent, name: &str, tools: &[&str]) {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| json!({ "namespacedName": format!("packtrain.{tool}") }))
        .collect();
    let asked = json!({ "name": name, "tools": tools, "autoEquip": true });
    agent.does("build-toolset", asked);
}

/// Has an agent go in the midst of its work, while another works beside it and a third waits for the
/// device of the one that goes.
#[track_caller]
fn goes(lab: &AgentLab, how: &str, going: &Agent, go: impl FnOnce(&Agent)) {
    let (staying, waiting) = (lab.stdio("staying"), lab.http("waiting"));
    equips(going, "looking", &["launchApp", "tap"]);
    let typing = ["launchApp", "tap", "inputText"];
    equips(&staying, "typing", &typing);
    let (lost, kept) = (going.acquires(&phone(1)), staying.acquires(&phone(2)));
    opens(going, &lost);
    types(&staying, &kept, "mine");
    assert!(!going.tools().contains(&"inputText".to_owned()));

    let asked = json!({ "device": phone(1), "wait_ms": 60_000 });
    let next = waiting.start("device_acquire", asked);
    next.until_told("in use by going");
    std::thread::scope(|scope| {
        let working = scope.spawn(|| {
            for number in 0..40 {
                staying.does("inputText", json!({ "lease": kept, "text": "x" }));
                assert!(sees(&staying, &kept).contains("<mine"), "{number}");
            }
        });
        let gone = Instant::now();
        go(going);
        let taken = next.called();
        let took = gone.elapsed();
        note(&format!("{how}: free after {} ms", took.as_millis()));
        assert!(!taken.is_error, "{taken:?}");
        assert!(took < FREE_TIMEOUT, "{took:?}");
        working.join().unwrap();
    });
    assert!(sees(&staying, &kept).contains(&format!("<mine{}>", "x".repeat(40))));
    assert!(staying.tools().contains(&"inputText".to_owned()));
    let told = lab.agents();
    let names: Vec<_> = told.iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["staying", "waiting"]);
    assert_eq!(told[0]["toolset"], "typing");
    assert_eq!(told[0]["devices"], json!([phone(2)]));
    assert_eq!(told[1]["devices"], json!([phone(1)]));
}

#[test]
fn a_pipe_that_is_killed_costs_its_agent_alone() {
    let lab = lab(2);
    goes(&lab, "pipe killed", &lab.stdio("going"), Agent::kill);
}

#[test]
fn a_session_over_http_that_breaks_off_costs_its_agent_alone() {
    let lab = lab(2);
    let going = lab.http("going");
    going.listen();
    goes(&lab, "connections broken off", &going, Agent::kill);
}

#[test]
fn a_session_over_http_that_is_ended_costs_its_agent_alone() {
    let lab = lab(2);
    goes(
        &lab,
        "session deleted",
        &lab.http("going"),
        Agent::end_session,
    );
}

#[test]
fn agents_of_every_kind_are_ended_by_hand() {
    let lab = lab(2);
    let kinds: [fn(&AgentLab, &str) -> Agent; 3] =
        [AgentLab::stdio, AgentLab::http, AgentLab::requests];
    for connect in kinds {
        let going = connect(&lab, "going");
        // A client of single requests is known from the first.
        going.does("device_list", json!({}));
        let id = lab.agent("going").unwrap()["id"].clone();
        let id = id.as_str().unwrap();
        let lease = going.acquires(&phone(1));
        let pending = {
            opens(&going, &lease);
            let long = json!({ "lease": lease, "timeToWaitInSeconds": 60 });
            going.start("wait", long)
        };
        lab.run(&["agents", "end", id]).expect(0);
        // What it was about is over, one way or another, and its lease is worth nothing.
        if let Some(Ok(answer)) = pending.end() {
            assert_eq!(answer["isError"], true, "{answer}");
        }
        let other = lab.stdio("other");
        other.acquires(&phone(1));
        assert_eq!(listed(&other, &phone(1))["free"], false);
        lab.until_gone("going");
        drop(other);
        lab.until_gone("other");
    }
    let missing = lab.run(&["agents", "end", "a99"]).expect(3);
    has(&missing.stderr, &["unknown agent `a99`"]);
}

#[test]
fn who_makes_single_requests_begins_anew_after_being_ended() {
    let lab = lab(1);
    let agent = lab.requests("single");
    let lease = agent.acquires(&phone(1));
    let id = lab.agent("single").unwrap()["id"].clone();
    lab.run(&["agents", "end", id.as_str().unwrap()]).expect(0);
    let told = refused(agent.call("snapshot", json!({ "lease": lease })));
    assert!(told.starts_with("unknown_lease"), "{told}");
    agent.acquires(&phone(1));
    assert_ne!(lab.agent("single").unwrap()["id"], id);
}

#[test]
fn the_device_of_an_agent_that_is_killed_in_a_call_is_free_within_five_seconds() {
    let lab = lab(1);
    let (going, waiting) = (lab.stdio("going"), lab.stdio("waiting"));
    let lease = going.acquires(&phone(1));
    let asked = json!({ "device": phone(1), "wait_ms": 60_000 });
    let next = waiting.start("device_acquire", asked);
    next.until_told("in use by going");
    let _under_way = going.start("wait", json!({ "lease": lease, "timeToWaitInSeconds": 60 }));
    let gone = Instant::now();
    going.kill();
    let taken = next.called();
    let took = gone.elapsed();
    note(&format!(
        "killed in a call: free after {} ms",
        took.as_millis()
    ));
    assert!(!taken.is_error, "{taken:?}");
    assert!(took < FREE_TIMEOUT, "{took:?}");
}
