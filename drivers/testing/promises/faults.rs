//! What goes wrong on a phone and on the way to it, and is driven through.

use std::time::Duration;

use packtrain_drivers::InputCommand;

use super::Phone;
use crate::TEST_TIMEOUT;

/// From now on connections are like that; those that there are end.
fn connections(phone: &impl Phone, fault: &str) {
    phone.inject(&format!("{{ match: {{ connect: '' }}, {fault} }}"));
    phone.device().cut();
}

pub async fn reading_is_repeated_when_the_connection_drops_within_it(phone: &mut impl Phone) {
    phone.open_shop().await;
    let reading = phone.reading();
    phone.inject(&format!(
        "{{ match: {{ {reading} }}, when: {{ times: 1 }}, do: drop }}"
    ));
    assert!(phone.shows("sign_in").await);
}

pub async fn a_slow_phone_is_only_slow(phone: &mut impl Phone) {
    connections(phone, "do: { slow: { bytes_per_second: 40000 } }");
    phone.disconnect().await;
    phone.reconnect().await.unwrap();
    phone.begin().await;
    phone.snapshot().await;
    phone.open_shop().await;
    assert!(phone.shows("sign_in").await);
}

pub async fn a_phone_whose_link_flaps_is_driven_through_all_of_it(phone: &mut impl Phone) {
    phone.open_shop().await;
    connections(phone, "when: { times: 5 }, do: { flap: 300ms }");
    for _ in 0..20 {
        assert!(phone.shows("sign_in").await);
    }
}

pub async fn a_low_battery_and_a_wrong_clock_stop_nobody(phone: &mut impl Phone) {
    phone.open_shop().await;
    phone.inject("{ match: { touch: tap email }, do: { battery: 1 } }");
    phone.inject("{ match: { touch: tap email }, do: { clock_skew: -864000000 } }");
    phone.tap("email").await;
    phone.disconnect().await;
    phone.reconnect().await.unwrap();
    phone.begin().await;
    phone.open_shop().await;
    assert!(phone.shows("sign_in").await);
    assert_eq!(phone.events(), []);
}

pub async fn a_serial_that_changes_is_still_the_same_phone(phone: &mut impl Phone) {
    phone.open_shop().await;
    let reading = phone.reading();
    phone.inject(&format!(
        "{{ match: {{ {reading} }}, when: {{ times: 1 }}, do: {{ serial: OTHER }} }}"
    ));
    assert!(phone.shows("sign_in").await);
    phone.begin().await;
    phone.open_shop().await;
    assert!(phone.shows("sign_in").await);
}

pub async fn a_tree_that_is_told_late_is_waited_out(phone: &mut impl Phone) {
    phone.open_shop().await;
    let at = phone.center("sign_in").await;
    let before = phone.snapshot().await.mark;
    let tree = phone.tree();
    phone.inject(&format!(
        "{{ match: {{ tree: {tree} }}, when: {{ times: 3 }}, do: {{ stale: 3 }} }}"
    ));
    phone.input(InputCommand::Tap { at }).await;
    let after = phone.change_since(before, TEST_TIMEOUT).await.unwrap();
    assert!(after.text.contains("Enter your email"), "{}", after.text);
}

pub async fn a_touch_without_effect_shows_in_what_is_seen_next(phone: &mut impl Phone) {
    phone.open_shop().await;
    phone.inject("{ match: { touch: tap sign_in }, when: { times: 1 }, do: swallow }");
    let at = phone.center("sign_in").await;
    let before = phone.snapshot().await.mark;
    phone.input(InputCommand::Tap { at }).await;
    let soon = Duration::from_millis(100);
    assert_eq!(phone.change_since(before, soon).await, None);
    phone.input(InputCommand::Tap { at }).await;
    assert!(phone.shows("Enter your email").await);
}
