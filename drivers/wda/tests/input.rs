//! Touches, text and keys, and what the phone makes of them.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, DriverError, Fault, InputCommand, Key, Point, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Display;

use super::lab::{Device, both_ways};

/// Opens the list of products.
async fn open_products(device: &mut Device) {
    device
        .app(AppCommand::OpenUrl("https://shop.example.com/".into()))
        .await;
    let answer = AppCommand::AnswerAlert {
        accept: true,
        button: None,
    };
    device.app(answer).await;
}

async fn press(device: &mut Device, key: Key) {
    device.input(InputCommand::Key(key)).await;
}

#[tokio::test]
async fn typing_and_tapping_leads_to_the_next_screen() {
    both_ways(NO_FAULTS, async |device| {
        device.sign_in().await;
        assert_eq!(device.variable("email"), "ann@example.com");
        let shown = device.snapshot().await;
        assert!(
            shown.text.contains("Would Like to Send You Notifications"),
            "{}",
            shown.text
        );
    })
    .await;
}

#[tokio::test]
async fn any_text_arrives_as_it_is() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let text = "Jörg \"O'Neil\" 東京 👩‍👩‍👧 \\n $HOME";
        device.fill("email", text).await;
        assert_eq!(device.variable("email"), text);
    })
    .await;
}

#[tokio::test]
async fn text_is_erased_in_part_or_as_a_whole() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann@example.com").await;
        device.input(InputCommand::Erase(Some(4))).await;
        assert_eq!(device.variable("email"), "ann@example");
        device.input(InputCommand::Erase(None)).await;
        assert_eq!(device.variable("email"), "");
        device.input(InputCommand::Erase(Some(0))).await;
    })
    .await;
}

#[tokio::test]
async fn text_that_nobody_takes_is_a_failed_step() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let texts = ["x", ""].map(|text| InputCommand::Text(text.into()));
        for command in texts.into_iter().chain([InputCommand::Erase(None)]) {
            let error = device.err(Command::Input(command)).await;
            assert_eq!(error.fault(), Fault::App);
            assert!(
                error
                    .to_string()
                    .ends_with("no field has the focus; tap one first"),
                "{error}"
            );
        }
        assert!(device.shows("sign_in").await, "the device is well");
    })
    .await;
}

#[tokio::test]
async fn keys_do_what_they_do_on_a_phone() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "anna").await;
        press(device, Key::Backspace).await;
        assert_eq!(device.variable("email"), "ann");
        press(device, Key::Enter).await;
        device.input(InputCommand::Text("secret".into())).await;
        assert_eq!(
            device.variable("password"),
            "secret",
            "Enter leads to the next field"
        );
        press(device, Key::Escape).await;
        press(device, Key::VolumeUp).await;
        press(device, Key::VolumeDown).await;
        press(device, Key::Home).await;
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], "com.apple.springboard");
    })
    .await;
}

#[tokio::test]
async fn back_is_a_swipe_from_the_left_edge() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.app(AppCommand::OpenUrl("shop://cart".into())).await;
        assert!(device.shows("empty").await);
        let notes = device
            .notes(Command::Input(InputCommand::Key(Key::Back)))
            .await;
        assert_eq!(notes, ["iOS has no Back key: swiped from the left edge"]);
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn swipes_and_drags_scroll_what_is_under_them() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        open_products(device).await;
        let first = device.center("product_name").await;
        let (from, to) = (Point::new(180.0, 700.0), Point::new(180.0, 300.0));
        let duration = Duration::from_millis(300);
        device
            .input(InputCommand::Swipe { from, to, duration })
            .await;
        assert_ne!(device.center("product_name").await, first);
        let (from, to) = (to, from);
        device
            .input(InputCommand::Drag { from, to, duration })
            .await;
        assert_eq!(device.center("product_name").await, first);
    })
    .await;
}

