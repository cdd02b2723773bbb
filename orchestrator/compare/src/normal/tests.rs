use packtrain_drivers::tree::{AndroidNode, IosNode, TreeBuilder, WebNode};
use packtrain_drivers::{NodeDetail, ScreenMark, Size};

use super::*;

/// Draws a tree: each line is indented by its depth.
fn drawn(tree: &ScreenTree) -> Vec<String> {
    tree.nodes
        .iter()
        .map(|node| {
            let indent = " ".repeat(node.depth as usize);
            let value = node
                .value
                .as_ref()
                .map_or(String::new(), |v| format!("={v}"));
            let states: String = node
                .states
                .iter()
                .map(|state| format!(" [{state}]"))
                .collect();
            format!("{indent}{} {:?}{value}{states}", node.role, node.name)
        })
        .collect()
}

/// A snapshot of nodes, each with its depth.
fn snapshot(nodes: Vec<(usize, NodeDetail)>) -> Snapshot {
    let mut builder = TreeBuilder::new();
    for (depth, detail) in nodes {
        while builder.depth() > depth {
            builder.close();
        }
        builder.open(Some(Rect::new(0.4, 0.0, 99.6, 10.0)), detail);
    }
    let tree = builder.finish();
    Snapshot {
        mark: ScreenMark::of(&tree),
        tree,
        text: String::new(),
        refs: Vec::new(),
        location: None,
        title: None,
        screen: Size {
            width: 390.0,
            height: 844.0,
        },
    }
}

fn android(depth: usize, class: &str, change: impl Fn(&mut AndroidNode)) -> (usize, NodeDetail) {
    let mut node = AndroidNode {
        class_name: Some(format!("android.widget.{class}")),
        package: Some("com.example".to_owned()),
        is_enabled: true,
        is_visible: true,
        ..AndroidNode::default()
    };
    change(&mut node);
    (depth, NodeDetail::Android(Box::new(node)))
}

fn ios(
    depth: usize,
    kind: &str,
    label: &str,
    change: impl Fn(&mut IosNode),
) -> (usize, NodeDetail) {
    let mut node = IosNode {
        element_type: Some(kind.to_owned()),
        label: Some(label.to_owned()),
        is_enabled: true,
        is_visible: true,
        ..IosNode::default()
    };
    change(&mut node);
    (depth, NodeDetail::Ios(Box::new(node)))
}

fn web(depth: usize, role: &str, name: &str) -> (usize, NodeDetail) {
    let node = WebNode {
        role: Some(role.to_owned()),
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        states: vec!["active".to_owned(), "checked".to_owned()],
        ..WebNode::default()
    };
    (depth, NodeDetail::Web(Box::new(node)))
}

#[test]
fn android_wrappers_bars_keyboards_and_passwords_are_left_out() {
    let tree = screen(&snapshot(vec![
        android(0, "FrameLayout", |_| ()),
        android(1, "LinearLayout", |_| ()),
        android(2, "TextView", |node| {
            node.text = Some("Cart".into());
            node.is_heading = true;
        }),
        android(2, "EditText", |node| {
            node.hint_text = Some("Password".into());
            node.text = Some("secret".into());
            node.is_password = true;
        }),
        android(2, "EditText", |node| {
            node.hint_text = Some("Name".into());
            node.text = Some("Ada".into());
            node.resource_id = Some("com.example:id/name".into());
        }),
        android(2, "View", |node| node.is_clickable = true),
        android(3, "ImageView", |_| ()),
        android(3, "TextView", |node| node.text = Some("Buy".into())),
        android(2, "CheckBox", |node| {
            node.text = Some("Gift".into());
            node.is_checked = true;
            node.is_enabled = false;
        }),
        android(1, "FrameLayout", |node| {
            node.package = Some("com.android.systemui".into())
        }),
        android(2, "TextView", |node| node.text = Some("12:00".into())),
        android(1, "FrameLayout", |node| {
            node.package = Some("com.google.android.inputmethod.latin".into());
        }),
    ]));
    assert_eq!(
        drawn(&tree),
        [
            "heading \"Cart\"",
            "textbox \"Password\"",
            "textbox \"Name\"=Ada",
            "button \"Buy\"",
            "checkbox \"Gift\" [checked] [disabled]",
        ]
    );
    assert_eq!(tree.nodes[2].id.as_deref(), Some("name"));
    assert_eq!(tree.nodes[0].bounds, Some([0, 0, 100, 10]));
}

