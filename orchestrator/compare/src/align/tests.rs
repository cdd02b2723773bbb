use packtrain_model::screen::ScreenNode;

use super::*;
use crate::answer::ItemKind;

/// A screen of lines `role name`, indented by depth, 40 units each.
fn screen(lines: &[&str]) -> ScreenTree {
    let nodes = lines.iter().zip(0..).map(|(line, place)| {
        let text = line.trim_start();
        let (role, name) = text.split_once(' ').unwrap_or((text, ""));
        ScreenNode {
            depth: (line.len() - text.len()) as u32,
            role: role.to_owned(),
            name: name.to_owned(),
            bounds: Some([0, place * 40, 300, place * 40 + 40]),
            ..ScreenNode::default()
        }
    });
    ScreenTree {
        width: 390.0,
        height: 844.0,
        nodes: nodes.collect(),
        ..ScreenTree::default()
    }
}

fn between(was: &ScreenTree, is: &ScreenTree) -> Vec<Item> {
    let texts = Texts::default();
    let (was, is) = (Prepared::new(was, &texts), Prepared::new(is, &texts));
    differences(&was, &is, &align(&was, &is))
}

fn told(items: &[Item]) -> Vec<(ItemKind, &str)> {
    items
        .iter()
        .map(|item| (item.kind, item.name.as_str()))
        .collect()
}

const SHOP: [&str; 8] = [
    "heading Cart",
    "list",
    " listitem Green tea 12.50 €",
    " listitem Black tea 9.00 €",
    "button Show done",
    "button Buy now",
    "link Help",
    "text Delivered on 2026-11-22",
];

#[test]
fn a_translation_changes_names_and_nothing_else() {
    let german = screen(&[
        "heading Warenkorb",
        "list",
        " listitem Grüner Tee 12,50 €",
        " listitem Schwarzer Tee 9,00 €",
        "button Erledigte zeigen",
        "button Jetzt kaufen",
        "link Help",
        "text Lieferung am 22.11.2026",
    ]);
    let items = between(&screen(&SHOP), &german);
    assert_eq!(
        told(&items),
        [
            (ItemKind::Name, "Cart"),
            (ItemKind::Name, "Green tea 12.50 €"),
            (ItemKind::Name, "Black tea 9.00 €"),
            (ItemKind::Name, "Show done"),
            (ItemKind::Name, "Buy now"),
            (ItemKind::Name, "Delivered on 2026-11-22"),
        ]
    );
}

#[test]
fn a_missing_button_is_told_in_another_language_too() {
    let german = screen(&[
        "heading Warenkorb",
        "list",
        " listitem Grüner Tee 12,50 €",
        " listitem Schwarzer Tee 9,00 €",
        "button Jetzt kaufen",
        "link Hilfe",
        "text Lieferung am 22.11.2026",
    ]);
    let items = between(&screen(&SHOP), &german);
    let news: Vec<&Item> = items
        .iter()
        .filter(|item| item.kind != ItemKind::Name)
        .collect();
    assert_eq!(news.len(), 1, "{items:?}");
    assert_eq!(
        (news[0].kind, news[0].role.as_str()),
        (ItemKind::Missing, "button")
    );
}

#[test]
fn dates_amounts_and_what_the_trail_remembers_do_not_differ() {
    let later = screen(&[
        "heading Cart",
        "list",
        " listitem Green tea 13.70 €",
        " listitem Black tea $9",
        "button Show done",
        "button Buy now",
        "link Help",
        "text Delivered on 2027-01-02",
    ]);
    assert_eq!(told(&between(&screen(&SHOP), &later)), []);
    let (was, is) = (
        screen(&["text Order A-17 of Ada"]),
        screen(&["text Order B-22 of Bob"]),
    );
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let texts = |order, user| Texts::new(&[("order", order), ("user", user)].map(owned));
    let (was, is) = (
        Prepared::new(&was, &texts("A-17", "Ada")),
        Prepared::new(&is, &texts("B-22", "Bob")),
    );
    assert_eq!(differences(&was, &is, &align(&was, &is)), []);
}

