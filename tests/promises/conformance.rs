//! One set of promises for every driver on every way to a device. What the contract in `drivers`
//! says must hold for all of them; what a wire can do beyond it is tested beside that wire.
//!
//! A new driver, or a new way to a device, is one line of the table below and a rig for it in
//! `conformance/rigs.rs`.

mod phones;
mod promises;
mod rig;
mod web;

use self::rig::keeps;

macro_rules! conform {
    ($($way:ident: $rig:expr;)*) => { $(
        mod $way {
            use super::*;

            promised! { $rig;
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
    )* };
}

macro_rules! promised {
    ($rig:expr; $($promise:ident)*) => { $(
        #[test]
        fn $promise() {
            keeps($rig, promises::$promise);
        }
    )* };
}

conform! {
    chromium: web::chromium();
    android_over_a_server_by_agent: phones::android(phones::Wire::Server, phones::Agent::U2);
    android_over_a_server_by_shell: phones::android(phones::Wire::Server, phones::Agent::Shell);
    android_directly_by_agent: phones::android(phones::Wire::Direct, phones::Agent::U2);
    android_directly_by_shell: phones::android(phones::Wire::Direct, phones::Agent::Shell);
    iphone_by_address: phones::iphone(phones::Cable::Address);
    iphone_by_cable: phones::iphone(phones::Cable::Usbmuxd);
}
