//! Every fault a virtual iPhone has: a test that meets it with the driver, and what the reader is
//! told. A new fault does not compile before it is said here where it is met.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, CommandContext, DriverError, InputCommand, LaunchMode,
};
use packtrain_testing::{
    Coverage, SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _, lost, names_tests_that_exist,
};
use packtrain_virtual::faults::Fault;

use super::lab::{Device, both_ways, by_cable};

both_ways! {
    a_screen_without_elements_is_shown_as_it_is
    a_keyboard_out_of_nowhere_is_seen
    an_app_that_crashes_under_a_touch_is_reported
    an_app_that_hangs_takes_no_touch_and_costs_no_device
    connections_that_are_refused_are_told
    connections_that_are_reset_are_told
    a_slow_wire_is_waited_for_up_to_the_deadline
    an_app_that_never_rests_is_read_all_the_same
}

by_cable! {
    a_locked_phone_is_to_be_unlocked
    a_phone_that_does_not_trust_this_computer_is_to_be_told_so
}

const SOURCE: &str = "match: { route: 'GET .*/source' }";

fn coverage(fault: &Fault) -> Coverage {
    match fault {
        Fault::Delay(_) => Coverage::By("faults::a_phone_that_takes_its_time_is_waited_for"),
        Fault::Fail(_) => Coverage::By("faults::a_refusal_is_told_in_webdriveragents_words"),
        Fault::Ignore => Coverage::By(
            "../../testing/promises/axes::a_phone_that_ignores_an_axis_says_what_it_has_instead",
        ),
        Fault::Refuse => Coverage::By("every_fault::connections_that_are_refused_are_told"),
        Fault::Reset => Coverage::By("every_fault::connections_that_are_reset_are_told"),
        Fault::Drop => Coverage::By(
            "../../testing/promises/faults::reading_is_repeated_when_the_connection_drops_within_it",
        ),
        Fault::DropAfter { .. } => {
            Coverage::By("faults::a_tap_whose_answer_is_lost_is_not_repeated")
        }
        Fault::Slow { .. } => {
            Coverage::By("every_fault::a_slow_wire_is_waited_for_up_to_the_deadline")
        }
        Fault::Flap(_) => Coverage::By(
            "../../testing/promises/faults::a_phone_whose_link_flaps_is_driven_through_all_of_it",
        ),
        Fault::Reboot(_) => Coverage::By("faults::a_phone_that_restarts_is_lost"),
        Fault::BootLoop(_) => Coverage::By("faults::a_phone_that_boots_for_ever_is_lost"),
        Fault::Serial(_) => Coverage::By(
            "../../testing/promises/faults::a_serial_that_changes_is_still_the_same_phone",
        ),
        Fault::ClockSkew(_) | Fault::Battery(_) => Coverage::By(
            "../../testing/promises/faults::a_low_battery_and_a_wrong_clock_stop_nobody",
        ),
        Fault::NotIdle => Coverage::By("every_fault::an_app_that_never_rests_is_read_all_the_same"),
        Fault::NullRoot => {
            Coverage::By("screen::a_screen_that_cannot_be_read_at_once_is_read_again")
        }
        Fault::EmptyTree => {
            Coverage::By("every_fault::a_screen_without_elements_is_shown_as_it_is")
        }
        // Only a tree in XML can end early by itself; the driver asks for JSON.
        Fault::Truncate(_) => Coverage::NotHere,
        Fault::Stale(_) => {
            Coverage::By("../../testing/promises/faults::a_tree_that_is_told_late_is_waited_out")
        }
        Fault::Dialog { .. } => {
            Coverage::By("alerts::an_alert_over_the_app_is_the_screen_and_is_reported_once")
        }
        Fault::Keyboard => Coverage::By("every_fault::a_keyboard_out_of_nowhere_is_seen"),
        Fault::Crash => Coverage::By("every_fault::an_app_that_crashes_under_a_touch_is_reported"),
        Fault::Anr => {
            Coverage::By("every_fault::an_app_that_hangs_takes_no_touch_and_costs_no_device")
        }
        Fault::IgnoreLaunch => {
            Coverage::By("../../testing/promises/apps::an_app_that_does_not_start_is_a_failed_step")
        }
        Fault::Swallow => Coverage::By(
            "../../testing/promises/faults::a_touch_without_effect_shows_in_what_is_seen_next",
        ),
        Fault::AgentDies => {
            Coverage::By("restart::a_tap_in_which_it_crashed_is_not_repeated_after_the_start")
        }
        Fault::NoAnswer => Coverage::By(
            "../../testing/promises/contract::a_deadline_ends_in_a_timeout_and_not_in_a_hang",
        ),
        Fault::Garbage => Coverage::By("faults::rubbish_without_end_is_not_webdriveragent"),
        Fault::StaleElement => Coverage::By("faults::an_element_that_went_stale_is_found_again"),
        Fault::SessionKilled => Coverage::By("faults::a_session_another_client_took_is_made_anew"),
        Fault::WdaCrash(_) => {
            Coverage::By("faults::a_crash_in_the_middle_of_a_tap_is_noticed_at_once")
        }
        Fault::Detach(_) => {
            Coverage::By("faults::a_cable_pulled_in_the_middle_of_a_command_is_noticed_at_once")
        }
        Fault::PasswordProtected => Coverage::By("every_fault::a_locked_phone_is_to_be_unlocked"),
        Fault::InvalidHostId => {
            Coverage::By("every_fault::a_phone_that_does_not_trust_this_computer_is_to_be_told_so")
        }
        Fault::Answer { .. }
        | Fault::NeverCnxn
        | Fault::Unauthorized
        | Fault::AcceptAfter(_)
        | Fault::HalfOpen
        | Fault::StorageFull
        | Fault::NoFocus(_)
        | Fault::PortBusy
        | Fault::UiAutomationTaken => Coverage::NotHere,
    }
}

