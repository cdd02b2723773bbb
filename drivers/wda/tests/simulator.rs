//! Simulators, with a stand-in for `xcrun` and a virtual iPhone behind it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_wda::{KeeperOptions, WdaEndpoint, WdaOptions, WdaPool, WdaStart};
use packtrain_drivers::{
    AppCommand, Classifier, Command, Connector, Driver, DriverError, LaunchMode, Observation,
    SessionOptions, event_channel,
};
use packtrain_testing::{NO_FAULTS, SHOP, TEST_TIMEOUT, context};
use packtrain_virtual::fleet::Fleet;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::lab::phones;

/// What `simctl list -j` prints.
const LIST: &str = r#"{"devices": {
  "com.apple.CoreSimulator.SimRuntime.iOS-17-5": [
    {"udid": "AAAA", "name": "iPhone 15 Pro", "state": "Booted", "isAvailable": true,
     "deviceTypeIdentifier": "com.apple.CoreSimulator.SimDeviceType.iPhone-15-Pro"},
    {"udid": "BBBB", "name": "Kitchen", "state": "Booted", "isAvailable": true,
     "deviceTypeIdentifier": "com.apple.CoreSimulator.SimDeviceType.iPad-mini"},
    {"udid": "CCCC", "name": "iPhone 14", "state": "Shutdown", "isAvailable": true,
     "deviceTypeIdentifier": "com.apple.CoreSimulator.SimDeviceType.iPhone-14"}]
}, "runtimes": [{"identifier": "com.apple.CoreSimulator.SimRuntime.iOS-17-5", "isAvailable": true}],
  "devicetypes": [], "pairs": {}}"#;

/// What `simctl listapps` prints.
const APPS: &str = r#"{
    "com.apple.Maps" =     {
        ApplicationType = System;
        CFBundleDisplayName = Maps;
    };
    "com.example.shop" =     {
        ApplicationType = User;
        CFBundleDisplayName = Shop;
        CFBundleVersion = "2.4.1";
    };
}"#;

/// What `simctl ui` prints of a fresh simulator.
const LOOKS: [(&str, &str); 3] = [
    ("appearance", "light\n"),
    ("content_size", "large\n"),
    ("increase_contrast", "disabled\n"),
];

/// Writes down what it is told, without the word `simctl`. Launching an app tells the test its
/// variables and waits until somebody listens there; the test is the app's process. Where there is a
/// file `no-launch`, launching is refused; `xcodebuild` is such an app itself.
const XCRUN: &str = r#"#!/bin/bash
cd FOLDER
if [ "$1" = xcodebuild ]; then
  echo "$*" >> calls.txt
  exec 3<>/dev/tcp/127.0.0.1/CONTROL; env | grep -E '^(TEST_RUNNER_)?(USE_|MJPEG_|UPGRADE_)' >&3; echo >&3
  cat <&3; exit
fi
shift
echo "$*" >> calls.txt
case "$1" in
  list) cat list.json ;;
  bootstatus) sh -c 'kill -INT $$; echo SIGINT is ignored >> calls.txt'; true ;;
  listapps) cat apps.txt ;;
  get_app_container) case "$3" in *xctrunner) echo "$PWD/Runner.app" ;; *) echo "$PWD/Shop.app" ;; esac ;;
  uninstall) rm -r Shop.app ;;
  install) cp -R "$3" . ;;
  openurl) echo "first line" >&2; echo "nothing can open $3" >&2; exit 194 ;;
  ui) if [ -n "$4" ]; then echo "$4" > "$3.txt"; else cat "$3.txt"; fi ;;
  launch) if [ -e no-launch ]; then echo "no such app" >&2; exit 4; fi
    exec 3<>/dev/tcp/127.0.0.1/CONTROL; env | sed -n 's/^SIMCTL_CHILD_//p' >&3; echo >&3; read -r <&3
    echo "$4: $(cat app.pid)" ;;
esac
"#;

/// The runner that is launched where no other is configured.
const RUNNER: &str = "com.facebook.WebDriverAgentRunner.xctrunner";

/// A computer with simulators.
pub struct Mac {
    pub folder: tempfile::TempDir,
    pub fleet: Fleet,
    pub pool: Arc<WdaPool>,
    control: TcpListener,
}

/// An app that was launched, which answers as a virtual iPhone does.
pub struct Launched {
    /// What it was given.
    pub variables: BTreeMap<String, String>,
    /// As long as it is there, the app is.
    _stream: BufReader<TcpStream>,
    relay: AbortOnDropHandle<()>,
}

