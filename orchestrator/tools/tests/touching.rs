//! Taps and long presses by selector and by text.

use std::time::Duration;

use packtrain_drivers::{Command, InputCommand, Platform, Point, Rect};
use serde_json::json;

use crate::lab::{Lab, on_android, on_both, on_ios};
use crate::phone::{Element, button, element, field, label};

on_both! {
    an_element_is_tapped_in_its_middle_and_the_answer_says_how_it_was_found
    a_screen_at_rest_is_looked_at_once
    after_an_action_one_wait_for_stillness_is_enough_when_nothing_moves
    an_element_that_slides_is_tapped_where_it_comes_to_rest
    something_else_that_moves_does_not_hold_up_a_tap
    an_element_that_is_not_there_yet_is_waited_for
    an_element_that_never_comes_fails_the_step_and_the_log_says_what_came_near
    the_first_of_several_is_tapped_and_the_report_counts_them
    what_lies_out_of_sight_is_not_tapped
    of_a_half_hidden_element_the_part_in_sight_is_tapped
    a_container_called_invisible_counts_when_its_contents_are_in_sight
    a_long_press_is_held_for_a_second
    a_selector_for_another_platform_is_refused_and_not_just_unmatched
    a_selector_that_says_nothing_is_refused
    tap_on_reaches_a_place_inside_an_element
    a_tap_by_text_takes_any_part_of_it_in_any_case_and_no_pattern
    text_is_looked_for_in_what_an_element_holds_in_its_hint_and_in_its_name
    index_id_and_state_tell_equal_texts_apart
    of_elements_in_each_other_the_innermost_is_touched
    long_presses_by_text_are_long
    an_empty_text_is_refused_because_it_would_match_anything
    an_element_without_bounds_is_not_tapped_at_the_corner
    the_older_selector_of_recorded_trails_names_an_element_where_there_is_no_newer_one
}

on_android! {
    an_accessibility_node_is_tapped_by_its_description
}

on_ios! {
    the_apps_own_name_is_no_text_on_the_screen
    the_keyboard_is_put_away_when_it_lies_over_the_element
    a_key_of_the_keyboard_can_be_tapped
    a_keyboard_that_stays_fails_the_tap_instead_of_being_typed_on
}

async fn an_element_is_tapped_in_its_middle_and_the_answer_says_how_it_was_found(
    platform: Platform,
) {
    let lab = Lab::showing(
        platform,
        vec![button("Save").at(100.0, 200.0, 300.0, 260.0)],
    )
    .await;
    let selector = lab.by_text("Save");
    let answer = lab
        .call("tapOnElementBySelector", json!({"nodeSelector": selector}))
        .await
        .unwrap();
    assert_eq!(lab.taps(), [Point::new(200.0, 230.0)]);
    let located = answer.report.located.unwrap();
    assert_eq!(located.by, "textRegex \"Save\"");
    assert_eq!(located.matched, 1);
}

async fn a_screen_at_rest_is_looked_at_once(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let selector = lab.by_text("Save");
    lab.call("tapOnElementBySelector", json!({"nodeSelector": selector}))
        .await
        .unwrap();
    assert_eq!((lab.phone.looks(), lab.phone.waits().len()), (1, 0));
}

async fn after_an_action_one_wait_for_stillness_is_enough_when_nothing_moves(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    lab.call("pressKey", json!({"keyCode": "enter"}))
        .await
        .unwrap();
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.phone.looks(), 1);
    assert_eq!(lab.phone.waits(), [Duration::from_millis(100)]);
}

async fn an_element_that_slides_is_tapped_where_it_comes_to_rest(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(1500.0)]).await;
    for top in [1200.0, 900.0] {
        lab.phone.world().coming.push_back(Box::new(move |world| {
            world.show(vec![button("Save").line(top)]);
        }));
    }
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    lab.call("pressKey", json!({"keyCode": "ENTER"}))
        .await
        .unwrap();
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 950.0)]);
}

async fn something_else_that_moves_does_not_hold_up_a_tap(platform: Platform) {
    let save = || button("Save").line(200.0);
    let lab = Lab::showing(platform, vec![save(), label("12 %").line(600.0)]).await;
    for percent in 13..40 {
        let percent = label(&format!("{percent} %")).line(600.0);
        let elements = vec![save(), percent];
        lab.phone
            .world()
            .coming
            .push_back(Box::new(move |world| world.show(elements)));
    }
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    lab.call("pressKey", json!({"keyCode": "ENTER"}))
        .await
        .unwrap();
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!((lab.taps().len(), lab.phone.looks()), (1, 2));
}

