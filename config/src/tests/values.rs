//! Values in forms of their own.

use std::time::Duration;

use proptest::prelude::*;

use crate::{Backoff, Endpoint, HumanDuration, Viewport};

#[test]
fn spans_of_time_are_read_as_people_write_them() {
    let millis = |text: &str| {
        text.parse::<HumanDuration>()
            .map(|span| span.get().as_millis())
    };
    for (text, expected) in [
        ("30s", 30_000),
        ("5m", 300_000),
        ("250ms", 250),
        ("1.5s", 1_500),
        ("1h30m", 5_400_000),
        (" 1h 30m ", 5_400_000),
        ("0s", 0),
    ] {
        assert_eq!(millis(text), Ok(expected), "{text}");
    }
    for text in [
        "",
        "30",
        "s",
        "5 minutes",
        "-5s",
        "1.2.3s",
        "1e3s",
        "5M",
        "1d",
        "99999999h",
        "NaNs",
    ] {
        assert!(millis(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_and_addresses_are_checked() {
    assert_eq!(
        "1280x800".parse(),
        Ok(Viewport {
            width: 1280,
            height: 800
        })
    );
    for text in [
        "1280",
        "0x800",
        "1280x",
        "x",
        "1280x800x2",
        "99999x1",
        "-1x5",
    ] {
        assert!(text.parse::<Viewport>().is_err(), "{text}");
    }
    assert_eq!(
        "phone.local:5555".parse(),
        Ok(Endpoint::new("phone.local", 5555))
    );
    assert_eq!("[::1]:5037".parse(), Ok(Endpoint::new("::1", 5037)));
    for text in [
        "",
        ":80",
        "host",
        "host:0",
        "host:65536",
        "::1:5037",
        "a b:1",
        "http://x:1",
        "u@h:1",
    ] {
        assert!(text.parse::<Endpoint>().is_err(), "{text}");
    }
}

#[test]
fn a_growing_wait_is_a_range_and_one_that_does_not_grow_a_duration() {
    let millis = |text: &str| {
        let backoff: Backoff = text.parse().unwrap();
        assert_eq!(backoff.to_string(), text);
        (
            backoff.first().get().as_millis(),
            backoff.longest().get().as_millis(),
        )
    };
    assert_eq!(millis("250ms..10s"), (250, 10_000));
    assert_eq!(millis("1s"), (1_000, 1_000));
    for text in ["", "..", "1s..", "..1s", "10s..1s", "1s..2s..3s", "1..2"] {
        assert!(text.parse::<Backoff>().is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(millis in 0..31_536_000_000_u64, w in 1..16_385_u32, port in 1..=u16::MAX) {
        let span = HumanDuration::new(Duration::from_millis(millis));
        prop_assert_eq!(span.to_string().parse(), Ok(span));
        let viewport = Viewport { width: w, height: 1 };
        prop_assert_eq!(viewport.to_string().parse(), Ok(viewport));
        for host in ["localhost", "::1"] {
            let endpoint = Endpoint::new(host, port);
            prop_assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
        }
    }

    #[test]
    fn no_text_is_too_strange_to_be_refused(text in ".*") {
        let _ = text.parse::<HumanDuration>();
        let _ = text.parse::<Viewport>();
        let _ = text.parse::<Backoff>();
        let _ = crate::fill_placeholders(&text, |_| None);
        let _ = text.parse::<Endpoint>();
    }
}