impl Launched {
    pub fn port(&self) -> u16 {
        self.variables["USE_PORT"].parse().unwrap()
    }

    /// The app is gone, and its port free.
    pub async fn end(self) {
        self.relay.abort();
        let _ = self.relay.await;
    }
}

impl Mac {
    pub async fn new(endpoints: Vec<WdaEndpoint>) -> Self {
        let fleet = phones(1, NO_FAULTS).await;
        let control = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("list.json"), LIST).unwrap();
        std::fs::write(file("apps.txt"), APPS).unwrap();
        for (option, value) in LOOKS {
            std::fs::write(file(&format!("{option}.txt")), value).unwrap();
        }
        std::fs::create_dir(file("Shop.app")).unwrap();
        std::fs::write(file("Shop.app/Info.plist"), "the shop").unwrap();
        let port = control.local_addr().unwrap().port().to_string();
        let here = folder.path().to_str().unwrap();
        let script = XCRUN.replace("FOLDER", here).replace("CONTROL", &port);
        std::fs::write(file("xcrun"), script).unwrap();
        std::fs::set_permissions(file("xcrun"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::create_dir(file("Runner.app")).unwrap();
        std::fs::write(file("app.pid"), std::process::id().to_string()).unwrap();
        let pool = Self::pool_in(folder.path(), endpoints);
        Self {
            folder,
            fleet,
            pool,
            control,
        }
    }

    /// What another process has: a pool of its own.
    pub fn another_pool(&self) -> Arc<WdaPool> {
        Self::pool_in(self.folder.path(), Vec::new())
    }

    fn pool_in(folder: &Path, endpoints: Vec<WdaEndpoint>) -> Arc<WdaPool> {
        WdaPool::new(Self::options(folder, endpoints))
    }

    fn options(folder: &Path, endpoints: Vec<WdaEndpoint>) -> WdaOptions {
        let path = folder.as_os_str();
        let keeper = env!("CARGO_BIN_EXE_packtrain-wda-keeper");
        WdaOptions {
            endpoints,
            usbmuxd: None,
            restore: Some(folder.join("restore")),
            keeper: Some(KeeperOptions {
                answer_timeout: Duration::from_secs(2),
                ..KeeperOptions::new(folder.join("agents"), vec![keeper.into()])
            }),
            ..WdaOptions::from_environment(|name| (name == "PATH").then(|| path.to_owned()))
        }
    }

    /// What `simctl` was told.
    pub fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.folder.path().join("calls.txt"));
        calls
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Waits for a launch, and has the virtual iPhone answer on the simulator's port.
    pub async fn launched(&self) -> Launched {
        let (variables, mut stream) = self.begun().await;
        let port: u16 = variables["USE_PORT"].parse().unwrap();
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        stream.write_all(b"go on\n").await.unwrap();
        let phone = self.fleet.ios()[0].wda_address();
        let relay = AbortOnDropHandle::new(tokio::spawn(async move {
            // Ended with the app, and with it what was answered on.
            let mut answered = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                answered.spawn(async move {
                    let mut far = TcpStream::connect(phone).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        }));
        Launched {
            variables,
            _stream: stream,
            relay,
        }
    }

    /// Waits for a launch; what it was given, and what it waits for.
    pub async fn begun(&self) -> (BTreeMap<String, String>, BufReader<TcpStream>) {
        let accepted = tokio::time::timeout(TEST_TIMEOUT, self.control.accept()).await;
        let (stream, _) = accepted.expect("nothing was launched").unwrap();
        let mut stream = BufReader::new(stream);
        let mut variables = BTreeMap::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let Some((name, value)) = line.trim().split_once('=') else {
                return (variables, stream);
            };
            variables.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The first simulator's driver, with a session begun.
    pub async fn driver(&self) -> (Box<dyn Driver>, Launched) {
        let (driver, relay) = tokio::join!(connect(&self.pool), self.launched());
        let mut driver = driver.unwrap();
        let begin = Command::Begin(SessionOptions::default());
        driver.execute(begin, &context()).await.unwrap();
        (driver, relay)
    }

    pub async fn end(self) {
        self.pool.shutdown().await;
        self.fleet.shutdown().await;
    }
}

/// A driver of a pool's first simulator.
pub async fn connect(pool: &WdaPool) -> Result<Box<dyn Driver>, DriverError> {
    let found = pool.discover().await.unwrap();
    let (sink, _events) = event_channel();
    found[0].connect(sink, &context()).await
}

async fn app(driver: &mut dyn Driver, command: AppCommand) -> Result<Observation, DriverError> {
    driver.execute(Command::App(command), &context()).await
}

#[tokio::test]
async fn booted_simulators_are_devices_and_say_what_they_are() {
    let mac = Mac::new(Vec::new()).await;
    let found = mac.pool.discover().await.unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|connector| {
            let info = connector.describe();
            (
                info.id.to_string(),
                info.model,
                info.system,
                info.classifiers,
            )
        })
        .collect();
    let wanted = |udid: &str, model: &str, kind: &str| {
        let classifiers: Vec<Classifier> = vec!["ios".into(), kind.into()];
        (
            format!("ios/{udid}"),
            model.to_owned(),
            "iOS 17.5".to_owned(),
            classifiers,
        )
    };
    assert_eq!(
        told,
        [
            wanted("AAAA", "iPhone 15 Pro", "iphone"),
            wanted("BBBB", "Kitchen", "ipad")
        ]
    );
    assert_eq!(mac.calls(), ["list -j"], "nothing is started by looking");
    mac.end().await;
}

#[tokio::test]
async fn webdriveragent_is_launched_on_a_port_of_its_own_and_ended_with_the_pool() {
    let mac = Mac::new(Vec::new()).await;
    let (driver, launched) = mac.driver().await;
    assert_eq!(driver.info().model, "iPhone 15 Pro");
    driver.close().await;
    mac.pool.shutdown().await;
    assert_eq!(
        mac.calls(),
        [
            "list -j",
            "bootstatus AAAA -b",
            &format!("launch --terminate-running-process AAAA {RUNNER}"),
            &format!("terminate AAAA {RUNNER}"),
        ]
    );
    assert_eq!(
        launched.variables["USE_IP"], "127.0.0.1",
        "nobody else drives it"
    );
    assert_ne!(launched.variables["MJPEG_SERVER_PORT"], "9100");
    mac.end().await;
}

#[tokio::test]
async fn a_configured_udid_of_a_simulator_is_one_and_its_runner_is_launched() {
    let mut desk = WdaEndpoint::device("CCCC");
    desk.name = "desk".to_owned();
    let mac = Mac::new(vec![desk]).await;
    let mut desk = WdaEndpoint::simulator("CCCC");
    desk.start = WdaStart::Runner {
        id: "com.example.wda".to_owned(),
    };
    let names = |found: &[Arc<dyn Connector>]| {
        let names = found
            .iter()
            .map(|c| (c.id().to_string(), c.describe().model));
        names.collect::<Vec<_>>()
    };
    let found = mac.pool.discover().await.unwrap();
    assert_eq!(
        names(&found)[0],
        ("ios/desk".to_owned(), "iPhone 14".to_owned())
    );
    let connector = mac.pool.connector(&desk).unwrap();
    let (sink, _events) = event_channel();
    let ctx = context();
    let (driver, _relay) = tokio::join!(connector.connect(sink, &ctx), mac.launched());
    driver.unwrap().close().await;
    assert_eq!(
        mac.calls()[1..],
        [
            "bootstatus CCCC -b".to_owned(),
            "launch --terminate-running-process CCCC com.example.wda".to_owned(),
        ]
    );
    mac.end().await;
}

#[tokio::test]
async fn a_simulator_is_known_by_its_udid_in_any_case() {
    let mut desk = WdaEndpoint::device("aaaa");
    desk.name = "desk".to_owned();
    let mac = Mac::new(vec![desk]).await;
    let found = mac.pool.discover().await.unwrap();
    let models: Vec<_> = found.iter().map(|one| one.describe().model).collect();
    assert_eq!(models, ["iPhone 15 Pro", "Kitchen"]);
    mac.end().await;
}

#[tokio::test]
async fn what_may_be_a_simulator_is_not_started_as_a_phone_while_none_is_listed() {
    let mut desk = WdaEndpoint::device("AAAA");
    desk.start = WdaStart::Command(vec!["false".to_owned()]);
    let mac = Mac::new(vec![desk]).await;
    std::fs::write(mac.folder.path().join("list.json"), "Unable to boot").unwrap();
    let Err(DriverError::Lost { cause, .. }) = connect(&mac.pool).await.map(drop) else {
        panic!("it connected");
    };
    assert!(cause.starts_with("xcrun simctl list: "), "{cause}");
    assert_eq!(mac.calls(), ["list -j"]);
    mac.end().await;
}

#[tokio::test]
async fn what_is_in_the_way_of_a_simulators_folder_is_named() {
    let mac = Mac::new(Vec::new()).await;
    let agents = mac.folder.path().join("agents");
    std::fs::write(&agents, "").unwrap();
    let nowhere = WdaPool::new(WdaOptions {
        keeper: None,
        ..Mac::options(mac.folder.path(), Vec::new())
    });
    let path = agents.join("AAAA").display().to_string();
    for (pool, told, remedy) in [
        (&mac.pool, path.as_str(), "may write there"),
        (&nowhere, "no folder for the state", "set HOME"),
    ] {
        let Err(DriverError::Lost { cause, hint }) = connect(pool).await.map(drop) else {
            panic!("it connected");
        };
        assert!(cause.contains(told), "{cause}");
        assert!(hint.unwrap().contains(remedy), "{cause}");
    }
    mac.end().await;
}

#[tokio::test]
async fn apps_of_a_simulator_are_listed_cleared_and_granted_permissions() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, _relay) = mac.driver().await;
    let driver_ref = driver.as_mut();
    let list = app(driver_ref, AppCommand::List { system: false })
        .await
        .unwrap();
    let shop = json!([{"id": SHOP, "name": "Shop", "version": "2.4.1", "system": false}]);
    assert_eq!(list, Observation::Json(shop));
    let permissions = ["camera", "notifications"].map(str::to_owned).to_vec();
    let id = SHOP.to_owned();
    let granted = app(driver_ref, AppCommand::Grant { id, permissions })
        .await
        .unwrap();
    let Observation::Done(report) = granted else {
        panic!("{granted:?}");
    };
    assert!(
        report.notes[0].starts_with("notifications: "),
        "{:?}",
        report.notes
    );
    let before = mac.calls().len();
    let (id, mode) = (SHOP.to_owned(), LaunchMode::Reinstall);
    let launched = app(driver_ref, AppCommand::Launch { id, mode })
        .await
        .unwrap();
    assert_eq!(
        launched,
        Observation::Done(Default::default()),
        "its data is really gone"
    );
    let calls = mac.calls();
    assert_eq!(
        calls[before - 1],
        "privacy AAAA grant camera com.example.shop"
    );
    assert_eq!(
        calls[before..before + 2],
        [
            "get_app_container AAAA com.example.shop app",
            "uninstall AAAA com.example.shop"
        ]
    );
    assert!(calls[before + 2].starts_with("install AAAA /"), "{calls:?}");
    let kept = std::fs::read_to_string(mac.folder.path().join("Shop.app/Info.plist"));
    assert_eq!(kept.unwrap(), "the shop", "the app is the same one");
    app(driver_ref, AppCommand::Clear(SHOP.to_owned()))
        .await
        .unwrap();
    app(driver_ref, AppCommand::Uninstall(SHOP.to_owned()))
        .await
        .unwrap();
    assert_eq!(
        mac.calls().last().unwrap(),
        "uninstall AAAA com.example.shop"
    );
    driver.close().await;
    mac.end().await;
}

