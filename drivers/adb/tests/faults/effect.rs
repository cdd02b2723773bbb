//! Actions that nobody confirmed, because the way to the phone broke: they are done once.

use packtrain_drivers::{Command, InputCommand, Point};
use packtrain_testing::promises::Phone as _;
use packtrain_testing::{TestDevice as _, VirtualPhone as _, lost};

use crate::lab::{Agent, Device, Way, all_ways, by_agent};

all_ways! {
    a_tap_that_took_effect_is_not_done_twice
    a_tap_that_the_screen_shows_was_not_done_is_repeated
    a_tap_of_which_nobody_can_tell_is_a_lost_device
    text_is_typed_once
    text_that_the_field_ended_with_before_is_not_taken_for_typed
}

by_agent! {
    a_tap_during_which_the_agent_dies_is_repeated_if_the_screen_shows_that_it_was_not_done
    a_tap_that_was_not_sent_is_sent_again
    a_phone_that_restarts_within_a_tap_is_lost
}

/// The way breaks when a command was asked for, and when it was carried out.
const ASKED: &str = "{ match: { service: 'input ' }, when: { times: 1 }, do: drop }";
const DONE: &str =
    "{ match: { service: 'input ' }, when: { times: 1 }, do: { drop_after: { bytes: 30 } } }";

/// The way breaks when the phone was asked to tap.
const fn tap_asked(agent: Agent) -> &'static str {
    match agent {
        Agent::U2 => "{ match: { route: click }, when: { times: 1 }, do: drop }",
        Agent::Shell => ASKED,
    }
}

/// The way breaks when the phone has done it, and before it can say so.
const fn tap_done(agent: Agent) -> &'static str {
    match agent {
        Agent::U2 => "{ match: { touch: '' }, when: { times: 1 }, do: drop }",
        Agent::Shell => DONE,
    }
}

/// Among the products: the button that puts one into the cart.
async fn add_button(device: &mut Device) -> Point {
    device.sign_in().await;
    device.tap("Don\u{2019}t allow").await;
    device.center("add").await
}

async fn tap(device: &mut Device, at: Point) -> Vec<String> {
    device.notes(Command::Input(InputCommand::Tap { at })).await
}

async fn a_tap_that_took_effect_is_not_done_twice(device: &mut Device) {
    let at = add_button(device).await;
    device.inject(tap_done(device.way.agent));
    let notes = tap(device, at).await;
    let told = ", but it took effect, as the screen shows";
    assert!(notes[0].ends_with(told), "{:?} {notes:?}", device.way);
    assert!(device.shows("Cart (1)").await, "{:?}", device.way);
}

async fn a_tap_that_the_screen_shows_was_not_done_is_repeated(device: &mut Device) {
    let at = add_button(device).await;
    device.inject(tap_asked(device.way.agent));
    let notes = tap(device, at).await;
    assert!(notes[0].ends_with("it was retried"), "{notes:?}");
    assert!(device.shows("Cart (1)").await, "{:?}", device.way);
}

async fn a_tap_during_which_the_agent_dies_is_repeated_if_the_screen_shows_that_it_was_not_done(
    device: &mut Device,
) {
    let at = add_button(device).await;
    device.inject("{ match: { route: click }, when: { times: 1 }, do: agent_dies }");
    let notes = tap(device, at).await;
    assert!(notes[0].ends_with("it was retried"), "{notes:?}");
    assert!(device.shows("Cart (1)").await, "{:?}", device.way);
}

#[tokio::test]
async fn a_tap_that_the_agent_does_not_answer_leaves_time_to_see_what_became_of_it() {
    let mut device = Device::connect(Way::DIRECT_AGENT).await;
    let at = add_button(&mut device).await;
    device.inject("{ match: { route: click }, when: { times: 1 }, do: no_answer }");
    let notes = tap(&mut device, at).await;
    assert!(notes[0].ends_with("it was retried"), "{notes:?}");
    assert!(device.shows("Cart (1)").await);
    device.end().await;
}

async fn a_tap_that_was_not_sent_is_sent_again(device: &mut Device) {
    let at = add_button(device).await;
    // Nobody has looked since the first one, so that nothing could be told from the screen.
    tap(device, at).await;
    device.inject("{ match: { service: 'tcp:9008' }, when: { times: 1 }, do: drop }");
    assert_eq!(tap(device, at).await, [""; 0], "{:?}", device.way);
    assert!(device.shows("Cart (2)").await, "{:?}", device.way);
}

async fn a_tap_of_which_nobody_can_tell_is_a_lost_device(device: &mut Device) {
    let at = add_button(device).await;
    tap(device, at).await;
    device.inject(tap_done(device.way.agent));
    let error = device.err(Command::Input(InputCommand::Tap { at })).await;
    let (_, hint) = lost(&error);
    assert!(hint.contains("may have taken effect"), "{hint}");
}

async fn a_phone_that_restarts_within_a_tap_is_lost(device: &mut Device) {
    let at = add_button(device).await;
    device.inject("{ match: { touch: '' }, when: { times: 1 }, do: { reboot: 100ms } }");
    let error = device.err(Command::Input(InputCommand::Tap { at })).await;
    lost(&error);
}

async fn text_is_typed_once(device: &mut Device) {
    device.open_shop().await;
    device.tap("email").await;
    device.snapshot().await;
    for rule in [DONE, ASKED] {
        device.inject(rule);
        let text = InputCommand::Text("ann".to_owned());
        let notes = device.notes(Command::Input(text)).await;
        assert_eq!(notes.len(), 1, "{:?}", device.way);
    }
    assert_eq!(device.variable("email"), "annann", "{:?}", device.way);
}

async fn text_that_the_field_ended_with_before_is_not_taken_for_typed(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ada").await;
    device.inject(ASKED);
    let text = Command::Input(InputCommand::Text("a".to_owned()));
    // Nobody has looked since the field was filled, so that nobody can tell.
    let error = device.err(text.clone()).await;
    let (_, hint) = lost(&error);
    assert!(hint.contains("may have taken effect"), "{hint}");
    assert_eq!(device.variable("email"), "ada", "{:?}", device.way);
    device.snapshot().await;
    device.inject(ASKED);
    let notes = device.notes(text).await;
    assert!(notes[0].ends_with("it was retried"), "{notes:?}");
    assert_eq!(device.variable("email"), "adaa", "{:?}", device.way);
}
