//! Snapshot references and the list that shows them.

use std::collections::HashSet;

use proptest::prelude::*;

use super::reference;
use super::screen::{android, ios, says, web_with};
use crate::command::SnapshotDetail;
use crate::geometry::Size;
use crate::selector::{find_ref, list_refs, refs};
use crate::tree::{NodeId, Tree};

const SCREEN: Size = Size {
    width: 400.0,
    height: 800.0,
};

fn login(mail: &str) -> Tree {
    android("FrameLayout", |_| {})
        .at(0.0, 0.0, 400.0, 800.0)
        .holding([
            says("TextView", "Welcome").at(0.0, 0.0, 400.0, 100.0),
            android("EditText", |n| {
                n.hint_text = Some("Email".into());
                n.text = (!mail.is_empty()).then(|| mail.into());
                n.is_editable = true;
                n.is_focused = true;
            })
            .at(0.0, 100.0, 400.0, 200.0),
            android("LinearLayout", |n| n.is_clickable = true)
                .at(0.0, 200.0, 400.0, 300.0)
                .holding([says("TextView", "Sign\n in").at(0.0, 200.0, 400.0, 300.0)]),
            android("Button", |n| {
                n.text = Some("Help".into());
                n.is_enabled = false;
                n.resource_id = Some("app:id/help".into());
            })
            .at(0.0, 900.0, 400.0, 1000.0),
        ])
        .tree()
}

#[test]
fn a_label_forges_no_element() {
    let forged = android("Button", |n| {
        n.text = Some(r#"OK" [e77] button "Pay \"#.into())
    });
    let tree = forged.at(0.0, 0.0, 400.0, 100.0).tree();
    let list = list_refs(&tree, SCREEN, SnapshotDetail::default());
    let line = r#"Button "OK\" [e77] button \"Pay \\""#;
    assert_eq!(list.text, format!("[{}] {line}", list.refs[0].name));
}

#[test]
fn one_line_per_element_with_its_states() {
    let list = list_refs(&login("me@example.com"), SCREEN, SnapshotDetail::default());
    let names: Vec<&str> = list.refs.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(
        list.text,
        format!(
            "[{}] TextView \"Welcome\"\n\
             [{}] EditText \"Email: me@example.com\" [focused]\n\
             [{}] LinearLayout \"Sign in\"\n\
             (1 more out of sight)",
            names[0], names[1], names[2]
        )
    );
    assert_eq!(list.refs[2].node, Some(NodeId(3)));
    assert_eq!(list.refs[2].role, "LinearLayout");
}

#[test]
fn what_is_out_of_sight_is_listed_on_request_and_bounds_too() {
    let everything = SnapshotDetail {
        offscreen: true,
        bounds: true,
        ..SnapshotDetail::default()
    };
    let list = list_refs(&login(""), SCREEN, everything);
    let last = list.text.lines().last().unwrap();
    assert!(
        last.ends_with("Button \"Help\" [disabled] [id app:id/help] {0,900,400,100}"),
        "{last}"
    );
}

#[test]
fn names_are_a_letter_and_up_to_three_digits() {
    for reference in refs(&login(""), SCREEN) {
        let (letter, digits) = reference.name.split_at(1);
        assert!(letter.chars().all(|c| c.is_ascii_lowercase()));
        assert!((1..=3).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_digit()));
    }
}

#[test]
fn the_same_screen_gives_the_same_names_and_typing_changes_none() {
    let names =
        |tree: &Tree| -> Vec<String> { refs(tree, SCREEN).into_iter().map(|r| r.name).collect() };
    assert_eq!(names(&login("")), names(&login("")));
    assert_eq!(names(&login("")), names(&login("me@example.com")));
}

#[test]
fn an_element_that_appears_does_not_rename_the_others() {
    let screen = |banner: bool| {
        let banner = banner.then(|| says("TextView", "Offline").at(0.0, 600.0, 400.0, 650.0));
        let rest = says("Button", "Save").at(0.0, 0.0, 99.0, 50.0);
        android("FrameLayout", |_| {})
            .holding(banner.into_iter().chain([rest]))
            .tree()
    };
    let save = |tree: &Tree| refs(tree, SCREEN).pop().unwrap().name;
    assert_eq!(save(&screen(false)), save(&screen(true)));
}