#[tokio::test]
async fn what_simctl_refuses_is_told_in_its_words() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, _relay) = mac.driver().await;
    let open = AppCommand::OpenUrl("nobody://knows".to_owned());
    let error = app(driver.as_mut(), open).await.unwrap_err();
    assert_eq!(
        error,
        DriverError::unmet("xcrun simctl openurl: nothing can open nobody://knows")
    );
    let missing = AppCommand::Install("/no/such.app".into());
    let error = app(driver.as_mut(), missing).await.unwrap_err();
    assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    driver.close().await;
    mac.end().await;
}

#[tokio::test]
async fn the_looks_of_a_simulator_are_changed_read_and_put_back() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, _relay) = mac.driver().await;
    let wanted = [
        ("colorScheme", "dark"),
        ("contrast", "increased"),
        ("textSize", "accessibility-large"),
    ];
    let begin = Command::Begin(SessionOptions {
        axes: wanted
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        ..SessionOptions::default()
    });
    let begun = driver.execute(begin, &context()).await.unwrap();
    let Observation::Begun(applied) = begun else {
        panic!("{begun:?}");
    };
    let got: Vec<_> = applied
        .iter()
        .map(|axis| (axis.axis.as_str(), axis.got.as_str()))
        .collect();
    assert_eq!(got, wanted);
    let looks = |option: &str| {
        std::fs::read_to_string(mac.folder.path().join(format!("{option}.txt"))).unwrap()
    };
    assert_eq!(looks("increase_contrast"), "enabled\n");
    driver.execute(Command::End, &context()).await.unwrap();
    for (option, value) in LOOKS {
        assert_eq!(looks(option), value);
    }
    let files = std::fs::read_dir(mac.folder.path().join("restore")).unwrap();
    assert_eq!(files.count(), 0);
    driver.close().await;
    mac.end().await;
}