#[test]
fn an_insertion_a_move_and_a_wrapper_are_told_once_each() {
    let shop = screen(&SHOP);
    let with = |at: usize, line: &'static str| {
        let mut lines = SHOP.to_vec();
        lines.insert(at, line);
        lines
    };
    let added = screen(&with(4, "button Gift wrap"));
    let mut moved = SHOP.to_vec();
    moved[..5].rotate_right(1);
    let mut wrapped = with(4, "group Actions");
    (wrapped[5], wrapped[6]) = (" button Show done", " button Buy now");
    for (was, is, kind, name) in [
        (&shop, &added, ItemKind::Added, "Gift wrap"),
        (&added, &shop, ItemKind::Missing, "Gift wrap"),
        (&shop, &screen(&moved), ItemKind::Order, "Show done"),
        (&shop, &screen(&wrapped), ItemKind::Added, "Actions"),
    ] {
        assert_eq!(told(&between(was, is)), [(kind, name)]);
    }
}

#[test]
fn writing_from_right_to_left_moves_nothing() {
    let mut mirrored = screen(&SHOP);
    for node in &mut mirrored.nodes {
        node.bounds = node
            .bounds
            .map(|[left, top, right, bottom]| [390 - right, top, 390 - left, bottom]);
    }
    assert_eq!(told(&between(&screen(&SHOP), &mirrored)), []);
}

#[test]
fn states_values_view_and_raw_keys_are_told() {
    let was = screen(&["textbox Name", "button Buy", "heading Cart"]);
    let mut is = screen(&["textbox Name", "button Buy", "heading cart.title.empty"]);
    is.nodes[0].value = Some("Ada".to_owned());
    is.nodes[1].states = vec!["disabled".to_owned()];
    is.nodes[1].bounds = Some([0, 900, 100, 940]);
    assert_eq!(
        told(&between(&was, &is)),
        [
            (ItemKind::Value, "Name"),
            (ItemKind::State, "Buy"),
            (ItemKind::RawKey, "Cart"),
        ]
    );
    is.nodes[2].name = "Cart".to_owned();
    let items = between(&was, &is);
    assert_eq!(told(&items)[2], (ItemKind::OutOfView, "Buy"));
    for text in [
        "{0} items",
        "Hello {{user.name}}",
        "%1$s left",
        "cart.empty.title",
    ] {
        assert!(is_raw_key(text), "{text}");
    }
    for text in ["1.2.3", "Hello", "e.g. this", "www.example", "100 % sure"] {
        assert!(!is_raw_key(text), "{text}");
    }
}

#[test]
fn what_a_user_expects_is_matched_by_place_role_name_and_kind() {
    let item = Item {
        kind: ItemKind::Missing,
        role: "link".to_owned(),
        name: "Cookie settings".to_owned(),
        ..Item::default()
    };
    let german = BTreeMap::from([("locale".to_owned(), "de".to_owned())]);
    let mut expectation = Expectation {
        role: Some("link".to_owned()),
        name: regex::Regex::new("^Cookie").ok().map(NameMatch::Pattern),
        kind: Some(ItemKind::Missing),
        ..Expectation::default()
    };
    assert!(expectation.applies(&item, 3, &german));
    expectation.place.steps = vec![4];
    assert!(!expectation.applies(&item, 3, &german));
    expectation.place.steps = vec![3];
    let condition = "!=de".parse().expect("a condition");
    expectation
        .place
        .cells
        .insert("locale".to_owned(), condition);
    assert!(!expectation.applies(&item, 3, &german));
}

#[test]
fn a_thousand_nodes_are_aligned_whatever_changed() {
    let lines = |word: &str, shift: usize| -> Vec<String> {
        (0..1_000)
            .map(|line| {
                format!(
                    "{}text {word} {}",
                    " ".repeat(line % 4),
                    char::from(b'a' + ((line + shift) % 20) as u8)
                )
            })
            .collect()
    };
    let tree = |lines: &[String]| screen(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let was = tree(&lines("One", 0));
    for is in [
        tree(&lines("One", 0)),
        tree(&lines("Two", 0)),
        tree(&lines("One", 7)),
    ] {
        let texts = Texts::default();
        #[expect(clippy::disallowed_types, reason = "this crate has no tokio")]
        let started = std::time::Instant::now();
        let (one, two) = (Prepared::new(&was, &texts), Prepared::new(&is, &texts));
        let alignment = align(&one, &two);
        let paired = alignment.to.iter().flatten().count();
        assert!(paired > 900, "{paired}");
        // Far more than it takes, so that only another order of growth fails here.
        assert!(started.elapsed().as_secs() < 5);
    }
}

use std::collections::BTreeMap;