#[test]
fn every_fault_is_met_by_a_test_that_exists() {
    assert_eq!(coverage(&Fault::PortBusy), Coverage::NotHere);
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    names_tests_that_exist(include_str!("every_fault.rs"), tests.as_ref());
}

async fn ends_at_once(device: &mut Device, fault: &str) {
    device.open_shop().await;
    device.inject(&format!("{{ {SOURCE}, do: {fault} }}"));
    let error = device.err(SNAPSHOT).await;
    let (cause, hint) = lost(&error);
    assert!(cause.starts_with("read the screen: "), "{cause}");
    assert!(hint.contains("start it again"), "{hint}");
}

async fn connections_that_are_refused_are_told(device: &mut Device) {
    ends_at_once(device, "refuse").await;
}

async fn connections_that_are_reset_are_told(device: &mut Device) {
    ends_at_once(device, "reset").await;
}

async fn a_slow_wire_is_waited_for_up_to_the_deadline(device: &mut Device) {
    device.inject("{ match: { connect: wda }, do: { slow: { bytes_per_second: 40000 } } }");
    device.phone().device().cut();
    device.open_shop().await;
    assert!(device.shows("sign_in").await);
    let error = device.err_within(Duration::from_millis(30), SNAPSHOT).await;
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert!(device.shows("sign_in").await, "it is driven on");
}

async fn an_app_that_never_rests_is_read_all_the_same(device: &mut Device) {
    device.inject("{ match: { tree: wda }, do: not_idle }");
    device.open_shop().await;
    device.fill("email", "ann").await;
    assert_eq!(device.variable("email"), "ann");
}

async fn a_screen_without_elements_is_shown_as_it_is(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { tree: wda }, when: { times: 1 }, do: empty_tree }");
    assert_eq!(
        device.snapshot().await.tree.len(),
        1,
        "the app and nothing in it"
    );
    assert!(device.shows("sign_in").await);
}

async fn a_keyboard_out_of_nowhere_is_seen(device: &mut Device) {
    device.open_shop().await;
    device.inject(&format!(
        "{{ {SOURCE}, when: {{ times: 1 }}, do: keyboard }}"
    ));
    device.snapshot().await;
    assert!(device.shows("return").await);
}

async fn an_app_that_crashes_under_a_touch_is_reported(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { touch: tap }, when: { times: 1 }, do: crash }");
    device.input(InputCommand::Tap { at }).await;
    assert!(!device.shows("sign_in").await);
    let told = format!("{:?}", device.events());
    assert!(told.contains("Crashed") && told.contains(SHOP), "{told}");
    device.open_shop().await;
    assert!(device.shows("sign_in").await);
}

async fn an_app_that_hangs_takes_no_touch_and_costs_no_device(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { touch: tap }, when: { times: 1 }, do: anr }");
    let tap = Command::Input(InputCommand::Tap { at });
    let answer = device
        .execute_in(tap, &CommandContext::within(Duration::from_secs(5)))
        .await;
    assert!(!answer.is_err_and(|error| error.ends_driver()));
    let (id, mode) = (SHOP.to_owned(), LaunchMode::ForceRestart);
    device.begin().await;
    device.app(AppCommand::Launch { id, mode }).await;
    assert!(device.shows("sign_in").await);
}

/// What is told of a phone whose lockdown is so, and what is to be done about it.
async fn untrusting(device: &mut Device, fault: &str, told: &str, todo: &str) {
    device.open_shop().await;
    device.inject(&format!(
        "{{ match: {{ connect: lockdown }}, do: {fault} }}"
    ));
    let list = Command::App(AppCommand::List { system: false });
    let error = device.err(list).await;
    let refused = "list apps: the device refuses StartSession: ";
    assert_eq!(error.to_string(), format!("{refused}{told}"));
    assert!(error.log()[0].contains(todo), "{:?}", error.log());
    assert!(device.shows("sign_in").await, "the screen needs no pairing");
}

async fn a_locked_phone_is_to_be_unlocked(device: &mut Device) {
    untrusting(
        device,
        "password_protected",
        "PasswordProtected",
        "unlock the device",
    )
    .await;
}

async fn a_phone_that_does_not_trust_this_computer_is_to_be_told_so(device: &mut Device) {
    untrusting(device, "invalid_host_id", "InvalidHostID", "tap Trust").await;
}