async fn an_element_that_is_not_there_yet_is_waited_for(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Loading").line(200.0)]).await;
    lab.phone.world().coming.push_back(Box::new(|world| {
        world.show(vec![button("Save").line(400.0)]);
    }));
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 450.0)]);
    let first = lab.phone.waits()[0];
    assert!(first > Duration::from_secs(4), "{first:?}");
    assert!(first <= Duration::from_secs(5), "{first:?}");
}

async fn an_element_that_never_comes_fails_the_step_and_the_log_says_what_came_near(
    platform: Platform,
) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let arguments = json!({"nodeSelector": lab.by_text("Sav")});
    let (message, log, _) = lab.failure("tapOnElementBySelector", arguments).await;
    assert_eq!(message, "textRegex \"Sav\" was not visible within 5.0 s");
    assert!(log.iter().any(|line| line.contains("Save")), "{log:?}");
    assert_eq!(lab.phone.did(), []);
}

async fn the_first_of_several_is_tapped_and_the_report_counts_them(platform: Platform) {
    let rows = vec![button("Add").line(800.0), button("Add").line(300.0)];
    let lab = Lab::showing(platform, rows).await;
    let arguments = json!({"nodeSelector": lab.by_text("Add")});
    let answer = lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 350.0)]);
    assert_eq!(answer.report.located.unwrap().matched, 2);
}

async fn what_lies_out_of_sight_is_not_tapped(platform: Platform) {
    let mut hidden = button("Save").line(300.0);
    hidden.invisible = true;
    let rows = vec![hidden, button("Save").line(2500.0)];
    let lab = Lab::showing(platform, rows).await;
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    let (_, log, _) = lab.failure("tapOnElementBySelector", arguments).await;
    assert!(log.iter().any(|line| line.contains("invisible")), "{log:?}");
    assert!(
        log.iter().any(|line| line.contains("out of sight")),
        "{log:?}"
    );
    assert_eq!(lab.phone.did(), []);
}

async fn of_a_half_hidden_element_the_part_in_sight_is_tapped(platform: Platform) {
    let lab = Lab::showing(
        platform,
        vec![button("Save").at(0.0, 1900.0, 1000.0, 2300.0)],
    )
    .await;
    let arguments = json!({"nodeSelector": lab.by_text("Save")});
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 1950.0)]);
}

async fn a_container_called_invisible_counts_when_its_contents_are_in_sight(platform: Platform) {
    let mut row = element("Cell", "")
        .line(300.0)
        .with(vec![label("Milk").line(300.0)]);
    row.invisible = true;
    let lab = Lab::showing(platform, vec![row]).await;
    let inner = lab.by_text("Milk");
    let arguments = json!({"nodeSelector": {"containsChild": inner}});
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 350.0)]);
}

async fn a_long_press_is_held_for_a_second(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let arguments = json!({"nodeSelector": lab.by_text("Save"), "longPress": true});
    lab.call("tapOnElementBySelector", arguments).await.unwrap();
    let held = Command::Input(InputCommand::LongPress {
        at: Point::new(500.0, 250.0),
        hold: Duration::from_secs(1),
    });
    assert_eq!(lab.phone.did(), [held]);
}

async fn a_selector_for_another_platform_is_refused_and_not_just_unmatched(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let (foreign, device) = match platform {
        Platform::Android => ("iosAxe", "an Android device"),
        _ => ("androidMaestro", "an iOS device"),
    };
    let nested = json!({foreign: {}});
    let mut selector = lab.by_text("Save");
    selector["below"] = nested;
    for tool in ["tapOnElementBySelector", "assertNotVisibleBySelector"] {
        let (message, ..) = lab.failure(tool, json!({"nodeSelector": selector})).await;
        assert!(
            message.contains(foreign) && message.contains(device),
            "{message}"
        );
    }
    assert_eq!(lab.phone.looks(), 0);
}

async fn a_selector_that_says_nothing_is_refused(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    for selector in [json!({}), json!({"index": 2}), json!({"containsChild": {}})] {
        let arguments = json!({"nodeSelector": selector});
        let (message, ..) = lab.failure("assertVisibleBySelector", arguments).await;
        assert!(message.contains("is empty"), "{message}");
    }
}

async fn tap_on_reaches_a_place_inside_an_element(platform: Platform) {
    let lab = Lab::showing(
        platform,
        vec![label("See terms").at(100.0, 400.0, 500.0, 500.0)],
    )
    .await;
    let selector = lab.by_text("See terms");
    let at = |point: &str| json!({"selector": selector, "relativePoint": point});
    lab.call("tapOn", at("90%,50%")).await.unwrap();
    lab.call("tapOn", at("100%,0%")).await.unwrap();
    assert_eq!(
        lab.taps(),
        [Point::new(460.0, 450.0), Point::new(499.0, 400.0)]
    );
    let (message, ..) = lab.failure("tapOn", at("right")).await;
    assert!(message.contains("90%,50%"), "{message}");
}

