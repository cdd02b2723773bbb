use packtrain_drivers::tree::AndroidNode;
use proptest::prelude::*;

use super::*;

const SCREEN: Leave<'_> = Leave {
    keyboard: Some("com.example.keys"),
    screen: Size::new(1080.0, 2400.0),
};

fn node(attributes: &str, children: &str) -> String {
    format!("<node {attributes}>{children}</node>")
}

fn dump(nodes: &str) -> String {
    format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">{nodes}</hierarchy>"
    )
}

fn android(tree: &Tree) -> Vec<AndroidNode> {
    tree.nodes()
        .iter()
        .map(|node| match &node.detail {
            NodeDetail::Android(node) => (**node).clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn every_attribute_finds_its_place() {
    let text = dump(&node(
        r#"NAF="true" index="0" text="Sign &amp; in&#10;now" resource-id="com.example:id/go" class="android.widget.Button"
           package="com.example" content-desc="Go" checkable="true" checked="true" clickable="true" enabled="true"
           focusable="true" focused="true" scrollable="true" long-clickable="true" password="true" selected="true"
           visible-to-user="true" bounds="[24,160][336,208]" drawing-order="1" hint="h" display-id="0""#,
        "",
    ));
    let parsed = parse(&text, SCREEN).unwrap();
    assert_eq!(
        android(&parsed.tree),
        [AndroidNode {
            class_name: Some("android.widget.Button".into()),
            package: Some("com.example".into()),
            resource_id: Some("com.example:id/go".into()),
            text: Some("Sign & in\nnow".into()),
            content_description: Some("Go".into()),
            hint_text: Some("h".into()),
            is_enabled: true,
            is_clickable: true,
            is_long_clickable: true,
            is_checkable: true,
            is_checked: true,
            is_selected: true,
            is_focusable: true,
            is_focused: true,
            is_scrollable: true,
            is_password: true,
            is_visible: true,
            ..AndroidNode::default()
        }]
    );
    let bounds = parsed.tree.nodes()[0].bounds;
    assert_eq!(bounds, Some(Rect::new(24.0, 160.0, 336.0, 208.0)));
}

#[test]
fn children_lie_below_their_parents() {
    let leaf = |text: &str| node(&format!("text=\"{text}\""), "");
    let text = dump(&node(
        "text=\"a\"",
        &format!("{}{}", node("text=\"b\"", &leaf("c")), leaf("d")),
    ));
    let tree = parse(&text, SCREEN).unwrap().tree;
    let parents: Vec<_> = tree
        .nodes()
        .iter()
        .map(|node| node.parent.map(|id| id.0))
        .collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(0)]);
}

#[test]
fn an_empty_field_shows_its_hint_but_has_no_text() {
    let field = |text: &str| {
        let attributes = format!(
            "class=\"android.widget.EditText\" text=\"{text}\" hint=\"Email\" bounds=\"[0,0][9,9]\""
        );
        let node = android(&parse(&dump(&node(&attributes, "")), SCREEN).unwrap().tree).remove(0);
        assert!(node.is_editable);
        (node.text, node.hint_text)
    };
    assert_eq!(field("Email"), (None, Some("Email".into())));
    assert_eq!(field("me"), (Some("me".into()), Some("Email".into())));
}

#[test]
fn what_cannot_be_seen_is_left_out_with_all_below_it() {
    let text = dump(&node(
        "text=\"a\"",
        &format!(
            "{}{}",
            node(
                "text=\"b\" visible-to-user=\"false\"",
                &node("text=\"c\"", "")
            ),
            node("text=\"d\" bounds=\"[0,0][0,0]\"", ""),
        ),
    ));
    let nodes = android(&parse(&text, SCREEN).unwrap().tree);
    let seen: Vec<_> = nodes
        .iter()
        .map(|node| (node.text.as_deref().unwrap(), node.is_visible))
        .collect();
    assert_eq!(seen, [("a", true), ("d", false)]);
}

#[test]
fn bars_and_keyboard_are_no_part_of_the_app_and_windows_have_one_order() {
    let window = |package: &str, bounds: &str| {
        node(&format!("package=\"{package}\" bounds=\"{bounds}\""), "")
    };
    let app = window("com.example", "[0,0][1080,2400]");
    let popup = window("com.example", "[100,100][500,700]");
    let bar = window("com.android.systemui", "[0,0][1080,80]");
    let keys = window("com.example.keys", "[0,1600][1080,2400]");
    let one = parse(&dump(&[&*app, &popup, &bar, &keys].concat()), SCREEN).unwrap();
    let other = parse(&dump(&[&*keys, &bar, &popup, &app].concat()), SCREEN).unwrap();
    assert_eq!(one, other);
    assert_eq!(one.tree.len(), 2);

    let shade = window("com.android.systemui", "[0,0][1080,2400]");
    assert_eq!(parse(&dump(&shade), SCREEN).unwrap().tree.len(), 1);
    let alone = parse(&dump(&bar), SCREEN).unwrap();
    assert_eq!(alone.tree.len(), 1, "better a bar than nothing");
}

#[test]
fn another_display_is_another_screen() {
    let text = dump(&format!(
        "{}{}",
        node("text=\"a\" display-id=\"0\"", ""),
        node(
            "text=\"b\" display-id=\"2\"",
            &node("text=\"c\" display-id=\"2\"", "")
        ),
    ));
    assert_eq!(parse(&text, SCREEN).unwrap().tree.len(), 1);
}

#[test]
fn the_tools_own_words_after_the_dump_do_not_matter() {
    let text = dump(&node("text=\"a\"", "")) + "UI hierchary dumped to: /dev/tty\n";
    assert_eq!(parse(&text, SCREEN).unwrap().tree.len(), 1);
    let turned = text.replace("rotation=\"0\"", "rotation=\"3\"");
    assert_eq!(parse(&turned, SCREEN).unwrap().rotation, 3);
}

#[test]
fn what_is_no_screen_says_why() {
    let cut = dump(&node("text=\"a\"", ""));
    type IsFault = fn(&DumpFault) -> bool;
    let cases: [(&str, IsFault); 8] = [
        ("ERROR: could not get idle state.\n", |f| {
            *f == DumpFault::NotIdle
        }),
        (
            "ERROR: null root node returned by UiTestAutomationBridge.\n",
            |f| *f == DumpFault::NoRoot,
        ),
        ("<?xml version='1.0'?><hierarchy rotation=\"0\" />", |f| {
            *f == DumpFault::Empty
        }),
        (
            "<?xml version='1.0'?><hierarchy rotation=\"0\"></hierarchy>",
            |f| *f == DumpFault::Empty,
        ),
        (&cut[..cut.len() - 20], |f| {
            matches!(f, DumpFault::Broken(_))
        }),
        ("", |f| *f == DumpFault::Empty),
        ("Killed\n", |f| *f == DumpFault::Killed),
        ("UI hierchary dumped to: /dev/tty\n", |f| {
            matches!(f, DumpFault::Said(_))
        }),
    ];
    for (text, is_expected) in cases {
        let fault = parse(text, SCREEN).unwrap_err();
        assert!(is_expected(&fault), "{text:?}: {fault:?}");
    }
}

#[test]
fn hostile_dumps_end_in_an_error() {
    let deep = "<node>".repeat(MAX_DEPTH + 1) + &"</node>".repeat(MAX_DEPTH + 1);
    assert!(matches!(
        parse(&dump(&deep), SCREEN),
        Err(DumpFault::Broken(_))
    ));
    let wide = node("", &"<node/>".repeat(MAX_NODES));
    assert!(matches!(
        parse(&dump(&wide), SCREEN),
        Err(DumpFault::Broken(_))
    ));

    // An entity of its own is not expanded, whatever it expands to.
    let entities =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>".to_owned() + &dump(&node("text=\"&a;&amp;\"", ""));
    let nodes = android(&parse(&entities, SCREEN).unwrap().tree);
    assert_eq!(nodes[0].text.as_deref(), Some("&a;&amp;"));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,100}") {
        let _ = parse(&text, SCREEN);
        let _ = parse(&dump(&text), SCREEN);
        let _ = parse(&dump(&node(&text, &text)), SCREEN);
    }

    #[test]
    fn texts_come_out_as_a_device_writes_them(text in "[ -~äöü€\u{1F600}]{1,40}") {
        let escaped = quick_xml::escape::escape(text.as_str()).into_owned();
        let parsed = parse(&dump(&node(&format!("text=\"{escaped}\""), "")), SCREEN).unwrap();
        let nodes = android(&parsed.tree);
        prop_assert_eq!(nodes[0].text.as_deref(), Some(text.as_str()));
    }
}
