//! Every fault a virtual Android has: the test that meets it with the driver. A new fault does not
//! compile before it is said here where it is met.
use packtrain_virtual::faults::Fault;

use packtrain_testing::{Coverage, names_tests_that_exist};

fn coverage(fault: &Fault) -> Coverage {
    match fault {
        Fault::Delay(_) => Coverage::By(
            "../../../testing/promises/contract::a_deadline_ends_in_a_timeout_and_not_in_a_hang",
        ),
        Fault::Fail(_) => Coverage::By("device::a_command_that_fails_is_told_in_the_phones_words"),
        Fault::Answer { .. } => {
            Coverage::By("device::commands_that_fail_and_say_they_did_not_are_not_believed")
        }
        Fault::Ignore => Coverage::By(
            "../../../testing/promises/axes::a_phone_that_ignores_an_axis_says_what_it_has_instead",
        ),
        Fault::Refuse => Coverage::By("wire::a_phone_that_refuses_every_connection_is_lost"),
        Fault::Reset => Coverage::By("wire::a_phone_that_resets_every_connection_is_lost"),
        Fault::NeverCnxn => Coverage::By("wire::a_phone_that_never_greets_is_offline"),
        Fault::Unauthorized => {
            Coverage::By("wire::a_phone_that_does_not_trust_this_computer_says_where_to_look")
        }
        Fault::AcceptAfter(_) => {
            Coverage::By("wire::a_key_that_the_user_accepts_in_time_is_waited_for")
        }
        Fault::Drop => Coverage::By("effect::a_tap_that_took_effect_is_not_done_twice"),
        Fault::DropAfter { .. } => Coverage::By("wire::an_answer_that_breaks_off_is_no_answer"),
        Fault::HalfOpen => {
            Coverage::By("wire::a_phone_that_takes_nothing_in_is_given_up_at_the_deadline")
        }
        Fault::Slow { .. } => {
            Coverage::By("../../../testing/promises/faults::a_slow_phone_is_only_slow")
        }
        Fault::Flap(_) => Coverage::By(
            "../../../testing/promises/faults::a_phone_whose_link_flaps_is_driven_through_all_of_it",
        ),
        Fault::Reboot(_) => {
            Coverage::By("device::a_phone_that_reboots_within_a_command_is_lost_for_that_command")
        }
        Fault::BootLoop(_) => Coverage::By("device::a_phone_that_boots_for_ever_is_lost"),
        Fault::Serial(_) => Coverage::By(
            "../../../testing/promises/faults::a_serial_that_changes_is_still_the_same_phone",
        ),
        Fault::StorageFull => {
            Coverage::By("device::a_full_phone_says_so_when_files_or_apps_are_put_on_it")
        }
        Fault::ClockSkew(_) | Fault::Battery(_) => Coverage::By(
            "../../../testing/promises/faults::a_low_battery_and_a_wrong_clock_stop_nobody",
        ),
        Fault::NotIdle => {
            Coverage::By("screen::a_screen_that_never_rests_names_the_agent_that_does_not_mind")
        }
        Fault::NullRoot | Fault::EmptyTree | Fault::Truncate(_) => {
            Coverage::By("screen::trees_that_are_empty_or_break_off_are_read_again")
        }
        Fault::Stale(_) => {
            Coverage::By("../../../testing/promises/faults::a_tree_that_is_told_late_is_waited_out")
        }
        Fault::Dialog { .. } => Coverage::By(
            "../../../testing/promises/apps::an_alert_is_answered_by_consent_or_by_name",
        ),
        Fault::Keyboard => Coverage::By("screen::a_keyboard_that_came_up_unasked_is_sent_away"),
        Fault::Crash => Coverage::By("screen::an_app_that_crashes_shows_a_dialog_and_is_told"),
        Fault::Anr => Coverage::By("screen::an_app_that_hangs_shows_a_dialog_and_is_told"),
        Fault::IgnoreLaunch => Coverage::By(
            "../../../testing/promises/apps::an_app_that_does_not_start_is_a_failed_step",
        ),
        Fault::Swallow => Coverage::By(
            "../../../testing/promises/faults::a_touch_without_effect_shows_in_what_is_seen_next",
        ),
        Fault::NoFocus(_) => Coverage::By(
            "screen::a_launch_is_recognised_though_no_window_has_the_focus_for_a_while",
        ),
        Fault::AgentDies => {
            Coverage::By("agent::an_agent_that_dies_while_reading_is_started_again")
        }
        Fault::PortBusy => Coverage::By("agent::ports_that_are_all_taken_are_told"),
        Fault::UiAutomationTaken => {
            Coverage::By("agent::another_client_that_has_the_automation_is_named")
        }
        Fault::NoAnswer => Coverage::By(
            "agent::an_agent_that_does_not_answer_is_given_up_and_the_next_call_finds_another",
        ),
        Fault::Garbage
        | Fault::StaleElement
        | Fault::SessionKilled
        | Fault::WdaCrash(_)
        | Fault::Detach(_)
        | Fault::PasswordProtected
        | Fault::InvalidHostId => Coverage::NotHere,
    }
}

#[test]
fn every_fault_is_met_by_a_test_that_exists() {
    assert_eq!(coverage(&Fault::Garbage), Coverage::NotHere);
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults");
    names_tests_that_exist(include_str!("every.rs"), tests.as_ref());
}
