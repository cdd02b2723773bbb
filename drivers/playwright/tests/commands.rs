//! Commands and answers in few words.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::selector::{NodeSelector, WebMatch};
use packtrain_drivers::{
    Command, DriverError, Observation, SessionOptions, TextMatch, ValueKind, WebCommand, WebTarget,
};

use crate::browser::Device;

pub(crate) fn by_ref(reference: &str) -> WebTarget {
    WebTarget {
        selector: None,
        reference: Some(reference.to_owned()),
    }
}

pub(crate) fn by_css(css: &str) -> WebTarget {
    WebTarget {
        selector: Some(NodeSelector {
            web: Some(WebMatch {
                css_selector: Some(css.to_owned()),
                ..WebMatch::default()
            }),
            ..NodeSelector::default()
        }),
        reference: None,
    }
}

/// A role and a name, as recordings have them.
pub(crate) fn by_role(role: &str, name: &str) -> WebTarget {
    WebTarget {
        selector: Some(NodeSelector {
            web: Some(WebMatch {
                aria_role: Some(role.to_owned()),
                aria_name_regex: Some(name.to_owned()),
                ..WebMatch::default()
            }),
            ..NodeSelector::default()
        }),
        reference: None,
    }
}

pub(crate) fn click(target: WebTarget) -> Command {
    Command::Web(WebCommand::Click { target })
}

pub(crate) fn expect_text(text: &str) -> Command {
    expect_text_as(text, TextMatch::Contains)
}

pub(crate) fn expect_text_as(text: &str, matching: TextMatch) -> Command {
    Command::Web(WebCommand::ExpectText {
        text: text.to_owned(),
        matching,
        limit: None,
    })
}

pub(crate) fn expect_visible(target: WebTarget) -> Command {
    Command::Web(WebCommand::ExpectVisible {
        target,
        limit: None,
    })
}

pub(crate) fn expect_value(target: WebTarget, kind: ValueKind, expected: &str) -> Command {
    expect_value_as(target, kind, expected, TextMatch::Contains)
}

pub(crate) fn expect_value_as(
    target: WebTarget,
    kind: ValueKind,
    expected: &str,
    matching: TextMatch,
) -> Command {
    Command::Web(WebCommand::ExpectValue {
        target,
        kind,
        expected: expected.to_owned(),
        matching,
    })
}

pub(crate) fn expect_list(target: WebTarget, items: &[&str]) -> Command {
    expect_list_as(target, items, TextMatch::Contains)
}

pub(crate) fn expect_list_as(target: WebTarget, items: &[&str], matching: TextMatch) -> Command {
    Command::Web(WebCommand::ExpectList {
        target,
        items: items.iter().map(ToString::to_string).collect(),
        matching,
    })
}

pub(crate) async fn open(slot: WebSlot) -> Device {
    let mut device = Device::connect(slot).await;
    device.begin(SessionOptions::default()).await;
    device.visit("").await;
    device
}

pub(crate) fn located(observation: Observation) -> (String, u32) {
    match observation {
        Observation::Done(report) => report.located.map(|l| (l.by, l.matched)).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn unmet(error: DriverError) -> (String, Vec<String>) {
    match error {
        DriverError::Unmet { what, log } => (what, log),
        other => panic!("{other:?}"),
    }
}
