//! What was begun under a lease is ended, whatever becomes of its holder.

use std::time::Duration;

use packtrain_device_actors::{CommandError, Fleet, Lease, LeaseError};
use packtrain_drivers::{Command, DeviceEvent, DriverError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Act, AtEnd, Script, begin, command, on_jumping_clock, soon};
use crate::{fleet, lease};
use packtrain_testing::in_system;

async fn begun(fleet: &Fleet, script: &Script) -> Lease {
    let lease = lease(fleet, script).await;
    lease.execute(begin(), soon()).await.unwrap();
    lease
}

fn texts(events: &[DeviceEvent]) -> Vec<&str> {
    fn text(event: &DeviceEvent) -> &str {
        match event {
            DeviceEvent::Logged { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }
    events.iter().map(text).collect()
}

/// Something that ends a session, and nobody says `End`.
async fn end_comes_before_the_next_begin(end: impl AsyncFnOnce(&Fleet, &Script, Lease)) {
    let script = Script::new("a");
    let fleet = fleet(&[&script]);
    let lease = begun(&fleet, &script).await;
    end(&fleet, &script, lease).await;
    let _next = begun(&fleet, &script).await;
    assert_eq!(script.story(), ["connect", "begin", "end", "begin"]);
    assert_eq!(script.end_was_cancelled(), Some(false));
}

#[test]
fn a_session_is_ended_when_its_lease_is_dropped() {
    in_system(end_comes_before_the_next_begin(async |_, _, lease| {
        drop(lease);
    }));
}

#[test]
fn a_session_is_ended_when_its_holder_panics() {
    in_system(end_comes_before_the_next_begin(async |_, _, lease| {
        let holder = tokio::spawn(async move {
            let _lease = lease;
            panic!("a bug of the holder");
        });
        holder.await.unwrap_err();
    }));
}

#[test]
fn a_session_is_ended_when_its_run_is_cancelled() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let run = CancellationToken::new();
        let lease = fleet.lease(&script.id, "run", soon(), &run).await.unwrap();
        lease.execute(begin(), soon()).await.unwrap();
        run.cancel();
        lease.finish().await.unwrap();
        assert_eq!(script.story(), ["connect", "begin", "end"]);
        assert_eq!(script.end_was_cancelled(), Some(false));
    });
}

#[test]
fn a_session_is_ended_when_its_begin_is_cancelled() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        script.hang_in_begin();
        let lease = lease(&fleet, &script).await;
        tokio::select! {
            _ = lease.execute(begin(), soon()) => panic!("it hangs"),
            () = script.started() => {}
        }
        lease.finish().await.unwrap();
        assert_eq!(script.story(), ["connect", "begin", "end"]);
    });
}

#[test]
fn a_session_is_ended_when_its_lease_is_revoked_during_a_command() {
    in_system(end_comes_before_the_next_begin(
        async |fleet, script, lease| {
            let stuck = lease.execute(command(Act::UntilCancelled), soon());
            let (ended, ()) = tokio::join!(stuck, async {
                script.started().await;
                fleet.revoke(&script.id).unwrap();
            });
            assert_eq!(ended.unwrap_err(), DriverError::Cancelled.into());
            lease.finish().await.unwrap();
        },
    ));
}

#[test]
fn an_end_has_the_time_that_its_driver_asks_for() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        script.at_end(AtEnd::TakeLong);
        begun(&fleet, &script).await.finish().await.unwrap();
        let _next = begun(&fleet, &script).await;
        assert_eq!(script.story(), ["connect", "begin", "end", "begin"]);
    });
}

#[test]
fn a_session_is_ended_once_when_its_holder_says_so_too() {
    in_system(end_comes_before_the_next_begin(async |_, _, lease| {
        lease.execute(Command::End, soon()).await.unwrap();
        lease.finish().await.unwrap();
        lease.finish().await.unwrap();
    }));
}

#[test]
fn a_session_is_ended_when_the_fleet_shuts_down() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = begun(&fleet, &script).await;
        let stuck = lease.execute(command(Act::UntilCancelled), soon());
        let (ended, ()) = tokio::join!(stuck, async {
            script.started().await;
            fleet.shutdown(Duration::from_secs(10)).await;
        });
        assert_eq!(ended.unwrap_err(), DriverError::Cancelled.into());
        assert_eq!(script.story(), ["connect", "begin", "end", "close"]);
    });
}

#[test]
fn a_session_is_ended_when_the_fleet_is_dropped() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = begun(&fleet, &script).await;
        drop(fleet);
        script.happened("close", 1).await;
        assert_eq!(script.story(), ["connect", "begin", "end", "close"]);
        drop(lease);
    });
}

#[test]
fn nothing_is_ended_that_was_not_begun() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        lease(&fleet, &script).await.finish().await.unwrap();
        assert_eq!(script.story(), ["connect"]);
    });
}

