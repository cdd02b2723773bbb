use packtrain_drivers::Platform;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::source::Source;
use packtrain_model::yaml::{Value, read};
use serde_json::json;

use super::{Composed, check_cycles, without};
use crate::tool::{Kind, Origin, Tool};

const SIGN_IN: &str = "\
id: acme_signIn
description: |
  Signs in.
parameters:
  - { name: user, type: string, description: Who }
  - { name: tries, type: int, required: false }
  - { name: mode, default: fast, enum: [fast, slow] }
  - { name: who, default: \"{{memory.who}}\" }
surface_to_llm: false
isRecordable: false
is_verification: true
platforms: [IOS, android]
drivers: [ios-host]
toolset: auth
tools:
  - inputText: { text: \"{{params.user}}\" }
  - eraseText: { charactersToErase: \"{{params.tries}}\" }
";

fn composed(text: &str) -> Composed {
    let file = Composed::parse(text, "tools/a.tool.yaml").unwrap();
    assert_eq!(file.warnings, []);
    file.tool.unwrap()
}

fn yaml(text: &str) -> Value {
    read(&Source::new("<test>", text)).value.unwrap()
}

fn mistakes(text: &str) -> Vec<Diagnostic> {
    Composed::parse(text, "a.tool.yaml").err().unwrap()
}

#[test]
fn a_file_says_about_itself_what_trailblaze_lets_it_say() {
    let tool = composed(SIGN_IN);
    let spec = tool.spec();
    assert_eq!(spec.name, "acme_signIn");
    assert_eq!(spec.description, "Signs in.");
    assert_eq!(spec.origin, Origin::File("tools/a.tool.yaml".to_owned()));
    assert_eq!(spec.kind, Kind::Assertion);
    assert_eq!(spec.platforms, [Platform::Ios, Platform::Android]);
    assert_eq!(spec.drivers, ["ios-host"]);
    assert_eq!(spec.toolset.as_deref(), Some("auth"));
    assert!(!spec.shown && !spec.recordable);
    assert_eq!(spec.arguments["required"], json!(["user"]));
    assert_eq!(
        spec.arguments["properties"]["tries"],
        json!({ "type": "integer" })
    );
    assert_eq!(
        spec.arguments["properties"]["mode"],
        json!({ "type": "string", "default": "fast", "enum": ["fast", "slow"] })
    );
}

#[test]
fn a_call_is_checked_by_the_parameters() {
    let tool = composed(SIGN_IN);
    for (arguments, told) in [
        ("{}", "`user` is missing"),
        ("{ user: }", "`user` is missing"),
        ("{ user: a, tries: many }", "tries: expected a whole number"),
        ("{ user: a, mode: quick }", "`mode` cannot be `quick`"),
        ("{ user: a, usr: b }", "unknown argument `usr`"),
        ("{ user: [a] }", "user: expected"),
    ] {
        let error = tool.check(&yaml(arguments)).err().unwrap();
        assert!(error.to_string().contains(told), "{arguments}: {error}");
        assert!(error.span.is_some());
    }
    for arguments in [
        "{ user: 5 }",
        "{ user: a, tries: \"3\", mode: slow }",
        "{ user: a, tries: \"{{n}}\", mode: \"{{m}}\" }",
    ] {
        assert_eq!(tool.check(&yaml(arguments)).err(), None, "{arguments}");
    }
}

#[test]
fn what_was_not_given_is_left_out_of_the_calls() {
    let arguments = yaml(
        "{ a: \"{{params.x}}\", b: [\"{{params.x}}\", \"{{params.y}}\"], c: \"({{params.x}})\" }",
    );
    let left = without(&arguments, &["x"].into());
    assert_eq!(
        left.to_json(),
        json!({ "b": ["{{params.y}}"], "c": "({{params.x}})" })
    );
}

#[test]
fn calls_are_checked_with_values_of_the_right_type() {
    let calls = composed(SIGN_IN).sample_calls();
    assert_eq!(
        calls[0].args.to_json(),
        json!({ "text": "{{params.user}}" })
    );
    assert_eq!(calls[1].args.to_json(), json!({ "charactersToErase": 1 }));
    let listed = composed(
        "id: a\nparameters: [{ name: l, type: list }]\ntools:\n  - x: { l: \"{{params.l}}\" }\n  - wait: {}\n",
    );
    let names: Vec<_> = listed
        .sample_calls()
        .into_iter()
        .map(|call| call.name)
        .collect();
    assert_eq!(names, ["wait"]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    const CALLS: &str = "tools:\n  - tap: {}\n";
    for (text, at, told) in [
        (
            format!("description: x\n{CALLS}"),
            "a.tool.yaml",
            "`id` is missing",
        ),
        (format!("id: [a]\n{CALLS}"), "a.tool.yaml:1:5", "expected"),
        (
            "id: a\ntools: []\n".to_owned(),
            "a.tool.yaml:2:8",
            "at least one",
        ),
        (
            "id: a\ntools:\n  - tap\n".to_owned(),
            "a.tool.yaml:3:5",
            "expected a tool call",
        ),
        (
            format!("id: a\nclass: b.C\n{CALLS}"),
            "a.tool.yaml:2:1",
            "`class` or `tools`",
        ),
        (
            format!("id: a\nplatforms: [androd]\n{CALLS}"),
            "a.tool.yaml:2:13",
            "unknown platform",
        ),
        (
            format!("id: a\nparameters:\n  - {{ name: n, type: interger }}\n{CALLS}"),
            "a.tool.yaml:3:22",
            "unknown value `interger`",
        ),
        (
            format!("id: a\nparameters:\n  - {{ name: n, type: int, default: x }}\n{CALLS}"),
            "a.tool.yaml:3:36",
            "`default`: expected a whole number",
        ),
        (
            format!("id: a\nparameters:\n  - {{ name: n, requird: true }}\n{CALLS}"),
            "a.tool.yaml:3:16",
            "unknown key `requird`",
        ),
        (
            format!("id: a\nparameters: [{{ name: n }}, {{ name: n }}]\n{CALLS}"),
            "a.tool.yaml:2:35",
            "a second parameter `n`",
        ),
        (
            "id: a\nparameters: [{ name: user }]\ntools:\n  - tap: { x: \"{{params.usr}}\" }\n"
                .to_owned(),
            "a.tool.yaml:4:15",
            "unknown parameter `usr`",
        ),
        (
            "id: a\ntools: [\n".to_owned(),
            "a.tool.yaml:2:8",
            "unclosed",
        ),
        (
            "[]".to_owned(),
            "a.tool.yaml:1:1",
            "expected a tool, found a list",
        ),
    ] {
        let found = mistakes(&text);
        assert_eq!(found[0].location(), at, "{found:?}");
        assert!(found[0].message.contains(told), "{found:?}");
    }
}

#[test]
fn a_key_that_means_nothing_is_a_warning() {
    let text = "id: a\ndescribtion: x\ntools:\n  - tap: {}\n";
    let file = Composed::parse(text, "a.tool.yaml").unwrap();
    assert_eq!(file.warnings[0].location(), "a.tool.yaml:2:1");
    assert_eq!(
        file.warnings[0].hint.as_deref(),
        Some("did you mean `description`?")
    );
    assert!(file.tool.is_some());
}

#[test]
fn what_is_not_made_of_calls_is_no_tool_of_ours() {
    for text in [
        "id: a\nclass: b.C\n",
        "id: a\ntrailhead: { to: home }\n",
        "id: a\nplatforms: [desktop]\ntools:\n  - tap: {}\n",
    ] {
        let file = Composed::parse(text, "a.tool.yaml").unwrap();
        assert!(file.tool.is_none(), "{text}");
    }
}

#[test]
fn tools_that_end_up_calling_themselves_are_found() {
    let tool = |name: &str, calls: &[&str]| {
        let calls: String = calls
            .iter()
            .map(|call| format!("  - {call}: {{}}\n"))
            .collect();
        composed(&format!("id: {name}\ntools:\n{calls}"))
    };
    let tools = [
        tool("a", &["wait", "b"]),
        tool("b", &["d", "c"]),
        tool("c", &["a"]),
        tool("d", &["wait"]),
        tool("e", &["a", "d"]),
        tool("f", &["f"]),
    ];
    let told: Vec<_> = check_cycles(&tools)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "tools/a.tool.yaml:4:5: error: `a` calls itself: a -> b -> c -> a",
            "tools/a.tool.yaml:4:5: error: `b` calls itself: b -> c -> a -> b",
            "tools/a.tool.yaml:3:5: error: `c` calls itself: c -> a -> b -> c",
            "tools/a.tool.yaml:3:5: error: `f` calls itself: f -> f",
        ]
    );
}
