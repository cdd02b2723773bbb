//! Axes: applied, read back, and put back whatever happens; and screens that are observed.

use packtrain_drivers::{
    AppCommand, Command, InputCommand, Key, LaunchMode, Observation, SessionOptions,
};
use packtrain_testing::promises::axes::{begin, begun, files, got};
use packtrain_testing::{SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Rotation;

use super::lab::{Device, Way, both_ways};

both_ways! {
    an_app_is_launched_in_the_language_of_the_session_and_of_no_other
    launch_arguments_reach_every_app_that_is_launched
    a_phone_is_turned_for_a_session_and_upright_again_afterwards
    what_only_simulators_have_is_missing_from_the_answer_and_told
}

async fn an_app_is_launched_in_the_language_of_the_session_and_of_no_other(device: &mut Device) {
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
}

async fn launch_arguments_reach_every_app_that_is_launched(device: &mut Device) {
    let options = SessionOptions {
        launch_arguments: ["-AppleLanguages", "(de)"].map(str::to_owned).into(),
        ..SessionOptions::default()
    };
    let begun = device.ok(Command::Begin(options)).await;
    assert_eq!(begun, Observation::Done(Default::default()));
    device.open_shop().await;
    assert!(device.shows("Anmelden").await);
}

async fn a_phone_is_turned_for_a_session_and_upright_again_afterwards(device: &mut Device) {
    let applied = begun(device, &[("orientation", "landscape")]).await;
    assert_eq!(got(&applied), [("orientation", "landscape")]);
    device.open_shop().await;
    let screen = device.snapshot().await.screen;
    assert!(screen.width > screen.height);
    device.ok(Command::End).await;
    let rotation = device.world(|world| world.rotation());
    assert_eq!(rotation, Rotation::Upright);
    assert_eq!(files(device).len(), 0);
}

#[tokio::test]
async fn an_app_that_cannot_be_launched_speaks_no_language() {
    let mut device = Device::connect(Way::Address).await;
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

async fn what_only_simulators_have_is_missing_from_the_answer_and_told(device: &mut Device) {
    let applied = begun(device, &[("contrast", "increased"), ("textSize", "small")]).await;
    assert_eq!(applied, []);
    assert_eq!(device.events().len(), 2);
}
