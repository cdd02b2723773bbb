//! A reference names its element, whatever becomes of the page: never another one.

use packtrain_driver_playwright::Engine;
use packtrain_drivers::SnapshotRef;
use packtrain_testing::TestDevice as _;
use serde_json::Value;

use crate::browser::{Device, pool};
use crate::commands::{by_ref, click, unmet};
use crate::pages::Pages;
use crate::readers::{device, snapshot};

/// What comes of a reference that was taken before the page changed.
enum Then {
    /// Its element is clicked, which the page calls so.
    Clicked(&'static str),
    /// Nothing is clicked. The error says what it was, and the role, the name and the reference of what
    /// is there now. Clicked by that reference, the page calls it so.
    Now(&'static str, &'static str, &'static str),
    /// Nothing is clicked, and the error says all this.
    Refused(&'static [&'static str]),
}

use Then::{Clicked, Now, Refused};

/// A page, the role and name of an element on it, and what comes of its reference when the page changes.
const CASES: [(&str, &str, &str, Then); 12] = [
    ("reordered.html", "button", "Remove Milk", Clicked("Milk")),
    ("inserted.html", "button", "Remove Tea", Clicked("Tea")),
    ("detached.html", "button", "Pay", Clicked("pay")),
    // The same element, and it says something else.
    (
        "renamed.html",
        "button",
        "Cart, 0 items",
        Now("button", "Cart, 1 items", "cart"),
    ),
    (
        "same-keys.html",
        "button",
        "Remove Milk",
        Now("button", "Remove Salt", "Salt"),
    ),
    (
        "role-changed.html",
        "button",
        "More",
        Now("tab", "More", "more"),
    ),
    // Another element, and it says the same.
    (
        "replaced-by-same.html",
        "button",
        "Pay",
        Now("button", "Pay", "second"),
    ),
    (
        "new-keys.html",
        "button",
        "Remove Milk",
        Now("button", "Remove Milk", "Milk, rendering 2"),
    ),
    (
        "frame-loaded-again.html",
        "button",
        "Pay in the frame",
        Now("button", "Pay in the frame", "inside"),
    ),
    // Nothing there has to do with it.
    (
        "replaced-by-other.html",
        "button",
        "Save draft",
        Refused(&["button \"Save draft\"", "gone"]),
    ),
    (
        "hidden.html",
        "button",
        "Pay",
        Refused(&["button \"Pay\"", "hidden"]),
    ),
    ("left.html", "button", "Pay", Refused(&["snapshot"])),
];

/// The reference of what has that role and name.
async fn reference(device: &mut Device, role: &str, name: &str) -> String {
    let snapshot = snapshot(device).await;
    let is_named = |shown: &&SnapshotRef| shown.role == role && shown.label == name;
    let named: Vec<_> = snapshot.refs.iter().filter(is_named).collect();
    assert_eq!(named.len(), 1, "{role} {name}: {}", snapshot.text);
    named[0].name.clone()
}

/// What the page says was clicked, by a reference; or why nothing was.
async fn clicked(device: &mut Device, reference: &str) -> Result<Value, String> {
    device.script("clicked = null, 1").await;
    let clicking = device.execute(click(by_ref(reference))).await;
    let clicked = device.script("clicked").await;
    match clicking {
        Ok(_) => Ok(clicked),
        Err(error) if clicked.is_null() => Err(unmet(error).0),
        Err(error) => panic!("{clicked} is clicked, and yet {error}"),
    }
}

async fn change(device: &mut Device, pages: &Pages, page: &str) {
    if page == "left.html" {
        device.go(pages.url("parts/elsewhere.html")).await;
        device.go(pages.url(page)).await;
    } else {
        device.script("change()").await;
    }
}

async fn references_hold(engine: Engine) {
    let pages = Pages::serve("stale").await;
    let mut tried: Vec<_> = CASES.iter().map(|case| case.0).collect();
    tried.sort_unstable();
    assert_eq!(pages.names(), tried);
    let mut device = device(&pool(), engine).await;
    let mut wrong = Vec::new();
    for (page, role, name, then) in &CASES {
        device.go(pages.url(page)).await;
        let old = reference(&mut device, role, name).await;
        change(&mut device, &pages, page).await;
        let said = clicked(&mut device, &old).await;
        let is_right = match (then, &said) {
            (Clicked(right), Ok(clicked)) => clicked == right,
            (Now(is, called, right), Err(said)) => {
                let new = reference(&mut device, is, called).await;
                let parts = [
                    format!("{role} {name:?}"),
                    format!("{is} {called:?}"),
                    format!("[{new}]"),
                ];
                parts.iter().all(|part| said.contains(part))
                    && new != old
                    && clicked(&mut device, &new).await == Ok(Value::from(*right))
            }
            (Refused(parts), Err(said)) => parts.iter().all(|part| said.contains(part)),
            (Clicked(_), Err(_)) | (Now(..) | Refused(_), Ok(_)) => false,
        };
        if !is_right {
            wrong.push((page, said));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reference_leads_to_its_own_element_or_says_what_is_there_now() {
    references_hold(Engine::Chromium).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reference_leads_to_its_own_element_on_firefox_too() {
    references_hold(Engine::Firefox).await;
}
