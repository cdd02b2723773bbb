//! Typed commands without a device: the documents, and what each makes of a request.

use std::path::PathBuf;

use packtrain_drivers::Platform;
use packtrain_model::yaml::Value as YamlValue;
use packtrain_sources::commands::{self, COMMANDS, Code};
use packtrain_tools::Registry;
use serde_json::{Value, json};

const PLATFORMS: [Platform; 3] = [Platform::Android, Platform::Ios, Platform::Web];

fn sdks(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../sdks")
        .join(file)
}

/// Compares a document with the file that is checked in; `PACKTRAIN_BLESS=1` rewrites it.
fn is_checked_in(file: &str, now: &str) {
    let path = sdks(file);
    if std::env::var_os("PACKTRAIN_BLESS").is_some() {
        std::fs::write(&path, now).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    let first = checked_in.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(
        checked_in == now,
        "sdks/{file} is not what the definitions say; first difference: {first:?}\n\
         PACKTRAIN_BLESS=1 accepts it; then run the `generate` script of each SDK"
    );
}

fn planned(
    name: &str,
    request: Value,
    on: Platform,
) -> Result<Vec<(String, Value)>, (Code, String)> {
    let command = commands::find(name).unwrap();
    match command.calls(request, on) {
        Ok(calls) => Ok(calls
            .into_iter()
            .map(|call| (call.tool.to_owned(), call.arguments))
            .collect()),
        Err(error) => Err((error.code, error.message)),
    }
}

fn one(name: &str, request: Value, on: Platform) -> (String, Value) {
    let mut calls = planned(name, request, on).unwrap();
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls.remove(0)
}

#[test]
fn the_documents_say_what_the_definitions_say() {
    let openapi = serde_json::to_string_pretty(&commands::openapi()).unwrap() + "\n";
    is_checked_in("openapi.json", &openapi);
    is_checked_in("commands.proto", &commands::proto());
}

/// The requests are those that both SDKs are tested to send.
#[test]
fn each_command_calls_tools_that_are_there_with_arguments_that_they_take() {
    let registry = Registry::builtin();
    let text = std::fs::read_to_string(sdks("fixtures/commands.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut seen = Vec::new();
    for case in cases.iter().filter(|case| case["request"].is_object()) {
        let name = case["method"].as_str().unwrap();
        let command = commands::find(name).unwrap();
        seen.push(name);
        for on in PLATFORMS {
            let planned = command.calls(case["request"].clone(), on);
            if !command.platforms.contains(&on) {
                assert_eq!(
                    planned.unwrap_err().code,
                    Code::Unimplemented,
                    "{name} on {on}"
                );
                continue;
            }
            if case["error"]["code"] == Code::InvalidArgument.as_str() {
                assert_eq!(planned.unwrap_err().code, Code::InvalidArgument, "{case}");
                continue;
            }
            for call in planned.unwrap_or_else(|error| panic!("{}: {error:?}", case["name"])) {
                let tool = registry
                    .get(call.tool)
                    .unwrap_or_else(|| panic!("{}", call.tool));
                assert!(
                    tool.spec().works_on(on),
                    "{name} calls {} on {on}",
                    call.tool
                );
                let checked = tool.check(&YamlValue::from(&call.arguments));
                assert!(checked.is_ok(), "{name} on {on}: {call:?}: {checked:?}");
            }
        }
    }
    for command in COMMANDS {
        assert!(
            seen.contains(&command.name),
            "{} has no fixture",
            command.name
        );
    }
}

#[test]
fn a_text_means_the_same_everywhere_a_part_of_what_an_element_says() {
    let request = json!({ "text": "Sign (in)" });
    assert_eq!(
        one("Tap", request.clone(), Platform::Android),
        (
            "tapOnElementWithText".into(),
            json!({ "text": "Sign (in)" })
        )
    );
    assert_eq!(
        one("Tap", request.clone(), Platform::Web),
        ("web_click".into(), json!({ "ref": "text=Sign (in)" }))
    );
    assert_eq!(
        one("AssertVisible", request.clone(), Platform::Ios),
        (
            "assertVisibleWithText".into(),
            json!({ "text": "Sign (in)", "contains": true })
        )
    );
    assert_eq!(
        one("AssertVisible", request, Platform::Web),
        (
            "web_verifyTextVisible".into(),
            json!({ "text": "Sign (in)" })
        )
    );
}

#[test]
fn an_exact_text_is_neither_a_part_nor_a_pattern() {
    let request = json!({ "text": "Paid", "exact": true });
    for on in [Platform::Android, Platform::Ios] {
        assert_eq!(
            one("AssertVisible", request.clone(), on).1,
            json!({ "text": "Paid", "exact": true })
        );
    }
    assert_eq!(
        one("AssertVisible", request.clone(), Platform::Web).1,
        json!({ "text": "Paid", "exact": true })
    );
    assert_eq!(
        one("Tap", request, Platform::Web).1,
        json!({ "nodeSelector": { "web": { "cssSelector": ":text-is(\"Paid\"):visible" } } })
    );
}

#[test]
fn an_id_is_a_text_and_no_pattern() {
    let (tool, arguments) = one("Tap", json!({ "id": "a.b", "index": 2 }), Platform::Android);
    assert_eq!(tool, "tapOnElementBySelector");
    assert_eq!(
        arguments,
        json!({ "nodeSelector": { "androidMaestro": { "resourceIdRegex": "(?:.*/)?a\\.b" }, "index": 2 } })
    );
    let (_, arguments) = one("AssertVisible", json!({ "id": "a.b" }), Platform::Ios);
    assert_eq!(arguments, json!({ "resourceId": "a\\.b" }));
    let (_, arguments) = one("Tap", json!({ "id": "a\"b" }), Platform::Web);
    assert_eq!(
        arguments["nodeSelector"]["web"]["cssSelector"],
        r#":is([id="a\"b"], [data-testid="a\"b"]):visible"#
    );
}

#[test]
fn waiting_waits_longer_than_asserting() {
    let request = json!({ "text": "Go" });
    assert_eq!(
        one("WaitUntilVisible", request.clone(), Platform::Web).1["timeoutMs"],
        json!(10_000)
    );
    assert_eq!(
        one("AssertVisible", request, Platform::Web)
            .1
            .get("timeoutMs"),
        None
    );
}

#[test]
fn scrolling_down_moves_the_finger_up_as_often_as_wanted() {
    let request = json!({ "direction": "DIRECTION_DOWN", "amount": 3 });
    let calls = planned("Scroll", request, Platform::Ios).unwrap();
    assert_eq!(
        calls,
        vec![("swipe".into(), json!({ "direction": "UP" })); 3]
    );
}

#[test]
fn a_request_that_is_none_is_refused_with_the_field_named() {
    let cases = [
        ("Tap", json!({}), "`text` or `id`"),
        ("Tap", json!({ "text": " " }), "`text` is empty"),
        ("Tap", json!({ "id": "a", "exact": true }), "`exact`"),
        ("Tap", json!({ "txt": "a" }), "txt"),
        ("Tap", json!({ "text": 3 }), "expected a string"),
        ("Tap", json!({ "text": "a", "index": -1 }), "expected u32"),
        ("Tap", json!([]), "expected struct"),
        ("InputText", json!({}), "text"),
        ("Swipe", json!({ "direction": "UP" }), "DIRECTION_UP"),
        (
            "Scroll",
            json!({ "direction": "DIRECTION_UP", "amount": 99 }),
            "1 to 20",
        ),
        ("LaunchApp", json!({ "packageId": "" }), "packageId"),
    ];
    for (name, request, part) in cases {
        let (code, message) = planned(name, request.clone(), Platform::Android).unwrap_err();
        assert_eq!(code, Code::InvalidArgument, "{name} {request}");
        assert!(message.starts_with(&format!("{name}: ")), "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_wrong_platform_is_told_what_to_ask_first() {
    let (code, message) = planned("Click", json!({ "selector": "#a" }), Platform::Ios).unwrap_err();
    assert_eq!(code, Code::Unimplemented);
    assert!(
        message.contains("Click works on web, and this device is ios"),
        "{message}"
    );
    assert!(
        message.contains("`device.platform` is \"web\""),
        "{message}"
    );
}

#[test]
fn a_misspelled_command_is_told_the_name() {
    let error = commands::find("Tapp").unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("Tap"), "{}", error.message);
}
