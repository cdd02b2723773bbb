//! Touches, text and keys, and what the phone makes of them.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, DriverError, Fault, InputCommand, Key, Point, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Display;

use super::lab::{Agent, Device, all_ways};

/// Opens the list of products.
async fn open_products(device: &mut Device) {
    let url = "https://shop.example.com/".to_owned();
    device.app(AppCommand::OpenUrl(url)).await;
    device.until(|world| world.dialog().is_some()).await;
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
    all_ways(NO_FAULTS, async |device| {
        device.sign_in().await;
        assert_eq!(device.variable("email"), "ann@example.com");
        assert_eq!(device.variable("password"), "secret");
        let shown = device.snapshot().await;
        assert!(
            shown.text.contains("send you notifications"),
            "{}",
            shown.text
        );
    })
    .await;
}

#[tokio::test]
async fn any_text_arrives_as_it_is_or_is_refused_with_the_way_out() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let plain = "O'Neil \"$HOME\" `id` %s; \\n &&";
        device.fill("email", plain).await;
        assert_eq!(device.variable("email"), plain);
        device.input(InputCommand::Erase(None)).await;
        let text = "Jörg 東京 👩‍👩‍👧";
        match device.way.agent {
            Agent::U2 => {
                device.input(InputCommand::Text(text.to_owned())).await;
                device.input(InputCommand::Text(" ü".to_owned())).await;
                assert_eq!(device.variable("email"), format!("{text} ü"));
            }
            Agent::Shell => {
                let text = Command::Input(InputCommand::Text(text.to_owned()));
                let error = device.err(text).await;
                assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
                assert!(
                    error.to_string().contains("packtrain doctor --fix"),
                    "{error}"
                );
                assert_eq!(device.variable("email"), "", "nothing was typed");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_password_takes_any_text_too() {
    super::lab::both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("password", "gehe").await;
        device.input(InputCommand::Text("imß".to_owned())).await;
        assert_eq!(device.variable("password"), "geheimß");
    })
    .await;
}

#[tokio::test]
async fn text_is_erased_in_part_or_as_a_whole() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann@example.com").await;
        device.input(InputCommand::Erase(Some(4))).await;
        assert_eq!(device.variable("email"), "ann@example");
        device.input(InputCommand::Erase(None)).await;
        assert_eq!(device.variable("email"), "");
        device.input(InputCommand::Erase(Some(0))).await;
        device.input(InputCommand::Erase(None)).await;
    })
    .await;
}

#[tokio::test]
async fn text_that_nobody_takes_is_a_failed_step() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let texts = ["x", ""].map(|text| InputCommand::Text(text.into()));
        for command in texts.into_iter().chain([InputCommand::Paste]) {
            let doing = command.name();
            let error = device.err(Command::Input(command)).await;
            assert_eq!(error.fault(), Fault::App);
            let expected = format!("{doing}: no field has the focus; tap one first");
            assert_eq!(error.to_string(), expected);
        }
        device.fill("email", "ann").await;
        device.input(InputCommand::HideKeyboard).await;
        device.input(InputCommand::Text("a".into())).await;
        assert_eq!(device.variable("email"), "anna", "the field kept the focus");
    })
    .await;
}

#[tokio::test]
async fn erasing_without_a_field_is_a_failed_step() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        for count in [None, Some(3)] {
            let error = device.err(Command::Input(InputCommand::Erase(count))).await;
            assert_eq!(error.fault(), Fault::App);
            let said = error.to_string();
            assert!(
                said.starts_with("erase text: no field has the focus"),
                "{said}"
            );
        }
        assert!(device.shows("sign_in").await, "the device is well");
    })
    .await;
}

#[tokio::test]
async fn keys_do_what_they_do_on_a_phone() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "anna").await;
        press(device, Key::Backspace).await;
        assert_eq!(device.variable("email"), "ann");
        press(device, Key::Tab).await;
        device.input(InputCommand::Text("secret".into())).await;
        assert_eq!(device.variable("password"), "secret", "Tab leads on");
        press(device, Key::Back).await;
        assert!(
            !device.world(|world| world.keyboard_shown()),
            "Back hides it"
        );
        press(device, Key::VolumeUp).await;
        press(device, Key::VolumeDown).await;
        press(device, Key::Home).await;
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], "com.google.android.apps.nexuslauncher");
    })
    .await;
}

