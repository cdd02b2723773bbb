//! What agents are answered, at the wire: for clients that show a model the texts alone, and for those
//! that show it the data alone.

use std::time::Duration;

use packtrain_tests::agent_lab::{Agent, Called};
use serde_json::{Value, json};

use super::{lab, opens, phone, refused, types, typing_trail};

/// Whether the data has what the texts say, or is the texts, or is not there.
#[track_caller]
fn is_whole(called: Called) -> Called {
    let Called { text, data, .. } = &called;
    let is_said = serde_json::from_str::<Value>(text).is_ok_and(|said| said == *data);
    assert!(
        data.is_null() || data["text"] == **text || is_said,
        "{called:?}"
    );
    called
}

#[test]
fn data_carries_what_the_text_says_or_is_not_there() {
    let lab = lab(2);
    let trail = typing_trail(&lab, "short", 0);
    let other = lab.stdio("other");
    other.acquires(&phone(2));
    for agent in [lab.stdio("by-pipe"), lab.requests("modern")] {
        let calls = |tool: &str, arguments: Value| is_whole(agent.call(tool, arguments));
        let listed = calls("device_list", json!({}));
        assert!(listed.data["devices"].is_array(), "{listed:?}");
        let busy = json!({ "device": phone(2), "wait_ms": 1 });
        let busy = calls("device_acquire", busy);
        assert_eq!(busy.data["error"], "device_busy");
        let taken = calls("device_acquire", json!({ "device": phone(1) })).data;
        let lease = &taken["lease"];
        let (of_lease, text) = (json!({ "lease": lease }), "<typed>");
        types(&agent, lease.as_str().unwrap(), "typed");
        let seen = calls("snapshot", of_lease.clone());
        assert!(seen.data["text"].as_str().unwrap().contains(text));
        let since = json!({ "lease": lease, "since": seen.data["mark"] });
        calls("snapshot", since);
        calls("screenshot", of_lease.clone());
        // It has data alone.
        let apps = calls("mobile_listInstalledApps", of_lease.clone());
        assert!(apps.text.contains("com.example.note"), "{apps:?}");
        refused(calls("tap", of_lease.clone()));
        calls("trail_check", json!({ "trails": [trail] }));
        let asked = json!({ "trails": [trail], "devices": [phone(1)] });
        let run = calls("run_start", asked);
        let told = run.data["text"].as_str().unwrap();
        assert!(told.contains("note: you hold"), "{told}");
        let of_run = json!({ "run": run.data["run"] });
        calls("run_status", of_run.clone());
        calls("device_release", of_lease);
        calls("run_wait", of_run.clone());
        calls("run_cancel", of_run);
        for tool in [
            "list-available-tools",
            "list-saved-toolsets",
            "get-active-toolset",
        ] {
            calls(tool, json!({}));
        }
    }
}

#[test]
fn an_inline_picture_is_not_a_link_besides() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let lease = agent.acquires(&phone(1));
    let inline = agent.does("screenshot", json!({ "lease": lease, "inline": true }));
    let blocks = inline.result["content"].as_array().unwrap();
    let kinds: Vec<_> = blocks.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image"]);
    let read = agent.request("resources/read", json!({ "uri": inline.text }));
    assert_eq!(read.unwrap()["contents"][0]["blob"], blocks[1]["data"]);
}

#[test]
fn asking_what_has_changed_does_not_use_up_the_mark() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let lease = agent.acquires(&phone(1));
    opens(&agent, &lease);
    let mark = agent.does("snapshot", json!({ "lease": lease })).data["mark"].clone();
    for _ in 0..12 {
        let since = json!({ "lease": lease, "since": mark });
        let seen = agent.does("snapshot", since).data;
        assert_eq!(seen["changed"], false, "{seen}");
        assert_eq!(seen["mark"], mark, "the screen is the same");
    }
}

#[test]
fn a_screen_that_is_another_one_is_told_whole() {
    let lab = lab(1);
    let agent = lab.stdio("Claude");
    let lease = agent.acquires(&phone(1));
    let home = agent.does("snapshot", json!({ "lease": lease })).data;
    let app = json!({ "lease": lease, "appId": "com.example.note" });
    agent.does("launchApp", app);
    let since = json!({ "lease": lease, "since": home["mark"] });
    let delta = agent.does("snapshot", since).text;
    let whole = agent.does("snapshot", json!({ "lease": lease })).text;
    assert_eq!(delta, whole);
}

#[test]
fn a_new_toolset_is_told_only_to_those_whose_tools_it_changes() {
    let lab = lab(0);
    let (builder, other) = (lab.stdio("builder"), lab.stdio("other"));
    let changed = |agent: &Agent, limit: Duration| {
        let told = agent.is_told_within("notifications/tools/list_changed", limit);
        told.is_some()
    };
    let long = Duration::from_secs(120);
    let tools = [json!({ "namespacedName": "packtrain.tap" })];
    let built = json!({ "name": "looking", "tools": tools, "autoEquip": true });
    builder.does("build-toolset", built);
    assert!(changed(&builder, long));
    // What it is told comes in order.
    for (tool, arguments) in [
        ("equip-toolset", json!({ "name": "looking" })),
        ("unequip-toolset", json!({})),
    ] {
        other.does(tool, arguments);
        assert!(changed(&other, long));
    }
    other.does("get-active-toolset", json!({}));
    assert!(!changed(&other, Duration::ZERO));
}