#[test]
fn an_end_has_fifteen_seconds_whatever_the_run_has_left() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = begun(&fleet, &script).await;
        let at = Instant::now();
        lease.finish().await.unwrap();
        let given = script.last_deadline().unwrap().duration_since(at);
        assert_eq!(given.as_secs(), 15);
    });
}

#[test]
fn a_driver_that_hangs_in_end_is_closed_and_made_anew() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        script.at_end(AtEnd::Hang);
        let lease = begun(&fleet, &script).await;
        let at = Instant::now();
        let error = lease.finish().await.unwrap_err();
        assert!(error.to_string().contains("hung in `end`"), "{error}");
        assert!(at.elapsed() < Duration::from_secs(30));
        script.at_end(AtEnd::LetGo);
        let _next = begun(&fleet, &script).await;
        assert_eq!(
            script.story(),
            ["connect", "begin", "close", "connect", "begin"]
        );
    });
}

#[test]
fn a_driver_that_is_lost_in_end_is_made_anew() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        script.at_end(AtEnd::Lose);
        drop(begun(&fleet, &script).await);
        let _next = begun(&fleet, &script).await;
        assert_eq!(
            script.story(),
            ["connect", "begin", "close", "connect", "begin"]
        );
        let cause = fleet.status().await.remove(0).last_death.unwrap();
        assert!(cause.contains("cable"), "{cause}");
    });
}

#[test]
fn an_end_that_the_driver_refuses_is_told_and_the_device_goes_on() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        script.at_end(AtEnd::Refuse);
        let error = begun(&fleet, &script).await.finish().await.unwrap_err();
        assert_eq!(error, DriverError::Invalid("it is not begun".into()).into());
        let _next = begun(&fleet, &script).await;
        assert_eq!(script.story(), ["connect", "begin", "begin"]);
    });
}

#[test]
fn a_command_that_hears_nothing_is_waited_for_ten_seconds_after_its_lease_is_gone() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let stuck = begun(&fleet, &script).await;
        tokio::select! {
            _ = stuck.execute(command(Act::Deaf), Instant::now() + Duration::from_secs(3600)) => {
                panic!("it never answers");
            }
            () = script.started() => {}
        }
        let at = Instant::now();
        assert!(matches!(
            stuck.finish().await,
            Err(CommandError::Gone { .. })
        ));
        assert_eq!(at.elapsed().as_secs(), 10);
        let _next = begun(&fleet, &script).await;
    });
}

#[test]
fn shutdown_keeps_its_limit_whatever_hangs() {
    on_jumping_clock(async {
        let scripts = ["in a command", "in end", "while it connects"].map(Script::new);
        let fleet = fleet(&[&scripts[0], &scripts[1], &scripts[2]]);
        let (deaf, hangs) = (
            begun(&fleet, &scripts[0]).await,
            begun(&fleet, &scripts[1]).await,
        );
        scripts[1].at_end(AtEnd::Hang);
        scripts[2].reachable(false);
        let never = CancellationToken::new();
        let hour = Instant::now() + Duration::from_secs(3600);
        let at = Instant::now();
        let (_, refused, ()) = tokio::join!(
            deaf.execute(command(Act::Deaf), hour),
            fleet.lease(&scripts[2].id, "test", hour, &never),
            async {
                scripts[0].started().await;
                scripts[2].happened("connect", 1).await;
                drop(hangs);
                fleet.shutdown(Duration::from_secs(5)).await;
            }
        );
        assert_eq!(refused.unwrap_err(), LeaseError::ShuttingDown);
        assert!(at.elapsed() <= Duration::from_secs(5));
        assert_eq!(scripts[0].story(), ["connect", "begin", "close"]);
        assert_eq!(scripts[1].story(), ["connect", "begin", "close"]);
        let refused = fleet.lease(&scripts[0].id, "late", hour, &never).await;
        assert_eq!(refused.unwrap_err(), LeaseError::ShuttingDown);
    });
}

#[test]
fn events_of_the_end_reach_the_holder_that_waits_for_it() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = begun(&fleet, &script).await;
        lease
            .execute(command(Act::Log("one")), soon())
            .await
            .unwrap();
        lease.finish().await.unwrap();
        let next = begun(&fleet, &script).await;
        next.execute(command(Act::Log("two")), soon())
            .await
            .unwrap();
        assert_eq!(texts(&lease.drain_events()), ["one", "let go of"]);
        assert_eq!(texts(&next.drain_events()), ["two"]);
    });
}

#[test]
fn after_a_revoke_events_are_the_next_holders_and_not_the_last_ones() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let old = begun(&fleet, &script).await;
        fleet.revoke(&script.id).unwrap();
        let new = begun(&fleet, &script).await;
        old.drain_events();
        new.execute(command(Act::Log("two")), soon()).await.unwrap();
        assert_eq!(texts(&old.drain_events()), [""; 0]);
        assert_eq!(texts(&new.drain_events()), ["two"]);
    });
}