#[tokio::test]
async fn a_pinch_zooms_what_is_between_the_fingers_by_its_scale() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        open_products(device).await;
        device.tap("product_name").await;
        let Point { x, y } = device.center("picture").await;
        let fingers = |reach: f64| {
            [
                Point::new(x - reach, y + reach),
                Point::new(x + reach, y - reach),
            ]
        };
        let pinch = |from: f64, to: f64| InputCommand::Pinch {
            from: fingers(from),
            to: fingers(to),
            duration: Duration::from_millis(300),
        };
        for (from, to, expected) in [(25.0, 100.0, 4.0), (100.0, 50.0, 2.0)] {
            device.input(pinch(from, to)).await;
            let zoom: f64 = device.variable("zoom").parse().unwrap();
            assert!((zoom - expected).abs() < 1e-9, "{zoom}");
        }
        for (from, to) in [(1000.0, 10.0), (10.0, f64::NAN)] {
            let error = device.err(Command::Input(pinch(from, to))).await;
            assert!(matches!(error, DriverError::Invalid(_)), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_press_is_held_as_long_as_told() {
    let device = Device::connect(super::lab::Way::Address, NO_FAULTS).await;
    let mut device = device;
    device.open_shop().await;
    // Only a press that was held counts as one.
    device.inject("{ match: { touch: ^long_press email$ }, do: { dialog: { text: Held } } }");
    let at = device.center("email").await;
    device.input(InputCommand::Tap { at }).await;
    assert!(device.world(|world| world.dialog()).is_none());
    let hold = Duration::from_millis(900);
    device.input(InputCommand::LongPress { at, hold }).await;
    assert_eq!(device.world(|world| world.dialog()).unwrap().text, "Held");
    device.end().await;
}

#[tokio::test]
async fn places_outside_of_the_screen_are_the_callers_mistake() {
    both_ways(NO_FAULTS, async |device| {
        for at in [
            Point::new(-1.0, 5.0),
            Point::new(5.0, 900.0),
            Point::new(f64::NAN, 0.0),
        ] {
            let error = device.err(Command::Input(InputCommand::Tap { at })).await;
            assert!(matches!(error, DriverError::Invalid(_)), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_copied_is_pasted() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device
            .input(InputCommand::SetClipboard("grüße".into()))
            .await;
        assert_eq!(device.world(|world| world.clipboard().to_owned()), "grüße");
        device.tap("email").await;
        device.input(InputCommand::Paste).await;
        assert_eq!(device.variable("email"), "grüße");
        device.world(|world| world.set_clipboard("copied in the app"));
        device.input(InputCommand::Erase(None)).await;
        device.input(InputCommand::Paste).await;
        assert_eq!(device.variable("email"), "copied in the app");
    })
    .await;
}

#[tokio::test]
async fn a_clipboard_the_phone_keeps_to_itself_is_remembered() {
    let refused = "rules: [{ match: { route: /wda/getPasteboard$ }, do: { fail: not in front } }]";
    both_ways(refused, async |device| {
        device.open_shop().await;
        device.tap("email").await;
        let error = device.err(Command::Input(InputCommand::Paste)).await;
        assert_eq!(error.to_string(), "paste: the clipboard is empty");
        device
            .input(InputCommand::SetClipboard("kept".into()))
            .await;
        device.input(InputCommand::Paste).await;
        assert_eq!(device.variable("email"), "kept");
    })
    .await;
}

#[tokio::test]
async fn hiding_a_keyboard_that_is_not_up_does_nothing() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let notes = device
            .notes(Command::Input(InputCommand::HideKeyboard))
            .await;
        assert_eq!(notes, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_keyboard_that_cannot_be_hidden_is_a_note_and_costs_no_text() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        let notes = device
            .notes(Command::Input(InputCommand::HideKeyboard))
            .await;
        assert_eq!(
            notes,
            ["the keyboard stayed: this app offers no way to hide it"]
        );
        assert_eq!(device.variable("email"), "ann");
    })
    .await;
}

#[tokio::test]
async fn a_screen_whose_keyboard_stayed_is_not_dragged_again() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        let hide = || Command::Input(InputCommand::HideKeyboard);
        let stayed = device.notes(hide()).await;
        device.tap("password").await;
        device.inject("{ match: { route: 'POST .*/actions' }, do: { fail: do not touch } }");
        assert_eq!(device.notes(hide()).await, stayed);
        device.phone().device().clear_faults();
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
    })
    .await;
}

#[tokio::test]
async fn a_locked_phone_is_unlocked_when_a_session_begins() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        press(device, Key::Lock).await;
        assert_eq!(device.world(|world| world.display()), Display::Off);
        device.ok(Command::Begin(SessionOptions::default())).await;
        assert_eq!(device.world(|world| world.display()), Display::On);
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], "com.apple.springboard", "on the home screen");
        assert_eq!(
            device.world(|world| world.app_state(&SHOP.into())),
            packtrain_virtual::world::AppState::Background
        );
    })
    .await;
}
