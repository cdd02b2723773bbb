//! A real browser, with a name of somebody else's that leads to this computer.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use packtrain_tests::Ended;
use serde_json::{Value, json};

use super::rig::{Rig, callbacks, initialize};
use crate::live::{Gate, standing};

#[test]
fn no_page_of_a_browser_gets_anything_by_a_name_that_leads_here() {
    let rig = Rig::new();
    let (callbacks, serving) = callbacks(&rig.runtime);
    let gate = Gate::closed();
    let (_lab, child, live) = standing(&gate);
    let (live, token) = live.trim_end_matches('/').rsplit_once('/').unwrap();
    let callback = json!({ "version": 1, "session_id": "s", "invocation_id": "i",
        "action": { "type": "call_tool", "tool_name": "dumpMemory", "arguments_json": "{}" } });
    let of = |name: &str, base: &str, token: &str, method: &str, path: &str, body: &Value| {
        json!({ "name": name, "base": base, "token": token, "method": method, "path": path,
                "body": body.to_string() })
    };
    let owner = rig.tokens.owner();
    let doors = json!([
        // Even somebody who knows the token.
        of("agents", &rig.base, owner, "POST", "/mcp", &initialize()),
        of(
            "toolset",
            &rig.base,
            owner,
            "POST",
            "/mcp/smoke",
            &initialize()
        ),
        of("health", &rig.base, "", "GET", "/health", &initialize()),
        of(
            "callbacks",
            &callbacks,
            "",
            "POST",
            "/scripting/callback",
            &callback
        ),
        of(
            "commands",
            &callbacks,
            "i",
            "POST",
            "/packtrain.v1.Commands/Tap",
            &json!({})
        ),
        of(
            "live",
            live,
            "",
            "GET",
            &format!("/{token}/data.json"),
            &json!({})
        ),
    ]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("promises/door/browser.mjs");
    let node = Command::new("node")
        .arg(script)
        .arg(doors.to_string())
        .output();
    let ended = Ended::from(node.unwrap()).expect(0);
    let said: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(said.as_object().unwrap().len(), 6, "{said}");
    for (name, said) in said.as_object().unwrap() {
        for status in said["rebound"].as_array().unwrap() {
            assert_eq!(*status, 403, "{name}: {said}");
        }
        for asked in said["foreign"]["asked"].as_array().unwrap() {
            let is_opaque = asked["type"] == "opaque" && asked["text"] == "";
            assert!(asked["failed"].is_string() || is_opaque, "{name}: {said}");
        }
        let tags = ["img failed", "script failed"];
        assert_eq!(said["foreign"]["tags"], json!(tags), "{name}");
        assert_eq!(said["form"], 403, "{name}: {said}");
    }
    assert_eq!(rig.handlers.made.load(Ordering::SeqCst), 0);
    assert_eq!(rig.sessions.count(), 0);
    gate.open();
    packtrain_tests::ended(child).expect(1);
    rig.runtime.block_on(serving.close());
}
