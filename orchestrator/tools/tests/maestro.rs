//! Maestro's commands.

use std::time::Duration;

use packtrain_drivers::{AppCommand, Command, InputCommand, Key, LaunchMode, Platform, Point};
use serde_json::json;
use tokio::time::Instant;

use crate::lab::{Lab, on_both};
use crate::phone::{List, button, element, field, label};

on_both! {
    back_is_the_platforms_way_back
    commands_run_in_order_whether_bare_short_or_in_full
    an_unknown_command_is_named_before_anything_is_done
    the_command_that_fails_is_named_by_its_place
    an_optional_command_is_passed_over_with_a_note
    waiting_for_something_takes_the_time_it_is_given_as_a_text_too
    elements_are_named_by_relations_ids_states_and_places
    an_app_is_stopped_before_it_is_launched_unless_told_otherwise
    swipes_and_scrolls_go_maestros_way
    text_is_copied_from_an_element
    an_animation_is_waited_for_without_an_error
    the_phone_is_turned_and_taken_off_the_network
}

fn commands(commands: serde_json::Value) -> serde_json::Value {
    json!({ "commands": commands })
}

async fn commands_run_in_order_whether_bare_short_or_in_full(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").line(200.0)]).await;
    let flow = commands(json!([
        {"tapOn": "name"},
        {"inputText": 123},
        {"inputText": {"text": "abc"}},
        {"eraseText": 3},
        {"eraseText": {"charactersToErase": 2}},
        "eraseText",
        "hideKeyboard",
        {"hideKeyboard": {}},
        {"pressKey": "Volume up"},
        {"setClipboard": "x"},
        "pasteText",
    ]));
    lab.call("mobile_maestro", flow).await.unwrap();
    let wanted = [
        InputCommand::Tap {
            at: Point::new(500.0, 250.0),
        },
        InputCommand::Text("123".into()),
        InputCommand::Text("abc".into()),
        InputCommand::Erase(Some(3)),
        InputCommand::Erase(Some(2)),
        InputCommand::Erase(None),
        InputCommand::HideKeyboard,
        InputCommand::HideKeyboard,
        InputCommand::Key(Key::VolumeUp),
        InputCommand::SetClipboard("x".into()),
        InputCommand::Paste,
    ];
    assert_eq!(lab.phone.did(), wanted.map(Command::Input));
}

async fn an_unknown_command_is_named_before_anything_is_done(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    for (command, complaint) in [
        (
            json!({"runScript": "x.js"}),
            "commands[1]: Maestro's `runScript` is not supported here",
        ),
        (
            json!("tapon"),
            "commands[1]: Maestro's `tapon` is not supported here; did you mean `tapOn`?",
        ),
        (json!("tapOn"), "commands[1]: missing value of `tapOn`"),
        (
            json!({"tapOn": "a", "back": {}}),
            "commands[1]: `back` and `tapOn` are two commands",
        ),
        (
            json!({"launchApp": {"appId": "x", "arguments": {}}}),
            "unknown key `arguments`",
        ),
        (
            json!({"tapOn": {"text": "a", "repeat": 3}}),
            "unknown key `repeat`",
        ),
    ] {
        let flow = commands(json!([{"tapOn": "Save"}, command]));
        let (message, ..) = lab.failure("mobile_maestro", flow).await;
        assert!(message.contains(complaint), "{message}");
    }
    assert_eq!(lab.phone.told(), []);
}

async fn the_command_that_fails_is_named_by_its_place(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let flow = commands(json!([{"tapOn": "Save"}, {"assertVisible": {"text": "Saved"}}, "back"]));
    let (message, ..) = lab.failure("mobile_maestro", flow).await;
    assert!(
        message.starts_with("commands[1] assertVisible: text \"Saved\" was not visible"),
        "{message}"
    );
    assert_eq!(lab.phone.did().len(), 1);
}

