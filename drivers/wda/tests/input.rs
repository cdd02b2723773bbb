//! Touches, text and keys, and what the phone makes of them.

use std::time::Duration;

use packtrain_drivers::{AppCommand, Command, DriverError, InputCommand, Key, Point};
use packtrain_testing::promises::{Bench as _, Phone as _};
use packtrain_testing::{TestDevice as _, VirtualPhone as _};

use super::lab::{Device, both_ways};

both_ways! {
    places_outside_of_the_screen_are_the_callers_mistake
    back_is_a_swipe_from_the_left_edge
    a_clipboard_the_phone_keeps_to_itself_is_remembered
    a_keyboard_that_cannot_be_hidden_is_a_note_and_costs_no_text
    a_screen_whose_keyboard_stayed_is_not_dragged_again
}

async fn back_is_a_swipe_from_the_left_edge(device: &mut Device) {
    device.open_shop().await;
    device.app(AppCommand::OpenUrl("shop://cart".into())).await;
    assert!(device.shows("empty").await);
    let notes = device
        .notes(Command::Input(InputCommand::Key(Key::Back)))
        .await;
    assert_eq!(notes, ["iOS has no Back key: swiped from the left edge"]);
    assert!(device.shows("sign_in").await);
}

async fn a_clipboard_the_phone_keeps_to_itself_is_remembered(device: &mut Device) {
    device.inject("{ match: { route: /wda/getPasteboard$ }, do: { fail: not in front } }");
    device.open_shop().await;
    device.tap("email").await;
    let error = device.err(Command::Input(InputCommand::Paste)).await;
    assert_eq!(error.to_string(), "paste: the clipboard is empty");
    let copy = InputCommand::SetClipboard("kept".into());
    device.input(copy).await;
    device.input(InputCommand::Paste).await;
    assert_eq!(device.variable("email"), "kept");
}

async fn a_keyboard_that_cannot_be_hidden_is_a_note_and_costs_no_text(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ann").await;
    let notes = device
        .notes(Command::Input(InputCommand::HideKeyboard))
        .await;
    assert_eq!(
        notes,
        ["the keyboard is still shown: this app offers no way to hide it"]
    );
    assert_eq!(device.variable("email"), "ann");
}

async fn a_screen_whose_keyboard_stayed_is_not_dragged_again(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ann").await;
    let hide = || Command::Input(InputCommand::HideKeyboard);
    let stayed = device.notes(hide()).await;
    device.tap("password").await;
    device.inject("{ match: { route: 'POST .*/actions' }, do: { fail: do not touch } }");
    assert_eq!(device.notes(hide()).await, stayed);
    device.heal();
    device.sign_in().await;
    device
        .ok(Command::App(AppCommand::AnswerAlert {
            accept: true,
            button: None,
        }))
        .await;
    device.tap("search").await;
    device.inject("{ match: { route: 'POST .*/actions' }, do: { fail: do not touch } }");
    let error = device.err(hide()).await;
    assert_eq!(error.to_string(), "hide the keyboard: do not touch");
}

async fn places_outside_of_the_screen_are_the_callers_mistake(device: &mut Device) {
    let [inside, left, below] =
        [(5.0, 5.0), (-1.0, 5.0), (5.0, 900.0)].map(|(x, y)| Point::new(x, y));
    let duration = Duration::from_millis(300);
    let (from, to) = ([inside, below], [inside; 2]);
    for command in [
        InputCommand::Tap { at: left },
        InputCommand::Tap { at: below },
        InputCommand::Pinch { from, to, duration },
    ] {
        let error = device.err(Command::Input(command)).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    }
}
