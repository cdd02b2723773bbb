//! Runs as tasks, for clients that declare the extension: `run_wait` answers a task, which is the run, and
//! nobody else's.

use packtrain_tests::agent_lab::Agent;
use packtrain_tests::until;
use serde_json::{Value, json};

use super::{lab, listed, phone, typing_trail};

/// Asks for something as a client that declares tasks.
fn asks(agent: &Agent, method: &str, mut params: Value) -> Result<Value, Value> {
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    params["_meta"] =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": tasks } });
    agent.request(method, params)
}

/// Starts a run on the phone and waits for it as a task; answers the task's id.
#[track_caller]
fn waits(agent: &Agent, trail: &str) -> Value {
    let started = json!({ "trails": [trail], "devices": [phone(1)] });
    let run = agent.does("run_start", started).data["run"].clone();
    let wait = json!({ "name": "run_wait", "arguments": { "run": run } });
    let task = asks(agent, "tools/call", wait).unwrap();
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working", "{task}");
    task["taskId"].clone()
}

/// The task, once it is over.
#[track_caller]
fn over(agent: &Agent, id: &Value) -> Value {
    let mut task = json!(null);
    until(|| {
        task = asks(agent, "tasks/get", json!({ "taskId": id })).unwrap();
        task["status"] != "working"
    });
    task
}

#[test]
fn a_run_is_a_task_for_who_declares_tasks_until_its_result_or_its_cancellation() {
    let lab = lab(1);
    let (short, long) = (
        typing_trail(&lab, "short", 1),
        typing_trail(&lab, "long", 100),
    );
    for agent in [
        lab.stdio("by-pipe"),
        lab.http("by-session"),
        lab.requests("by-request"),
    ] {
        let id = waits(&agent, &short);
        let done = over(&agent, &id);
        assert_eq!(done["status"], "completed", "{done}");
        let result = &done["result"];
        assert_eq!(
            result["structuredContent"]["verdict"]["passed"], 1,
            "{done}"
        );
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.starts_with("finished: 1 passed"), "{said}");
        // What is over is answered at once.
        let wait = json!({ "name": "run_wait", "arguments": { "run": id } });
        let answer = asks(&agent, "tools/call", wait).unwrap();
        assert_eq!(answer["structuredContent"], result["structuredContent"]);

        let id = waits(&agent, &long);
        until(|| listed(&agent, &phone(1))["free"] == false);
        asks(&agent, "tasks/cancel", json!({ "taskId": id })).unwrap();
        assert_eq!(over(&agent, &id)["status"], "cancelled");
        let status = agent.does("run_status", json!({ "run": id })).data;
        assert_eq!(status["verdict"]["cancelled"], 1, "{status}");
    }
}

#[test]
fn a_task_is_nobody_elses_and_nothing_for_who_does_not_declare_tasks() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "long", 100);
    let (owner, other) = (lab.stdio("owner"), lab.requests("other"));
    let id = waits(&owner, &trail);
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let mut asked = json!({ "taskId": id });
        if method == "tasks/update" {
            asked["inputResponses"] = json!({});
        }
        let refused = asks(&other, method, asked.clone()).unwrap_err();
        assert_eq!(refused["message"], "unknown task", "{method}");
        let undeclared = owner.request(method, asked).unwrap_err();
        assert_eq!(undeclared["code"], -32021, "{method}: {undeclared}");
    }
    let asked = json!({ "run": id, "timeout_ms": 0 });
    let told = owner.does("run_wait", asked);
    assert_eq!(told.data["over"], false, "it was not cancelled: {told:?}");
    owner.does("run_cancel", json!({ "run": id }));
}
