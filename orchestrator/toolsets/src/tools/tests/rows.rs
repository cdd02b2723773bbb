//! Tool annotations, requirement by requirement.

use packtrain_tools::toolsets::{MAX_NOTE, MAX_NOTES_PER_CALL, SavedToolset, ref_id};
use serde_json::{Value, json};

use super::{Agent, annotation, definitions, tool};

const ANNOTATE: &str = "add-tool-annotation";

/// An agent that has `create_issue` and `tap` equipped.
async fn equipped() -> Agent {
    let mut agent = Agent::new();
    agent.build("issues", &["linear.create_issue", "tap"]).await;
    agent
}

fn notes(tool: Value, notes: &[(&str, &str)]) -> Value {
    let notes: Vec<_> = notes
        .iter()
        .map(|(name, note)| json!({ "name": name, "note": note }))
        .collect();
    json!({ "toolRef": tool, "notes": notes })
}

#[tokio::test]
async fn f01_notes_round_trip_through_the_file_in_their_form() {
    let mut agent = equipped().await;
    agent
        .note("linear.create_issue", "team", "Ask \"which\" team • ä\n")
        .await;
    let saved = agent.saved("issues");
    let expected = json!([{
        "toolRef": { "namespacedName": "linear.create_issue", "refId": ref_id(&agent.listed[0]) },
        "notes": [{ "name": "team", "note": "Ask \"which\" team • ä\n" }],
    }]);
    assert_eq!(saved["toolNotes"], expected);
    let read: SavedToolset = serde_json::from_value(saved.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), saved);
}

#[tokio::test]
async fn f02_notes_belong_to_a_tool_within_one_toolset() {
    let mut agent = equipped().await;
    agent.note("create_issue", "one", "first").await;
    agent.note("create_issue", "two", "second").await;
    assert_eq!(
        agent.saved("issues")["toolNotes"][0]["notes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(agent.description("tap"), "What tap does");
    agent.build("others", &["create_issue"]).await;
    assert_eq!(agent.description("create_issue"), "What create_issue does");
}

#[tokio::test]
async fn f03_notes_are_only_ever_added() {
    let listed = definitions();
    let speaks_of_notes = |name: &str| name.contains("annotation") || name.contains("note");
    let names: Vec<_> = listed
        .iter()
        .map(|tool| tool.name.as_ref())
        .filter(|name| speaks_of_notes(name))
        .collect();
    assert_eq!(names, [ANNOTATE]);
    let mut agent = equipped().await;
    agent.note("create_issue", "kept", "old").await;
    agent.note("create_issue", "kept", "new").await;
    agent.build("issues", &["tap"]).await;
    agent.build("issues", &["tap", "create_issue"]).await;
    assert!(
        agent
            .description("create_issue")
            .ends_with("• **kept**: old")
    );
}

#[tokio::test]
async fn f04_the_schema_is_listed_exactly_and_kept() {
    let listed = definitions();
    let tool = listed.iter().find(|tool| tool.name == ANNOTATE).unwrap();
    let expected = json!({
        "type": "object",
        "properties": {
            "toolRef": {
                "type": "object",
                "description": "Reference to the tool (use namespacedName or refId)",
                "properties": {
                    "namespacedName": {
                        "type": "string",
                        "description": "Tool reference by namespaced name (e.g., 'linear.create_issue')",
                    },
                    "refId": {
                        "type": "string",
                        "description": "Tool reference by unique hash identifier",
                    },
                },
                "minProperties": 1,
                "additionalProperties": false,
            },
            "notes": {
                "type": "array",
                "description": "Array of annotations to add to the tool",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {
                            "type": "string",
                            "description": "Identifier for this annotation (e.g., 'usage-with-project')",
                            "pattern": "^[a-z0-9-]+$",
                            "minLength": 2,
                            "maxLength": 50,
                        },
                        "note": {
                            "type": "string",
                            "description": "The annotation content to help guide LLM usage",
                            "minLength": 1,
                            "maxLength": 500,
                        },
                    },
                    "required": ["name", "note"],
                    "additionalProperties": false,
                },
                "minItems": 1,
                "maxItems": 20,
            },
        },
        "required": ["toolRef", "notes"],
        "additionalProperties": false,
    });
    assert_eq!(tool.schema_as_json_value(), expected);

    let mut agent = equipped().await;
    let many = vec![("ab", "x"); MAX_NOTES_PER_CALL + 1];
    let known = json!({ "namespacedName": "tap" });
    for args in [
        json!({ "notes": [{ "name": "ab", "note": "x" }] }),
        json!({ "toolRef": known }),
        json!({ "toolRef": known, "notes": [] }),
        json!({ "toolRef": known, "notes": "ab" }),
        json!({ "toolRef": "tap", "notes": [{ "name": "ab", "note": "x" }] }),
        json!({ "toolRef": known, "notes": [{ "name": "ab" }] }),
        json!({ "toolRef": known, "notes": [{ "note": "x" }] }),
        json!({ "toolRef": known, "notes": [{ "name": "ab", "note": "x", "by": "me" }] }),
        json!({ "toolRef": known, "notes": [{ "name": "ab", "note": "x" }], "toolset": "issues" }),
        notes(json!({}), &[("ab", "x")]),
        notes(json!({ "namespacedName": "tap", "id": 1 }), &[("ab", "x")]),
        notes(known.clone(), &many),
    ] {
        agent.refused(ANNOTATE, args).await;
    }
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
}