#[tokio::test]
async fn swipes_and_drags_scroll_what_is_under_them() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        open_products(device).await;
        let first = device.center("Cappuccino 2").await;
        let (from, to) = (Point::new(500.0, 1800.0), Point::new(500.0, 1700.0));
        let duration = Duration::from_millis(300);
        device
            .input(InputCommand::Swipe { from, to, duration })
            .await;
        assert_ne!(device.center("Cappuccino 2").await, first);
        let (from, to) = (to, Point::new(500.0, 2200.0));
        device
            .input(InputCommand::Drag { from, to, duration })
            .await;
        assert_eq!(device.center("Cappuccino 2").await, first);
    })
    .await;
}

#[tokio::test]
async fn a_pinch_zooms_by_its_scale_or_is_refused_with_the_way_out() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        open_products(device).await;
        device.tap("Cappuccino 2").await;
        let Point { x, y } = device.center("picture").await;
        let fingers = |reach: f64| {
            [
                Point::new(x - reach, y + reach),
                Point::new(x + reach, y - reach),
            ]
        };
        let pinch = |from, to, ms| InputCommand::Pinch {
            from: fingers(from),
            to: fingers(to),
            duration: Duration::from_millis(ms),
        };
        match device.way.agent {
            Agent::U2 => {
                for (from, to, ms, expected) in [
                    (61.0, 244.0, 400, 4.0),
                    (300.0, 150.0, 300, 2.0),
                    // Slower than one pixel a step.
                    (100.0, 150.0, 900, 3.0),
                ] {
                    device.input(pinch(from, to, ms)).await;
                    let zoom: f64 = device.variable("zoom").parse().unwrap();
                    assert!((zoom / expected - 1.0).abs() < 0.03, "{zoom}");
                }
            }
            Agent::Shell => {
                let command = Command::Input(pinch(60.0, 240.0, 400));
                let error = device.err(command).await;
                assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
                let said = error.to_string();
                assert!(
                    said.contains("pinch") && said.contains("packtrain doctor --fix"),
                    "{said}"
                );
                assert_eq!(device.variable("zoom"), "1", "nothing was touched");
            }
        }
        let error = device.err(Command::Input(pinch(1.0, f64::NAN, 400))).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_press_is_held_as_long_as_told() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { touch: ^long_press email$ }, do: { dialog: { text: Held } } }");
        let at = device.center("email").await;
        device.input(InputCommand::Tap { at }).await;
        assert!(device.world(|world| world.dialog()).is_none());
        let hold = Duration::from_millis(900);
        let start = std::time::Instant::now();
        device.input(InputCommand::LongPress { at, hold }).await;
        assert!(start.elapsed() >= hold, "{:?}", start.elapsed());
        assert_eq!(device.world(|world| world.dialog()).unwrap().text, "Held");
    })
    .await;
}

#[tokio::test]
async fn a_place_that_is_none_is_the_callers_mistake() {
    all_ways(NO_FAULTS, async |device| {
        for at in [Point::new(f64::NAN, 0.0), Point::new(5.0, 1e9)] {
            let error = device.err(Command::Input(InputCommand::Tap { at })).await;
            assert!(matches!(error, DriverError::Invalid(_)), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_copied_is_pasted() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let copy = Command::Input(InputCommand::SetClipboard("grüße".into()));
        match device.way.agent {
            Agent::U2 => {
                device.ok(copy).await;
                assert_eq!(device.world(|world| world.clipboard().to_owned()), "grüße");
            }
            Agent::Shell => {
                let error = device.err(copy).await;
                assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
                device.world(|world| world.set_clipboard("grüße"));
            }
        }
        device.tap("email").await;
        device.input(InputCommand::Paste).await;
        assert_eq!(device.variable("email"), "grüße");
    })
    .await;
}

#[tokio::test]
async fn hiding_a_keyboard_leaves_the_app_where_it_is() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.input(InputCommand::HideKeyboard).await;
        assert!(device.shows("sign_in").await, "there was none to hide");
        device.tap("email").await;
        device.until(|world| world.keyboard_shown()).await;
        device.input(InputCommand::HideKeyboard).await;
        assert!(!device.world(|world| world.keyboard_shown()));
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_phone_whose_screen_is_off_is_woken_when_a_session_begins() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        press(device, Key::Lock).await;
        assert_eq!(device.world(|world| world.display()), Display::Off);
        device.ok(Command::Begin(SessionOptions::default())).await;
        assert_eq!(device.world(|world| world.display()), Display::On);
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], "com.google.android.apps.nexuslauncher");
    })
    .await;
}
