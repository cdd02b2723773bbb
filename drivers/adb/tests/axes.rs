//! Axes: applied, read back, and put back whatever happens.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::{
    AppliedAxis, Command, DeviceEvent, Observation, ObserveOptions, Observed, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Theme;

use super::lab::{Agent, Device, Way, Wire, both_wires};

const NO_FILES: [PathBuf; 0] = [];
const WAY: Way = Way::new(Wire::Direct, Agent::Shell);

/// A session with these axes.
fn begin(axes: &[(&str, &str)]) -> Command {
    Command::Begin(SessionOptions {
        axes: axes
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
            .collect(),
        app: Some(SHOP.to_owned()),
        ..SessionOptions::default()
    })
}

/// What was read back of these axes.
async fn begun(device: &mut Device, axes: &[(&str, &str)]) -> Vec<AppliedAxis> {
    match device.ok(begin(axes)).await {
        Observation::Begun(applied) => applied,
        other => panic!("{other:?}"),
    }
}

fn got(applied: &[AppliedAxis]) -> Vec<(&str, &str)> {
    let axes = applied.iter();
    axes.map(|axis| (axis.axis.as_str(), axis.got.as_str()))
        .collect()
}

/// The files that tell what settings were.
fn files(device: &Device) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(device.folder.path().join("restore"));
    let entries = entries.into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn restored(device: &mut Device) -> Vec<Vec<String>> {
    let events = device.events().into_iter();
    events
        .filter_map(|event| match event {
            DeviceEvent::Restored { axes } => Some(axes),
            _ => None,
        })
        .collect()
}

fn theme(device: &Device) -> Theme {
    device.world(|world| world.theme())
}

#[tokio::test]
async fn what_was_there_is_written_down_before_it_is_changed_and_put_back_at_the_end() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        let applied = begun(device, &[("colorScheme", "dark")]).await;
        assert_eq!(got(&applied), [("colorScheme", "dark")]);
        assert_eq!(theme(device), Theme::Dark);
        let [file] = &files(device)[..] else {
            panic!("one file for one device");
        };
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("\"was\": \"no\""), "{text}");
        device.ok(Command::End).await;
        assert_eq!(theme(device), Theme::Light);
        assert_eq!(files(device), NO_FILES);
        assert_eq!(restored(device), [["colorScheme"]]);
    })
    .await;
}

/// Every axis a phone has, with what it has by itself.
const EVERY: [(&str, &str); 8] = [
    ("animation", "false"),
    ("colorScheme", "dark"),
    ("density", "320"),
    ("fontScale", "1.3"),
    ("locale", "de-DE"),
    ("offline", "true"),
    ("orientation", "landscape"),
    ("size", "720x1280"),
];

#[tokio::test]
async fn every_axis_changes_what_the_phone_shows_and_is_put_back() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.open_shop().await;
        let before = device.snapshot().await;
        let mut applied = begun(device, &EVERY).await;
        applied.sort_by(|a, b| a.axis.cmp(&b.axis));
        assert_eq!(got(&applied), EVERY);
        device.open_shop().await;
        let after = device.snapshot().await;
        assert_eq!((after.screen.width, after.screen.height), (1280.0, 720.0));
        assert!(after.text.contains("E-Mail"), "{}", after.text);
        device.ok(Command::End).await;
        assert_eq!(files(device), NO_FILES);
        let [axes] = &restored(device)[..] else {
            panic!("restored once");
        };
        assert_eq!(axes.len(), EVERY.len());
        device.ok(begin(&[])).await;
        device.open_shop().await;
        let restored = device.snapshot().await;
        assert_eq!(restored.text, before.text);
        assert_eq!(restored.screen, before.screen);
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_ignores_an_axis_says_what_it_has_instead() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { command: 'uimode night yes' }, do: ignore }");
        device.inject("{ match: { command: put system font_scale }, do: ignore }");
        let applied = begun(device, &[("colorScheme", "dark"), ("fontScale", "2")]).await;
        assert_eq!(
            got(&applied),
            [("colorScheme", "light"), ("fontScale", "1.0")]
        );
        assert_eq!(applied[0].how, "cmd uimode night yes");
    })
    .await;
}

