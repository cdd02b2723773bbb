//! Which devices there are.

use packtrain_driver_wda::{MuxAddress, WdaEndpoint, WdaError, WdaOptions, WdaPool, WdaStart};
use packtrain_drivers::{Classifier, Command, Connector, SessionOptions, Size, event_channel};
use packtrain_testing::{NO_FAULTS, context};

use super::lab::{muxer, phones, url};

fn classifiers(connector: &dyn Connector) -> Vec<String> {
    let info = connector.describe();
    info.classifiers
        .into_iter()
        .map(|Classifier(name)| name)
        .collect()
}

#[tokio::test]
async fn what_is_plugged_in_is_found_and_says_what_it_is() {
    let fleet = phones(3, NO_FAULTS).await;
    let pool = WdaPool::new(WdaOptions {
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let found = pool.discover().await.unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|connector| {
            let info = connector.describe();
            (info.id.to_string(), info.model, info.system, info.screen)
        })
        .collect();
    let models = [
        ("iPhone 14 Pro", Size::new(393.0, 852.0)),
        ("iPhone 13", Size::new(390.0, 844.0)),
        ("iPhone SE (3rd generation)", Size::new(375.0, 667.0)),
    ];
    let wanted: Vec<_> = fleet
        .ios()
        .iter()
        .zip(models)
        .map(|(phone, (model, screen))| {
            (
                format!("ios/{}", phone.udid()),
                model.to_owned(),
                "iOS 16.7.8".to_owned(),
                screen,
            )
        })
        .collect();
    assert_eq!(told, wanted);
    for connector in &found {
        assert_eq!(classifiers(connector.as_ref()), ["ios", "iphone"]);
        let (sink, _events) = event_channel();
        let mut driver = connector.connect(sink, &context()).await.unwrap();
        let begin = Command::Begin(SessionOptions::default());
        driver.execute(begin, &context()).await.unwrap();
        assert_eq!(driver.info(), &connector.describe());
        driver.close().await;
    }
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn what_is_configured_comes_first_and_once() {
    let fleet = phones(2, NO_FAULTS).await;
    let udid = fleet.ios()[1].udid().to_string();
    let mut desk = WdaEndpoint::device(&udid);
    desk.name = "desk".to_owned();
    desk.classifiers = ["ios", "iphone", "dark"].map(str::to_owned).to_vec();
    let pool = WdaPool::new(WdaOptions {
        endpoints: vec![WdaEndpoint::url("bench", url(&fleet.ios()[0])), desk],
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let found = pool.discover().await.unwrap();
    let names: Vec<_> = found.iter().map(|c| c.id().name().to_owned()).collect();
    let other = fleet.ios()[0].udid().to_string();
    assert_eq!(names, ["bench", "desk", &other]);
    let asked = found[0].describe();
    assert_eq!(
        (asked.system.as_str(), asked.screen),
        ("iOS 16.7.8", Size::new(393.0, 852.0))
    );
    assert_eq!(classifiers(found[1].as_ref()), ["ios", "iphone", "dark"]);
    assert_eq!(found[1].describe().model, "iPhone 13");
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_device_that_does_not_say_what_it_is_is_still_there() {
    let locked = "rules: [{ match: { connect: lockdown }, do: reset }]";
    let fleet = phones(1, locked).await;
    fleet.ios()[0].stop_wda().await;
    let pool = WdaPool::new(WdaOptions {
        endpoints: vec![WdaEndpoint::url("bench", url(&fleet.ios()[0]))],
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let found = pool.discover().await.unwrap();
    assert_eq!(found.len(), 2);
    for connector in &found {
        let info = connector.describe();
        assert_eq!(
            (info.model.as_str(), info.system.as_str()),
            ("iPhone", "iOS")
        );
        assert_eq!(classifiers(connector.as_ref()), ["ios", "iphone"]);
    }
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn without_muxer_and_xcode_there_are_no_devices() {
    let nowhere = tempfile::tempdir().unwrap();
    let pool = WdaPool::new(WdaOptions {
        usbmuxd: Some(MuxAddress::Unix(nowhere.path().join("usbmuxd"))),
        xcrun: Some(nowhere.path().join("xcrun")),
        ..WdaOptions::default()
    });
    assert_eq!(pool.discover().await.unwrap().len(), 0);
    pool.shutdown().await;
}

#[tokio::test]
async fn an_address_that_cannot_be_one_is_told_at_once() {
    let pool = WdaPool::new(WdaOptions::default());
    let https = WdaEndpoint::url("bench", "https://127.0.0.1:8100");
    let Err(error) = pool.connector(&https) else {
        panic!("it was taken");
    };
    assert!(matches!(error, WdaError::Address { .. }), "{error}");
    let mut runner = WdaEndpoint::url("bench", "http://127.0.0.1:8100");
    runner.start = WdaStart::Runner {
        id: "a.b".to_owned(),
    };
    for (endpoint, wanted) in [
        (
            runner,
            WdaError::RunnerNeedsSimulator {
                name: "bench".to_owned(),
            },
        ),
        (
            WdaEndpoint::simulator("A"),
            WdaError::NoXcrun {
                name: "A".to_owned(),
            },
        ),
    ] {
        let options = WdaOptions {
            endpoints: vec![endpoint],
            ..WdaOptions::default()
        };
        let Err(error) = WdaPool::new(options).discover().await else {
            panic!("it was taken");
        };
        assert_eq!(error, wanted);
    }
}

#[tokio::test]
async fn an_embedded_phone_is_a_device_by_its_address() {
    let fleet = phones(1, NO_FAULTS).await;
    let pool = WdaPool::new(WdaOptions::default());
    let endpoint = WdaEndpoint::url("virtual", url(&fleet.ios()[0]));
    let connector = pool.connector(&endpoint).unwrap();
    assert_eq!(connector.id().to_string(), "ios/virtual");
    assert_eq!(classifiers(connector.as_ref()), ["ios", "iphone"]);
    let (sink, _events) = event_channel();
    let driver = connector.connect(sink, &context()).await.unwrap();
    assert_eq!(driver.info().system, "iOS 16.7.8");
    driver.close().await;
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[test]
fn the_environment_says_where_to_look() {
    let nothing = WdaOptions::from_environment(|_| None);
    assert_eq!(nothing.usbmuxd, Some(MuxAddress::of_system()));
    assert_eq!(nothing.xcrun, None);
    let folder = tempfile::tempdir().unwrap();
    let xcrun = folder.path().join("xcrun");
    std::fs::write(&xcrun, "").unwrap();
    let options = WdaOptions::from_environment(|name| match name {
        "PATH" => Some(std::env::join_paths(["/nowhere".as_ref(), folder.path()]).unwrap()),
        "USBMUXD_SOCKET_ADDRESS" => Some("127.0.0.1:27016".into()),
        _ => None,
    });
    assert_eq!(options.usbmuxd, Some("127.0.0.1:27016".parse().unwrap()));
    assert_eq!(options.xcrun, Some(xcrun));
}
