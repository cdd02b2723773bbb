//! Taps at points, swipes, pinches and drags.

use std::time::Duration;

use packtrain_drivers::{Command, InputCommand, Platform, Point};
use serde_json::json;

use crate::lab::{Lab, on_both};
use crate::phone::{button, label};

on_both! {
    a_point_is_tapped_without_another_look_once_the_screen_is_known
    a_point_outside_the_screen_is_refused_be_its_size_known_or_not
    a_swipe_moves_the_finger_the_way_it_is_told
    a_swipe_on_an_element_starts_in_its_middle
    a_swipe_between_relative_places_takes_as_long_as_it_says
    a_drag_holds_before_it_moves
    a_pinch_moves_two_fingers_about_the_middle_of_the_screen
    a_pinch_that_zooms_nothing_or_too_much_is_refused_before_anything_is_touched
}

fn swiped(from: (f64, f64), to: (f64, f64), ms: u64) -> Command {
    Command::Input(InputCommand::Swipe {
        from: Point::new(from.0, from.1),
        to: Point::new(to.0, to.1),
        duration: Duration::from_millis(ms),
    })
}

async fn a_point_is_tapped_without_another_look_once_the_screen_is_known(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    lab.call("takeSnapshot", json!({"screenName": "start"}))
        .await
        .unwrap();
    let answer = lab
        .call(
            "tapOnPoint",
            json!({"x": 188, "y": 997, "reasoning": "the nested button"}),
        )
        .await
        .unwrap();
    assert_eq!(lab.taps(), [Point::new(188.0, 997.0)]);
    assert_eq!(lab.phone.looks(), 1);
    assert_eq!(answer.report.located, None);
}

async fn a_point_outside_the_screen_is_refused_be_its_size_known_or_not(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    for _ in 0..2 {
        let (message, ..) = lab.failure("tapOnPoint", json!({"x": 10, "y": 2400})).await;
        assert_eq!(
            message,
            "10,2400 lies outside the screen, which is 1000 by 2000"
        );
    }
    assert_eq!(lab.taps(), []);
}

async fn a_swipe_moves_the_finger_the_way_it_is_told(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    lab.call("swipe", json!({"direction": "up"})).await.unwrap();
    lab.call("swipe", json!({})).await.unwrap();
    lab.call("swipe", json!({"direction": "LEFT"}))
        .await
        .unwrap();
    let wanted = [
        swiped((500.0, 1000.0), (500.0, 200.0), 400),
        swiped((500.0, 1000.0), (500.0, 1800.0), 400),
        swiped((900.0, 1000.0), (100.0, 1000.0), 400),
    ];
    assert_eq!(lab.phone.did(), wanted);
    assert_eq!(lab.phone.looks(), 1, "the screen's size is asked for once");
}

async fn a_swipe_on_an_element_starts_in_its_middle(platform: Platform) {
    let lab = Lab::showing(
        platform,
        vec![label("Story 3").at(200.0, 600.0, 400.0, 800.0)],
    )
    .await;
    let arguments = json!({"direction": "LEFT", "swipeOnElementText": "story \\d"});
    let answer = lab.call("swipe", arguments).await.unwrap();
    assert_eq!(
        lab.phone.did(),
        [swiped((300.0, 700.0), (100.0, 700.0), 400)]
    );
    assert_eq!(answer.report.located.unwrap().by, "text \"story \\\\d\"");
}

async fn a_swipe_between_relative_places_takes_as_long_as_it_says(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    let arguments =
        json!({"startRelative": "50%,80%", "endRelative": "50, 12.5", "durationMs": 90});
    lab.call("swipeWithRelativeCoordinates", arguments)
        .await
        .unwrap();
    assert_eq!(
        lab.phone.did(),
        [swiped((500.0, 1600.0), (500.0, 250.0), 90)]
    );
}

async fn a_drag_holds_before_it_moves(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    let arguments = json!({"startX": 10, "startY": 20, "endX": 30, "endY": 400});
    lab.call("dragByPoints", arguments.clone()).await.unwrap();
    let wanted = Command::Input(InputCommand::Drag {
        from: Point::new(10.0, 20.0),
        to: Point::new(30.0, 400.0),
        duration: Duration::from_secs(1),
    });
    assert_eq!(lab.phone.did(), [wanted]);
    for (ms, complaint) in [(0, "more than 0"), (u64::MAX, "exceeds")] {
        let mut arguments = arguments.clone();
        arguments["durationMs"] = json!(ms);
        let (message, ..) = lab.failure("dragByPoints", arguments).await;
        assert!(message.contains(complaint), "{message}");
    }
}

async fn a_pinch_moves_two_fingers_about_the_middle_of_the_screen(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    let arguments = json!({"scale": 4, "durationMs": 250, "reasoning": "to see the street"});
    lab.call("pinch", arguments).await.unwrap();
    lab.call("pinch", json!({"scale": 0.5})).await.unwrap();
    let fingers = |reach: f64| {
        [
            Point::new(500.0 - reach, 1000.0 + reach),
            Point::new(500.0 + reach, 1000.0 - reach),
        ]
    };
    let wanted = [(100.0, 400.0, 250), (400.0, 200.0, 400)].map(|(from, to, ms)| {
        Command::Input(InputCommand::Pinch {
            from: fingers(from),
            to: fingers(to),
            duration: Duration::from_millis(ms),
        })
    });
    assert_eq!(lab.phone.did(), wanted);
}

async fn a_pinch_that_zooms_nothing_or_too_much_is_refused_before_anything_is_touched(
    platform: Platform,
) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    for scale in ["0", "-2", "1", "1.001", "0.09", "11"] {
        let scale: serde_json::Value = scale.parse().unwrap();
        let (message, ..) = lab.failure("pinch", json!({"scale": scale})).await;
        assert_eq!(
            message,
            format!("invalid `scale` {scale}: expected 0.1 to 10, and not 1")
        );
    }
    let arguments = json!({"scale": 2, "durationMs": 0});
    let (message, ..) = lab.failure("pinch", arguments).await;
    assert!(message.contains("more than 0"), "{message}");
    assert_eq!(lab.phone.did(), []);
}
