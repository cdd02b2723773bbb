use std::slice::from_ref;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::toolsets::{
    ListedTool, Membership, SavedToolset, ToolNote, ToolRef, Toolset, ToolsetName, ref_id,
};

fn tool(source: &str, name: &str) -> ListedTool {
    ListedTool {
        name: name.to_owned(),
        source: source.to_owned(),
        description: format!("{name} does"),
        input_schema: Arc::default(),
        output_schema: None,
        annotations: None,
        hidden: None,
    }
}

fn changed(tool: &ListedTool) -> ListedTool {
    let mut changed = tool.clone();
    Arc::make_mut(&mut changed.input_schema).insert("type".to_owned(), json!("object"));
    changed
}

fn of(tools: Vec<ToolRef>) -> SavedToolset {
    SavedToolset {
        tools,
        ..SavedToolset::default()
    }
}

#[test]
fn a_name_leads_to_no_other_folder() {
    for name in [
        "..", "../up", "a/b", "a\\b", "/etc", "a.json", "C:", "a\0b", "A1", "", "x", "ß1", "a b",
    ] {
        assert!(ToolsetName::parse(name).is_err(), "{name:?}");
    }
    let long = "n".repeat(4096);
    let told = ToolsetName::parse(&long).unwrap_err().to_string();
    assert!(told.len() < 200, "{told}");
    assert_eq!(
        ToolsetName::parse("checkout-2").unwrap().as_str(),
        "checkout-2"
    );
}

#[test]
fn what_a_file_says_besides_is_kept() {
    let file = json!({
        "name": "mine", "version": "9", "x": { "y": [1] },
        "tools": [{ "namespacedName": "a.b", "since": 3 }],
        "toolNotes": [{
            "toolRef": { "refId": "0", "z": true }, "by": "me",
            "notes": [{ "name": "ab", "note": "c", "at": "noon" }],
        }],
    });
    let toolset: SavedToolset = serde_json::from_value(file.clone()).unwrap();
    assert_eq!(serde_json::to_value(&toolset).unwrap(), file);
}

#[test]
fn a_tool_is_offered_while_its_definition_is_the_accepted_one() {
    let (tap, swipe) = (tool("mobile", "tap"), tool("mobile", "swipe"));
    let mut toolset = of(vec![ToolRef::to(&tap), ToolRef::to(&swipe)]);
    let listed = [swipe.clone(), tap.clone(), tool("mobile", "type")];
    let offered: Vec<_> = toolset
        .offered(&listed)
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(offered, ["swipe", "tap"]);
    assert_eq!(toolset.membership(&tap, &listed), Membership::Included);
    assert_eq!(toolset.membership(&listed[2], &listed), Membership::Outside);

    let listed = [swipe.clone(), changed(&tap)];
    assert_eq!(toolset.offered(&listed), listed[..1]);
    assert_eq!(toolset.membership(&listed[1], &listed), Membership::Changed);
    assert_eq!(toolset.membership(&swipe, &listed), Membership::Included);

    assert!(toolset.accept(&listed[1], &listed));
    assert_eq!(
        toolset.membership(&listed[1], &listed),
        Membership::Included
    );
    assert_eq!(toolset.offered(&listed).len(), 2);
    // What it was before is no longer what was accepted.
    assert_eq!(
        toolset.membership(&tap, from_ref(&tap)),
        Membership::Changed
    );
    assert!(!toolset.accept(&tool("x", "none"), &[tool("x", "none")]));
}

#[test]
fn references_by_name_alone_and_by_hash_alone_hold() {
    let (tap, swipe) = (tool("mobile", "tap"), tool("mobile", "swipe"));
    let by_hash = ToolRef {
        ref_id: Some(ref_id(&swipe)),
        ..ToolRef::default()
    };
    let toolset = of(vec![
        ToolRef::named("mobile_tap"),
        by_hash,
        ToolRef::default(),
    ]);
    let listed = [changed(&tap), swipe.clone()];
    assert_eq!(
        toolset.membership(&listed[0], &listed),
        Membership::Included
    );
    assert_eq!(toolset.membership(&swipe, &listed), Membership::Included);
    let listed = [tap, changed(&swipe)];
    assert_eq!(toolset.membership(&listed[1], &listed), Membership::Outside);
    assert_eq!(toolset.offered(&listed).len(), 1);
}

#[test]
fn a_name_of_two_tools_lets_neither_in() {
    let listed = [tool("a", "b_c"), tool("a_b", "c")];
    let toolset = of(vec![ToolRef::named("a_b_c")]);
    assert_eq!(toolset.offered(&listed), []);
    assert_eq!(toolset.membership(&listed[0], &listed), Membership::Outside);
    assert_eq!(toolset.membership(&listed[1], &listed), Membership::Outside);
}

#[test]
fn what_is_hidden_is_not_offered() {
    let hidden = ListedTool {
        hidden: Some("why".to_owned()),
        ..tool("mobile", "tap")
    };
    assert_eq!(of(vec![ToolRef::to(&hidden)]).offered(&[hidden]), []);
}

#[test]
fn a_toolset_of_the_configuration_is_not_pinned() {
    let defined = Toolset {
        id: "core_web".to_owned(),
        tools: vec!["tap".to_owned()],
        ..Toolset::default()
    };
    let toolset = SavedToolset::from(&defined);
    assert_eq!(toolset.name, "core_web");
    assert_eq!(toolset.offered(&[tool("mobile", "tap")]).len(), 1);
    let value: Value = serde_json::to_value(&toolset.tools).unwrap();
    assert_eq!(value, json!([{ "namespacedName": "tap" }]));
}

#[test]
fn notes_outlive_the_definition_they_were_written_for() {
    let tap = tool("mobile", "tap");
    let mut toolset = of(vec![ToolRef::to(&tap)]);
    toolset.annotate(
        &tap,
        vec![ToolNote {
            name: "ab".to_owned(),
            note: "c".to_owned(),
            ..ToolNote::default()
        }],
    );
    let listed = [changed(&tap)];
    toolset.accept(&listed[0], &listed);
    assert!(
        toolset.offered(&listed)[0]
            .description
            .ends_with("• **ab**: c")
    );
    assert!(toolset.offered(&[tool("other", "x")]).is_empty());
}
