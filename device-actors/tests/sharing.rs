//! Promises to fleets that have one device: it has one driver, one holder and one queue.

use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::{DeviceState, Fleet, LeaseError, SharedDevices};
use packtrain_drivers::{DeviceId, Platform};
use tokio_util::sync::CancellationToken;

use crate::lease;
use crate::scripted::{AtEnd, Script, begin, on_jumping_clock, soon};
use packtrain_testing::in_system;

const LIMIT: Duration = Duration::from_secs(10);

/// Fleets that have one device, each by another name.
fn fleets<const N: usize>(scripts: &[Arc<Script>; N]) -> [Fleet; N] {
    let shared = SharedDevices::new(&[]);
    let device = DeviceId::new(Platform::Android, "serial");
    scripts.each_ref().map(|script| {
        let fleet = Fleet::beside(&shared);
        fleet.add_shared(script.connector(), &device).unwrap();
        fleet
    })
}

fn scripts() -> [Arc<Script>; 2] {
    [Script::new("a"), Script::new("b")]
}

#[test]
fn whoever_waits_is_told_of_the_holder_of_another_fleet_and_served_in_order() {
    in_system(async {
        let scripts = scripts();
        let [one, other] = fleets(&scripts);
        let held = lease(&one, &scripts[0]).await;
        held.execute(begin(), soon()).await.unwrap();
        let never = CancellationToken::new();
        let (told, mut reasons) = tokio::sync::mpsc::unbounded_channel();
        let second = other.lease_with(&scripts[1].id, "second", soon(), &never, |reason| {
            told.send(reason.to_string()).unwrap();
        });
        let (then, mut later) = tokio::sync::mpsc::unbounded_channel();
        let third = one.lease_with(&scripts[0].id, "third", soon(), &never, |reason| {
            then.send(reason.to_string()).unwrap();
        });
        let order = parking_lot::Mutex::new(Vec::new());
        let ((), (), ()) = tokio::join!(
            async {
                let lease = second.await.unwrap();
                order.lock().push("second");
                assert_eq!(lease.device().id, scripts[1].id);
                lease.execute(begin(), soon()).await.unwrap();
            },
            async {
                // After the second one.
                assert_eq!(reasons.recv().await.unwrap(), "in use by test");
                let lease = third.await.unwrap();
                order.lock().push("third");
                drop(lease);
            },
            async {
                let ahead = later.recv().await.unwrap();
                assert_eq!(ahead, "in use by test; 1 ahead in the queue");
                for fleet in [&one, &other] {
                    let status = fleet.status().await.remove(0);
                    assert!(
                        matches!(&status.state, DeviceState::Leased(it) if it.name == "test"),
                        "{status:?}"
                    );
                    assert_eq!(status.queue, ["second", "third"]);
                }
                drop(held);
            },
        );
        assert_eq!(*order.lock(), ["second", "third"]);
        // Each was let go of before the other was connected.
        scripts[0].happened("connect", 2).await;
        assert_eq!(
            scripts[0].story(),
            ["connect", "begin", "end", "close", "connect"]
        );
        assert_eq!(scripts[1].story(), ["connect", "begin", "end", "close"]);
    });
}

#[test]
fn what_lies_idle_in_one_fleet_is_let_go_of_for_another_and_only_then() {
    in_system(async {
        let scripts = scripts();
        let [one, other] = fleets(&scripts);
        drop(lease(&one, &scripts[0]).await);
        drop(lease(&one, &scripts[0]).await);
        assert_eq!(scripts[0].story(), ["connect"], "it stays warm");
        let held = lease(&other, &scripts[1]).await;
        assert_eq!(scripts[0].story(), ["connect", "close"]);
        let never = CancellationToken::new();
        let late = one.lease(&scripts[0].id, "late", soon() - LIMIT * 2, &never);
        let told = late.await.unwrap_err().to_string();
        assert!(told.ends_with("in use by test"), "{told}");
        drop(held);
    });
}

#[test]
fn a_fleet_that_ends_takes_its_own_with_it_and_nothing_of_others() {
    on_jumping_clock(async {
        let scripts = scripts();
        let [one, other] = fleets(&scripts);
        let held = lease(&one, &scripts[0]).await;
        held.execute(begin(), soon()).await.unwrap();
        scripts[0].at_end(AtEnd::Wait);
        let never = CancellationToken::new();
        let waits = other.lease(&scripts[1].id, "other", soon(), &never);
        let ended = async {
            scripts[0].started().await;
            assert!(scripts[1].story().is_empty(), "it is not free before");
            scripts[0].let_go();
        };
        let (served, (), ()) = tokio::join!(waits, one.shutdown(LIMIT), ended);
        assert_eq!(scripts[0].story(), ["connect", "begin", "end", "close"]);
        assert!(held.is_over());
        let gone = one.lease(&scripts[0].id, "late", soon(), &never).await;
        assert_eq!(gone.unwrap_err(), LeaseError::ShuttingDown);
        let served = served.unwrap();
        served.execute(begin(), soon()).await.unwrap();
        // The first fleet's end does not concern it.
        drop(one);
        served.execute(begin(), soon()).await.unwrap();
    });
}

#[test]
fn a_device_that_leaves_one_fleet_stays_in_the_other_and_may_come_back_at_once() {
    in_system(async {
        let scripts = scripts();
        let [one, other] = fleets(&scripts);
        let held = lease(&other, &scripts[1]).await;
        let never = CancellationToken::new();
        let (told, mut reasons) = tokio::sync::mpsc::unbounded_channel();
        let id = &scripts[0].id;
        let waits = one.lease_with(id, "waits", soon(), &never, |_| told.send(()).unwrap());
        let (refused, ()) = tokio::join!(waits, async {
            reasons.recv().await.unwrap();
            one.remove(id, LIMIT).await.unwrap();
        });
        assert_eq!(refused.unwrap_err(), LeaseError::Removed(id.clone()));
        assert_eq!(one.status().await, []);
        assert!(!held.is_over());
        let device = DeviceId::new(Platform::Android, "serial");
        one.add_shared(scripts[0].connector(), &device).unwrap();
        drop(held);
        lease(&one, &scripts[0]).await;
    });
}

#[test]
fn a_fleet_that_is_dropped_holds_nothing_up() {
    in_system(async {
        let scripts = scripts();
        let [one, other] = fleets(&scripts);
        let held = lease(&one, &scripts[0]).await;
        drop(one);
        lease(&other, &scripts[1]).await;
        assert!(held.is_over());
    });
}