async fn an_optional_command_is_passed_over_with_a_note(platform: Platform) {
    let lab = Lab::showing(platform, vec![button("Save").line(200.0)]).await;
    let flow = commands(json!([
        {"tapOn": {"text": "Allow", "optional": true}},
        {"tapOn": "Save"},
    ]));
    let answer = lab.call("mobile_maestro", flow).await.unwrap();
    assert!(
        answer.report.notes[0].starts_with("tapOn is optional"),
        "{:?}",
        answer.report.notes
    );
    assert_eq!(lab.taps(), [Point::new(500.0, 250.0)]);
}

async fn waiting_for_something_takes_the_time_it_is_given_as_a_text_too(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Loading").line(200.0)]).await;
    lab.phone.world().coming.push_back(Box::new(|world| {
        world.show(vec![label("Content Loaded").line(200.0)]);
    }));
    let wait = json!({"visible": {"text": "Content Loaded"}, "timeout": "30000"});
    lab.call(
        "mobile_maestro",
        commands(json!([{"extendedWaitUntil": wait}])),
    )
    .await
    .unwrap();
    assert!(lab.phone.waits()[0] > Duration::from_secs(29));
    let stays = json!({"notVisible": "Content Loaded", "timeout": 300});
    let (message, ..) = lab
        .failure(
            "mobile_maestro",
            commands(json!([{"extendedWaitUntil": stays}])),
        )
        .await;
    assert!(
        message.ends_with("did not go away within 0.3 s"),
        "{message}"
    );
    lab.failure(
        "mobile_maestro",
        commands(json!([{"extendedWaitUntil": {"timeout": 300}}])),
    )
    .await;
}

async fn elements_are_named_by_relations_ids_states_and_places(platform: Platform) {
    let row = element("Cell", "")
        .line(400.0)
        .with(vec![label("Bread").at(0.0, 400.0, 400.0, 500.0)]);
    let mut on = element("Switch", "").named("Wifi").id("wifi").line(800.0);
    on.checked = true;
    let rows = || {
        vec![
            button("Buy").line(200.0),
            row.clone(),
            button("Buy").line(600.0),
            on.clone(),
        ]
    };
    for (element, point) in [
        (json!({"text": "Buy", "below": "bread"}), (500.0, 650.0)),
        (
            json!({"text": "Buy", "above": {"text": "bread"}}),
            (500.0, 250.0),
        ),
        (json!({"containsChild": {"text": "Bread"}}), (500.0, 450.0)),
        (json!({"text": "Buy", "index": 1}), (500.0, 650.0)),
        (json!({"id": "wifi", "checked": true}), (500.0, 850.0)),
        (json!({"text": "Buy", "point": "10%,50%"}), (100.0, 250.0)),
        (json!({"point": "50%,75%"}), (500.0, 1500.0)),
        (json!({"point": "12,34"}), (12.0, 34.0)),
    ] {
        let lab = Lab::showing(platform, rows()).await;
        lab.call(
            "mobile_maestro",
            commands(json!([{"tapOn": element.clone()}])),
        )
        .await
        .unwrap();
        assert_eq!(lab.taps(), [Point::new(point.0, point.1)], "{element}");
    }
    let lab = Lab::showing(platform, rows()).await;
    let off = json!({"id": "wifi", "checked": false});
    lab.call(
        "mobile_maestro",
        commands(json!([{"assertNotVisible": off}])),
    )
    .await
    .unwrap();
}

