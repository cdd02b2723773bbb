//! Axes: applied, read back, and put back whatever happens; and screens that are observed.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::{
    AppliedAxis, Command, DeviceEvent, Observation, ObserveOptions, Observed, SessionOptions,
};
use packtrain_virtual::world::Theme;

use super::Phone;
use crate::SHOP;

const NO_FILES: [PathBuf; 0] = [];
const DARK: (&str, &str) = ("colorScheme", "dark");

/// A session with these axes.
pub fn begin(axes: &[(&str, &str)]) -> Command {
    let owned = |(axis, value): &(&str, &str)| ((*axis).to_owned(), (*value).to_owned());
    Command::Begin(SessionOptions {
        axes: axes.iter().map(owned).collect(),
        app: Some(SHOP.to_owned()),
        ..SessionOptions::default()
    })
}

/// What was read back of these axes.
pub async fn begun(phone: &mut impl Phone, axes: &[(&str, &str)]) -> Vec<AppliedAxis> {
    match phone.ok(begin(axes)).await {
        Observation::Begun(applied) => applied,
        other => panic!("{other:?}"),
    }
}

/// What the phone has of each axis.
pub fn got(applied: &[AppliedAxis]) -> Vec<(&str, &str)> {
    let axes = applied.iter();
    axes.map(|axis| (axis.axis.as_str(), axis.got.as_str()))
        .collect()
}

/// The files that tell what settings were.
pub fn files(phone: &impl Phone) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(phone.restore());
    let entries = entries.into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The axes that were put back, as often as that was told.
pub fn restored(phone: &mut impl Phone) -> Vec<Vec<String>> {
    let events = phone.events().into_iter();
    events
        .filter_map(|event| match event {
            DeviceEvent::Restored { axes } => Some(axes),
            _ => None,
        })
        .collect()
}

/// The colour scheme.
pub fn theme(phone: &impl Phone) -> Theme {
    phone.world(|world| world.theme())
}

/// The screen once it is still.
async fn observe(phone: &mut impl Phone, picture: bool) -> Box<Observed> {
    let options = ObserveOptions {
        picture,
        still_within: Duration::from_secs(1),
        masks: Vec::new(),
    };
    match phone.ok(Command::Observe(options)).await {
        Observation::Observed(observed) => observed,
        other => panic!("{other:?}"),
    }
}

pub async fn what_was_there_is_written_down_before_it_is_changed_and_put_back_at_the_end(
    phone: &mut impl Phone,
) {
    let applied = begun(phone, &[DARK]).await;
    assert_eq!(got(&applied), [DARK]);
    assert_eq!(theme(phone), Theme::Dark);
    let [file] = &files(phone)[..] else {
        panic!("one file for one device");
    };
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("\"was\": \""), "{text}");
    phone.ok(Command::End).await;
    assert_eq!(theme(phone), Theme::Light);
    assert_eq!(files(phone), NO_FILES);
    assert_eq!(restored(phone), [["colorScheme"]]);
}

pub async fn a_phone_that_ignores_an_axis_says_what_it_has_instead<P: Phone>(phone: &mut P) {
    for set in [P::SETS_DARK, P::SETS_ANOTHER] {
        phone.inject(&format!("{{ match: {{ {set} }}, do: ignore }}"));
    }
    let applied = begun(phone, &[DARK, P::ANOTHER_AXIS]).await;
    let another = (P::ANOTHER_AXIS.0, P::ANOTHER_WAS);
    assert_eq!(got(&applied), [("colorScheme", "light"), another]);
}

pub async fn what_a_killed_program_left_changed_is_put_back_by_whoever_connects_next<P: Phone>(
    phone: &mut P,
) {
    begun(phone, &[DARK, P::ANOTHER_AXIS]).await;
    phone.forget();
    assert_eq!(theme(phone), Theme::Dark);
    phone.reconnect().await.unwrap();
    assert_eq!(theme(phone), Theme::Light);
    assert_eq!(restored(phone).len(), 1);
    assert_eq!(files(phone), NO_FILES);
}

pub async fn a_phone_that_refuses_to_be_restored_is_out_of_service_until_it_does<P: Phone>(
    phone: &mut P,
) {
    begun(phone, &[DARK, P::ANOTHER_AXIS]).await;
    let (light, times) = (P::SETS_LIGHT, "when: { times: 2 }");
    phone.inject(&format!(
        "{{ match: {{ {light} }}, {times}, do: {{ fail: 'Error: not now' }} }}"
    ));
    let lost = |of: &str| {
        format!(
            "lost the device: settings of {of} could not be put back: colorScheme: Error: not now"
        )
    };
    let error = phone.err(Command::End).await;
    assert_eq!(error.to_string(), lost("this session"));
    phone.forget();
    let error = phone.reconnect().await.unwrap_err();
    assert!(error.ends_driver());
    assert_eq!(error.to_string(), lost("the run before"));
    let file = files(phone)[0].display().to_string();
    let hint = error.hint().unwrap();
    assert!(
        hint.contains(&file) && hint.contains(P::WAS_LIGHT),
        "{hint}"
    );
    assert_eq!(theme(phone), Theme::Dark);
    phone.reconnect().await.unwrap();
    assert_eq!(theme(phone), Theme::Light);
    assert_eq!(files(phone), NO_FILES);
}

pub async fn what_cannot_be_applied_is_missing_from_the_answer_and_told<P: Phone>(phone: &mut P) {
    let applied = begun(phone, &[("contrast", "increased"), DARK]).await;
    assert_eq!(got(&applied), [DARK]);
    let told = phone.events();
    let expected = format!("the axis contrast is not applied: {}", P::NO_CONTRAST);
    let is_told = |event: &DeviceEvent| matches!(event, DeviceEvent::Logged { text, .. } if *text == expected);
    assert!(told.iter().any(is_told), "{told:?}");
}

pub async fn a_session_that_is_begun_while_another_runs_finds_nothing_of_it<P: Phone>(
    phone: &mut P,
) {
    for _ in 0..2 {
        begun(phone, &[P::ANOTHER_AXIS]).await;
        assert!(phone.has_another());
        begun(phone, &[DARK]).await;
        assert!(!phone.has_another());
        assert_eq!(theme(phone), Theme::Dark);
    }
    phone.disconnect().await;
    assert_eq!(theme(phone), Theme::Light);
    assert_eq!(files(phone), NO_FILES);
}

pub async fn a_screen_is_observed_once_it_is_still_with_bounds_and_picture<P: Phone>(
    phone: &mut P,
) {
    phone.open_shop().await;
    let mark = phone.snapshot().await.mark;
    let observed = observe(phone, true).await;
    assert!(observed.is_still);
    assert_eq!(observed.snapshot.mark, mark);
    let buttons = observed.snapshot.refs.iter();
    assert!(buttons.clone().count() > 3 && buttons.clone().all(|node| node.bounds.is_some()));
    assert_eq!(observed.picture.unwrap().screen, observed.snapshot.screen);
    assert_eq!(observe(phone, false).await.picture, None);
    let pictures = P::TAKES_PICTURE;
    phone.inject(&format!(
        "{{ match: {{ {pictures} }}, do: {{ fail: no }} }}"
    ));
    assert_eq!(observe(phone, true).await.picture, None);
}
