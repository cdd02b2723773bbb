use std::sync::Arc;

use crate::toolsets::{
    ListedTool, MAX_NOTE, MAX_NOTES_PER_TOOL, SavedToolset, ToolNote, ToolNotes, ToolRef, hydrate,
    ref_id,
};

fn note(name: &str, text: &str) -> ToolNote {
    ToolNote {
        name: name.to_owned(),
        note: text.to_owned(),
        ..ToolNote::default()
    }
}

fn tool() -> ListedTool {
    ListedTool {
        name: "create_issue".to_owned(),
        source: "linear".to_owned(),
        description: "Creates".to_owned(),
        input_schema: Arc::default(),
        output_schema: None,
        annotations: None,
        hidden: None,
    }
}

#[test]
fn notes_stand_below_the_description_byte_by_byte() {
    let notes = [note("one", "First."), note("two", "Sec\nond")];
    let section = "### Additional Tool Notes\n\n• **one**: First.\n• **two**: Sec ond";
    assert_eq!(hydrate("Creates", &notes), format!("Creates\n\n{section}"));
    assert_eq!(hydrate("", &notes), section);
    assert_eq!(hydrate("Creates", []), "Creates");
    assert_eq!(hydrate("", []), "");
}

#[test]
fn names_and_lengths_have_bounds() {
    let is_fine = |name: &str, text: &str| note(name, text).check().is_ok();
    let (most, long) = ("ä".repeat(MAX_NOTE), "ä".repeat(MAX_NOTE + 1));
    for name in ["ab", "use-2", "--", &"x".repeat(50)] {
        assert!(is_fine(name, &most), "{name}");
    }
    for name in [
        "",
        "a",
        "Ab",
        "a b",
        "a_b",
        "a.b",
        "ä1",
        "../x",
        "a\n",
        &"x".repeat(51),
    ] {
        assert!(!is_fine(name, "x"), "{name}");
    }
    assert!(!is_fine("ab", ""));
    assert!(!is_fine("ab", &long));
}

/// Entries by name, by hash and by both are all found, oldest first, the first of a name.
#[test]
fn all_entries_on_a_tool_count_in_their_order() {
    let on = |reference: ToolRef, notes: &[ToolNote]| ToolNotes {
        tool_ref: reference,
        notes: notes.to_vec(),
        ..ToolNotes::default()
    };
    let by_hash = ToolRef {
        ref_id: Some(ref_id(&tool())),
        ..ToolRef::default()
    };
    let toolset = SavedToolset {
        tool_notes: vec![
            on(ToolRef::named("linear_create_issue"), &[note("one", "1")]),
            on(ToolRef::named("linear.other"), &[note("none", "0")]),
            on(by_hash, &[note("two", "2"), note("one", "again")]),
        ],
        ..SavedToolset::default()
    };
    let notes: Vec<_> = toolset
        .notes_on(&tool())
        .iter()
        .map(|note| note.note.clone())
        .collect();
    assert_eq!(notes, ["1", "2"]);
    let other = ListedTool {
        name: "else".to_owned(),
        ..tool()
    };
    assert!(toolset.notes_on(&other).is_empty());
    assert_eq!(toolset.note_count(), 4);
}

#[test]
fn a_tool_takes_so_many_notes_and_no_more() {
    let mut toolset = SavedToolset::default();
    let notes = (0..=MAX_NOTES_PER_TOOL).map(|number| note(&format!("note-{number}"), "x"));
    let annotated = toolset.annotate(&tool(), notes.collect());
    assert_eq!(annotated.added.len(), MAX_NOTES_PER_TOOL);
    assert_eq!(annotated.skipped.len(), 1);
    assert!(
        annotated.skipped[0].contains("note-50"),
        "{:?}",
        annotated.skipped
    );
    assert_eq!(toolset.annotate(&tool(), vec![note("more", "x")]).added, []);
    assert_eq!(toolset.notes_on(&tool()).len(), MAX_NOTES_PER_TOOL);
}

#[test]
fn one_name_twice_in_one_call_is_added_once() {
    let mut toolset = SavedToolset::default();
    let annotated = toolset.annotate(&tool(), vec![note("ab", "first"), note("ab", "second")]);
    assert_eq!(annotated.added, [note("ab", "first")]);
    assert_eq!(annotated.skipped.len(), 1);
    assert_eq!(toolset.note_count(), 1);
}

#[test]
fn a_note_is_one_line_and_shows_as_what_it_is() {
    let note = ToolNote {
        name: "odd".to_owned(),
        note: format!(
            "a\n\n### Additional Tool Notes\n\n• **b**: c\u{1b}[2J\u{202e}{}",
            "d".repeat(MAX_NOTE)
        ),
        ..ToolNote::default()
    };
    let shown = hydrate("Taps.", [&note]);
    let (_, line) = shown.split_once("Tool Notes\n\n").unwrap();
    assert!(
        line.starts_with("• **odd**: a  ### Additional Tool Notes  • **b**: c[2Jddd"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
    assert!(line.chars().count() < MAX_NOTE + 20);
}
