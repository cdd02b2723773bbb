//! Axes: applied, read back, and put back whatever happens; and screens that are observed.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, AppliedAxis, Command, DeviceEvent, InputCommand, Key, LaunchMode, Observation,
    ObserveOptions, Observed, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::{Rotation, Theme};

use super::lab::{Device, Way, both_ways};

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

/// How many files tell what settings were.
fn files(device: &Device) -> usize {
    std::fs::read_dir(device.folder.path()).unwrap().count()
}

fn theme(device: &Device) -> Theme {
    device.world(|world| world.theme())
}

#[tokio::test]
async fn the_appearance_is_written_down_changed_and_put_back() {
    both_ways(NO_FAULTS, async |device| {
        let applied = begun(device, &[("colorScheme", "dark")]).await;
        assert_eq!(got(&applied), [("colorScheme", "dark")]);
        assert_eq!((theme(device), files(device)), (Theme::Dark, 1));
        device.ok(Command::End).await;
        assert_eq!((theme(device), files(device)), (Theme::Light, 0));
        let axes = vec!["colorScheme".to_owned()];
        assert_eq!(device.events(), [DeviceEvent::Restored { axes }]);
    })
    .await;
}

#[tokio::test]
async fn an_app_is_launched_in_the_language_of_the_session_and_of_no_other() {
    both_ways(NO_FAULTS, async |device| {
        let applied = begun(device, &[("locale", "de-DE")]).await;
        assert_eq!(got(&applied), [("locale", "de-DE")]);
        assert_eq!(applied[0].how, "-AppleLanguages (de-DE) -AppleLocale de_DE");
        for mode in [LaunchMode::ForceRestart, LaunchMode::Resume] {
            let id = SHOP.to_owned();
            device.app(AppCommand::Launch { id, mode }).await;
            assert!(device.shows("Anmelden").await);
            device.input(InputCommand::Key(Key::Home)).await;
        }
        device.ok(begin(&[])).await;
        device.open_shop().await;
        assert!(device.shows("Sign in").await);
    })
    .await;
}

#[tokio::test]
async fn launch_arguments_reach_every_app_that_is_launched() {
    both_ways(NO_FAULTS, async |device| {
        let options = SessionOptions {
            launch_arguments: ["-AppleLanguages", "(de)"].map(str::to_owned).into(),
            ..SessionOptions::default()
        };
        let begun = device.ok(Command::Begin(options)).await;
        assert_eq!(begun, Observation::Done(Default::default()));
        device.open_shop().await;
        assert!(device.shows("Anmelden").await);
    })
    .await;
}

#[tokio::test]
async fn a_phone_is_turned_for_a_session_and_upright_again_afterwards() {
    both_ways(NO_FAULTS, async |device| {
        let applied = begun(device, &[("orientation", "landscape")]).await;
        assert_eq!(got(&applied), [("orientation", "landscape")]);
        device.open_shop().await;
        let screen = device.snapshot().await.screen;
        assert!(screen.width > screen.height);
        device.ok(Command::End).await;
        let rotation = device.world(|world| world.rotation());
        assert_eq!(rotation, Rotation::Upright);
        assert_eq!(files(device), 0);
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_ignores_an_axis_says_what_it_has_instead() {
    both_ways(NO_FAULTS, async |device| {
        device.inject("{ match: { route: POST .*appearance }, do: ignore }");
        device.inject("{ match: { route: POST .*orientation }, do: ignore }");
        let applied = begun(
            device,
            &[("colorScheme", "dark"), ("orientation", "landscape")],
        )
        .await;
        assert_eq!(
            got(&applied),
            [("colorScheme", "light"), ("orientation", "portrait")]
        );
    })
    .await;
}

#[tokio::test]
async fn an_app_that_cannot_be_launched_speaks_no_language() {
    let mut device = Device::connect(Way::Address, NO_FAULTS).await;
    let axes = [("locale".to_owned(), "de-DE".to_owned())];
    let with = |app: Option<&str>| {
        Command::Begin(SessionOptions {
            axes: axes.clone().into(),
            app: app.map(str::to_owned),
            ..SessionOptions::default()
        })
    };
    let Observation::Begun(applied) = device.ok(with(Some("com.example.none"))).await else {
        panic!("a session has begun");
    };
    assert_ne!(applied[0].got, "de-DE");
    let nobody = device.ok(with(None)).await;
    assert_eq!(nobody, Observation::Begun(Vec::new()));
    device.end().await;
}

#[tokio::test]
async fn what_only_simulators_have_is_missing_from_the_answer_and_told() {
    both_ways(NO_FAULTS, async |device| {
        let applied = begun(device, &[("contrast", "increased"), ("textSize", "small")]).await;
        assert_eq!(applied, []);
        let told = device.events();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(matches!(&told[0], DeviceEvent::Logged { text, .. } if text
            == "the axis contrast is not applied: no such device has it"));
    })
    .await;
}

#[tokio::test]
async fn what_a_killed_program_left_changed_is_put_back_by_whoever_connects_next() {
    both_ways(NO_FAULTS, async |device| {
        begun(device, &[("colorScheme", "dark")]).await;
        device.forget();
        assert_eq!(theme(device), Theme::Dark);
        device.reconnect().await.unwrap();
        assert_eq!((theme(device), files(device)), (Theme::Light, 0));
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_refuses_to_be_restored_is_out_of_service_until_it_does() {
    both_ways(NO_FAULTS, async |device| {
        begun(device, &[("colorScheme", "dark")]).await;
        let refuses = "do: { fail: not now }, when: { times: 2 }";
        device.inject(&format!(
            "{{ match: {{ route: POST .*appearance }}, {refuses} }}"
        ));
        let error = device.err(Command::End).await;
        assert_eq!(
            error.to_string(),
            "lost the device: settings of this session could not be put back: colorScheme: not now"
        );
        device.forget();
        let error = device.reconnect().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "lost the device: settings of the run before could not be put back: colorScheme: \
             not now"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("wda appearance was `light`"), "{hint}");
        device.reconnect().await.unwrap();
        assert_eq!((theme(device), files(device)), (Theme::Light, 0));
    })
    .await;
}

#[tokio::test]
async fn a_screen_is_observed_once_it_is_still_with_bounds_and_picture() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let mark = device.snapshot().await.mark;
        let observed = observe(device, true).await;
        assert!(observed.is_still);
        assert_eq!(observed.snapshot.mark, mark);
        let buttons = observed.snapshot.refs.iter();
        assert!(buttons.clone().count() > 3 && buttons.clone().all(|node| node.bounds.is_some()));
        assert_eq!(observed.picture.unwrap().screen, observed.snapshot.screen);
        assert_eq!(observe(device, false).await.picture, None);
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