#[test]
fn ios_elements_read_like_those_of_other_platforms() {
    let tree = screen(&snapshot(vec![
        ios(0, "Application", "Shop", |_| ()),
        ios(1, "Window", "", |_| ()),
        ios(2, "StatusBar", "", |_| ()),
        ios(3, "StaticText", "12:00", |_| ()),
        ios(2, "Other", "Cart Buy", |_| ()),
        ios(3, "StaticText", "Cart", |node| {
            node.traits = vec!["Header".into()]
        }),
        ios(3, "Button", "Buy", |node| node.is_enabled = false),
        ios(3, "SecureTextField", "Password", |node| {
            node.value = Some("••••".into())
        }),
        ios(3, "Switch", "Gift", |node| node.value = Some("1".into())),
        ios(2, "Keyboard", "", |_| ()),
        ios(3, "Key", "q", |_| ()),
    ]));
    assert_eq!(
        drawn(&tree),
        [
            "heading \"Cart\"",
            "button \"Buy\" [disabled]",
            "textbox \"Password\"",
            "switch \"Gift\" [checked]",
        ]
    );
}

#[test]
fn pages_keep_what_has_a_name_and_what_can_be_used() {
    let tree = screen(&snapshot(vec![
        web(0, "document", ""),
        web(1, "main", ""),
        web(2, "generic", ""),
        web(3, "heading", "Cart"),
        web(2, "list", ""),
        web(3, "listitem", ""),
        web(4, "button", ""),
        web(3, "paragraph", "Two  items"),
        web(2, "navigation", "Pages"),
    ]));
    assert_eq!(
        drawn(&tree),
        [
            "heading \"Cart\" [checked]",
            "list \"\" [checked]",
            " button \"\" [checked]",
            " text \"Two items\" [checked]",
            "region \"Pages\" [checked]",
        ]
    );
}

#[test]
fn the_same_screen_is_the_same_bytes_and_comes_back_from_them() {
    let tree = screen(&snapshot(vec![web(0, "button", "Buy")]));
    let bytes = json(&tree);
    assert_eq!(
        String::from_utf8_lossy(&bytes),
        r#"{"notation":2,"width":390.0,"height":844.0,"nodes":[{"d":0,"r":"button","n":"Buy","s":["checked"],"b":[0,0,100,10]}]}"#
    );
    assert_eq!(
        serde_json::from_slice::<ScreenTree>(&bytes).expect("a tree"),
        tree
    );
}

#[test]
fn what_a_phone_has_and_does_not_show_is_hidden_and_no_node() {
    let hidden = |tree: &ScreenTree| -> Vec<String> {
        let hidden = tree.hidden.iter();
        hidden
            .map(|one| format!("{} {:?}", one.element, one.why))
            .collect()
    };
    let of_android = screen(&snapshot(vec![
        android(0, "FrameLayout", |node| node.is_visible = false),
        android(1, "Button", |node| {
            node.text = Some("Buy".into());
            node.is_visible = false;
        }),
        android(1, "EditText", |node| {
            node.hint_text = Some("Password".into());
            node.text = Some("hunter2".into());
            node.is_visible = false;
        }),
        android(1, "TextView", |node| node.text = Some("Shown".into())),
        android(1, "TextView", |node| {
            node.text = Some("12:00".into());
            node.package = Some("com.android.systemui".into());
            node.is_visible = false;
        }),
    ]));
    assert_eq!(drawn(&of_android), ["text \"Shown\""]);
    assert_eq!(
        hidden(&of_android),
        ["button \"Buy\" Other", "textbox \"Password\" Other"]
    );
    let of_ios = screen(&snapshot(vec![
        ios(0, "Application", "Shop", |node| node.is_visible = false),
        ios(1, "Button", "Buy", |node| node.is_visible = false),
        ios(1, "StaticText", "Shown", |_| ()),
        ios(1, "Other", "", |node| node.is_visible = false),
    ]));
    assert_eq!(drawn(&of_ios), ["text \"Shown\""]);
    assert_eq!(hidden(&of_ios), ["button \"Buy\" Other"]);
    assert_eq!(of_ios.notation, NOTATION);

    let rows = (0..300).map(|row| {
        ios(0, "StaticText", &format!("Row {row}"), |node| {
            node.is_visible = false;
        })
    });
    assert_eq!(screen(&snapshot(rows.collect())).hidden.len(), Hidden::MAX);
}
