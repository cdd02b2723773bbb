//! What agents can ask for at all: nothing that adds a source, runs a command of this computer or
//! changes the configuration.

use packtrain_tests::agent_lab::Called;
use serde_json::{Value, json};

use super::{lab, phone};

/// The tools that are Packtrain's own. An addition needs a reason why agents may have it.
const OWN: [&str; 19] = [
    "device_list",
    "device_acquire",
    "device_release",
    "snapshot",
    "act",
    "screenshot",
    "trail_check",
    "run_start",
    "run_wait",
    "run_status",
    "run_cancel",
    "list-available-tools",
    "build-toolset",
    "list-saved-toolsets",
    "equip-toolset",
    "unequip-toolset",
    "get-active-toolset",
    "delete-toolset",
    "add-tool-annotation",
];

#[test]
fn packtrains_own_tools_are_these() {
    let lab = lab(1);
    let agents = [lab.stdio("a"), lab.http("b"), lab.requests("c")];
    for agent in agents {
        let listed = agent.request("tools/list", json!({})).unwrap();
        let tools = listed["tools"].as_array().unwrap();
        // What has to name its device is a tool of the registry.
        let needs_lease = |tool: &&Value| {
            let properties = &tool["inputSchema"]["properties"];
            properties["lease"]["description"] == "From device_acquire."
        };
        let own = tools.iter().filter(|tool| !needs_lease(tool));
        let mut names: Vec<_> = own.map(|tool| tool["name"].as_str().unwrap()).collect();
        let mut pinned = OWN.to_vec();
        names.sort_unstable();
        pinned.sort_unstable();
        assert_eq!(names, pinned);
    }
}

#[test]
fn commands_of_this_computer_are_not_for_agents() {
    let lab = lab(1);
    for agent in [lab.stdio("a"), lab.http("b"), lab.requests("c")] {
        let offered = agent.tools();
        let lease = agent.acquires(&phone(1));
        for (tool, more) in [
            ("exec", json!({ "argv": ["touch", "was-here"] })),
            ("runCommand", json!({ "command": "touch was-here" })),
        ] {
            assert!(!offered.iter().any(|offered| offered == tool), "{tool}");
            let mut asked = more;
            asked["lease"] = json!(lease);
            let called = json!({ "name": tool, "arguments": asked });
            match agent.request("tools/call", called) {
                Ok(result) => assert_eq!(result["isError"], true, "{result}"),
                Err(error) => {
                    let told = error["message"].as_str().unwrap();
                    assert!(told.contains("unknown tool"), "{told}");
                }
            }
        }
        // Not by way of a toolset either.
        let tools = [json!({ "namespacedName": "packtrain.exec" })];
        let built = json!({ "name": "sly", "tools": tools, "autoEquip": true });
        let Called { is_error, text, .. } = agent.call("build-toolset", built);
        assert!(is_error, "{text}");
        agent.does("device_release", json!({ "lease": lease }));
    }
    assert!(!lab.lab().folder().join("was-here").exists());
}

#[test]
fn a_run_of_an_agent_runs_no_command_of_this_computer() {
    let lab = lab(1);
    let trail = |name: &str, call: &str| {
        let calls = format!(
            "config: {{ id: {name} }}\ntrail:\n  - step: x\n    recording:\n      android:\n        - {call}\n"
        );
        lab.lab()
            .write(&format!("trails/{name}.trail.yaml"), &calls);
    };
    trail("exec", "exec: { argv: [touch, was-here] }");
    trail("command", "runCommand: { command: touch was-here }");
    for agent in [lab.stdio("a"), lab.http("b"), lab.requests("c")] {
        let started = agent.does("run_start", json!({ "devices": [phone(1)] }));
        let run = &started.data["run"];
        let ended = agent.does("run_wait", json!({ "run": run, "timeout_ms": 50_000 }));
        assert_eq!(ended.data["over"], true, "{ended:?}");
        assert_eq!(
            ended.data["verdict"]["passed"].as_u64().unwrap_or(0),
            0,
            "{ended:?}"
        );
    }
    assert!(!lab.lab().folder().join("was-here").exists());
    // For a person it does.
    lab.run(&["run", "trails/exec.trail.yaml", "-d", &phone(1)])
        .expect(0);
    assert!(lab.lab().folder().join("was-here").exists());
}

#[test]
fn an_agent_is_told_nothing_of_a_file_that_is_no_trail() {
    let lab = lab(1);
    for file in [".env", "secrets.yaml", ".git/config", "notes/plan.yaml"] {
        lab.lab().write(file, "api_key: hunter2\n");
    }
    lab.lab().write(".git/a.trail.yaml", "api_key: hunter2\n");
    let link = lab.lab().folder().join("link.trail.yaml");
    std::os::unix::fs::symlink(lab.lab().folder().join(".env"), link).unwrap();
    let agent = lab.stdio("curious");
    let lease = agent.acquires(&phone(1));
    for path in [
        ".env",
        "secrets.yaml",
        ".git/config",
        ".git/a.trail.yaml",
        ".git",
        "notes/plan.yaml",
        "link.trail.yaml",
    ] {
        let trails = json!({ "trails": [path] });
        let run = json!({ "lease": lease, "path": path });
        for called in [
            agent.call("trail_check", trails.clone()),
            agent.call("run_start", trails.clone()),
            agent.call("runTrail", run),
        ] {
            assert!(called.is_error, "{path}: {called:?}");
            assert!(!called.text.contains("hunter2"), "{path}: {called:?}");
        }
    }
}

#[test]
fn an_agent_reaches_no_file_outside_of_the_project() {
    let lab = lab(1);
    let outside = tempfile::tempdir().unwrap();
    let trail = outside.path().join("a.trail.yaml");
    std::fs::write(&trail, "config: { id: a }\ntrail:\n  - step: x\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), lab.lab().folder().join("link")).unwrap();
    let outside = trail.to_str().unwrap();
    let agent = lab.stdio("curious");
    for path in [
        outside,
        "link/a.trail.yaml",
        "../../../../../../etc/passwd",
        "--help",
    ] {
        for tool in ["run_start", "trail_check"] {
            let called = agent.call(tool, json!({ "trails": [path] }));
            assert!(called.is_error, "{tool} {path}: {called:?}");
        }
    }
}
