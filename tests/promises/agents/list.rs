//! The list of tools that an agent begins with: short, and no fence. What is not in it can be called.

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, AgentLab};
use serde_json::{Value, json};

use super::{configured, lab, opens, phone, refused, sees};

/// What an agent may be shown at first, in characters of JSON: 5,000 tokens.
const MAX_LIST: usize = 20_000;

fn one_of_each(lab: &AgentLab) -> [Agent; 3] {
    [lab.stdio("a"), lab.http("b"), lab.requests("c")]
}

#[track_caller]
fn list(agent: &Agent) -> Vec<Value> {
    let listed = agent.request("tools/list", json!({})).unwrap();
    let length = listed["tools"].to_string().len();
    assert!(length <= MAX_LIST, "{length}");
    listed["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

#[test]
fn a_new_agents_list_is_short_however_many_tools_there_are() {
    let lab = lab(1);
    for number in 0..200 {
        let tool = format!(
            "id: shop_tool_{number}\ndescription: Looks after the {number}th thing.\nparameters: []\ntools:\n  - hideKeyboard: {{}}\n"
        );
        lab.lab()
            .write(&format!("tools/shop_tool_{number}.tool.yaml"), &tool);
    }
    for agent in one_of_each(&lab) {
        let tools = list(&agent);
        let names = names(&tools);
        for usual in [
            "device_acquire",
            "snapshot",
            "act",
            "launchApp",
            "web_navigate",
        ] {
            assert!(names.contains(&usual), "{names:?}");
        }
        assert!(names.contains(&"shop_tool_0"), "{names:?}");
        assert!(!names.contains(&"shop_tool_99"), "{names:?}");
        let lease = agent.acquires(&phone(1));
        agent.does("shop_tool_99", json!({ "lease": lease }));
        agent.does("device_release", json!({ "lease": lease }));
    }
}

#[test]
fn a_client_that_never_lists_again_can_call_all_that_it_may() {
    let lab = lab(1);
    for agent in one_of_each(&lab) {
        let tools = list(&agent);
        assert!(!names(&tools).contains(&"inputText"));
        let available = agent
            .does("list-available-tools", json!({}))
            .data
            .to_string();
        assert!(available.contains("\"inputText\""), "{available}");
        let told = agent
            .does("list-available-tools", json!({ "tool": "inputText" }))
            .data;
        let properties = &told["inputSchema"]["properties"];
        assert_eq!(properties["text"]["type"], "string", "{told}");
        assert_eq!(properties["lease"]["type"], "string", "{told}");
        let lease = agent.acquires(&phone(1));
        opens(&agent, &lease);
        agent.does("inputText", json!({ "lease": lease, "text": "by name" }));
        assert!(sees(&agent, &lease).contains("<by name>"));
        let by_act = json!([{ "tool": "inputText", "args": { "text": ", by act" } }]);
        let told = agent.does("act", json!({ "lease": lease, "actions": by_act }));
        assert!(told.text.contains("<by name, by act>"), "{told:?}");
        agent.does("device_release", json!({ "lease": lease }));
    }
    let agent = lab.stdio("deaf");
    list(&agent);
    let lease = agent.acquires(&phone(1));
    opens(&agent, &lease);
    // It is told that its list is another one, and does not look at it.
    let typing = [json!({ "namespacedName": "packtrain.inputText" })];
    let built = json!({ "name": "typing", "tools": typing, "autoEquip": true });
    agent.does("build-toolset", built);
    agent.does("inputText", json!({ "lease": lease, "text": "equipped" }));
    refused(agent.call("pressBack", json!({ "lease": lease })));
    assert!(sees(&agent, &lease).contains("<equipped>"));
    let told = refused(agent.call("list-available-tools", json!({ "tool": "nothing" })));
    assert!(told.contains("unknown tool `nothing`"), "{told}");
}

#[test]
fn a_selector_says_what_it_takes() {
    let lab = configured("devices: { web: { desktop: {} } }\n");
    let agent = lab.stdio("agent");
    for tool in [
        "web_click",
        "web_type",
        "web_hover",
        "web_verifyElementVisible",
    ] {
        let told = agent
            .does("list-available-tools", json!({ "tool": tool }))
            .data;
        let selector = &told["inputSchema"]["properties"]["nodeSelector"]["properties"]["web"];
        assert!(selector["properties"]["ariaRole"].is_object(), "{told}");
    }
    let lease = agent.acquires("web/desktop");
    let wrong = json!({ "lease": lease, "nodeSelector": { "text": "Save" } });
    let told = refused(agent.call("web_click", wrong));
    has(&told, &["unknown key `text`", "web, "]);
}