#[tokio::test]
async fn f05_without_an_equipped_toolset_it_is_an_error() {
    let mut agent = equipped().await;
    agent.call("unequip-toolset", json!({})).await;
    let why = agent.refused(ANNOTATE, annotation("tap", "ab", "x")).await;
    assert!(why.contains("no toolset is equipped"), "{why}");
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
}

#[tokio::test]
async fn f06_a_tool_is_found_by_name_and_by_hash_or_it_is_an_error() {
    let mut agent = equipped().await;
    let by_hash = json!({ "refId": ref_id(&agent.listed[0]) });
    let told = agent
        .call(ANNOTATE, notes(by_hash, &[("by-hash", "x")]))
        .await;
    assert_eq!(told["tool"]["namespacedName"], "linear.create_issue");
    agent.note("linear.create_issue", "by-name", "x").await;
    assert_eq!(
        agent.saved("issues")["toolNotes"][0]["notes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let why = agent
        .refused(ANNOTATE, annotation("linear.creat_issue", "ab", "x"))
        .await;
    assert!(why.contains("unknown tool"), "{why}");
    let stale = json!({ "refId": "0".repeat(64) });
    let why = agent.refused(ANNOTATE, notes(stale, &[("ab", "x")])).await;
    assert!(why.contains("no tool has the refId"), "{why}");
    // Both are fine when they mean the same tool.
    let both = |hash: String| json!({ "namespacedName": "tap", "refId": hash });
    agent
        .call(
            ANNOTATE,
            notes(both(ref_id(&agent.listed[2])), &[("both", "x")]),
        )
        .await;
    agent
        .refused(
            ANNOTATE,
            notes(both(ref_id(&agent.listed[0])), &[("neither", "x")]),
        )
        .await;
}

#[tokio::test]
async fn f07_a_tool_outside_the_equipped_toolset_is_an_error() {
    let mut agent = equipped().await;
    let why = agent
        .refused(ANNOTATE, annotation("linear.search", "ab", "x"))
        .await;
    assert!(
        why.contains("`search` is not in the toolset `issues`"),
        "{why}"
    );
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
}

#[tokio::test]
async fn f08_a_name_that_is_there_is_skipped_with_a_warning_and_the_others_are_added() {
    let mut agent = equipped().await;
    agent.note("tap", "known", "old").await;
    let tap = json!({ "namespacedName": "tap" });
    let told = agent
        .call(
            ANNOTATE,
            notes(tap, &[("first", "1"), ("known", "new"), ("last", "2")]),
        )
        .await;
    assert_eq!(
        (&told["successCount"], &told["errorCount"]),
        (&json!(2), &json!(1))
    );
    assert!(
        told["errors"][0]
            .as_str()
            .unwrap()
            .contains("`known` already exists"),
        "{told}"
    );
    let expected = "• **known**: old\n• **first**: 1\n• **last**: 2";
    assert!(
        agent.description("tap").ends_with(expected),
        "{}",
        agent.description("tap")
    );
}

#[tokio::test]
async fn f09_notes_survive_a_restart() {
    let mut agent = equipped().await;
    agent.note("tap", "kept", "x").await;
    let mut later = agent.another();
    later.equip("issues").await;
    assert_eq!(later.description("tap"), agent.description("tap"));
    assert!(later.description("tap").contains("**kept**"));
}

#[tokio::test]
async fn f10_the_answer_lists_what_was_added() {
    let mut agent = equipped().await;
    let told = agent
        .call(
            ANNOTATE,
            notes(
                json!({ "namespacedName": "tap" }),
                &[("ab", "x"), ("cd", "y")],
            ),
        )
        .await;
    let expected = json!({
        "toolset": "issues",
        "tool": { "namespacedName": "packtrain.tap", "refId": ref_id(&agent.listed[2]), "server": "packtrain" },
        "addedNotes": [{ "name": "ab", "note": "x" }, { "name": "cd", "note": "y" }],
        "successCount": 2,
        "errorCount": 0,
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn f11_a_bad_name_is_rejected_and_nothing_is_stored() {
    let mut agent = equipped().await;
    let tap = json!({ "namespacedName": "tap" });
    for name in [
        "Bad Name",
        "bad_name",
        "BAD",
        "x",
        "../../x",
        "",
        &"n".repeat(51),
    ] {
        let why = agent
            .refused(ANNOTATE, notes(tap.clone(), &[("good", "x"), (name, "y")]))
            .await;
        assert!(why.contains("lower-case letters"), "{why}");
    }
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
    assert_eq!(agent.description("tap"), "What tap does");
}

#[tokio::test]
async fn f12_the_form_of_notes_is_exact() {
    let mut agent = equipped().await;
    agent.listed[2].description = "Creates a new issue in Linear".to_owned();
    agent
        .note("tap", "usage-with-project", "Always load projects")
        .await;
    agent
        .note("tap", "priority-handling", "Set priority to 1 (Urgent)")
        .await;
    let section = "### Additional Tool Notes\n\n• **usage-with-project**: Always load projects\n\
                   • **priority-handling**: Set priority to 1 (Urgent)";
    assert_eq!(
        agent.description("tap"),
        format!("Creates a new issue in Linear\n\n{section}")
    );
    assert_eq!(agent.description("create_issue"), "What create_issue does");
    agent.listed[2].description = String::new();
    assert_eq!(agent.description("tap"), section);
}

#[tokio::test]
async fn f13_notes_are_shown_once_however_often_tools_are_listed() {
    let mut agent = equipped().await;
    agent.note("tap", "ab", "x").await;
    let first = agent.offered();
    for _ in 0..3 {
        assert_eq!(agent.offered(), first);
    }
    assert_eq!(
        agent
            .description("tap")
            .matches("### Additional Tool Notes")
            .count(),
        1
    );
    agent.note("tap", "cd", "y").await;
    assert_eq!(
        agent
            .description("tap")
            .matches("### Additional Tool Notes")
            .count(),
        1
    );
    assert_eq!(agent.listed[2].description, "What tap does");
}

#[tokio::test]
async fn f14_building_starts_without_notes_and_equipping_brings_them() {
    let mut agent = equipped().await;
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
    assert_eq!(agent.description("tap"), "What tap does");
    agent.note("tap", "ab", "x").await;
    assert!(agent.description("tap").contains("**ab**"));
    let mut other = agent.another();
    assert_eq!(other.description("tap"), "What tap does");
    other.equip("issues").await;
    assert!(other.description("tap").contains("**ab**"));
}

#[tokio::test]
async fn f15_notes_are_found_by_name_or_by_hash() {
    let mut agent = Agent::new();
    let pin = ref_id(&agent.listed[0]);
    for (name, reference) in [
        (
            "by-name",
            json!({ "namespacedName": "linear.create_issue" }),
        ),
        ("by-hash", json!({ "refId": pin })),
        (
            "by-both",
            json!({ "namespacedName": "linear.create_issue", "refId": pin }),
        ),
        (
            "by-old-hash",
            json!({ "namespacedName": "linear.create_issue", "refId": "0" }),
        ),
    ] {
        let noted = [json!({ "toolRef": reference, "notes": [{ "name": "ab", "note": "x" }] })];
        let tools = [json!({ "namespacedName": "linear.create_issue", "refId": pin })];
        agent.write(
            name,
            &json!({ "name": name, "tools": tools, "toolNotes": noted }),
        );
        agent.equip(name).await;
        assert!(
            agent.description("create_issue").ends_with("• **ab**: x"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn f16_a_flattened_name_is_the_same_tool() {
    let mut agent = equipped().await;
    for (number, spelled) in [
        "linear.create_issue",
        "linear_create_issue",
        "linear__create_issue",
        "create_issue",
    ]
    .iter()
    .enumerate()
    {
        let told = agent.note(spelled, &format!("note-{number}"), "x").await;
        assert_eq!(
            told["tool"]["namespacedName"], "linear.create_issue",
            "{spelled}"
        );
    }
    let noted = [
        json!({ "toolRef": { "namespacedName": "linear_create_issue" }, "notes": [{ "name": "ab", "note": "x" }] }),
    ];
    let tools = [json!({ "namespacedName": "linear_create_issue" })];
    agent.write(
        "flat",
        &json!({ "name": "flat", "tools": tools, "toolNotes": noted }),
    );
    agent.equip("flat").await;
    assert!(agent.description("create_issue").ends_with("• **ab**: x"));
    // Two tools that flatten to one name are told, and neither gets the note.
    agent.listed = vec![tool("a", "b_c"), tool("a_b", "c")];
    agent.build("both", &["a.b_c", "a_b.c"]).await;
    let why = agent
        .refused(ANNOTATE, annotation("a_b_c", "ab", "x"))
        .await;
    assert!(why.contains("`a.b_c` or `a_b.c`"), "{why}");
}

#[tokio::test]
async fn f17_notes_of_one_call_and_of_many_appear_in_order() {
    let mut agent = equipped().await;
    let tap = json!({ "namespacedName": "tap" });
    agent
        .call(ANNOTATE, notes(tap.clone(), &[("zz", "1"), ("aa", "2")]))
        .await;
    agent
        .call(ANNOTATE, notes(tap, &[("mm", "3"), ("bb", "4")]))
        .await;
    let lines = "• **zz**: 1\n• **aa**: 2\n• **mm**: 3\n• **bb**: 4";
    assert!(agent.description("tap").ends_with(lines));
    assert_eq!(
        agent.saved("issues")["toolNotes"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn f18_notes_persist_when_the_toolset_is_put_away_and_taken_out_again() {
    let mut agent = equipped().await;
    agent.note("tap", "ab", "x").await;
    let before = agent.description("tap");
    for _ in 0..3 {
        agent.call("unequip-toolset", json!({})).await;
        assert_eq!(agent.description("tap"), "What tap does");
        agent.equip("issues").await;
        assert_eq!(agent.description("tap"), before);
    }
}

#[tokio::test]
async fn f19_a_reference_that_fails_changes_nothing() {
    let mut agent = equipped().await;
    agent.note("tap", "ab", "x").await;
    let before = std::fs::read(agent.file("issues")).unwrap();
    for args in [
        annotation("linear.gone", "cd", "y"),
        annotation("search", "cd", "y"),
        annotation("tap", "C D", "y"),
    ] {
        agent.refused(ANNOTATE, args).await;
        assert_eq!(std::fs::read(agent.file("issues")).unwrap(), before);
    }
}

#[tokio::test]
async fn f20_toolsets_from_before_notes_load_and_take_them() {
    let mut agent = Agent::new();
    agent.write("old", &json!({
        "name": "old", "version": "1.0.0", "createdAt": "2025-01-21T00:00:00.000Z", "theirs": [1],
        "tools": [{ "namespacedName": "packtrain.tap", "refId": ref_id(&agent.listed[2]) }],
    }));
    agent.equip("old").await;
    assert_eq!(agent.description("tap"), "What tap does");
    agent.note("tap", "ab", "x").await;
    assert!(agent.description("tap").ends_with("• **ab**: x"));
    let saved = agent.saved("old");
    assert_eq!(
        (&saved["theirs"], &saved["createdAt"]),
        (&json!([1]), &json!("2025-01-21T00:00:00.000Z"))
    );
}

#[tokio::test]
async fn f21_notes_on_a_definition_that_is_gone_hurt_nobody() {
    let mut agent = equipped().await;
    agent.note("create_issue", "ab", "x").await;
    agent.change(0);
    assert_eq!(agent.names(), ["tap"]);
    // Rebuilt, the tool is found by its name, and so is the note.
    agent.build("issues", &["create_issue", "tap"]).await;
    assert!(agent.description("create_issue").ends_with("• **ab**: x"));
    agent.listed.remove(0);
    agent.equip("issues").await;
    assert_eq!(agent.names(), ["tap"]);
    let told = agent.call("get-active-toolset", json!({})).await;
    assert_eq!(told["tools"][0]["status"], "missing");
    assert_eq!(
        agent.saved("issues")["toolNotes"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn f22_a_note_that_is_too_long_is_rejected() {
    let mut agent = equipped().await;
    for note in [String::new(), "ä".repeat(MAX_NOTE + 1)] {
        let why = agent
            .refused(ANNOTATE, annotation("tap", "ab", &note))
            .await;
        assert!(why.contains("expected 1 to 500"), "{why}");
    }
    assert_eq!(agent.saved("issues").get("toolNotes"), None);
    agent.note("tap", "ab", &"ä".repeat(MAX_NOTE)).await;
}

/// One entry for a tool, however often it is annotated: looking one up takes as many looks as there are
/// annotated tools, and a typical one takes less than 2 KB of the file.
#[tokio::test]
async fn f23_notes_grow_with_the_tools_that_have_some_and_stay_small() {
    const TOOLS: usize = 20;
    let mut agent = Agent::new();
    agent.listed = (0..TOOLS)
        .map(|number| tool("many", &format!("tool_{number:02}")))
        .collect();
    let names: Vec<_> = agent.listed.iter().map(|tool| tool.name.clone()).collect();
    let spelled: Vec<&str> = names.iter().map(String::as_str).collect();
    agent.build("many", &spelled).await;
    let bare = std::fs::metadata(agent.file("many")).unwrap().len();
    for name in &names {
        for number in 0..3 {
            agent
                .note(name, &format!("note-{number}"), &"x".repeat(300))
                .await;
        }
    }
    let noted = std::fs::metadata(agent.file("many")).unwrap().len() - bare;
    assert_eq!(
        agent.saved("many")["toolNotes"].as_array().unwrap().len(),
        TOOLS
    );
    assert!(
        noted / (TOOLS as u64) < 2048,
        "{noted} bytes for {TOOLS} tools"
    );
}
