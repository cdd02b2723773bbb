//! Tools for agents: references of the newest snapshot, recorded as something durable.

use packtrain_drivers::{Command, InputCommand, Platform, Point};
use packtrain_tools::DelegatedCall;
use serde_json::json;

use crate::lab::{Lab, on_both};
use crate::phone::{button, field, label};

on_both! {
    a_tap_by_reference_is_recorded_as_a_tap_by_selector_that_does_the_same
    one_of_several_equal_elements_is_told_apart_in_the_recording
    the_reference_is_resolved_on_the_snapshot_that_is_acted_on
    a_long_press_is_recorded_as_one
    an_expectation_is_recorded_with_its_text
    a_drag_is_recorded_by_points
    what_is_typed_into_a_field_does_not_change_its_reference
    a_reference_that_is_gone_says_what_it_was
    a_reference_is_looked_up_again_once_the_screen_rests
}

/// The reference of the element with this label in a snapshot taken now.
async fn reference(lab: &Lab, label: &str) -> String {
    let list = lab
        .call("takeSnapshot", json!({"screenName": "now"}))
        .await
        .unwrap()
        .text
        .unwrap();
    let line = list.lines().find(|line| line.contains(label)).unwrap();
    line.trim_start()
        .trim_start_matches('[')
        .split(']')
        .next()
        .unwrap()
        .to_owned()
}

/// Carries out what was delegated, as a replay of the recording would.
async fn replay(lab: &Lab, delegate: &DelegatedCall) {
    let arguments = delegate.arguments.to_json();
    lab.call(&delegate.tool, arguments).await.unwrap();
}

async fn a_tap_by_reference_is_recorded_as_a_tap_by_selector_that_does_the_same(
    platform: Platform,
) {
    let rows = vec![
        button("Add").line(200.0),
        button("Add").line(400.0),
        button("Pay").line(600.0),
    ];
    let lab = Lab::showing(platform, rows).await;
    let pay = reference(&lab, "Pay").await;
    let arguments = json!({"ref": pay, "reasoning": "to pay"});
    let answer = lab.call("tap", arguments).await.unwrap();
    let delegate = answer.delegate.unwrap();
    assert_eq!(delegate.tool, "tapOnElementBySelector");
    assert_eq!(delegate.arguments.to_json()["reason"], "to pay");
    assert_eq!(answer.report.located.unwrap().matched, 1);
    replay(&lab, &delegate).await;
    assert_eq!(lab.taps(), [Point::new(500.0, 650.0); 2]);
}

async fn one_of_several_equal_elements_is_told_apart_in_the_recording(platform: Platform) {
    let rows = vec![button("Add").line(200.0), button("Add").line(400.0)];
    let lab = Lab::showing(platform, rows).await;
    let list = lab
        .call("takeSnapshot", json!({"screenName": "x"}))
        .await
        .unwrap()
        .text
        .unwrap();
    let second = list
        .lines()
        .filter(|line| line.contains("Add"))
        .nth(1)
        .unwrap();
    let second = format!("{}]", second.trim().split(']').next().unwrap());
    let answer = lab.call("tap", json!({"ref": second})).await.unwrap();
    replay(&lab, &answer.delegate.unwrap()).await;
    assert_eq!(lab.taps(), [Point::new(500.0, 450.0); 2]);
}

async fn the_reference_is_resolved_on_the_snapshot_that_is_acted_on(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Pay").line(600.0)]).await;
    let pay = reference(&lab, "Pay").await;
    lab.call("tap", json!({"ref": pay})).await.unwrap();
    assert_eq!(lab.phone.looks(), 2, "one for the reader, one for the tap");
}

async fn a_long_press_is_recorded_as_one(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Photo").line(600.0)]).await;
    let photo = reference(&lab, "Photo").await;
    for (tool, arguments) in [
        ("longPress", json!({"ref": photo})),
        ("tap", json!({"ref": photo, "longPress": true})),
    ] {
        let delegate = lab.call(tool, arguments).await.unwrap().delegate.unwrap();
        assert_eq!(delegate.tool, "tapOnElementBySelector");
        assert_eq!(delegate.arguments.to_json()["longPress"], true);
    }
    assert!(
        lab.phone
            .did()
            .iter()
            .all(|command| command.name() == "long press")
    );
}

