//! Touches, text and keys, and what the phone makes of them.

use std::time::Duration;

use packtrain_drivers::{AppCommand, Command, DriverError, Fault, InputCommand, Key, Point};
use packtrain_virtual::world::{AppState, Display};

use super::Phone;
use crate::SHOP;

/// Opens the list of products.
async fn open_products(phone: &mut impl Phone) {
    let url = "https://shop.example.com/".to_owned();
    phone.app(AppCommand::OpenUrl(url)).await;
    phone.until(|world| world.dialog().is_some()).await;
    let (accept, button) = (true, None);
    phone.app(AppCommand::AnswerAlert { accept, button }).await;
}

async fn press(phone: &mut impl Phone, key: Key) {
    phone.input(InputCommand::Key(key)).await;
}

async fn write(phone: &mut impl Phone, text: &str) {
    phone.input(InputCommand::Text(text.to_owned())).await;
}

/// What needs an agent is refused without one, with the way out.
async fn refused(phone: &mut impl Phone, command: InputCommand) {
    let name = command.name();
    let error = phone.err(Command::Input(command)).await;
    assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.contains(name) && said.contains("packtrain doctor --fix"),
        "{said}"
    );
}

pub async fn typing_and_tapping_leads_to_the_next_screen(phone: &mut impl Phone) {
    phone.sign_in().await;
    assert_eq!(phone.variable("email"), "ann@example.com");
    assert_eq!(phone.variable("password"), "secret");
    let shown = phone.snapshot().await.text.to_lowercase();
    assert!(shown.contains("send you notifications"), "{shown}");
}

pub async fn any_text_arrives_as_it_is_or_is_refused_with_the_way_out(phone: &mut impl Phone) {
    phone.open_shop().await;
    let plain = "O'Neil \"$HOME\" `id` %s; \\n &&";
    phone.fill("email", plain).await;
    assert_eq!(phone.variable("email"), plain);
    phone.input(InputCommand::Erase(None)).await;
    let text = "Jörg 東京 👩‍👩‍👧";
    if phone.has_agent() {
        write(phone, text).await;
        write(phone, " ü").await;
        assert_eq!(phone.variable("email"), format!("{text} ü"));
    } else {
        refused(phone, InputCommand::Text(text.to_owned())).await;
        assert_eq!(phone.variable("email"), "", "nothing was typed");
    }
}

pub async fn a_password_takes_any_text_too(phone: &mut impl Phone) {
    phone.open_shop().await;
    phone.fill("password", "gehe").await;
    let (more, all) = match phone.has_agent() {
        true => ("imß", "geheimß"),
        false => ("im!", "geheim!"),
    };
    write(phone, more).await;
    assert_eq!(phone.variable("password"), all);
}

pub async fn text_is_erased_in_part_or_as_a_whole(phone: &mut impl Phone) {
    phone.open_shop().await;
    phone.fill("email", "ann@example.com").await;
    phone.input(InputCommand::Erase(Some(4))).await;
    assert_eq!(phone.variable("email"), "ann@example");
    phone.input(InputCommand::Erase(None)).await;
    assert_eq!(phone.variable("email"), "");
    phone.input(InputCommand::Erase(Some(0))).await;
    phone.input(InputCommand::Erase(None)).await;
}

pub async fn text_that_nobody_takes_is_a_failed_step<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    phone.world(|world| world.set_clipboard("x"));
    for command in [
        InputCommand::Text("x".to_owned()),
        InputCommand::Text(String::new()),
        InputCommand::Paste,
        InputCommand::Erase(None),
        InputCommand::Erase(Some(3)),
    ] {
        let expected = match command {
            InputCommand::Text(_) => {
                format!("{}: no field has the focus; tap one first", P::TYPING)
            }
            _ => ": no field has the focus".to_owned(),
        };
        let error = phone.err(Command::Input(command)).await;
        assert_eq!(error.fault(), Fault::App);
        assert!(error.to_string().contains(&expected), "{error}");
    }
    assert!(phone.shows("sign_in").await, "the device is well");
    phone.fill("email", "ann").await;
    phone.input(InputCommand::HideKeyboard).await;
    write(phone, "a").await;
    assert_eq!(phone.variable("email"), "anna", "the field kept the focus");
}

pub async fn keys_do_what_they_do_on_a_phone<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    phone.fill("email", "anna").await;
    press(phone, Key::Backspace).await;
    assert_eq!(phone.variable("email"), "ann");
    press(phone, P::NEXT_FIELD).await;
    write(phone, "secret").await;
    assert_eq!(phone.variable("password"), "secret", "it leads on");
    if P::HIDES_KEYBOARD {
        press(phone, Key::Back).await;
        assert!(!phone.world(|world| world.keyboard_shown()), "hidden");
    } else {
        press(phone, Key::Escape).await;
    }
    press(phone, Key::VolumeUp).await;
    press(phone, Key::VolumeDown).await;
    press(phone, Key::Home).await;
    assert_eq!(phone.front().await, P::HOME);
}

