//! Verifications: what passes, what fails, and what a failure says.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{Command, WebCommand};

use crate::browser::run;
use crate::commands::{by_ref, click, expect_text, open, unmet};

#[test]
fn a_missing_text_fails_with_what_the_page_has_instead() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let (what, log) = unmet(device.err(expect_text("Current value: 7")).await);
        assert_eq!(what, "the text \"Current value: 7\" is not on the page");
        assert!(
            log.iter().any(|line| line.contains("Current value: 0")),
            "{log:?}"
        );
        let (what, _) = unmet(device.err(expect_text("Secret text")).await);
        assert!(what.ends_with("is there, but hidden"), "{what}");
        device.close().await;
    });
}

#[test]
fn requests_are_remembered_with_their_bodies() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let expect = |name: &str, ms| {
            Command::Web(WebCommand::ExpectRequest {
                name: name.into(),
                limit: std::time::Duration::from_millis(ms),
            })
        };
        device.err(expect("checkout-started", 0)).await;
        device.ok(click(by_ref("button \"Track\""))).await;
        device.ok(expect("checkout-started", 9000)).await;
        device.close().await;
    });
}
