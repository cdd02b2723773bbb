//! Devices die and come back.

use std::time::Duration;

use packtrain_device_actors::{CommandError, DeviceState, Incarnation};
use packtrain_drivers::DriverError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Act, Script, begin, command, on_jumping_clock, soon};
use crate::{fleet, lease};
use packtrain_testing::in_system;

#[test]
fn a_lost_device_is_recreated_with_a_new_incarnation_and_a_cause() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lost = lease(&fleet, &script).await;
        let error = lost.execute(command(Act::Die), soon()).await.unwrap_err();
        assert!(
            matches!(&error, CommandError::Driver(DriverError::Lost { .. })),
            "{error:?}"
        );
        let again = lease(&fleet, &script).await;
        again.execute(command(Act::Echo(1)), soon()).await.unwrap();
        let status = fleet.status().await.remove(0);
        assert_eq!(status.incarnation, Incarnation(2));
        assert!(status.last_death.unwrap().contains("cable"));
        let gone = lost
            .execute(command(Act::Echo(1)), soon())
            .await
            .unwrap_err();
        assert_eq!(gone, error, "later callers get the same error");
    });
}

#[test]
fn a_driver_that_panics_takes_down_its_own_device_and_no_other() {
    in_system(async {
        let (bad, good) = (Script::new("bad"), Script::new("good"));
        let fleet = fleet(&[&bad, &good]);
        let (dying, living) = (lease(&fleet, &bad).await, lease(&fleet, &good).await);
        let gone = dying
            .execute(command(Act::Panic), soon())
            .await
            .unwrap_err();
        assert!(matches!(gone, CommandError::Gone { .. }), "{gone:?}");
        living.execute(command(Act::Echo(1)), soon()).await.unwrap();
        lease(&fleet, &bad)
            .await
            .execute(command(Act::Echo(1)), soon())
            .await
            .unwrap();
    });
}

#[test]
fn who_waits_for_a_dead_device_is_told_what_it_died_of_and_served_when_it_is_back() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lost = lease(&fleet, &script).await;
        lost.execute(command(Act::Die), soon()).await.unwrap_err();
        let mut told = Vec::new();
        let never = CancellationToken::new();
        let again = fleet.lease_with(&script.id, "next", soon(), &never, |reason| {
            told.push(reason.to_string());
        });
        again.await.unwrap();
        let restarting = "restarting after: lost the device: the cable was pulled";
        assert!(told.iter().any(|reason| reason == restarting), "{told:?}");
    });
}

#[test]
fn a_device_that_keeps_dying_is_left_alone_for_longer_and_longer() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let never = CancellationToken::new();
        let mut pauses = Vec::new();
        for _ in 0..12 {
            let asked = Instant::now();
            let minute = asked + Duration::from_secs(60);
            let lost = fleet.lease(&script.id, "test", minute, &never).await;
            pauses.push(asked.elapsed());
            let died = lost.unwrap().execute(command(Act::Die), soon()).await;
            died.unwrap_err();
        }
        assert!(pauses[1] <= Duration::from_millis(300), "{pauses:?}");
        assert!(pauses[4] > pauses[1] * 2, "{pauses:?}");
        let longest = pauses.iter().max().unwrap();
        assert!(
            *longest > Duration::from_secs(14) && *longest < Duration::from_secs(31),
            "{pauses:?}"
        );
    });
}

#[test]
fn a_session_that_ended_well_forgives_the_deaths_before_it() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let failures = async || match fleet.status().await.remove(0).state {
            DeviceState::Dead { failures, .. } => failures,
            other => panic!("{other:?}"),
        };
        for expected in [1, 2] {
            let lost = lease(&fleet, &script).await;
            lost.execute(command(Act::Die), soon()).await.unwrap_err();
            let _ = lost.finish().await;
            script.happened("close", expected).await;
            tokio::task::yield_now().await;
            assert_eq!(failures().await, u32::try_from(expected).unwrap());
        }
        let good = lease(&fleet, &script).await;
        good.execute(begin(), soon()).await.unwrap();
        good.finish().await.unwrap();
        let lost = lease(&fleet, &script).await;
        lost.execute(command(Act::Die), soon()).await.unwrap_err();
        script.happened("close", 3).await;
        tokio::task::yield_now().await;
        assert_eq!(failures().await, 1);
    });
}