pub async fn swipes_and_drags_scroll_what_is_under_them<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    open_products(phone).await;
    let first = phone.center("Cappuccino 2").await;
    let at = |y: f64| Point::new(P::UPRIGHT.width * 0.46, P::UPRIGHT.height * y);
    let (from, to) = (at(0.75), at(0.7));
    let duration = Duration::from_millis(300);
    phone
        .input(InputCommand::Swipe { from, to, duration })
        .await;
    assert_ne!(phone.center("Cappuccino 2").await, first);
    let (from, to) = (to, at(0.9));
    phone.input(InputCommand::Drag { from, to, duration }).await;
    assert_eq!(phone.center("Cappuccino 2").await, first);
}

pub async fn a_pinch_zooms_by_its_scale_or_is_refused_with_the_way_out<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    open_products(phone).await;
    phone.tap("Cappuccino 2").await;
    let Point { x, y } = phone.center("picture").await;
    let fingers = |reach: f64| {
        let reach = reach * P::UPRIGHT.width / 1080.0;
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
    if phone.has_agent() {
        for (from, to, ms, expected) in [
            (61.0, 244.0, 400, 4.0),
            (300.0, 150.0, 300, 2.0),
            // Slower than one pixel a step.
            (100.0, 150.0, 900, 3.0),
        ] {
            phone.input(pinch(from, to, ms)).await;
            let zoom: f64 = phone.variable("zoom").parse().unwrap();
            assert!((zoom / expected - 1.0).abs() < P::ZOOM_ERROR, "{zoom}");
        }
    } else {
        refused(phone, pinch(60.0, 240.0, 400)).await;
        assert_eq!(phone.variable("zoom"), "1", "nothing was touched");
    }
    let error = phone.err(Command::Input(pinch(1.0, f64::NAN, 400))).await;
    assert!(matches!(error, DriverError::Invalid(_)), "{error}");
}

pub async fn a_press_is_held_as_long_as_told(phone: &mut impl Phone) {
    phone.open_shop().await;
    // Only a press that was held counts as one.
    phone.inject("{ match: { touch: ^long_press email$ }, do: { dialog: { text: Held } } }");
    let at = phone.center("email").await;
    phone.input(InputCommand::Tap { at }).await;
    assert!(phone.world(|world| world.dialog()).is_none());
    let hold = Duration::from_millis(900);
    phone.input(InputCommand::LongPress { at, hold }).await;
    assert_eq!(phone.world(|world| world.dialog()).unwrap().text, "Held");
}

pub async fn a_place_that_is_none_is_the_callers_mistake(phone: &mut impl Phone) {
    for at in [Point::new(f64::NAN, 0.0), Point::new(5.0, 1e9)] {
        let error = phone.err(Command::Input(InputCommand::Tap { at })).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    }
}

pub async fn what_was_copied_is_pasted(phone: &mut impl Phone) {
    phone.open_shop().await;
    let copy = InputCommand::SetClipboard("grüße".to_owned());
    if phone.has_agent() {
        phone.input(copy).await;
        assert_eq!(phone.world(|world| world.clipboard().to_owned()), "grüße");
    } else {
        refused(phone, copy).await;
        phone.world(|world| world.set_clipboard("grüße"));
    }
    phone.tap("email").await;
    phone.input(InputCommand::Paste).await;
    assert_eq!(phone.variable("email"), "grüße");
    phone.world(|world| world.set_clipboard("copied in the app"));
    phone.input(InputCommand::Erase(None)).await;
    phone.input(InputCommand::Paste).await;
    assert_eq!(phone.variable("email"), "copied in the app");
}

pub async fn hiding_a_keyboard_that_is_not_up_does_nothing(phone: &mut impl Phone) {
    phone.open_shop().await;
    let hide = Command::Input(InputCommand::HideKeyboard);
    assert_eq!(phone.notes(hide).await, [""; 0]);
    assert!(phone.shows("sign_in").await);
}

pub async fn a_phone_whose_screen_is_off_is_woken_when_a_session_begins<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    press(phone, Key::Lock).await;
    assert_eq!(phone.world(|world| world.display()), Display::Off);
    phone.begin().await;
    assert_eq!(phone.world(|world| world.display()), Display::On);
    assert_eq!(phone.front().await, P::HOME);
    let state = phone.world(|world| world.app_state(&SHOP.into()));
    assert_eq!(state, AppState::Background);
}
