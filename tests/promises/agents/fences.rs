//! What is one agent's is nobody else's: answers, leases, runs, resources, and the tools it is shown.

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, AgentLab, Daemon, Era};
use packtrain_tests::process::Process;
use serde_json::{Value, json};

use super::{configured, lab, phone, refused, sees, types, typing_trail};

/// Requests that are under way at once.
const AT_ONCE: u64 = 25;

/// An agent of each kind.
fn one_of_each(lab: &AgentLab) -> [Agent; 3] {
    [
        lab.stdio("by-pipe"),
        lab.http("by-session"),
        lab.requests("by-request"),
    ]
}

#[test]
fn answers_to_the_same_ids_go_to_those_who_asked() {
    let lab = lab(4);
    let [pipe, session, request] = one_of_each(&lab);
    let agents = [pipe, lab.stdio("other-pipe"), session, request];
    let leases: Vec<_> = (agents.iter().zip(1..))
        .map(|(agent, number)| {
            let lease = agent.acquires(&phone(number));
            types(agent, &lease, &format!("word{number}"));
            lease
        })
        .collect();
    let asked: Vec<_> = (0..AT_ONCE)
        .flat_map(|id| {
            let asking = agents.iter().zip(&leases).zip(1..);
            asking.map(move |((agent, lease), number)| {
                // Numbers and texts are different ids.
                let id = if id % 2 == 0 {
                    json!(id)
                } else {
                    json!(id.to_string())
                };
                let call = json!({ "name": "snapshot", "arguments": { "lease": lease } });
                (number, agent.send_as(id, "tools/call", call))
            })
        })
        .collect();
    for (number, pending) in asked {
        let seen = pending.called().text;
        assert!(seen.contains(&format!("<word{number}>")), "{seen}");
    }
}

#[test]
fn a_lease_is_worth_nothing_in_other_hands() {
    let lab = lab(1);
    let agents = one_of_each(&lab);
    for owner in &agents {
        let lease = owner.acquires(&phone(1));
        types(owner, &lease, "mine");
        let others = agents.iter().filter(|other| !std::ptr::eq(*other, owner));
        for other in others {
            for (tool, more) in [
                ("snapshot", json!({})),
                ("screenshot", json!({})),
                ("inputText", json!({ "text": "stolen" })),
                ("launchApp", json!({ "appId": "com.example.note" })),
                ("device_release", json!({})),
            ] {
                let mut asked = more;
                asked["lease"] = json!(lease);
                let told = refused(other.call(tool, asked));
                assert!(told.starts_with("unknown_lease: "), "{tool}: {told}");
            }
        }
        assert!(sees(owner, &lease).contains("<mine>"));
        owner.does("device_release", json!({ "lease": lease }));
    }
}

#[test]
fn a_lease_that_was_given_back_is_worth_nothing() {
    let lab = lab(1);
    for agent in one_of_each(&lab) {
        let lease = agent.acquires(&phone(1));
        agent.does("device_release", json!({ "lease": lease }));
        for tool in ["snapshot", "hideKeyboard", "device_release"] {
            let told = refused(agent.call(tool, json!({ "lease": lease })));
            assert!(told.starts_with("unknown_lease: "), "{tool}: {told}");
        }
        // Nor does the next one make it good.
        let next = agent.acquires(&phone(1));
        assert_ne!(next, lease);
        let told = refused(agent.call("snapshot", json!({ "lease": lease })));
        assert!(told.starts_with("unknown_lease: "), "{told}");
        agent.does("device_release", json!({ "lease": next }));
    }
}

#[test]
fn a_lease_ends_with_its_phone() {
    let lab = configured("");
    let words = [
        "virtual",
        "up",
        "--android",
        "1",
        "--ios",
        "0",
        "--format",
        "json",
    ];
    let log = lab.lab().folder().join("phones.log");
    let phones = Process::start("phones", &mut lab.command(&words), &log);
    phones.until_said("\"adb_server\"");
    let told: Value = serde_json::from_str(&phones.stdout()).unwrap();
    let (server, address) = (
        &told["adb_server"],
        told["android"][0]["adb"].as_str().unwrap(),
    );
    let config = format!("devices: {{ android: {{ adb: {server}, connect: [\"{address}\"] }} }}\n");
    lab.lab().write("packtrain.yaml", &config);
    let agent = lab.stdio("unlucky");
    let lease = agent.acquires(&format!("android/{address}"));
    sees(&agent, &lease);
    phones.kill();
    let told = refused(agent.call("snapshot", json!({ "lease": lease })));
    assert!(!told.starts_with("unknown_lease"), "{told}");
    loop {
        // The first who notices says so; from then on there is no lease.
        let told = refused(agent.call("snapshot", json!({ "lease": lease })));
        if told.starts_with("unknown_lease") {
            break;
        }
    }
}

