//! What happens when the browser dies or nobody waits any more.

use packtrain_driver_playwright::{Isolation, WebSlot};
use packtrain_drivers::{Command, DriverError, WebCommand};

use crate::browser::run;
use crate::commands::{by_ref, click, expect_text, open};

#[test]
fn a_killed_browser_is_a_lost_device_within_the_command() {
    run(async {
        let slot = WebSlot {
            isolation: Isolation::Process,
            args: vec!["--user-agent=packtrain-kill-me".into()],
            ..WebSlot::default()
        };
        let (_site, mut device) = open(slot).await;
        let never = Command::Web(WebCommand::Evaluate("new Promise(() => {})".into()));
        let kill = async {
            let found = std::process::Command::new("pkill")
                .args(["-KILL", "-f", "packtrain-kill-me"])
                .status()
                .unwrap();
            assert!(found.success());
        };
        let (lost, ()) = tokio::join!(device.execute(never), kill);
        let error = lost.unwrap_err();
        assert!(
            matches!(&error, DriverError::Lost { cause, hint: Some(_) } if cause.contains("browser")),
            "{error:?}"
        );
        device.close().await;
    });
}

#[test]
fn a_cancelled_command_stops_acting_on_the_page() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let error = device
            .cancelled(click(by_ref("button \"Not there\"")))
            .await;
        assert_eq!(error, DriverError::Cancelled);
        // The context is gone with it: nothing can act on any more.
        assert!(matches!(
            device.err(expect_text("Shop")).await,
            DriverError::Invalid(_)
        ));
        device.close().await;
    });
}
