//! References: the numbers and descriptors that a snapshot prints.

use packtrain_drivers::{Command, Observation, SnapshotDetail, TextMatch, ValueKind, WebCommand};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_ref, expect_list, expect_value, expect_value_as, expect_visible};
use crate::stories::stories;

stories! {
    chromium:
    every_number_of_a_snapshot_leads_to_its_element_in_every_tool
    what_a_snapshot_prints_of_an_element_names_it;
}

async fn every_number_of_a_snapshot_leads_to_its_element_in_every_tool(device: &mut Device) {
    device.visit("everything").await;
    let detail = SnapshotDetail::default();
    let Observation::Snapshot(snapshot) = device.ok(Command::Snapshot(detail)).await else {
        panic!("not a snapshot");
    };
    assert_eq!(snapshot.refs.len(), 19, "{}", snapshot.text);
    for n in 1..=19 {
        let target = by_ref(&format!("e{n}"));
        device.script("over = null").await;
        let hover = WebCommand::Hover {
            target: target.clone(),
        };
        device.ok(Command::Web(hover)).await;
        assert_eq!(device.script("over").await, n.to_string());
        device.ok(expect_visible(target)).await;
    }
    for (n, text) in [
        (2, "A bold paragraph"),
        (4, "Item"),
        (10, "typed"),
        (17, "Meaning"),
    ] {
        let target = by_ref(&format!("e{n}"));
        device.ok(expect_value(target, ValueKind::Text, text)).await;
    }
    let quote = expect_list(by_ref("e18"), &["Quote: 'it'"]);
    device.ok(quote).await;
    let typing = WebCommand::Type {
        target: by_ref("e9"),
        text: "new".into(),
        clear_first: true,
    };
    device.ok(Command::Web(typing)).await;
    let ninth = "document.querySelector('[data-n=\"9\"]').value";
    assert_eq!(device.script(ninth).await, "new");
}

async fn what_a_snapshot_prints_of_an_element_names_it(device: &mut Device) {
    device.visit("everything").await;
    for (printed, text) in [
        ("listitem \"Item\"", "Item"),
        ("listitem \"Named\"", "Item"),
        ("status \"Saved\"", "Saved"),
        ("time \"/noon/\"", "/noon/"),
        ("definition \"Meaning\"", "Meaning"),
        (
            "blockquote \"Quote: 'it' is \"said\"\"",
            "Quote: 'it' is \"said\"",
        ),
    ] {
        let target = by_ref(printed);
        let whole = expect_value_as(target, ValueKind::Text, text, TextMatch::Exact);
        device.ok(whole).await;
    }
}