async fn an_accessibility_node_is_tapped_by_its_description(platform: Platform) {
    let key = element("Other", "")
        .named("Key 5")
        .at(400.0, 900.0, 600.0, 1100.0);
    let lab = Lab::showing(platform, vec![key]).await;
    let arguments = json!({"contentDescriptionRegex": "Key 5", "textRegex": " "});
    lab.call("tapOnAccessibilityNode", arguments).await.unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 1000.0)]);
    let (message, ..) = lab
        .failure("tapOnAccessibilityNode", json!({"classNameRegex": "x"}))
        .await;
    assert!(message.contains("contentDescriptionRegex"), "{message}");
}

async fn a_tap_by_text_takes_any_part_of_it_in_any_case_and_no_pattern(platform: Platform) {
    let rows = vec![
        button("Save").line(200.0),
        button("Total (USD): $5.00").line(400.0),
    ];
    let lab = Lab::showing(platform, rows).await;
    lab.call("tapOnElementWithText", json!({"text": "(usd): $"}))
        .await
        .unwrap();
    assert_eq!(lab.taps(), [Point::new(500.0, 450.0)]);
    lab.failure("tapOnElementWithText", json!({"text": "S.ve"}))
        .await;
}

async fn text_is_looked_for_in_what_an_element_holds_in_its_hint_and_in_its_name(
    platform: Platform,
) {
    let mail = || {
        field("you@example.com", "me@home.org")
            .named("Email")
            .line(300.0)
    };
    for text in ["me@home.org", "you@example.com", "Email"] {
        let lab = Lab::showing(platform, vec![mail()]).await;
        lab.call("tapOnElementWithText", json!({"text": text}))
            .await
            .unwrap();
        lab.call(
            "tapOnElementWithAccessibilityText",
            json!({"accessibilityText": text}),
        )
        .await
        .unwrap();
        assert_eq!(lab.taps(), [Point::new(500.0, 350.0); 2], "{text}");
    }
}

async fn index_id_and_state_tell_equal_texts_apart(platform: Platform) {
    let mut off = button("Buy").id("buy_old").line(200.0);
    off.disabled = true;
    let mut chosen = button("Buy").id("buy_new").line(600.0);
    chosen.selected = true;
    let rows = || {
        vec![
            off.clone(),
            button("Buy").id("buy_now").line(400.0),
            chosen.clone(),
        ]
    };
    let choose = [
        (json!({"text": "Buy", "index": 1}), 450.0),
        (json!({"text": "Buy", "index": "2"}), 650.0),
        (json!({"text": "Buy", "enabled": true}), 450.0),
        (json!({"text": "Buy", "selected": true}), 650.0),
        (json!({"text": "Buy", "id": "buy_n.*", "index": 1}), 650.0),
        (json!({"text": "buy", "id": "buy_now"}), 450.0),
    ];
    for (arguments, y) in choose {
        let lab = Lab::showing(platform, rows()).await;
        lab.call("tapOnElementWithText", arguments.clone())
            .await
            .unwrap();
        assert_eq!(lab.taps(), [Point::new(500.0, y)], "{arguments}");
    }
}

async fn of_elements_in_each_other_the_innermost_is_touched(platform: Platform) {
    let inner = vec![button("Add milk").at(800.0, 320.0, 1000.0, 380.0)];
    let row = element("Cell", "Milk, Add milk").line(300.0).with(inner);
    let lab = Lab::showing(platform, vec![row, button("Add milk").line(600.0)]).await;
    let second = json!({"text": "milk", "index": 1});
    lab.call("tapOnElementWithText", json!({"text": "milk"}))
        .await
        .unwrap();
    lab.call("tapOnElementWithText", second).await.unwrap();
    assert_eq!(
        lab.taps(),
        [Point::new(900.0, 350.0), Point::new(500.0, 650.0)]
    );
}

async fn the_apps_own_name_is_no_text_on_the_screen(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Pay").line(600.0)]).await;
    lab.call("assertNotVisibleWithText", json!({"text": "Shop"}))
        .await
        .unwrap();
    let (_, log, _) = lab
        .failure("tapOnElementWithText", json!({"text": "Shop"}))
        .await;
    assert!(log[0].contains("the app itself"), "{log:?}");
    let disabled = json!({"text": "Pay", "enabled": false});
    let (_, log, _) = lab.failure("tapOnElementWithText", disabled).await;
    assert!(log[0].contains("but for its state"), "{log:?}");
    assert_eq!(lab.taps(), []);
}

