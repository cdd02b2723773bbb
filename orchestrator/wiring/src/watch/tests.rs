//! Phones that come and go, as a program that keeps a fleet sees them.

use std::time::Duration;

use packtrain_config::Config;
use packtrain_device_actors::{Fleet as Devices, LeaseError};
use packtrain_testing::{AdbServer, NO_FAULTS, TEST_TIMEOUT, fleet_options, in_system};
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::DeviceSelection;

/// How long a device may take to be let go of.
const LIMIT: Duration = Duration::from_secs(20);

/// Phones, an adb server, and the wiring of a program that was started before any was plugged in.
struct WatchLab {
    phones: Fleet,
    server: AdbServer,
    wiring: Wiring,
}

impl WatchLab {
    async fn new(count: usize) -> Self {
        let phones = FleetOptions {
            android: count,
            ..fleet_options(NO_FAULTS)
        };
        let phones = Fleet::start(phones).await.unwrap();
        let server = AdbServer::start().await;
        let mut config = Config::default();
        config.devices.android.adb = server.address.to_string().parse().unwrap();
        let words = ["android".to_owned()];
        let wanted = DeviceSelection {
            words: &words,
            all: false,
        };
        let wiring = Wiring::new(&config, wanted, false).await.unwrap();
        assert!(wiring.found_phones.is_empty());
        Self {
            phones,
            server,
            wiring,
        }
    }

    fn address(&self, phone: usize) -> String {
        self.phones.android()[phone].address().to_string()
    }

    fn id(&self, phone: usize) -> DeviceId {
        DeviceId::new(Platform::Android, self.address(phone))
    }

    async fn end(self) {
        self.wiring.shutdown().await;
        self.phones.shutdown().await;
    }
}

async fn next(watch: &mut Watch) -> Change {
    let next = tokio::time::timeout(TEST_TIMEOUT, watch.next());
    next.await.expect("a change comes").expect("it is watched")
}

async fn leased(devices: &Devices, id: &DeviceId) -> Result<(), LeaseError> {
    let never = CancellationToken::new();
    let lease = devices.lease(id, "a test", Instant::now() + LIMIT, &never);
    lease.await.map(drop)
}

#[test]
fn a_fleet_takes_phones_as_they_come_and_lets_go_of_them_as_they_vanish() {
    in_system(async {
        let desk = WatchLab::new(1).await;
        let id = desk.id(0);
        let devices = Devices::start(Vec::new(), &[]).unwrap();
        let mut watch = Watch::start(&desk.wiring, Duration::ZERO);
        for _ in 0..2 {
            desk.server.plug_in(&desk.address(0)).await;
            // What it is while it is being connected is told too.
            loop {
                match next(&mut watch).await {
                    Change::Appeared {
                        connector,
                        api_level,
                    } => {
                        assert!(api_level.is_some());
                        devices.add(connector).unwrap();
                        break;
                    }
                    Change::Unusable(_) => {}
                    Change::Vanished(id) => panic!("{id} vanished"),
                }
            }
            leased(&devices, &id).await.unwrap();
            desk.server.unplug(&desk.address(0)).await;
            let Change::Vanished(gone) = next(&mut watch).await else {
                panic!("it does not vanish");
            };
            assert_eq!(gone, id);
            devices.remove(&gone, LIMIT).await.unwrap();
            let unknown = LeaseError::Unknown(id.clone());
            assert_eq!(leased(&devices, &id).await, Err(unknown));
        }
        devices.shutdown(LIMIT).await;
        drop(watch);
        desk.end().await;
    });
}

#[test]
fn phones_that_are_back_in_time_were_never_gone() {
    in_system(async {
        let mut desk = WatchLab::new(2).await;
        let mut watch = Watch::start(&desk.wiring, LIMIT);
        desk.server.plug_in(&desk.address(0)).await;
        let appeared = async |watch: &mut Watch| loop {
            match next(watch).await {
                Change::Appeared { connector, .. } => return connector.id().clone(),
                Change::Unusable(_) => {}
                Change::Vanished(id) => panic!("{id} vanished"),
            }
        };
        assert_eq!(appeared(&mut watch).await, desk.id(0));
        desk.server.kill().await;
        desk.server.start_again().await;
        desk.server.plug_in(&desk.address(0)).await;
        desk.server.plug_in(&desk.address(1)).await;
        // Of the first there was nothing to tell.
        assert_eq!(appeared(&mut watch).await, desk.id(1));
        drop(watch);
        desk.end().await;
    });
}
