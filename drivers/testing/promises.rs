//! What drivers promise, written once. `contract` holds for every driver on every way to a device;
//! the rest for every phone, whatever its platform and wire. What one wire alone can do or suffer
//! is tested beside it.
//!
//! A promise is a function of a device. A crate that has a device of that kind makes tests of all of
//! them: `packtrain_testing::contract!(way)` or `packtrain_testing::phone_promises!(way)`, where
//! `way` tells such a story with a device that it connects and ends.

pub mod apps;
pub mod axes;
pub mod contract;
pub mod faults;
pub mod input;
pub mod screen;

use std::path::PathBuf;

use packtrain_drivers::{
    AppCommand, Command, InputCommand, Key, LaunchMode, Observation, Size, Snapshot, SnapshotDetail,
};
use tokio::time::Instant;

use crate::{SHOP, TEST_TIMEOUT, TestDevice, VirtualPhone};

/// Makes a test of each story on each of these ways to a device. A story is a function of a device;
/// a way tells it with one that it connects and ends.
///
/// `told! { by_address: Way::Address, by_cable: Way::Cable => text_is_erased keys_work }`
#[macro_export]
macro_rules! told {
    (@each $ways:tt $($story:ident)*) => { $(
        $crate::told! { @one $story $ways }
    )* };
    (@one $story:ident { $($name:ident: $way:expr),+ }) => {
        mod $story {
            use super::*;

            $(
                #[test]
                fn $name() {
                    $way.told(super::$story);
                }
            )+
        }
    };
    ($($name:ident: $way:expr),+ => $($story:ident)*) => {
        $crate::told! { @each { $($name: $way),+ } $($story)* }
    };
}

/// Makes a test of what every driver promises, on each of these ways to a device.
#[macro_export]
macro_rules! contract {
    ($($ways:tt)*) => {
        mod contract {
            use super::*;
            use $crate::promises::contract::*;

            $crate::told! { $($ways)* =>
                it_opens_a_session_and_says_what_it_is
                it_reads_the_screen_as_a_tree_with_bounds_in_the_units_it_declared
                it_takes_a_png_of_the_size_it_declared
                a_tap_changes_the_screen_and_the_change_is_noticed
                each_caller_compares_with_the_snapshot_it_had
                the_mark_is_the_screens_however_it_is_read
                typed_text_appears
                a_command_it_cannot_carry_out_is_refused_clearly
                a_deadline_ends_in_a_timeout_and_not_in_a_hang
                cancelling_frees_the_device_at_once
                ending_and_closing_again_and_again_does_no_harm
                closing_leaves_nothing_running
                a_device_that_died_says_so
            }
        }
    };
}

/// Makes a test of what every driver of a phone promises, on each of these ways to one.
#[macro_export]
macro_rules! phone_promises {
    ($($ways:tt)*) => {
        $crate::contract! { $($ways)* }

        mod apps {
            use super::*;
            use $crate::promises::apps::*;

            $crate::told! { $($ways)* =>
                a_session_begins_on_the_home_screen
                launch_modes_differ_in_what_they_keep
                a_stopped_app_is_not_taken_for_a_crashed_one
                an_app_that_is_not_there_is_named
                an_app_that_does_not_start_is_a_failed_step
                an_address_opens_the_app_that_claims_it
                a_session_that_is_confined_opens_pages_and_what_is_declared
                an_alert_is_answered_by_consent_or_by_name
                a_permission_that_is_asked_for_can_be_refused
                a_permission_that_was_granted_stops_nobody
            }
        }

        mod axes {
            use super::*;
            use $crate::promises::axes::*;

            $crate::told! { $($ways)* =>
                what_was_there_is_written_down_before_it_is_changed_and_put_back_at_the_end
                a_phone_that_ignores_an_axis_says_what_it_has_instead
                what_a_killed_program_left_changed_is_put_back_by_whoever_connects_next
                a_phone_that_refuses_to_be_restored_is_out_of_service_until_it_does
                what_cannot_be_applied_is_missing_from_the_answer_and_told
                a_session_that_is_begun_while_another_runs_finds_nothing_of_it
                a_screen_is_observed_once_it_is_still_with_bounds_and_picture
            }
        }

        mod faults {
            use super::*;
            use $crate::promises::faults::*;

            $crate::told! { $($ways)* =>
                reading_is_repeated_when_the_connection_drops_within_it
                a_slow_phone_is_only_slow
                a_phone_whose_link_flaps_is_driven_through_all_of_it
                a_low_battery_and_a_wrong_clock_stop_nobody
                a_serial_that_changes_is_still_the_same_phone
                a_tree_that_is_told_late_is_waited_out
                a_touch_without_effect_shows_in_what_is_seen_next
            }
        }

        mod input {
            use super::*;
            use $crate::promises::input::*;

            $crate::told! { $($ways)* =>
                typing_and_tapping_leads_to_the_next_screen
                any_text_arrives_as_it_is_or_is_refused_with_the_way_out
                a_password_takes_any_text_too
                text_is_erased_in_part_or_as_a_whole
                text_that_nobody_takes_is_a_failed_step
                keys_do_what_they_do_on_a_phone
                swipes_and_drags_scroll_what_is_under_them
                a_pinch_zooms_by_its_scale_or_is_refused_with_the_way_out
                a_press_is_held_as_long_as_told
                a_place_that_is_none_is_the_callers_mistake
                what_was_copied_is_pasted
                hiding_a_keyboard_that_is_not_up_does_nothing
                a_phone_whose_screen_is_off_is_woken_when_a_session_begins
            }
        }

        mod screen {
            use super::*;
            use $crate::promises::screen::*;

            $crate::told! { $($ways)* =>
                a_turned_device_has_a_wide_screen_and_stands_again_when_the_session_ends
            }
        }
    };
}

