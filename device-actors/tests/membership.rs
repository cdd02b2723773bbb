//! Devices join and leave a fleet, and subscribers are notified.

use std::time::Duration;

use packtrain_device_actors::{DeviceChange, DeviceState, Fleet, FleetError, LeaseError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Act, AtEnd, Script, begin, command, on_jumping_clock, soon};
use crate::{fleet, lease};
use packtrain_testing::in_system;

/// What happened to a device, in one word each, until `last`.
async fn until(last: &str, changes: &mut broadcast::Receiver<DeviceChange>) -> Vec<&'static str> {
    let mut words = Vec::new();
    while words.last() != Some(&last) {
        words.push(match changes.recv().await.unwrap().state {
            None => "gone",
            Some(DeviceState::Absent) => "absent",
            Some(DeviceState::Connecting) => "connecting",
            Some(DeviceState::Ready) => "ready",
            Some(DeviceState::Leased(_)) => "leased",
            Some(DeviceState::Closing(_)) => "closing",
            Some(DeviceState::Dead { .. }) => "dead",
        });
    }
    words
}

#[test]
fn shutdown_closes_every_driver() {
    in_system(async {
        let scripts = [Script::new("a"), Script::new("b")];
        let fleet = fleet(&[&scripts[0], &scripts[1]]);
        let leases = (
            lease(&fleet, &scripts[0]).await,
            lease(&fleet, &scripts[1]).await,
        );
        fleet.shutdown(Duration::from_secs(10)).await;
        for script in scripts {
            assert_eq!(script.story(), ["connect", "close"]);
        }
        drop(leases);
    });
}

#[test]
fn two_devices_of_one_name_are_refused() {
    in_system(async {
        let script = Script::new("a");
        let twice = vec![script.connector(), script.connector()];
        assert!(Fleet::start(twice, &[]).is_err());
    });
}

#[test]
fn whoever_subscribes_hears_of_the_whole_life_of_a_device() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[]);
        let mut changes = fleet.subscribe();
        fleet.add(script.connector()).unwrap();
        let leased = lease(&fleet, &script).await;
        assert_eq!(
            until("leased", &mut changes).await,
            ["absent", "connecting", "leased"]
        );
        leased.finish().await.unwrap();
        assert_eq!(until("ready", &mut changes).await, ["closing", "ready"]);
        let leased = lease(&fleet, &script).await;
        leased.execute(command(Act::Die), soon()).await.unwrap_err();
        assert_eq!(
            until("absent", &mut changes).await,
            ["leased", "closing", "dead", "absent"]
        );
        fleet
            .remove(&script.id, Duration::from_secs(10))
            .await
            .unwrap();
        assert_eq!(until("gone", &mut changes).await, ["closing", "gone"]);
    });
}

#[test]
fn a_subscriber_that_falls_behind_is_told_so() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let mut changes = fleet.subscribe();
        for _ in 0..400 {
            lease(&fleet, &script).await.finish().await.unwrap();
        }
        let lagged = changes.recv().await.unwrap_err();
        assert!(matches!(lagged, broadcast::error::RecvError::Lagged(_)));
        assert_eq!(fleet.status().await[0].state, DeviceState::Ready);
    });
}

#[test]
fn a_device_that_is_removed_ends_its_session_and_tells_those_who_wait() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let held = lease(&fleet, &script).await;
        held.execute(begin(), soon()).await.unwrap();
        let never = CancellationToken::new();
        let (told, mut reasons) = tokio::sync::mpsc::unbounded_channel();
        let waits = fleet.lease_with(&script.id, "other", soon(), &never, |_| {
            told.send(()).unwrap();
        });
        let (refused, ()) = tokio::join!(waits, async {
            reasons.recv().await.unwrap();
            fleet
                .remove(&script.id, Duration::from_secs(10))
                .await
                .unwrap();
        });
        assert_eq!(refused.unwrap_err(), LeaseError::Removed(script.id.clone()));
        assert_eq!(script.story(), ["connect", "begin", "end", "close"]);
        assert_eq!(fleet.status().await, []);
        let unknown = fleet.lease(&script.id, "late", soon(), &never).await;
        assert_eq!(unknown.unwrap_err(), LeaseError::Unknown(script.id.clone()));
        fleet.add(script.connector()).unwrap();
        lease(&fleet, &script).await;
    });
}

#[test]
fn a_device_is_not_added_before_its_namesake_is_gone() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let held = lease(&fleet, &script).await;
        held.execute(begin(), soon()).await.unwrap();
        script.at_end(AtEnd::Wait);
        let ((), removed) = tokio::join!(
            async {
                script.started().await;
                let twice = fleet.add(script.connector());
                assert_eq!(twice, Err(FleetError::Duplicate(script.id.clone())));
                script.let_go();
            },
            fleet.remove(&script.id, Duration::from_secs(10)),
        );
        removed.unwrap();
        fleet.add(script.connector()).unwrap();
    });
}
