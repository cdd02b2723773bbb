//! How long selectors take on a screen of 10,000 elements: `cargo bench -p packtrain-drivers`.
//!
//! Prints the median and the slowest of many rounds in milliseconds. Ordinary selectors are
//! meant to stay below 5 ms.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use packtrain_drivers::selector::{CompiledSelector, explain, list_refs, resolve, selector_for};
use packtrain_drivers::tree::AndroidNode;
use packtrain_drivers::{NodeDetail, NodeId, Rect, Size, SnapshotDetail, Tree, TreeBuilder};
use serde_json::json;
use tokio::time::Instant;

const ROWS: u32 = 1_999;
const ROUNDS: usize = 101;

fn main() -> std::io::Result<()> {
    let tree = screen();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} elements, {ROUNDS} rounds", tree.len())?;
    for (name, selector) in selectors() {
        let selector = serde_json::from_value(selector).expect("the selectors below are valid");
        let selector = CompiledSelector::new(&selector).expect("the selectors below are valid");
        let count = resolve(&tree, &selector).matches.len();
        let times = measure(|| {
            black_box(resolve(&tree, &selector));
        });
        report(&mut out, &format!("resolve {name} ({count} found)"), &times)?;
    }
    let missing = json!({ "androidAccessibility": { "textRegex": "Itm 77", "isEnabled": true } });
    let missing = serde_json::from_value(missing).expect("the selector is valid");
    let missing = CompiledSelector::new(&missing).expect("the selector is valid");
    let times = measure(|| {
        black_box(explain(&tree, &missing));
    });
    report(&mut out, "explain a miss", &times)?;
    let times = measure(|| {
        black_box(list_refs(
            &tree,
            Size {
                width: 1080.0,
                height: 2400.0,
            },
            SnapshotDetail::default(),
        ));
    });
    report(&mut out, "list references", &times)?;
    for (name, place) in [
        ("a title", 5_003),
        ("a row", 5_001),
        ("the last button", 9_995),
    ] {
        let times = measure(|| {
            black_box(selector_for(&tree, NodeId(place)));
        });
        report(&mut out, &format!("write a selector for {name}"), &times)?;
    }
    Ok(())
}

fn selectors() -> Vec<(&'static str, serde_json::Value)> {
    let text = |text: &str| json!({ "androidAccessibility": { "textRegex": text } });
    let row = json!({ "androidAccessibility": { "resourceIdRegex": "com.example:id/row" } });
    let class = |name: &str| json!({ "androidAccessibility": { "classNameRegex": name } });
    let with = |mut selector: serde_json::Value, key: &str, value: serde_json::Value| {
        selector[key] = value;
        selector
    };
    vec![
        ("plain text", text("Item 1500")),
        ("text pattern", text(r"Item \d*77")),
        ("pattern with .*", text(".*1500.*")),
        (
            "pattern ignoring case",
            json!({ "androidMaestro": { "textRegex": "item (15|16)00" } }),
        ),
        ("look-ahead", text("^(?!Item|Add).*$")),
        ("below", with(text("Add"), "below", text("Item 1500"))),
        (
            "below and rightOf",
            with(
                with(text("Add"), "below", text("Item 10")),
                "rightOf",
                text("Item 12"),
            ),
        ),
        ("childOf", with(text("Add"), "childOf", row.clone())),
        (
            "containsChild",
            with(row.clone(), "containsChild", text("Item 1500")),
        ),
        (
            "containsDescendants",
            with(
                class(".*Layout"),
                "containsDescendants",
                json!([text("Item 1500"), text("Add")]),
            ),
        ),
        ("everything", json!({})),
        (
            "all at once",
            json!({
                "androidAccessibility": { "classNameRegex": ".*Button", "isClickable": true },
                "below": text("Item 1000"),
                "childOf": with(row, "containsDescendants", json!([text("Item 1[0-9]+")])),
                "index": 3
            }),
        ),
    ]
}

/// A list of rows, each with a picture, a title, a price and a button.
fn screen() -> Tree {
    let mut builder = TreeBuilder::new();
    open(&mut builder, "FrameLayout", 0.0, |_| {});
    for row in 0..ROWS {
        let top = f64::from(row) * 100.0;
        open(&mut builder, "LinearLayout", top, |node| {
            node.resource_id = Some("com.example:id/row".into());
        });
        for (class, text) in [
            ("ImageView", String::new()),
            ("TextView", format!("Item {row}")),
            ("TextView", format!("${row}.00")),
            ("Button", "Add".into()),
        ] {
            open(&mut builder, class, top, |node| {
                node.is_clickable = class == "Button";
                node.text = (!text.is_empty()).then_some(text);
            });
            builder.close();
        }
        builder.close();
    }
    builder.finish()
}

fn open(builder: &mut TreeBuilder, class: &str, top: f64, change: impl FnOnce(&mut AndroidNode)) {
    let mut node = AndroidNode {
        class_name: Some(format!("android.widget.{class}")),
        package: Some("com.example".into()),
        is_enabled: true,
        is_visible: true,
        ..AndroidNode::default()
    };
    change(&mut node);
    let bounds = Rect::new(0.0, top, 1080.0, top + 100.0);
    builder.open(Some(bounds), NodeDetail::Android(Box::new(node)));
}

fn measure(mut run: impl FnMut()) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn report(out: &mut impl Write, name: &str, times: &[Duration]) -> std::io::Result<()> {
    let ms = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let (median, slowest) = (ms(times.get(times.len() / 2)), ms(times.last()));
    writeln!(
        out,
        "{name:<50} {median:>8.3} ms   slowest {slowest:>8.3} ms"
    )
}
