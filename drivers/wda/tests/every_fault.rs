//! Every fault a virtual iPhone has: a test that meets it with the driver, and what the reader is
//! told. A new fault does not compile before it is said here where it is met.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, CommandContext, DriverError, Fault as Blame, InputCommand, LaunchMode,
    SessionOptions,
};
use packtrain_testing::{
    Coverage, NO_FAULTS, SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _, names_tests_that_exist,
};
use packtrain_virtual::faults::Fault;

use super::lab::{Device, Way, both_ways};

const SOURCE: &str = "match: { route: 'GET .*/source' }";

fn coverage(fault: &Fault) -> Coverage {
    match fault {
        Fault::Delay(_) => Coverage::By("faults::a_slow_phone_is_waited_for"),
        Fault::Fail(_) => Coverage::By("faults::a_refusal_is_told_in_webdriveragents_words"),
        Fault::Ignore => {
            Coverage::By("axes::a_phone_that_ignores_an_axis_says_what_it_has_instead")
        }
        Fault::Refuse | Fault::Reset => {
            Coverage::By("every_fault::connections_that_end_at_once_are_told")
        }
        Fault::Drop => {
            Coverage::By("every_fault::a_question_whose_connection_is_cut_is_asked_again")
        }
        Fault::DropAfter { .. } => {
            Coverage::By("faults::a_tap_whose_answer_is_lost_is_not_repeated")
        }
        Fault::Slow { .. } => {
            Coverage::By("every_fault::a_slow_wire_is_waited_for_up_to_the_deadline")
        }
        Fault::Flap(_) => Coverage::By("every_fault::a_flapping_wire_is_driven_on"),
        Fault::Reboot(_) | Fault::BootLoop(_) => {
            Coverage::By("faults::a_phone_that_restarts_is_lost")
        }
        Fault::Serial(_) => {
            Coverage::By("every_fault::an_iphones_udid_stays_whatever_happens_to_its_serial")
        }
        Fault::ClockSkew(_) | Fault::Battery(_) => {
            Coverage::By("every_fault::clock_and_battery_do_not_matter")
        }
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
            Coverage::By("every_fault::what_was_on_the_screen_before_gives_way_to_what_is")
        }
        Fault::Dialog { .. } => Coverage::By("every_fault::a_dialog_out_of_nowhere_is_reported"),
        Fault::Keyboard => Coverage::By("every_fault::a_keyboard_out_of_nowhere_is_seen"),
        Fault::Crash => Coverage::By("every_fault::an_app_that_crashes_under_a_touch_is_reported"),
        Fault::Anr => {
            Coverage::By("every_fault::an_app_that_hangs_takes_no_touch_and_costs_no_device")
        }
        Fault::IgnoreLaunch => Coverage::By("apps::an_app_that_does_not_start_is_a_failed_step"),
        Fault::Swallow => {
            Coverage::By("every_fault::a_touch_without_effect_is_no_error_of_the_device")
        }
        Fault::AgentDies => {
            Coverage::By("restart::a_tap_in_which_it_crashed_is_not_repeated_after_the_start")
        }
        Fault::NoAnswer => Coverage::By("faults::a_command_without_an_answer_ends_at_its_deadline"),
        Fault::Garbage => Coverage::By("faults::rubbish_without_end_is_not_webdriveragent"),
        Fault::StaleElement => Coverage::By("faults::an_element_that_went_stale_is_found_again"),
        Fault::SessionKilled => Coverage::By("faults::a_session_another_client_took_is_made_anew"),
        Fault::WdaCrash(_) => {
            Coverage::By("faults::a_crash_in_the_middle_of_a_command_is_noticed_at_once")
        }
        Fault::Detach(_) => {
            Coverage::By("faults::a_cable_pulled_in_the_middle_of_a_command_is_noticed_at_once")
        }
        Fault::PasswordProtected | Fault::InvalidHostId => {
            Coverage::By("every_fault::a_phone_that_trusts_nobody_says_what_to_do_on_it")
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

#[track_caller]
fn lost(error: &DriverError) -> (&str, &str) {
    assert_eq!(error.fault(), Blame::Device, "{error:?}");
    match error {
        DriverError::Lost { cause, hint } => (cause, hint.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_fault_is_met_by_a_test_that_exists() {
    assert_eq!(coverage(&Fault::PortBusy), Coverage::NotHere);
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    names_tests_that_exist(include_str!("every_fault.rs"), tests.as_ref());
}

#[tokio::test]
async fn connections_that_end_at_once_are_told() {
    for fault in ["refuse", "reset"] {
        both_ways(NO_FAULTS, async |device| {
            device.open_shop().await;
            device.inject(&format!("{{ {SOURCE}, do: {fault} }}"));
            let error = device.err(SNAPSHOT).await;
            let (cause, hint) = lost(&error);
            assert!(cause.starts_with("read the screen: "), "{cause}");
            assert!(hint.contains("start it again"), "{hint}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_question_whose_connection_is_cut_is_asked_again() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject(&format!("{{ {SOURCE}, when: {{ times: 1 }}, do: drop }}"));
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_slow_wire_is_waited_for_up_to_the_deadline() {
    let slow = "rules: [{ match: { connect: wda }, do: { slow: { bytes_per_second: 40000 } } }]";
    both_ways(slow, async |device| {
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
        let ctx = CommandContext::within(Duration::from_millis(30));
        let error = device.execute_in(SNAPSHOT, &ctx).await.unwrap_err();
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        assert!(device.shows("sign_in").await, "it is driven on");
    })
    .await;
}

#[tokio::test]
async fn a_flapping_wire_is_driven_on() {
    let flaps = "rules: [{ match: { connect: wda }, do: { flap: 300ms } }]";
    both_ways(flaps, async |device| {
        device.open_shop().await;
        for _ in 0..20 {
            assert!(device.shows("sign_in").await);
        }
    })
    .await;
}

#[tokio::test]
async fn an_iphones_udid_stays_whatever_happens_to_its_serial() {
    let mut device = Device::connect(Way::Cable, NO_FAULTS).await;
    device.open_shop().await;
    let serial = "{ serial: 00008110-000000000000BEEF }";
    device.inject(&format!(
        "{{ {SOURCE}, when: {{ times: 1 }}, do: {serial} }}"
    ));
    assert!(device.shows("sign_in").await);
    device.end().await;
}

#[tokio::test]
async fn clock_and_battery_do_not_matter() {
    let odd = "rules: [{ match: { connect: wda }, do: { clock_skew: -86400000 } }, \
               { match: { connect: wda }, do: { battery: 1 } }]";
    both_ways(odd, async |device| {
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
        assert_eq!(device.events(), []);
    })
    .await;
}

#[tokio::test]
async fn an_app_that_never_rests_is_read_all_the_same() {
    both_ways(
        "rules: [{ match: { tree: wda }, do: not_idle }]",
        async |device| {
            device.open_shop().await;
            device.fill("email", "ann").await;
            assert_eq!(device.variable("email"), "ann");
        },
    )
    .await;
}

#[tokio::test]
async fn a_screen_without_elements_is_shown_as_it_is() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { tree: wda }, when: { times: 1 }, do: empty_tree }");
        assert_eq!(
            device.snapshot().await.tree.len(),
            1,
            "the app and nothing in it"
        );
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn what_was_on_the_screen_before_gives_way_to_what_is() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { tree: wda }, do: { stale: 1 } }");
        device.tap("email").await;
        assert!(device.world(|world| world.keyboard_shown()));
        let stale = device.snapshot().await;
        assert!(!stale.text.contains("(keyboard, "), "that was before");
        let after = device
            .change_since(stale.mark, packtrain_testing::TEST_TIMEOUT)
            .await;
        assert!(
            after.unwrap().text.contains("(keyboard, "),
            "the keyboard is up"
        );
    })
    .await;
}

#[tokio::test]
async fn a_dialog_out_of_nowhere_is_reported() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject(&format!(
            "{{ {SOURCE}, when: {{ times: 1 }}, do: {{ dialog: {{ title: Storage Almost Full, \
             text: Manage it in Settings., buttons: [Done] }} }} }}"
        ));
        device.snapshot().await;
        device.snapshot().await;
        let told = format!("{:?}", device.events());
        assert!(told.contains("Storage Almost Full"), "{told}");
        device
            .app(AppCommand::AnswerAlert {
                accept: true,
                button: None,
            })
            .await;
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_keyboard_out_of_nowhere_is_seen() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject(&format!(
            "{{ {SOURCE}, when: {{ times: 1 }}, do: keyboard }}"
        ));
        device.snapshot().await;
        assert!(device.shows("return").await);
    })
    .await;
}

#[tokio::test]
async fn an_app_that_crashes_under_a_touch_is_reported() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("sign_in").await;
        device.inject("{ match: { touch: tap }, when: { times: 1 }, do: crash }");
        device.input(InputCommand::Tap { at }).await;
        assert!(!device.shows("sign_in").await);
        let told = format!("{:?}", device.events());
        assert!(told.contains("Crashed") && told.contains(SHOP), "{told}");
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn an_app_that_hangs_takes_no_touch_and_costs_no_device() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("sign_in").await;
        device.inject("{ match: { touch: tap }, when: { times: 1 }, do: anr }");
        let tap = Command::Input(InputCommand::Tap { at });
        let answer = device
            .execute_in(tap, &CommandContext::within(Duration::from_secs(5)))
            .await;
        assert!(!answer.is_err_and(|error| error.ends_driver()));
        let (id, mode) = (SHOP.to_owned(), LaunchMode::ForceRestart);
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.app(AppCommand::Launch { id, mode }).await;
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_touch_without_effect_is_no_error_of_the_device() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("sign_in").await;
        device.inject("{ match: { touch: tap }, when: { times: 1 }, do: swallow }");
        device.input(InputCommand::Tap { at }).await;
        assert_eq!(device.variable("error"), "");
        device.input(InputCommand::Tap { at }).await;
        assert_eq!(device.variable("error"), "Enter your email");
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_trusts_nobody_says_what_to_do_on_it() {
    for (fault, told, todo) in [
        (
            "password_protected",
            "PasswordProtected",
            "unlock the device",
        ),
        ("invalid_host_id", "InvalidHostID", "tap Trust"),
    ] {
        let mut device = Device::connect(Way::Cable, NO_FAULTS).await;
        device.open_shop().await;
        device.inject(&format!(
            "{{ match: {{ connect: lockdown }}, do: {fault} }}"
        ));
        let error = device
            .err(Command::App(AppCommand::List { system: false }))
            .await;
        let (message, rest) = (error.to_string(), format!("{error:?}"));
        assert!(message.contains(told), "{message}");
        assert!(rest.contains(todo), "{rest}");
        assert!(device.shows("sign_in").await, "the screen needs no pairing");
        device.end().await;
    }
}