async fn an_expectation_is_recorded_with_its_text(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Total: 7").line(600.0)]).await;
    let total = reference(&lab, "Total").await;
    let arguments = json!({"ref": total, "expectedText": "Total: 7"});
    let delegate = lab
        .call("assertVisible", arguments)
        .await
        .unwrap()
        .delegate
        .unwrap();
    assert_eq!(delegate.tool, "assertVisibleBySelector");
    assert_eq!(delegate.arguments.to_json()["expectedText"], "Total: 7");
    replay(&lab, &delegate).await;
    let wrong = json!({"ref": total, "expectedText": "Total: 8"});
    let (message, ..) = lab.failure("assertVisible", wrong).await;
    assert!(message.contains("Total: 7"), "{message}");
}

async fn a_drag_is_recorded_by_points(platform: Platform) {
    let rows = vec![label("Milk").line(200.0), label("Bread").line(800.0)];
    let lab = Lab::showing(platform, rows).await;
    let (milk, bread) = (
        reference(&lab, "Milk").await,
        reference(&lab, "Bread").await,
    );
    let onto = lab
        .call("dragTo", json!({"ref": milk, "toRef": bread}))
        .await
        .unwrap();
    let wanted =
        json!({"startX": 500, "startY": 250, "endX": 500, "endY": 850, "durationMs": 1000});
    let delegate = onto.delegate.unwrap();
    assert_eq!(
        (delegate.tool.as_str(), delegate.arguments.to_json()),
        ("dragByPoints", wanted)
    );
    lab.call("dragTo", json!({"ref": milk, "toX": 5, "toY": 6}))
        .await
        .unwrap();
    let ends: Vec<_> = lab
        .phone
        .did()
        .into_iter()
        .map(|command| match command {
            Command::Input(InputCommand::Drag { to, .. }) => to,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ends, [Point::new(500.0, 850.0), Point::new(5.0, 6.0)]);
    for wrong in [
        json!({"ref": milk}),
        json!({"ref": milk, "toX": 5}),
        json!({"ref": milk, "toRef": bread, "toX": 5, "toY": 6}),
    ] {
        let (message, ..) = lab.failure("dragTo", wrong).await;
        assert!(message.contains("toRef"), "{message}");
    }
}

async fn what_is_typed_into_a_field_does_not_change_its_reference(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").id("name").line(600.0)]).await;
    let name = reference(&lab, "Name").await;
    lab.phone
        .world()
        .show(vec![field("Name", "Ada").id("name").line(600.0)]);
    lab.call("tap", json!({"ref": name})).await.unwrap();
    assert_eq!(lab.taps().len(), 1);
}

async fn a_reference_that_is_gone_says_what_it_was(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Pay").line(600.0)]).await;
    let pay = reference(&lab, "Pay").await;
    lab.phone.world().show(vec![label("Thanks").line(600.0)]);
    let (message, log, hint) = lab.failure("tap", json!({"ref": pay})).await;
    assert!(message.ends_with("is no longer on the screen"), "{message}");
    assert!(log[0].ends_with("Button \"Pay\""), "{log:?}");
    assert!(hint.unwrap().contains("snapshot"));
    let (message, ..) = lab.failure("assertVisible", json!({"ref": "q999"})).await;
    assert_eq!(message, "unknown element \"q999\": not on the screen");
    assert_eq!(lab.taps(), []);
}

async fn a_reference_is_looked_up_again_once_the_screen_rests(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Pay").line(600.0)]).await;
    let pay = reference(&lab, "Pay").await;
    // On its way: 90 lower than where it was and will be.
    lab.phone.world().show(vec![button("Pay").line(690.0)]);
    lab.phone.world().on_settle = Some(Box::new(|world| {
        world.show(vec![button("Pay").line(600.0)])
    }));
    lab.call("pressKey", json!({"keyCode": "ENTER"}))
        .await
        .unwrap();
    lab.call("tap", json!({"ref": pay})).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 650.0)]);
}