async fn long_presses_by_text_are_long(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Photo 1").line(200.0)]).await;
    let by_name = json!({"accessibilityText": "Photo \\d"});
    lab.call("longPressElementWithAccessibilityText", by_name)
        .await
        .unwrap();
    lab.call("longPressOnElementWithText", json!({"text": "photo 1"}))
        .await
        .unwrap();
    let held = lab.phone.did();
    assert_eq!(held.len(), 2);
    assert!(
        held.iter().all(|command| command.name() == "long press"),
        "{held:?}"
    );
}

async fn an_empty_text_is_refused_because_it_would_match_anything(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    for tool in ["tapOnElementWithText", "assertVisibleWithText"] {
        let (message, ..) = lab.failure(tool, json!({"text": " "})).await;
        assert!(message.contains("empty"), "{message}");
    }
}

async fn the_keyboard_is_put_away_when_it_lies_over_the_element(platform: Platform) {
    let pay = || button("Pay").line(1700.0);
    let keyboard = element("Keyboard", "").at(0.0, 1200.0, 1000.0, 2000.0);
    let keys = vec![button("Q").at(0.0, 1250.0, 100.0, 1350.0)];
    let lab = Lab::showing(platform, vec![pay(), keyboard.with(keys)]).await;
    lab.phone.world().on_hide = Some(Box::new(move |world| world.show(vec![pay()])));
    lab.call("tapOnElementWithText", json!({"text": "Pay"}))
        .await
        .unwrap();
    let names: Vec<_> = lab.phone.did().iter().map(Command::name).collect();
    assert_eq!(names, ["hide keyboard", "tap"]);
}

async fn a_key_of_the_keyboard_can_be_tapped(platform: Platform) {
    let keyboard = element("Keyboard", "").at(0.0, 1200.0, 1000.0, 2000.0);
    let keys = vec![button("Done").at(800.0, 1850.0, 1000.0, 1950.0)];
    let lab = Lab::showing(platform, vec![keyboard.with(keys)]).await;
    lab.call("tapOnElementWithText", json!({"text": "Done"}))
        .await
        .unwrap();
    assert_eq!(lab.taps(), [Point::new(900.0, 1900.0)]);
}

async fn a_keyboard_that_stays_fails_the_tap_instead_of_being_typed_on(platform: Platform) {
    let keyboard = element("Keyboard", "").at(0.0, 1200.0, 1000.0, 2000.0);
    let lab = Lab::showing(platform, vec![button("Pay").line(1700.0), keyboard]).await;
    let (message, ..) = lab
        .failure("tapOnElementWithText", json!({"text": "Pay"}))
        .await;
    assert!(message.contains("covered by the keyboard"), "{message}");
    assert_eq!(lab.taps(), []);
}

async fn an_element_without_bounds_is_not_tapped_at_the_corner(platform: Platform) {
    let lab = Lab::showing(
        platform,
        vec![Element {
            bounds: None::<Rect>,
            ..button("Save")
        }],
    )
    .await;
    let (message, ..) = lab
        .failure("tapOnElementWithText", json!({"text": "Save"}))
        .await;
    assert!(message.contains("no bounds"), "{message}");
    assert_eq!(lab.taps(), []);
}

async fn the_older_selector_of_recorded_trails_names_an_element_where_there_is_no_newer_one(
    platform: Platform,
) {
    let row = |top| button("Save").line(top);
    let lab = Lab::showing(
        platform,
        vec![row(200.0), label("Below").line(500.0), row(800.0)],
    )
    .await;
    for (arguments, at) in [
        (
            json!({"selector": {"textRegex": "Sa.e", "index": "1.0"}}),
            850.0,
        ),
        (
            json!({"selector": {"textRegex": "Save", "below": {"textRegex": "Below"}, "traits": []}}),
            850.0,
        ),
        (
            json!({"selector": {"textRegex": "Below"}, "nodeSelector": lab.by_text("Save")}),
            250.0,
        ),
    ] {
        let shown = arguments.to_string();
        lab.call("tapOnElementBySelector", arguments).await.unwrap();
        assert_eq!(lab.taps().last().unwrap().y, at, "{shown}");
    }
    let older = json!({"selector": {"textRegex": "Save"}});
    lab.call("assertVisibleBySelector", older).await.unwrap();
    let gone = json!({"selector": {"textRegex": "Gone"}});
    lab.call("assertNotVisibleBySelector", gone.clone())
        .await
        .unwrap();
    lab.call("waitUntilNotVisible", gone).await.unwrap();
    for nothing in [json!({}), json!({"selector": {"css": "a"}})] {
        lab.failure("tapOnElementBySelector", nothing).await;
    }
}
