//! Promises of the fleet, with a driver that answers from a script.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a callback cannot wait, and a test tells little"
)]

mod death;
mod ending;
mod membership;
mod scripted;
mod sharing;
mod waiting;

use std::sync::Arc;

use packtrain_device_actors::{CommandError, DeviceState, Fleet};
use packtrain_drivers::{DeviceEvent, DriverError, Observation};
use tokio_util::sync::CancellationToken;

use packtrain_testing::in_system;
use scripted::{Act, Script, command, soon};

fn fleet(scripts: &[&Arc<Script>]) -> Fleet {
    let connectors = scripts.iter().map(|script| script.connector()).collect();
    Fleet::start(connectors, &[]).unwrap()
}

async fn lease(fleet: &Fleet, script: &Script) -> packtrain_device_actors::Lease {
    fleet
        .lease(&script.id, "test", soon(), &CancellationToken::new())
        .await
        .unwrap()
}

#[test]
fn commands_of_one_lease_run_one_at_a_time_in_order() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = lease(&fleet, &script).await;
        let sent = (0..8).map(|n| lease.execute(command(Act::Echo(n)), soon()));
        let answers = futures::future::join_all(sent).await;
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        let wanted: Vec<_> = (0..8).map(|n| Observation::Text(n.to_string())).collect();
        assert_eq!(answers, wanted);
        assert_eq!(script.most_at_once(), 1);
    });
}

#[test]
fn dropping_a_lease_frees_the_device_and_the_next_token_is_larger() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let first = lease(&fleet, &script).await;
        let token = first.token();
        drop(first);
        let second = lease(&fleet, &script).await;
        assert!(second.token() > token);
    });
}

#[test]
fn a_revoked_lease_cancels_its_command_and_is_stale_afterwards() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let old = lease(&fleet, &script).await;
        let stuck = old.execute(command(Act::UntilCancelled), soon());
        let (ended, revoked) = tokio::join!(stuck, async {
            script.started().await;
            fleet.revoke(&script.id)
        });
        revoked.unwrap();
        assert_eq!(
            ended.unwrap_err(),
            CommandError::Driver(DriverError::Cancelled)
        );
        let new = lease(&fleet, &script).await;
        let stale = old
            .execute(command(Act::Echo(1)), soon())
            .await
            .unwrap_err();
        assert!(matches!(stale, CommandError::Stale(_)), "{stale:?}");
        new.execute(command(Act::Echo(2)), soon()).await.unwrap();
    });
}

#[test]
fn a_command_nobody_waits_for_any_more_is_cancelled() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = lease(&fleet, &script).await;
        tokio::select! {
            _ = lease.execute(command(Act::UntilCancelled), soon()) => panic!("it never answers"),
            () = script.started() => {}
        }
        let next = lease.execute(command(Act::Echo(7)), soon()).await.unwrap();
        assert_eq!(next, Observation::Text("7".into()));
    });
}

#[test]
fn cancel_of_the_run_reaches_the_driver() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let run = CancellationToken::new();
        let lease = fleet.lease(&script.id, "run", soon(), &run).await.unwrap();
        let (ended, ()) =
            tokio::join!(lease.execute(command(Act::UntilCancelled), soon()), async {
                script.started().await;
                run.cancel();
            });
        assert_eq!(
            ended.unwrap_err(),
            CommandError::Driver(DriverError::Cancelled)
        );
    });
}

#[test]
fn a_flooded_device_says_it_is_busy() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = lease(&fleet, &script).await;
        let stuck = lease.execute(command(Act::UntilCancelled), soon());
        let flood = async {
            script.started().await;
            let many = (0..64).map(|n| lease.execute(command(Act::Echo(n)), soon()));
            let mut many = Box::pin(futures::future::join_all(many));
            // Queued ones wait for the stuck command; the rest is refused at once.
            tokio::select! {
                _ = &mut many => panic!("the queue is stuck"),
                () = tokio::task::yield_now() => {}
            }
            lease
                .execute(command(Act::Echo(1)), soon())
                .await
                .unwrap_err()
        };
        tokio::select! {
            _ = stuck => panic!("it never answers"),
            refused = flood => assert!(matches!(refused, CommandError::Busy(_)), "{refused:?}"),
        }
    });
}

#[test]
fn status_answers_while_a_command_is_under_way() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = lease(&fleet, &script).await;
        let asked = async {
            script.started().await;
            fleet.status().await.remove(0)
        };
        tokio::select! {
            _ = lease.execute(command(Act::UntilCancelled), soon()) => panic!("it never answers"),
            status = asked => {
                assert!(matches!(status.state, DeviceState::Leased(holder) if holder.name == "test"));
            }
        }
    });
}

#[test]
fn events_reach_the_lease_that_is_held_when_they_happen() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let first = lease(&fleet, &script).await;
        first
            .execute(command(Act::Log("one")), soon())
            .await
            .unwrap();
        assert!(
            matches!(&first.drain_events()[..], [DeviceEvent::Logged { text, .. }] if text == "one")
        );
        first
            .execute(command(Act::Log("nobody read this")), soon())
            .await
            .unwrap();
        drop(first);
        let second = lease(&fleet, &script).await;
        second
            .execute(command(Act::Log("two")), soon())
            .await
            .unwrap();
        assert!(
            matches!(&second.drain_events()[..], [DeviceEvent::Logged { text, .. }] if text == "two")
        );
    });
}

#[test]
fn a_command_is_given_its_deadline_unextended() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let lease = lease(&fleet, &script).await;
        let deadline = soon();
        lease
            .execute(command(Act::Echo(1)), deadline)
            .await
            .unwrap();
        assert_eq!(script.last_deadline(), Some(deadline));
    });
}
