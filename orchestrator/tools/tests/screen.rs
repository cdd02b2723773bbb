//! Waiting for the whole screen, and reading it.

use std::time::Duration;

use serde_json::json;

use packtrain_drivers::Platform;

use crate::lab::{Lab, on_both};
use crate::phone::{button, label};

on_both! {
    a_screen_at_rest_has_changed_enough
    a_screen_that_never_rests_fails_unless_that_is_allowed
    after_waiting_for_rest_a_tap_waits_no_more
    the_detailed_reading_has_bounds_and_what_is_out_of_sight
}

async fn a_screen_at_rest_has_changed_enough(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    lab.call("waitForChange", json!({})).await.unwrap();
    assert_eq!(lab.phone.looks(), 1);
    assert_eq!(lab.phone.did(), [], "it only looks");
}

async fn a_screen_that_never_rests_fails_unless_that_is_allowed(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    lab.phone.world().restless = true;
    let arguments = json!({"timeoutMs": 900, "quietWindowMs": 50});
    let (message, log, hint) = lab.failure("waitForChange", arguments).await;
    assert_eq!(message, "the screen was not still for 50 ms within 0.9 s");
    assert_eq!(log, [""; 0]);
    assert!(hint.unwrap().contains("requireChange"));
    let answer = lab
        .call(
            "waitForChange",
            json!({"timeoutMs": 500, "requireChange": false}),
        )
        .await
        .unwrap();
    let [note] = &answer.report.notes[..] else {
        panic!("{:?}", answer.report.notes);
    };
    assert!(
        note.starts_with("the screen was still changing after 0."),
        "{note}"
    );
}

async fn after_waiting_for_rest_a_tap_waits_no_more(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    lab.call("pressKey", json!({"keyCode": "ENTER"}))
        .await
        .unwrap();
    lab.call("waitForChange", json!({})).await.unwrap();
    lab.call("tapOnElementWithText", json!({"text": "Save"}))
        .await
        .unwrap();
    assert_eq!(lab.phone.waits(), [Duration::ZERO; 0]);
}

async fn the_detailed_reading_has_bounds_and_what_is_out_of_sight(platform: Platform) {
    let rows = vec![button("Save").line(200.0), button("Help").line(2200.0)];
    let lab = Lab::showing(platform, rows).await;
    let brief = lab
        .call("takeSnapshot", json!({"screenName": "x"}))
        .await
        .unwrap()
        .text
        .unwrap();
    assert!(brief.contains("Save") && !brief.contains("Help"), "{brief}");
    let full = lab
        .call("requestDetailedViewHierarchy", json!({}))
        .await
        .unwrap()
        .text
        .unwrap();
    assert!(
        full.contains("{0,200,1000,100}") && full.contains("Help"),
        "{full}"
    );
}
