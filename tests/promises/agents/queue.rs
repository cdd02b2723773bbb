//! One device and many who want it: each is told who has it and where they stand, and gets it in turn.

use std::io::{BufRead as _, BufReader};

use packtrain_tests::agent_lab::{Agent, AgentLab, Pending};
use packtrain_tests::{ended, until};
use serde_json::json;

use super::{lab, listed, phone, refused, sees, types, typing_trail};

/// Gets in line for the phone.
fn wants(agent: &Agent) -> Pending {
    let asked = json!({ "device": phone(1), "wait_ms": 120_000 });
    agent.start("device_acquire", asked)
}

/// Gets the phone that was waited for.
#[track_caller]
fn gets(pending: Pending) -> String {
    let called = pending.called();
    assert!(!called.is_error, "{called:?}");
    called.data["lease"].as_str().unwrap().to_owned()
}

fn id(lab: &AgentLab, name: &str) -> String {
    let agent = lab.agent(name).unwrap();
    format!("{name} ({})", agent["id"].as_str().unwrap())
}

#[test]
fn three_who_want_one_device_are_told_their_places_and_served_in_order() {
    let lab = lab(1);
    let holder = lab.stdio("holder");
    let lease = holder.acquires(&phone(1));
    let has = format!("in use by {}", id(&lab, "holder"));

    let (first, second, third) = (
        lab.http("first"),
        lab.stdio("second"),
        lab.requests("third"),
    );
    let waiting = wants(&first);
    assert_eq!(
        waiting.progress(),
        format!("waiting for {}: {has}", phone(1))
    );
    let behind = wants(&second);
    behind.until_told(&format!("{has}; 1 ahead in the queue"));
    let last = wants(&third);
    last.until_told(&format!("{has}; 2 ahead in the queue"));
    let queue = [id(&lab, "first"), id(&lab, "second"), id(&lab, "third")];
    let seen = listed(&holder, &phone(1));
    assert_eq!(
        (&seen["state"], &seen["queue"]),
        (&json!(has), &json!(queue))
    );

    holder.does("device_release", json!({ "lease": lease }));
    let lease = gets(waiting);
    let has = format!("in use by {}", queue[0]);
    behind.until_told(&has);
    last.until_told(&format!("{has}; 1 ahead"));
    assert_eq!(listed(&holder, &phone(1))["queue"], json!(queue[1..]));

    first.does("device_release", json!({ "lease": lease }));
    let lease = gets(behind);
    last.until_told(&format!("in use by {}", queue[1]));
    second.does("device_release", json!({ "lease": lease }));
    gets(last);
    assert_eq!(listed(&holder, &phone(1))["queue"], json!([]));
}

#[test]
fn who_is_gone_or_gives_up_is_not_waited_for() {
    let lab = lab(1);
    let holder = lab.stdio("holder");
    let lease = holder.acquires(&phone(1));
    let killed = [lab.stdio("piped"), lab.http("session")];
    let places: Vec<_> = killed
        .iter()
        .map(|agent| {
            let waiting = wants(agent);
            waiting.until_told("in use by");
            waiting
        })
        .collect();
    let patient = lab.http("patient");
    let waiting = wants(&patient);
    waiting.until_told("2 ahead in the queue");
    killed[0].kill();
    waiting.until_told("1 ahead in the queue");
    killed[1].end_session();
    waiting.until_told("in use by holder (a1)");
    drop(places);
    // One that waits no longer than it said leaves its place, and is told so.
    let hasty = lab.stdio("hasty");
    let told = hasty.call(
        "device_acquire",
        json!({ "device": phone(1), "wait_ms": 2_000 }),
    );
    assert!(
        told.is_error && told.text.starts_with("device_busy: "),
        "{told:?}"
    );
    assert_eq!(told.data["ahead"], 1, "{told:?}");
    let queue = listed(&holder, &phone(1))["queue"].clone();
    assert_eq!(queue, json!([id(&lab, "patient")]));
    holder.does("device_release", json!({ "lease": lease }));
    gets(waiting);
}

#[test]
fn a_run_waits_behind_an_agent_and_says_for_whom() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "short", 0);
    let agent = lab.stdio("holder");
    let lease = agent.acquires(&phone(1));
    types(&agent, &lease, "of-the-agent");
    let words = ["run", &trail, "--screenshots=none", "-d", &phone(1)];
    let mut run = lab.start(&words);
    let mut said = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("in use by holder (a1)") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    assert!(line.contains(&phone(1)), "{line}");
    run.stderr = Some(said.into_inner());
    // It has done nothing on the phone.
    assert!(sees(&agent, &lease).contains("<of-the-agent>"));
    let queue = listed(&agent, &phone(1))["queue"].clone();
    assert!(queue[0].as_str().unwrap().contains("of run"), "{queue}");
    agent.does("device_release", json!({ "lease": lease }));
    ended(run).expect(0);
    assert_eq!(lab.lab().outcomes()[&phone(1)], "passed");
}