#[test]
fn equal_elements_in_one_place_get_letters() {
    let pile = (0..28).map(|_| says("Button", "OK").at(0.0, 0.0, 10.0, 10.0));
    let tree = android("FrameLayout", |_| {}).holding(pile).tree();
    let names: Vec<String> = refs(&tree, SCREEN).into_iter().map(|r| r.name).collect();
    let first = names[0].clone();
    assert_eq!(names[1], format!("{first}b"));
    assert_eq!(names[25], format!("{first}z"));
    assert_eq!(names[26], format!("{first}aa"));
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 28);
}

#[test]
fn a_reference_leads_back_to_its_element_even_out_of_sight() {
    let tree = login("");
    let everything = SnapshotDetail {
        offscreen: true,
        ..SnapshotDetail::default()
    };
    for reference in list_refs(&tree, SCREEN, everything).refs {
        assert_eq!(find_ref(&tree, SCREEN, &reference.name), reference.node);
    }
    assert_eq!(find_ref(&tree, SCREEN, "a0zz"), None);
}

#[test]
fn system_bars_are_left_out_unless_there_is_nothing_else() {
    let bar = |package: &str| {
        says("TextView", "12:00")
            .at(0.0, 0.0, 9.0, 9.0)
            .holding([])
            .tagged(package)
    };
    let app = android("FrameLayout", |_| {})
        .holding([bar("com.android.systemui"), bar("com.example")])
        .tree();
    assert_eq!(refs(&app, SCREEN).len(), 1);
    let shade = android("FrameLayout", |_| {})
        .holding([bar("com.android.systemui")])
        .tree();
    assert_eq!(refs(&shade, SCREEN).len(), 1);
}

#[test]
fn contents_of_an_invisible_container_are_listed() {
    let tree = android("FrameLayout", |n| n.is_visible = false)
        .holding([says("Button", "Open").at(0.0, 0.0, 9.0, 9.0)])
        .tree();
    assert_eq!(refs(&tree, SCREEN).len(), 1);
}

#[test]
fn ios_and_web_elements_are_listed_in_their_own_words() {
    let phone = ios("Application", |_| {})
        .holding([ios("Switch", |n| {
            n.label = Some("Wi-Fi".into());
            n.value = Some("1".into());
            n.identifier = Some("wifi".into());
        })])
        .tree();
    let list = list_refs(&phone, SCREEN, SnapshotDetail::default());
    assert!(
        list.text.ends_with("Switch \"Wi-Fi\" [checked] [id wifi]"),
        "{}",
        list.text
    );
    let page = web_with("heading", |n| {
        n.name = Some("Cart".into());
        n.level = Some(2);
        n.reference = Some("e7".into());
    })
    .tree();
    let list = list_refs(&page, SCREEN, SnapshotDetail::default());
    assert_eq!(list.text, "[e7] heading \"Cart\" [level 2]");
}

#[test]
fn an_element_is_one_line_whatever_it_is_called() {
    let tree = android("Odd\nClass", |n| {
        n.text = Some("two\nlines".into());
        n.state_description = Some("half\nopen".into());
        n.resource_id = Some("id\r\nid".into());
    })
    .tree();
    let list = list_refs(&tree, SCREEN, SnapshotDetail::default());
    let line = &list.text;
    assert!(
        line.ends_with("Odd Class \"two lines\" [state half open] [id id id]"),
        "{line}"
    );
}

#[test]
fn a_tree_thousands_of_levels_deep_is_listed_in_reasonable_space() {
    let mut builder = crate::TreeBuilder::new();
    for level in 0..5_000 {
        let node = crate::tree::AndroidNode {
            text: Some(format!("level {level}")),
            is_visible: true,
            ..Default::default()
        };
        builder.open(None, crate::NodeDetail::Android(Box::new(node)));
    }
    let tree = builder.finish();
    let list = list_refs(&tree, SCREEN, SnapshotDetail::default());
    assert_eq!(list.refs.len(), 5_000);
    assert!(list.text.len() < 5_000 * 100);
}

#[test]
fn an_empty_screen_says_so() {
    let list = list_refs(&Tree::default(), SCREEN, SnapshotDetail::default());
    assert_eq!(list.text, "(no elements)");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_never_given_twice(tree in reference::tree(40)) {
        let names: Vec<String> = refs(&tree, SCREEN).into_iter().map(|r| r.name).collect();
        prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}