/// A device in a driver's hand that has the example shop, and what a test can do to it behind the
/// driver's back.
#[expect(async_fn_in_trait, reason = "tests need no `Send`")]
pub trait Bench: TestDevice {
    /// Opens the shop as somebody sees it who is not signed in.
    fn open(&self) -> Command {
        Command::App(AppCommand::Launch {
            id: SHOP.to_owned(),
            mode: LaunchMode::ForceRestart,
        })
    }

    /// Sees to it that a command hangs, and says which.
    fn hang(&self) -> Command;

    /// Nothing hangs any more.
    fn heal(&self);

    /// The device dies.
    async fn kill(&mut self);

    /// Whether something runs for a driver between its commands.
    fn keeps_something_running(&self) -> bool {
        true
    }

    /// What runs for a driver now, whether or not one is connected.
    async fn running(&mut self) -> Vec<String>;

    /// The screen with the bounds of what is on it.
    async fn in_detail(&mut self) -> Box<Snapshot> {
        let detail = SnapshotDetail {
            bounds: true,
            ..SnapshotDetail::default()
        };
        match self.ok(Command::Snapshot(detail)).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    /// Begins a session and opens the shop.
    async fn shop(&mut self) {
        self.begin().await;
        let open = self.open();
        self.ok(open).await;
        self.showing("Sign in").await;
    }

    /// Waits until a text is on the screen.
    async fn showing(&mut self, text: &str) -> Box<Snapshot> {
        let end = Instant::now() + TEST_TIMEOUT;
        loop {
            let snapshot = self.in_detail().await;
            if snapshot.text.contains(text) {
                return snapshot;
            }
            let limit = end.saturating_duration_since(Instant::now());
            assert!(!limit.is_zero(), "no {text:?} in\n{}", snapshot.text);
            self.change_since(snapshot.mark, limit).await;
        }
    }
}

/// A virtual phone in a driver's hand, and what its platform and its wire have their own words for.
#[expect(async_fn_in_trait, reason = "tests need no `Send`")]
pub trait Phone: Bench + VirtualPhone {
    /// The screen of a phone that stands, as the driver counts.
    const UPRIGHT: Size;
    /// How many pixels that is one of.
    const SCALE: f64;
    /// How far from what was asked for a pinch may zoom.
    const ZOOM_ERROR: f64;
    /// The app that shows the home screen.
    const HOME: &str;
    /// What it says it does when it types.
    const TYPING: &str;
    /// The key that leads to the next field.
    const NEXT_FIELD: Key;
    /// Whether an app's keyboard can be hidden.
    const HIDES_KEYBOARD: bool;
    /// The permission to show notifications.
    const NOTIFICATIONS: &str;
    /// What is said of com.example.none when it is to be launched.
    const NOT_INSTALLED: &str;
    /// How it begins what it says of a shop that does not start.
    const NOT_STARTED: &str;
    /// An axis that is not the colour scheme, and a value of it.
    const ANOTHER_AXIS: (&str, &str);
    /// What the phone has of it by itself.
    const ANOTHER_WAS: &str;
    /// A rule's words for that being set.
    const SETS_ANOTHER: &str;
    /// A rule's words for the dark colour scheme being set.
    const SETS_DARK: &str;
    /// A rule's words for the light one being set.
    const SETS_LIGHT: &str;
    /// How the light one is described for setting it by hand.
    const WAS_LIGHT: &str;
    /// What has no axis `contrast`.
    const NO_CONTRAST: &str;
    /// A rule's words for a screenshot being taken.
    const TAKES_PICTURE: &str;

    /// A rule's words for the screen being read.
    fn reading(&self) -> &'static str;

    /// A rule's words for a tree being told.
    fn tree(&self) -> &'static str;

    /// Whether the phone has the value of [`Self::ANOTHER_AXIS`].
    fn has_another(&self) -> bool;

    /// Whether what drives it can type, copy and pinch; or else refuses and tells the way out.
    fn has_agent(&self) -> bool {
        true
    }

    /// Where it is written down what settings were.
    fn restore(&self) -> PathBuf;

    /// Signs in; the shop asks for a permission then.
    async fn sign_in(&mut self) {
        self.open_shop().await;
        self.fill("email", "ann@example.com").await;
        self.fill("password", "secret").await;
        if Self::HIDES_KEYBOARD {
            self.input(InputCommand::HideKeyboard).await;
        }
        self.tap("sign_in").await;
        self.until(|world| world.dialog().is_some()).await;
    }

    /// The app in front.
    async fn front(&mut self) -> String {
        let front = self.json(Command::App(AppCommand::Foreground)).await;
        front["id"].as_str().unwrap_or_default().to_owned()
    }
}