#[test]
fn an_agent_waits_behind_a_run_and_is_told_so() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "long", 2);
    let agent = lab.stdio("patient");
    let run = lab.start(&["run", &trail, "--screenshots=none", "-d", &phone(1)]);
    let mut state = String::new();
    until(|| {
        let seen = listed(&agent, &phone(1));
        seen["state"].as_str().unwrap().clone_into(&mut state);
        state.starts_with("in use by ")
    });
    assert!(state.contains("of run "), "{state}");
    let waiting = wants(&agent);
    waiting.until_told(&state);
    gets(waiting);
    // It is over, not robbed.
    ended(run).expect(0);
}

#[test]
fn an_agent_that_has_the_device_is_told_its_lease_instead_of_waiting_for_itself() {
    let lab = lab(2);
    for agent in [
        lab.stdio("by-pipe"),
        lab.http("by-session"),
        lab.requests("by-request"),
    ] {
        let wants = |asked: serde_json::Value| {
            let mut asked = asked;
            asked["wait_ms"] = json!(120_000);
            agent.call("device_acquire", asked)
        };
        let first = agent.acquires(&phone(1));
        let told = refused(wants(json!({ "device": phone(1) })));
        let words = |lease: &str, device| format!("you have it: {lease} is your lease on {device}");
        assert_eq!(told, words(&first, phone(1)));
        // Another one that fits is as good.
        let taken = wants(json!({ "on": "android" }));
        assert_eq!(taken.data["device"], phone(2), "{taken:?}");
        let second = taken.data["lease"].as_str().unwrap();
        let both = [words(&first, phone(1)), words(second, phone(2))].join("\n");
        for asked in [json!({ "device": "android" }), json!({ "on": "android" })] {
            assert_eq!(refused(wants(asked)), both);
        }
        for lease in [&first, second] {
            agent.does("device_release", json!({ "lease": lease }));
        }
    }
}

#[test]
fn of_two_calls_of_one_agent_for_one_device_one_gets_it_and_the_other_is_told() {
    let lab = lab(1);
    let agent = lab.stdio("hasty");
    let calls = [wants(&agent), wants(&agent)].map(Pending::called);
    let (told, taken): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.is_error);
    assert_eq!((told.len(), taken.len()), (1, 1), "{told:?} {taken:?}");
    assert!(told[0].text.starts_with("you have it: "), "{told:?}");
}

#[test]
fn an_agent_whose_run_waits_for_its_own_device_is_told_so() {
    let lab = lab(2);
    let trail = typing_trail(&lab, "short", 0);
    let agent = lab.stdio("holder");
    let lease = agent.acquires(&phone(1));
    let started = |device: String| {
        let asked = json!({ "trails": [&trail], "devices": [device] });
        agent.does("run_start", asked)
    };
    let other = started(phone(2));
    assert!(!other.text.contains("you hold"), "{other:?}");
    let run = started(phone(1));
    let warned = format!(
        "note: you hold {}: a session on it waits until you release {lease}",
        phone(1)
    );
    assert!(run.text.contains(&warned), "{run:?}");
    let run = run.data["run"].clone();
    let asked = json!({ "run": run, "timeout_ms": 50_000 });
    let waiting = agent.start("run_wait", asked.clone());
    let words = format!("waits for {}, which you hold: release {lease}", phone(1));
    waiting.until_told(&words);
    let status = agent.does("run_status", json!({ "run": run }));
    assert!(status.text.contains(&words), "{status:?}");
    assert!(status.data["waits_for"][phone(1)].is_string(), "{status:?}");
    agent.does("device_release", json!({ "lease": lease }));
    let over = waiting.called();
    assert_eq!(over.data["verdict"]["passed"], 1, "{over:?}");
    assert_eq!(over.data["waits_for"], json!({}), "{over:?}");
}

#[test]
fn whoever_takes_any_gets_the_first_that_is_given_back() {
    let lab = lab(3);
    let holder = lab.stdio("holder");
    let leases: Vec<_> = (1..=3)
        .map(|number| holder.acquires(&phone(number)))
        .collect();
    let waiting = lab.stdio("waiting");
    let pending = waiting.start(
        "device_acquire",
        json!({ "device": "android", "wait_ms": 60_000 }),
    );
    let waits_for = |number| {
        !listed(&holder, &phone(number))["queue"]
            .as_array()
            .unwrap()
            .is_empty()
    };
    until(|| (1..=3).all(waits_for));
    holder.does("device_release", json!({ "lease": leases[2] }));
    let taken = pending.called();
    assert_eq!(taken.data["device"], phone(3), "{taken:?}");
    until(|| !(1..=2).any(waits_for));
}