async fn an_app_is_stopped_before_it_is_launched_unless_told_otherwise(platform: Platform) {
    let lab = Lab::new(platform).await;
    let flow = commands(json!([
        "launchApp",
        {"launchApp": "com.other"},
        {"launchApp": {"appId": "com.other", "clearState": true}},
        {"launchApp": {"stopApp": false}},
        "stopApp",
        {"killApp": "com.other"},
        {"clearState": {"appId": "com.other"}},
        {"openLink": "https://example.com"},
    ]));
    lab.call("mobile_maestro", flow).await.unwrap();
    let launch = |id: &str, mode| AppCommand::Launch {
        id: id.to_owned(),
        mode,
    };
    let wanted = [
        launch("com.example.shop", LaunchMode::ForceRestart),
        launch("com.other", LaunchMode::ForceRestart),
        launch("com.other", LaunchMode::Reinstall),
        launch("com.example.shop", LaunchMode::Resume),
        AppCommand::Stop("com.example.shop".into()),
        AppCommand::Stop("com.other".into()),
        AppCommand::Clear("com.other".into()),
        AppCommand::OpenUrl("https://example.com".into()),
    ];
    assert_eq!(lab.phone.told(), wanted.map(Command::App));
}

async fn swipes_and_scrolls_go_maestros_way(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(50));
    let flow = commands(json!([
        "scroll",
        {"swipe": {"direction": "LEFT", "duration": 250}},
        {"swipe": {"start": "90%,50%", "end": "10%,50%"}},
        {"scrollUntilVisible": {"element": "Item 20", "direction": "DOWN", "speed": 40, "timeout": 9000}},
        {"swipe": {"from": {"text": "Item 20"}, "direction": "UP"}},
    ]));
    lab.call("mobile_maestro", flow).await.unwrap();
    let swipes: Vec<_> = lab
        .phone
        .did()
        .into_iter()
        .map(|command| match command {
            Command::Input(InputCommand::Swipe { from, to, duration }) => {
                (from.x, from.y, to.x, to.y, duration.as_millis())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(swipes[0], (500.0, 1000.0, 500.0, 200.0, 400));
    assert_eq!(swipes[1], (900.0, 1000.0, 100.0, 1000.0, 250));
    assert_eq!(swipes[2], (900.0, 1000.0, 100.0, 1000.0, 400));
    assert_eq!(swipes.len(), 6);
    let (message, ..) = lab
        .failure(
            "mobile_maestro",
            commands(json!([{"swipe": {"start": "1,1"}}])),
        )
        .await;
    assert!(message.contains("`start` and `end`"), "{message}");
}

async fn text_is_copied_from_an_element(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("Code 4711").line(200.0)]).await;
    lab.call(
        "mobile_maestro",
        commands(json!([{"copyTextFrom": "code \\d+"}])),
    )
    .await
    .unwrap();
    let copied = Command::Input(InputCommand::SetClipboard("Code 4711".into()));
    assert_eq!(lab.phone.did(), [copied]);
}

async fn an_animation_is_waited_for_without_an_error(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(200.0)]).await;
    let ends = commands(json!(["waitForAnimationToEnd"]));
    lab.call("mobile_maestro", ends).await.unwrap();
    lab.phone.world().restless = true;
    let flow = commands(json!([{"waitForAnimationToEnd": {"timeout": 700}}]));
    let began = Instant::now();
    lab.call("mobile_maestro", flow).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(700));
}

async fn the_phone_is_turned_and_taken_off_the_network(platform: Platform) {
    let lab = Lab::new(platform).await;
    let flow =
        commands(json!([{"setOrientation": "landscape_left"}, {"setAirplaneMode": "enabled"}]));
    lab.call("mobile_maestro", flow).await.unwrap();
    let wanted = [
        AppCommand::Rotate { landscape: true },
        AppCommand::Network { connected: false },
    ];
    assert_eq!(lab.phone.told(), wanted.map(Command::App));
}

async fn back_is_the_platforms_way_back(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.phone.world().list = Some(List::of(3));
    lab.call(
        "mobile_maestro",
        commands(json!(["back", {"back": {}}, {"back": null}])),
    )
    .await
    .unwrap();
    match platform {
        Platform::Android => assert_eq!(lab.phone.told().len(), 3),
        _ => assert_eq!(lab.phone.did()[0].name(), "swipe"),
    }
}
