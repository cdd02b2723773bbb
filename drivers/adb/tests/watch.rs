//! Devices that come and go.

use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::{AdbOptions, AdbPool, AdbWatch, StartServer, Survey};
use packtrain_drivers::{Command, Connector, SessionOptions, event_channel};
use packtrain_testing::{AdbServer, NO_FAULTS, TEST_TIMEOUT, context};
use packtrain_virtual::android::AuthPolicy;
use packtrain_virtual::arrivals::Arrivals;
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::lab::{self, Way, options, socket};

/// Phones, a server that knows none of them, and what is seen of them there.
struct WatchLab {
    fleet: Fleet,
    server: AdbServer,
    watch: AdbWatch,
    seen: Survey,
    _folder: TempDir,
}

impl WatchLab {
    async fn new(phones: usize, more: FleetOptions) -> Self {
        let fleet = FleetOptions {
            android: phones,
            ..more
        };
        let (fleet, server) = tokio::join!(Fleet::start(fleet), AdbServer::start());
        let folder = tempfile::tempdir().unwrap();
        let pool = AdbPool::new(lab::settings(Way::SERVER_SHELL, Some(&server), &folder));
        Self {
            fleet: fleet.unwrap(),
            watch: pool.watch(),
            server,
            seen: Survey::default(),
            _folder: folder,
        }
    }

    fn name(&self, phone: usize) -> String {
        socket(&self.fleet.android()[phone]).to_string()
    }

    /// Waits until what is there is like that.
    async fn until(&mut self, is: impl Fn(&Survey) -> bool) {
        let seen = async {
            loop {
                self.seen = self.watch.next().await;
                if is(&self.seen) {
                    return;
                }
            }
        };
        let seen = tokio::time::timeout(TEST_TIMEOUT, seen).await;
        seen.expect("it is seen");
    }

    async fn until_usable(&mut self, count: usize) {
        self.until(|seen| seen.connectors.len() == count).await;
    }

    /// Plugs a phone in and waits until it is seen.
    async fn plug_in(&mut self, phone: usize) -> Arc<dyn Connector> {
        let name = self.name(phone);
        let before = self.seen.connectors.len();
        self.server.plug_in(&name).await;
        self.until_usable(before + 1).await;
        let mut found = self.seen.connectors.iter();
        let found = found.find(|found| found.id().name() == name);
        Arc::clone(found.unwrap())
    }

    async fn end(self) {
        drop(self.watch);
        self.fleet.shutdown().await;
    }
}

/// Connects to a phone and begins a session on it.
async fn works(connector: &dyn Connector) {
    let (sink, _events) = event_channel();
    let mut driver = connector.connect(sink, &context()).await.unwrap();
    let begin = Command::Begin(SessionOptions::default());
    driver.execute(begin, &context()).await.unwrap();
    driver.close().await;
}

#[tokio::test]
async fn a_phone_that_is_plugged_in_again_is_another_way_to_it_that_works() {
    let mut desk = WatchLab::new(1, options(NO_FAULTS)).await;
    desk.until_usable(0).await;
    let first = desk.plug_in(0).await;
    works(first.as_ref()).await;
    assert_eq!(desk.seen.levels.len(), 1);
    desk.server.unplug(&desk.name(0)).await;
    desk.until_usable(0).await;
    let second = desk.plug_in(0).await;
    assert!(!Arc::ptr_eq(&first, &second));
    works(second.as_ref()).await;
    desk.end().await;
}

#[tokio::test]
async fn only_a_phone_that_is_new_is_asked_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arrivals");
    let arrivals = FleetOptions {
        arrivals: Some(Arc::new(Arrivals::append(&log).unwrap())),
        ..options(NO_FAULTS)
    };
    let mut desk = WatchLab::new(3, arrivals).await;
    desk.until_usable(0).await;
    for phone in 0..3 {
        desk.plug_in(phone).await;
    }
    desk.server.unplug(&desk.name(1)).await;
    desk.until_usable(2).await;
    let log = std::fs::read_to_string(log).unwrap();
    let asked = log.lines().filter(|line| line.contains("boot_id"));
    let asked = asked.filter(|line| line.contains("\"command\""));
    assert_eq!(asked.count(), 3, "{log}");
    desk.end().await;
}

#[tokio::test]
async fn a_phone_is_usable_once_its_owner_trusts_this_computer() {
    let trusted = FleetOptions {
        auth: AuthPolicy::AcceptAfter(Duration::from_millis(500)),
        ..options(NO_FAULTS)
    };
    let mut desk = WatchLab::new(1, trusted).await;
    let name = desk.name(0);
    let said = desk.server.adb(&["connect", &name]).await;
    assert!(said.contains("authenticate"), "{said}");
    desk.until(|seen| !seen.unusable.is_empty()).await;
    let unusable = &desk.seen.unusable[0];
    assert_eq!(unusable.serial, name);
    assert!(unusable.hint.is_some(), "{unusable:?}");
    desk.until(|seen| seen.unusable.is_empty() && seen.connectors.len() == 1)
        .await;
    works(desk.seen.connectors[0].as_ref()).await;
    desk.end().await;
}

#[tokio::test]
async fn a_server_that_is_started_anew_is_listened_to_again() {
    let mut desk = WatchLab::new(1, options(NO_FAULTS)).await;
    desk.until_usable(0).await;
    desk.plug_in(0).await;
    desk.server.kill().await;
    desk.until_usable(0).await;
    desk.server.start_again().await;
    let again = desk.plug_in(0).await;
    works(again.as_ref()).await;
    desk.end().await;
}

#[tokio::test]
async fn a_server_that_hangs_up_is_not_dialled_without_a_pause() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let pool = AdbPool::new(AdbOptions {
        server: Some(nobody.local_addr().unwrap()),
        start: StartServer::Never,
        ..AdbOptions::default()
    });
    let begun = Instant::now();
    let mut watch = pool.watch();
    let dialled = async {
        for _ in 0..4 {
            drop(nobody.accept().await.unwrap());
        }
    };
    let watching = async {
        loop {
            assert_eq!(watch.next().await.connectors.len(), 0);
        }
    };
    tokio::select! {
        () = dialled => {}
        () = watching => {}
    }
    // A quarter of a second, a half, a whole one.
    assert!(begun.elapsed() >= Duration::from_millis(1750));
}

#[tokio::test]
async fn a_phone_at_a_socket_of_its_own_is_there_once_it_answers() {
    let faults = "rules: [{ match: { connect: '' }, do: refuse, when: { until: 1500 } }]";
    let fleet = Fleet::start(options(faults)).await.unwrap();
    let phone = &fleet.android()[0];
    let folder = tempfile::tempdir().unwrap();
    let pool = AdbPool::new(AdbOptions {
        direct: vec![("bench".to_owned(), lab::address(phone))],
        probe: Duration::from_millis(100),
        ..lab::settings(Way::DIRECT_SHELL, None, &folder)
    });
    let mut watch = pool.watch();
    let first = watch.next().await;
    assert_eq!(first.unusable[0].serial, "bench");
    let usable = async {
        loop {
            if let [connector] = watch.next().await.connectors.as_slice() {
                return Arc::clone(connector);
            }
        }
    };
    let usable = tokio::time::timeout(TEST_TIMEOUT, usable).await;
    works(usable.unwrap().as_ref()).await;
    drop(watch);
    fleet.shutdown().await;
}
