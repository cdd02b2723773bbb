//! Typing, erasing, keys and the clipboard.

use packtrain_drivers::{Command, InputCommand, Key, Platform, Point};
use serde_json::json;

use crate::lab::{Lab, on_android, on_both, on_ios};
use crate::phone::{field, label};

on_both! {
    typing_puts_the_keyboard_away_unless_told_otherwise
    a_random_text_is_typed_and_remembered_for_later_steps
    a_random_text_has_six_digits_and_a_name_to_remember_it_by
    erasing_takes_a_number_of_characters_or_all
    the_clipboard_is_set_and_pasted
    keys_are_pressed_by_name_in_any_case
}

on_android! {
    back_is_a_key_on_android
}

on_ios! {
    back_is_a_swipe_from_the_left_edge_on_ios
}

fn did(command: InputCommand) -> Command {
    Command::Input(command)
}

async fn typing_puts_the_keyboard_away_unless_told_otherwise(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").line(200.0)]).await;
    lab.call("inputText", json!({"text": "Zoë 🦆"}))
        .await
        .unwrap();
    lab.call(
        "inputText",
        json!({"text": "x", "hideKeyboardAfter": false}),
    )
    .await
    .unwrap();
    let wanted = [
        did(InputCommand::Text("Zoë 🦆".into())),
        did(InputCommand::HideKeyboard),
        did(InputCommand::Text("x".into())),
    ];
    assert_eq!(lab.phone.told(), wanted);
}

async fn a_random_text_is_typed_and_remembered_for_later_steps(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").line(200.0)]).await;
    let arguments = json!({"variable": "name", "prefix": "T-", "digitCount": 12});
    lab.call("inputTextRandom", arguments.clone())
        .await
        .unwrap();
    let first = lab.scope.memory().get("name").unwrap().to_owned();
    assert_eq!(lab.phone.did()[0], did(InputCommand::Text(first.clone())));
    let digits = first.strip_prefix("T-").unwrap();
    assert!(digits.len() == 12 && digits.bytes().all(|digit| digit.is_ascii_digit()));
    lab.call("inputTextRandom", arguments).await.unwrap();
    assert_ne!(lab.scope.memory().get("name").unwrap(), first);
}

async fn a_random_text_has_six_digits_and_a_name_to_remember_it_by(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").line(200.0)]).await;
    lab.call("inputTextRandom", json!({"variable": "id"}))
        .await
        .unwrap();
    let text = lab.scope.memory().get("id").unwrap().to_owned();
    assert!(text.starts_with("TBZ-") && text.len() == 10, "{text}");
    for wrong in [
        json!({"variable": " "}),
        json!({"variable": "x", "digitCount": 0}),
    ] {
        lab.failure("inputTextRandom", wrong).await;
    }
}

async fn erasing_takes_a_number_of_characters_or_all(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "Ada").line(200.0)]).await;
    lab.call("eraseText", json!({"charactersToErase": 3}))
        .await
        .unwrap();
    lab.call("eraseText", json!({})).await.unwrap();
    lab.call("clearText", json!({})).await.unwrap();
    let wanted = [
        did(InputCommand::Erase(Some(3))),
        did(InputCommand::Erase(None)),
        did(InputCommand::Erase(None)),
    ];
    assert_eq!(lab.phone.told(), wanted);
}

async fn the_clipboard_is_set_and_pasted(platform: Platform) {
    let lab = Lab::showing(platform, vec![field("Name", "").line(200.0)]).await;
    lab.call("mobile_setClipboard", json!({"text": "4711"}))
        .await
        .unwrap();
    lab.call("mobile_pasteClipboard", json!({})).await.unwrap();
    let wanted = [
        did(InputCommand::SetClipboard("4711".into())),
        did(InputCommand::Paste),
    ];
    assert_eq!(lab.phone.told(), wanted);
}

async fn keys_are_pressed_by_name_in_any_case(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    for (name, key) in [
        ("ENTER", Key::Enter),
        ("home", Key::Home),
        ("Backspace", Key::Backspace),
        ("TAB", Key::Tab),
        ("Escape", Key::Escape),
    ] {
        lab.call("pressKey", json!({"keyCode": name}))
            .await
            .unwrap();
        assert_eq!(lab.phone.told().last(), Some(&did(InputCommand::Key(key))));
    }
    lab.call("hideKeyboard", json!({})).await.unwrap();
    assert_eq!(
        lab.phone.told().last(),
        Some(&did(InputCommand::HideKeyboard))
    );
    lab.failure("pressKey", json!({"keyCode": "F5"})).await;
}

async fn back_is_a_key_on_android(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    lab.call("pressBack", json!({})).await.unwrap();
    lab.call("pressKey", json!({"keyCode": "BACK"}))
        .await
        .unwrap();
    assert_eq!(
        lab.phone.told(),
        [
            did(InputCommand::Key(Key::Back)),
            did(InputCommand::Key(Key::Back))
        ]
    );
}

async fn back_is_a_swipe_from_the_left_edge_on_ios(platform: Platform) {
    let lab = Lab::showing(platform, vec![label("x").line(0.0)]).await;
    lab.call("pressBack", json!({})).await.unwrap();
    let did = lab.phone.did();
    let [Command::Input(InputCommand::Swipe { from, to, .. })] = &did[..] else {
        panic!("{did:?}");
    };
    assert_eq!(
        (*from, *to),
        (Point::new(1.0, 1000.0), Point::new(900.0, 1000.0))
    );
    let (message, _, hint) = lab.failure("pressKey", json!({"keyCode": "BACK"})).await;
    assert!(message.contains("no BACK key"), "{message}");
    assert!(hint.unwrap().contains("pressBack"));
}
