//! Toolsets that agents build, as people look at them.

use packtrain_testing::has;
use packtrain_tests::Lab;
use serde_json::{Value, json};

use crate::lab;

const ENTER: &str = "id: shop_enter\ndescription: Enters.\nparameters:\n  - { name: text }\ntools:\n  - inputText: { text: \"{{params.text}}\" }\n";

/// A workspace with a tool and a toolset of an agent's in which it is pinned to another definition.
fn workspace() -> Lab {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "toolsets: { core_web: { tools: [wait] } }\n",
    )
    .write("tools/enter.tool.yaml", ENTER);
    let toolset = json!({
        "name": "checkout",
        "tools": [
            { "namespacedName": "files.shop_enter", "refId": "0" },
            { "namespacedName": "wait" },
            { "namespacedName": "gone" },
        ],
        "toolNotes": [{
            "toolRef": { "namespacedName": "files.shop_enter" },
            "notes": [{ "name": "how", "note": "Slowly\u{1b}[31m." }],
        }],
    });
    lab.write("toolsets/checkout.json", &toolset.to_string())
        .write(
            ".config/packtrain/toolsets/mine.json",
            r#"{"name":"mine","tools":[]}"#,
        )
        .write("toolsets/broken.json", "{");
    lab
}

fn json(lab: &Lab, arguments: &[&str]) -> Value {
    let arguments: Vec<_> = arguments.iter().chain(&["--format", "json"]).collect();
    serde_json::from_str(&lab.run(&arguments).expect(0).stdout).unwrap()
}

#[test]
fn toolsets_are_listed_with_where_they_come_from_and_odd_files_told() {
    let lab = workspace();
    let ended = lab.run(&["toolsets"]).expect(0);
    let rows: Vec<_> = ended
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .collect();
    assert_eq!(rows[1][..4], ["checkout", "3", "1", "project"]);
    assert_eq!(rows[2][..4], ["mine", "0", "0", "user"]);
    assert_eq!(rows[3][..4], ["core_web", "1", "0", "defined"]);
    assert!(ended.stderr.contains("broken.json"), "{}", ended.stderr);
    let told = json(&lab, &["toolsets", "list"]);
    assert_eq!(told["toolsets"][0]["from"], "project");
    has(told["problems"][0].as_str().unwrap(), &["broken.json"]);
}

#[test]
fn a_changed_tool_is_shown_and_accepted() {
    let lab = workspace();
    let states = || -> Vec<Value> {
        let told = json(&lab, &["toolsets", "show", "checkout"]);
        told["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["state"].clone())
            .collect()
    };
    assert_eq!(states(), ["changed", "offered", "missing"]);
    let text = lab.run(&["toolsets", "show", "checkout"]).expect(0).stdout;
    has(
        &text,
        &["files.shop_enter  changed: the definition of `shop_enter` has changed"],
    );
    assert!(
        text.contains("how: Slowly") && !text.contains('\u{1b}'),
        "{text}"
    );
    let told = json(&lab, &["toolsets", "accept", "checkout", "shop_enter"]);
    assert_eq!(told["tool"], "files.shop_enter");
    assert_eq!(states(), ["offered", "offered", "missing"]);
    lab.write(
        "tools/enter.tool.yaml",
        &ENTER.replace(
            "name: text }",
            "name: text, type: string, required: false }",
        ),
    );
    assert_eq!(states(), ["changed", "offered", "missing"]);
}

#[test]
fn what_cannot_be_done_is_told_with_a_hint() {
    let lab = workspace();
    for (arguments, code, said) in [
        (
            &["toolsets", "show", "chekout"][..],
            3,
            "did you mean `checkout`?",
        ),
        (&["toolsets", "show", "../packtrain"], 3, "unknown toolset"),
        (
            &["toolsets", "accept", "checkout", "tapOn_"],
            3,
            "`packtrain toolsets show checkout` lists",
        ),
        (
            &["toolsets", "accept", "checkout", "tapOnPoint"],
            3,
            "is not in the toolset `checkout`",
        ),
        (
            &["toolsets", "delete", "core_web"],
            3,
            "and is changed there",
        ),
        (&["toolsets", "delete", "nowhere"], 3, "unknown toolset"),
        (&["toolsets", "show", "broken"], 2, "broken.json"),
    ] {
        let ended = lab.run(arguments).expect(code);
        assert!(
            ended.stderr.contains(said),
            "{arguments:?}\n{}",
            ended.stderr
        );
    }
    lab.run(&["toolsets", "delete", "checkout"]).expect(0);
    lab.run(&["toolsets", "show", "checkout"]).expect(3);
    assert!(lab.folder().join("toolsets/broken.json").exists());
}