#[test]
fn runs_and_resources_are_those_of_whoever_made_them() {
    let lab = lab(2);
    let trail = typing_trail(&lab, "short", 0);
    let agents = one_of_each(&lab);
    for owner in &agents {
        let started = json!({ "trails": [trail], "devices": [phone(1)] });
        let run = owner.does("run_start", started).data["run"].clone();
        owner.does("run_wait", json!({ "run": run, "timeout_ms": 50_000 }));
        let lease = owner.acquires(&phone(2));
        let picture = owner.does("screenshot", json!({ "lease": lease })).result;
        let picture = picture["content"][0]["uri"].as_str().unwrap().to_owned();
        let listed = owner.request("resources/list", json!({})).unwrap();
        let listed = listed["resources"].as_array().unwrap();
        let own: Vec<_> = listed
            .iter()
            .map(|it| it["uri"].as_str().unwrap())
            .collect();
        assert!(own.contains(&picture.as_str()), "{own:?}");
        assert!(own.len() >= 4, "{own:?}");
        for uri in &own {
            owner
                .request("resources/read", json!({ "uri": uri }))
                .unwrap();
        }
        for other in agents.iter().filter(|other| !std::ptr::eq(*other, owner)) {
            for tool in ["run_status", "run_wait", "run_cancel"] {
                let told = refused(other.call(tool, json!({ "run": run })));
                assert!(told.starts_with("unknown_run: "), "{tool}: {told}");
            }
            let theirs = other.request("resources/list", json!({})).unwrap();
            for uri in &own {
                assert!(!theirs.to_string().contains(uri), "{theirs}");
                let told = other.request("resources/read", json!({ "uri": uri }));
                let told = told.unwrap_err();
                has(told["message"].as_str().unwrap(), &["unknown resource"]);
            }
        }
        // Nothing else of the run's folder can be had, by whatever path.
        let handle = run.as_str().unwrap();
        for path in [
            "events.ndjson",
            "../latest/report.json",
            "report.html/../events.ndjson",
            "/etc/passwd",
        ] {
            let uri = format!("packtrain://runs/{handle}/{path}");
            owner
                .request("resources/read", json!({ "uri": uri }))
                .unwrap_err();
        }
        owner.does("device_release", json!({ "lease": lease }));
    }
}

#[test]
fn a_tool_that_is_not_in_the_equipped_toolset_cannot_be_called() {
    let lab = lab(1);
    for agent in [lab.stdio("by-pipe"), lab.http("by-session")] {
        agent.listen();
        let lease = agent.acquires(&phone(1));
        types(&agent, &lease, "kept");
        let tools = [json!({ "namespacedName": "packtrain.launchApp" })];
        let built = json!({ "name": "looking", "tools": tools, "autoEquip": true });
        agent.does("build-toolset", built);
        agent.is_told("notifications/tools/list_changed");
        assert!(!agent.tools().contains(&"inputText".to_owned()));
        let asked = json!({ "lease": lease, "text": "hidden" });
        let told = refused(agent.call("inputText", asked.clone()));
        assert!(told.contains("not in the toolset `looking`"), "{told}");
        assert!(sees(&agent, &lease).contains("<kept>"));
        agent.does("unequip-toolset", json!({}));
        agent.is_told("notifications/tools/list_changed");
        agent.does("inputText", asked);
        agent.does("device_release", json!({ "lease": lease }));
    }
}

#[test]
fn an_endpoint_of_a_toolset_shows_and_does_what_is_in_it() {
    let lab = lab(1);
    let builder = lab.stdio("builder");
    let tools = ["launchApp", "tap"];
    let tools = tools.map(|tool| json!({ "namespacedName": format!("packtrain.{tool}") }));
    builder.does(
        "build-toolset",
        json!({ "name": "looking", "tools": tools }),
    );
    let all = builder.tools();
    let Daemon { url, token, .. } = lab.daemon();

    let everything = lab.requests("modern");
    assert_eq!(everything.tools(), all);
    let told = everything.does("equip-toolset", json!({ "name": "looking" }));
    assert_eq!(told.data["equipped"], false);
    assert_eq!(told.data["url"], format!("{url}/looking"));
    assert_eq!(everything.tools(), all, "its list stays as it is");

    for era in [Era::Requests, Era::Sessions] {
        let looking = Agent::http(&format!("{url}/looking"), &token, "looking", era);
        let shown = looking.tools();
        let offered = |name: &str| shown.iter().any(|shown| shown == name);
        assert!(offered("launchApp") && offered("tap") && offered("snapshot"));
        // Those of a new agent's list that are not Packtrain's own.
        let hidden = ["openUrl", "web_navigate", "mobile_listInstalledApps"];
        assert!(hidden.iter().all(|tool| all.contains(&(*tool).to_owned())));
        assert!(!hidden.iter().any(|tool| offered(tool)), "{shown:?}");
        let lease = looking.acquires(&phone(1));
        for tool in hidden {
            let told = refused(looking.call(tool, json!({ "lease": lease })));
            assert!(
                told.contains("not in the toolset `looking`"),
                "{tool}: {told}"
            );
        }
        looking.does("device_release", json!({ "lease": lease }));
    }
    // What an address shows is not for those who come to it to change.
    for era in [Era::Requests, Era::Sessions] {
        let confined = Agent::http(&format!("{url}/looking"), &token, "confined", era);
        let before = confined.tools();
        let told = confined.does("unequip-toolset", json!({}));
        assert_eq!(told.data["url"], url);
        let other = json!([{ "namespacedName": "packtrain.inputText" }]);
        let asked = json!({ "name": "other", "tools": other, "autoEquip": true });
        assert_eq!(
            confined.does("build-toolset", asked).data["equipped"],
            false
        );
        assert_eq!(confined.tools(), before);
        // Nor for anybody else while somebody relies on it.
        for (tool, asked) in [
            (
                "build-toolset",
                json!({ "name": "looking", "tools": other }),
            ),
            (
                "delete-toolset",
                json!({ "name": "looking", "confirm": true }),
            ),
        ] {
            let told = refused(builder.call(tool, asked));
            assert!(told.contains("has equipped"), "{told}");
        }
    }
    let nobody = Agent::http(&format!("{url}/nothing"), &token, "lost", Era::Requests);
    let told = nobody.request("tools/list", json!({})).unwrap_err();
    assert_eq!(told["code"], 404, "{told}");
}