#[tokio::test]
async fn what_a_killed_program_left_changed_is_put_back_by_whoever_connects_next() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        begun(device, &EVERY).await;
        device.forget();
        assert_eq!(theme(device), Theme::Dark);
        device.reconnect().await.unwrap();
        assert_eq!(theme(device), Theme::Light);
        assert_eq!(device.world(|world| world.size_override()), None);
        assert_eq!(device.driver().info().screen.width, 1080.0);
        assert_eq!(restored(device)[0].len(), EVERY.len());
        assert_eq!(files(device), NO_FILES);
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_refuses_to_be_restored_is_out_of_service_until_it_does() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        begun(device, &[("colorScheme", "dark"), ("fontScale", "2")]).await;
        device.inject(
            "{ match: { command: 'uimode night no' }, when: { times: 2 }, do: { fail: 'Error: no' } }",
        );
        let error = device.err(Command::End).await;
        assert_eq!(
            error.to_string(),
            "lost the device: settings of this session could not be put back: colorScheme: \
             Error: no"
        );
        device.forget();
        let error = device.reconnect().await.unwrap_err();
        assert!(error.ends_driver());
        assert_eq!(
            error.to_string(),
            "lost the device: settings of the run before could not be put back: colorScheme: \
             Error: no"
        );
        let file = files(device)[0].display().to_string();
        let hint = error.hint().unwrap();
        assert!(hint.contains(&file), "{hint}");
        assert!(hint.contains("uimode night was `no`"), "{hint}");
        assert_eq!(theme(device), Theme::Dark);
        device.reconnect().await.unwrap();
        assert_eq!(theme(device), Theme::Light);
    })
    .await;
}

#[tokio::test]
async fn what_a_program_that_still_runs_has_changed_is_left_to_it() {
    let mut device = Device::connect(WAY, NO_FAULTS).await;
    begun(&mut device, &[("colorScheme", "dark")]).await;
    device.forget();
    let file = files(&device).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    // The process that started this one lives as long as it.
    let parent = std::os::unix::process::parent_id();
    let of = |pid: u32| {
        let started = packtrain_program::started(pid).unwrap();
        (format!("\"pid\": {pid}"), started)
    };
    let (own, other) = (of(std::process::id()), of(parent));
    let text = text.replace(&own.0, &other.0).replace(&own.1, &other.1);
    std::fs::write(&file, text).unwrap();
    let error = device.reconnect().await.unwrap_err();
    let expected =
        format!("lost the device: in use by process {parent}, which has changed its settings");
    assert_eq!(error.to_string(), expected);
    assert_eq!(theme(&device), Theme::Dark);
    std::fs::remove_file(&file).unwrap();
    device.reconnect().await.unwrap();
    device.end().await;
}

#[tokio::test]
async fn what_cannot_be_applied_is_missing_from_the_answer_and_told() {
    let mut device = Device::connect(WAY, NO_FAULTS).await;
    let applied = begun(
        &mut device,
        &[("contrast", "increased"), ("colorScheme", "dark")],
    )
    .await;
    assert_eq!(got(&applied), [("colorScheme", "dark")]);
    let told = device.events();
    let is_told = |event: &DeviceEvent| {
        matches!(event, DeviceEvent::Logged { text, .. } if text
            == "the axis contrast is not applied: no phone with Android has it")
    };
    assert!(told.iter().any(is_told), "{told:?}");
    device.end().await;
}

#[tokio::test]
async fn without_a_folder_nothing_that_lasts_is_changed() {
    let mut device = Device::connect(WAY, NO_FAULTS).await;
    device.disconnect().await;
    device.restore_nowhere().await;
    device.reconnect().await.unwrap();
    assert_eq!(begun(&mut device, &[("colorScheme", "dark")]).await, []);
    assert_eq!(theme(&device), Theme::Light);
    device.end().await;
}

#[tokio::test]
async fn a_session_that_is_begun_while_another_runs_finds_nothing_of_it() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        begun(device, &[("colorScheme", "dark")]).await;
        begun(device, &[("fontScale", "1.5")]).await;
        assert_eq!(theme(device), Theme::Light);
        assert_eq!(device.world(|world| world.font_scale()), 1.5);
        device.disconnect().await;
        assert_eq!(device.world(|world| world.font_scale()), 1.0);
    })
    .await;
}

#[tokio::test]
async fn a_screen_is_observed_once_it_is_still_with_bounds_and_picture() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        let mark = device.snapshot().await.mark;
        let observed = observe(device, true).await;
        assert!(observed.is_still);
        assert_eq!(observed.snapshot.mark, mark);
        let buttons = observed.snapshot.refs.iter();
        assert!(buttons.clone().count() > 3 && buttons.clone().all(|node| node.bounds.is_some()));
        let picture = observed.picture.unwrap();
        assert_eq!(picture.screen, observed.snapshot.screen);
        assert_eq!(observe(device, false).await.picture, None);
        device.inject("{ match: { command: screencap }, do: { fail: 'no' } }");
        assert_eq!(observe(device, true).await.picture, None);
    })
    .await;
}

async fn observe(device: &mut Device, picture: bool) -> Box<Observed> {
    let options = ObserveOptions {
        picture,
        still_within: Duration::from_secs(1),
        masks: Vec::new(),
    };
    match device.ok(Command::Observe(options)).await {
        Observation::Observed(observed) => observed,
        other => panic!("{other:?}"),
    }
}
