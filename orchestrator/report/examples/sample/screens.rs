//! What the shop of the sample shows.

use packtrain_model::screen::{ScreenNode, ScreenTree};

use super::*;

/// A text in the language of the cell.
pub(super) fn said(text: &str, setting: &Setting) -> String {
    const WORDS: [(&str, &str, &str); 7] = [
        ("Tea shop", "Teeladen", "お茶の店"),
        ("Help", "Hilfe", "ヘルプ"),
        ("Cart", "Warenkorb", "カート"),
        ("Search products", "Produkte suchen", "商品を検索"),
        ("Add to cart", "In den Warenkorb", "カートに入れる"),
        ("Checkout", "Zur Kasse", "レジに進む"),
        ("Total", "Summe", "合計"),
    ];
    let found = WORDS.into_iter().find(|(english, ..)| *english == text);
    match (found, setting.locale) {
        (Some((_, german, _)), "de-DE") => german.to_owned(),
        (Some((.., japanese)), "ja-JP") => japanese.to_owned(),
        _ => text.to_owned(),
    }
}

pub(super) fn tree(shown: Shown, round: usize, setting: &Setting) -> ScreenTree {
    let (w, h) = (setting.width, setting.height);
    let mut nodes = Vec::new();
    let mut add = |depth, role: &str, name: &str, bounds: [i32; 4]| {
        nodes.push(ScreenNode {
            depth,
            role: role.to_owned(),
            name: name.to_owned(),
            bounds: Some(bounds),
            ..ScreenNode::default()
        });
    };
    let say = |text: &str| said(text, setting);
    add(0, "banner", "", [0, 0, w, 56]);
    add(1, "heading", &say("Tea shop"), [12, 14, w / 2, 46]);
    if !setting.lacks_help() || shown != Shown::List {
        add(1, "link", &say("Help"), [w - 200, 16, w - 130, 44]);
    }
    add(1, "link", &say("Cart"), [w - 120, 16, w - 10, 44]);
    add(0, "main", "", [0, 56, w, h]);
    match shown {
        Shown::Home | Shown::List => {
            add(1, "textbox", &say("Search products"), [16, 76, w - 16, 116]);
            let names = [
                "Green tea",
                "Black tea",
                "Rooibos",
                "Mate",
                "Jasmine",
                "Assam",
            ];
            let skip = usize::from(shown == Shown::List) + round;
            for (row, name) in names.iter().cycle().skip(skip).take(5).enumerate() {
                let top = 136 + row as i32 * 92;
                add(1, "listitem", "", [16, top, w - 16, top + 84]);
                add(2, "image", name, [16, top, 92, top + 76]);
                add(2, "link", name, [108, top + 8, w - 20, top + 36]);
                let price = format!("{}.50 €", 4 + row);
                add(2, "text", &price, [108, top + 40, w - 20, top + 64]);
            }
        }
        Shown::Product => {
            add(1, "image", "Green tea", [16, 76, w - 16, h / 2]);
            add(
                1,
                "heading",
                "Green tea",
                [16, h / 2 + 12, w - 16, h / 2 + 48],
            );
            let about = format!("First flush, {}0 g, hand picked", round + 1);
            add(1, "text", &about, [16, h / 2 + 56, w - 16, h / 2 + 84]);
            add(
                1,
                "button",
                &say("Add to cart"),
                [16, h - 80, w - 16, h - 28],
            );
        }
        Shown::Cart => {
            add(1, "heading", &say("Cart"), [16, 76, w - 16, 112]);
            let count = format!("{} × Green tea", round + 1);
            add(1, "text", &count, [16, 128, w - 16, 156]);
            add(1, "text", &say("Total"), [16, 176, w / 2, 204]);
            add(1, "text", "12.50 €", [w / 2, 176, w - 16, 204]);
            if !setting.is_narrow_german() {
                add(1, "button", &say("Checkout"), [16, h - 80, w - 16, h - 28]);
            }
        }
    }
    ScreenTree {
        width: f64::from(w),
        height: f64::from(h),
        title: Some(say("Tea shop")),
        location: Some("http://localhost:8080/".to_owned()),
        nodes,
        ..ScreenTree::default()
    }
}
