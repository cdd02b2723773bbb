//! Tools made of other tools, defined in files of the workspace.

use packtrain_testing::has;
use packtrain_tests::Lab;
use serde_json::{Value, json};

use crate::lab;

const ENTER: &str = "\
id: shop_enter
description: Types a text into a field of the shop.
parameters:
  - { name: field, type: string, enum: [Email, Password] }
  - { name: text, type: string }
  - { name: erase, type: integer, required: false }
tools:
  - tapOnElementWithText: { text: \"{{params.field}}\" }
  - eraseText: { charactersToErase: \"{{params.erase}}\" }
  - inputText: { text: \"{{params.text}}\" }
";

const SIGN_IN: &str = "\
id: shop_signIn
description: Signs in.
parameters:
  - { name: user, default: \"{{who}}@example.com\" }
  - { name: password }
toolset: shop
tools:
  - shop_enter: { field: Email, text: \"{{params.user}}\", erase: 3 }
  - shop_enter: { field: Password, text: \"{{params.password}}\" }
";

/// A trail of one step that makes this call on any phone.
fn trail(call: &str) -> String {
    let steps: String = ["android", "ios"]
        .map(|platform| format!("      {platform}:\n        - {call}\n"))
        .concat();
    format!("config: {{ memory: {{ who: ada }} }}\ntrail:\n  - step: x\n    recording:\n{steps}")
}

/// A workspace with virtual phones that do not dawdle, these tools and a trail of one call.
fn workspace(call: &str, tools: &[(&str, &str)]) -> Lab {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "devices: { virtual: { profile: fast } }\n",
    )
    .write("trails/a.trail.yaml", &trail(call));
    for (path, text) in tools {
        lab.write(path, text);
    }
    lab
}

fn run(lab: &Lab, devices: &str, code: i32) -> String {
    let arguments = [
        "run",
        "trails/a.trail.yaml",
        "-d",
        devices,
        "--screenshots=none",
    ];
    lab.run(&arguments).expect(code).stderr
}

/// Depth, tool and arguments of every call on a device of this platform.
fn calls(lab: &Lab, platform: &str) -> Vec<(u64, String, Value)> {
    let events = lab.events();
    let started = events.iter().find(|event| {
        let id = event["device"]["id"].as_str().unwrap_or_default();
        event["event"] == "session_started" && id.starts_with(platform)
    });
    let session = &started.unwrap()["session"];
    let calls = events
        .iter()
        .filter(|event| event["event"] == "tool_started" && event["session"] == *session);
    calls
        .map(|event| {
            let tool = event["tool"].as_str().unwrap().to_owned();
            (
                event["depth"].as_u64().unwrap(),
                tool,
                event["arguments"].clone(),
            )
        })
        .collect()
}

#[test]
fn a_tool_made_of_tools_made_of_tools_runs_on_an_android_phone_and_an_iphone() {
    let lab = workspace(
        "shop_signIn: { password: secret }",
        &[
            ("tools/shop/enter.tool.yaml", ENTER),
            ("tools/signIn.tool.yaml", SIGN_IN),
        ],
    );
    // It begins where the app's first screen is.
    let opening = "trailhead:\n  step: Open\n  recording:\n    android: { launchApp: { appId: com.example.shop } }\n    ios: { launchApp: { appId: com.example.shop } }\n";
    let text =
        lab.read("trails/a.trail.yaml")
            .replacen("trail:\n", &format!("{opening}trail:\n"), 1);
    lab.write("trails/a.trail.yaml", &text);
    lab.run(&["check", "--strict"]).expect(0);
    run(&lab, "virtual:android,virtual:ios", 0);
    for platform in ["android", "ios"] {
        let made: Vec<_> = calls(&lab, platform).into_iter().skip(1).collect();
        let expected = [
            (0, "shop_signIn", json!({ "password": "secret" })),
            (
                1,
                "shop_enter",
                json!({ "field": "Email", "text": "ada@example.com", "erase": 3 }),
            ),
            (2, "tapOnElementWithText", json!({ "text": "Email" })),
            // A parameter that is all of an argument keeps its type.
            (2, "eraseText", json!({ "charactersToErase": 3 })),
            (2, "inputText", json!({ "text": "ada@example.com" })),
            (
                1,
                "shop_enter",
                json!({ "field": "Password", "text": "secret" }),
            ),
            (2, "tapOnElementWithText", json!({ "text": "Password" })),
            // What is optional and not given is left out.
            (2, "eraseText", json!({})),
            (2, "inputText", json!({ "text": "secret" })),
        ];
        let expected = expected.map(|(depth, tool, arguments)| (depth, tool.to_owned(), arguments));
        assert_eq!(made, expected, "{platform}");
    }
}

#[test]
fn what_a_parameter_brings_along_is_not_filled_in_again() {
    let same = "id: acme_same\nparameters: [{ name: a }]\ntools:\n  - assertEquals: { actual: \"{{params.a}}\", expected: \"{{who}}\" }\n";
    let lab = workspace(
        "acme_same: { a: \"{{who}}\" }",
        &[("tools/same.tool.yaml", same)],
    );
    let text = lab.read("trails/a.trail.yaml");
    let text = text.replacen("who: ada", "who: \"{{other}}\", other: b", 1);
    lab.write("trails/a.trail.yaml", &text);
    run(&lab, "virtual:android", 0);
    let (_, _, arguments) = calls(&lab, "android").pop().unwrap();
    assert_eq!(
        arguments,
        json!({ "actual": "{{other}}", "expected": "{{other}}" })
    );
}

#[test]
fn the_first_call_that_fails_fails_the_tool_and_is_named() {
    let fails = "id: acme_fails\ntools:\n  - dumpMemory: {}\n  - assertEquals: { actual: a, expected: b }\n  - inputText: { text: never }\n";
    let lab = workspace("acme_fails: {}", &[("tools/fails.tool.yaml", fails)]);
    let said = run(&lab, "virtual:android", 1);
    has(&said, &["`assertEquals`: "]);
    let last = calls(&lab, "android").pop().unwrap();
    assert_eq!(last.1, "assertEquals");
}

#[test]
fn a_tool_that_calls_itself_is_found_by_check_and_ended_by_a_run() {
    let file = |name: &str, calls: &str| format!("id: {name}\ntools:\n  - {calls}: {{}}\n");
    let (a, b) = (file("acme_a", "acme_b"), file("acme_b", "acme_a"));
    let lab = workspace(
        "acme_a: {}",
        &[("tools/a.tool.yaml", &a), ("tools/b.tool.yaml", &b)],
    );
    let said = lab.run(&["check"]).expect(3).stderr;
    has(
        &said,
        &[
            "tools/a.tool.yaml:3:5",
            "`acme_a` calls itself: acme_a -> acme_b -> acme_a",
            "2 mistakes",
        ],
    );
    has(&run(&lab, "virtual:android", 1), &["is there a loop?"]);
}

#[test]
fn two_tools_of_one_name_end_every_command_that_would_call_them() {
    let tool = "id: acme_x\ntools:\n  - dumpMemory: {}\n";
    let lab = workspace(
        "acme_x: {}",
        &[("tools/one.tool.yaml", tool), ("tools/two.tool.yaml", tool)],
    );
    lab.write(
        "tools/tap.tool.yaml",
        "id: tap\ntools:\n  - dumpMemory: {}\n",
    );
    let told = [
        "`acme_x` is defined more than once: tools/one.tool.yaml and tools/two.tool.yaml",
        "`tap` is defined more than once: packtrain itself and tools/tap.tool.yaml",
    ];
    has(&run(&lab, "virtual:android", 3), &told);
    for command in [
        &["tools"][..],
        &["tool", "acme_x", "-d", "virtual:android"],
        &["check"],
    ] {
        has(&lab.run(command).expect(3).stderr, &told);
    }
}

#[test]
fn a_mistake_in_a_tool_file_is_shown_where_it_stands() {
    let broken = "id: acme_x\nparameters: [{ name: user }]\ntools:\n  - inputText: { text: \"{{params.usr}}\" }\n";
    let lab = workspace("acme_x: { user: a }", &[("tools/x.tool.yaml", broken)]);
    let told = [
        "tools/x.tool.yaml:4:24",
        "unknown parameter `usr`",
        "did you mean `user`?",
        "^",
    ];
    has(&run(&lab, "virtual:android", 3), &told);
    has(&lab.run(&["check"]).expect(3).stderr, &told);
    has(
        &lab.run(&["check", "trails/a.trail.yaml"]).expect(3).stderr,
        &told,
    );
}

#[test]
fn check_finds_unknown_tools_wrong_arguments_and_names_in_tool_files() {
    let odd = "id: ios_x\nparameters: [{ name: n, type: integer }]\ntools:\n  - inputTxt: { text: a }\n  - eraseText: { charactersToErase: many }\n  - eraseText: { charactersToErase: \"{{params.n}}\" }\n";
    let lab = workspace("ios_x: { n: x }", &[("tools/x.tool.yaml", odd)]);
    let said = lab.run(&["check"]).expect(3).stderr;
    has(
        &said,
        &[
            "tools/x.tool.yaml:1:5",
            "`ios_x` begins with `ios_`, which is reserved",
            "tools/x.tool.yaml:4:5",
            "did you mean `inputText`?",
            "tools/x.tool.yaml:5:37",
            // The calls of trails are checked by the parameters.
            "trails/a.trail.yaml:6:",
            "n: expected a whole number",
            "1 warning",
        ],
    );
    assert!(!said.contains("x.tool.yaml:6:"), "{said}");
}

#[test]
fn the_list_of_tools_says_where_a_tool_comes_from_and_which_toolsets_it_is_in() {
    let set = "id: forms\ndescription: Forms\ntools:\n  - shop_enter\n  - shop_entr\n";
    let lab = workspace(
        "shop_signIn: { password: a }",
        &[
            ("tools/enter.tool.yaml", ENTER),
            ("tools/signIn.tool.yaml", SIGN_IN),
            ("tools/toolsets/forms.yaml", set),
        ],
    );
    let listed = lab.run(&["tools"]).expect(0).stdout;
    has(&listed, &["SOURCE", "tools/enter.tool.yaml"]);
    let shown = |name: &str| {
        let shown = lab
            .run(&["tools", name, "--format", "json"])
            .expect(0)
            .stdout;
        serde_json::from_str::<Value>(&shown).unwrap()
    };
    assert_eq!(shown("shop_enter")["from"], "tools/enter.tool.yaml");
    assert_eq!(shown("shop_enter")["toolsets"], json!(["forms"]));
    assert_eq!(shown("shop_signIn")["toolsets"], json!(["shop"]));
    assert_eq!(shown("tap")["from"], Value::Null);
    let said = lab.run(&["check"]).expect(0).stderr;
    has(
        &said,
        &[
            "tools/toolsets/forms.yaml:5:5",
            "toolset `forms` names the unknown tool `shop_entr`",
        ],
    );
}

#[test]
fn the_tools_of_a_trailblaze_workspace_are_found_and_those_of_its_runtime_left_out() {
    let lab = workspace(
        "acme_x: {}",
        &[
            (
                "trails/config/trailmaps/acme/shortcuts/acme_x.shortcut.yaml",
                "id: acme_x\nshortcut: { from: a, to: b }\nparameters: []\ntools:\n  - dumpMemory: {}\n",
            ),
            (
                "trails/config/trailmaps/acme/tools/acme_y.tool.yaml",
                "id: acme_y\nclass: com.example.Y\n",
            ),
        ],
    );
    let said = run(&lab, "virtual:android", 0);
    has(
        &said,
        &[
            "1 tool file is left out, made for Trailblaze's own runtime: trails/config/trailmaps/acme/tools/acme_y.tool.yaml",
        ],
    );
    lab.run(&["check", "--strict"]).expect(0);
}
