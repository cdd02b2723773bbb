//! Promises to those who wait for a device.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use packtrain_device_actors::{CommandError, DeviceState, Fleet, LeaseError, SharedDevices};
use packtrain_drivers::DriverError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Act, AtEnd, Script, begin, command, on_jumping_clock, soon, until};
use crate::{fleet, lease};
use packtrain_testing::in_system;

/// Polls a future so often and drops it with its answer. Whether it was done.
async fn poll(times: usize, future: impl Future) -> bool {
    let mut future = pin!(future);
    for _ in 0..times {
        let done = std::future::poll_fn(|ctx| Poll::Ready(future.as_mut().poll(ctx).is_ready()));
        if done.await {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

#[test]
fn who_waits_is_told_for_whom_and_is_served_when_the_device_comes_back() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let held = lease(&fleet, &script).await;
        held.execute(begin(), soon()).await.unwrap();
        script.at_end(AtEnd::Wait);
        let never = CancellationToken::new();
        let (told, mut reasons) = tokio::sync::mpsc::unbounded_channel();
        let waits = fleet.lease_with(&script.id, "other", soon(), &never, |reason| {
            told.send(reason.to_string()).unwrap();
        });
        let gives_back = async {
            assert_eq!(reasons.recv().await.unwrap(), "in use by test");
            drop(held);
            script.started().await;
            assert_eq!(reasons.recv().await.unwrap(), "ending test");
            let status = fleet.status().await.remove(0);
            assert!(
                matches!(status.state, DeviceState::Closing(Some(_))),
                "{status:?}"
            );
            assert_eq!(status.queue, ["other"]);
            script.let_go();
        };
        let (served, ()) = tokio::join!(waits, gives_back);
        served
            .unwrap()
            .execute(command(Act::Echo(1)), soon())
            .await
            .unwrap();
    });
}

#[test]
fn a_device_goes_to_those_who_wait_in_the_order_they_came() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let held = lease(&fleet, &script).await;
        let never = CancellationToken::new();
        let served = parking_lot::Mutex::new(Vec::new());
        let all = futures::future::join_all((0..20).map(|n| {
            let (fleet, id, never, served) = (&fleet, &script.id, &never, &served);
            async move {
                let lease = fleet
                    .lease(id, &n.to_string(), soon(), never)
                    .await
                    .unwrap();
                served.lock().push(n);
                lease.execute(begin(), soon()).await.unwrap();
            }
        }));
        tokio::join!(all, async { drop(held) });
        assert_eq!(*served.lock(), (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn at_its_deadline_whoever_waits_is_told_what_it_waited_for() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let _held = lease(&fleet, &script).await;
        let deadline = soon();
        let never = CancellationToken::new();
        let error = fleet
            .lease(&script.id, "other", deadline, &never)
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "timed out waiting for web/a: in use by test"
        );
        assert!(Instant::now() >= deadline && Instant::now() < deadline + Duration::from_secs(1));
        assert_eq!(
            fleet.status().await[0].queue,
            [""; 0],
            "it has left the queue"
        );
    });
}

#[test]
fn whoever_gives_up_leaves_the_queue_at_once() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let held = lease(&fleet, &script).await;
        let gives_up = CancellationToken::new();
        let (told, mut reasons) = tokio::sync::mpsc::unbounded_channel();
        let waits = fleet.lease_with(&script.id, "impatient", soon(), &gives_up, |_| {
            told.send(()).unwrap();
        });
        let (answer, ()) = tokio::join!(waits, async {
            reasons.recv().await.unwrap();
            gives_up.cancel();
        });
        assert_eq!(answer.unwrap_err(), LeaseError::Cancelled);
        assert_eq!(fleet.status().await[0].queue, [""; 0]);
        drop(held);
        lease(&fleet, &script).await;
    });
}

#[test]
fn a_lease_whose_holder_is_dropped_at_any_point_comes_back() {
    // On one thread everybody gets a turn between two polls, so that every point is met.
    on_jumping_clock(async {
        let script = Script::new("a");
        let never = CancellationToken::new();
        let mut times = 0;
        loop {
            let fleet = fleet(&[&script]);
            let done = poll(times, async {
                let lease = fleet
                    .lease(&script.id, "fickle", soon(), &never)
                    .await
                    .unwrap();
                lease.execute(begin(), soon()).await.unwrap();
                lease.execute(command(Act::Echo(1)), soon()).await.unwrap();
                lease.finish().await.unwrap();
            });
            let done = done.await;
            let next = lease(&fleet, &script).await;
            let story = script.story();
            let count = |what| story.iter().filter(|did| **did == what).count();
            assert_eq!(count("begin"), count("end"), "{story:?}");
            assert_eq!(fleet.status().await[0].queue, [""; 0]);
            next.execute(command(Act::Echo(1)), soon()).await.unwrap();
            if done {
                break;
            }
            times += 1;
        }
        assert!(times >= 8, "only {times} points");
    });
}

#[test]
fn a_request_among_others_that_is_dropped_at_any_point_holds_up_nobody() {
    in_system(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let never = CancellationToken::new();
        for times in 0..30 {
            let held = lease(&fleet, &script).await;
            let fickle = poll(times, fleet.lease(&script.id, "fickle", soon(), &never));
            let patient = lease(&fleet, &script);
            let (_, patient, ()) = tokio::join!(fickle, patient, async { drop(held) });
            patient
                .execute(command(Act::Echo(1)), soon())
                .await
                .unwrap();
        }
    });
}

#[test]
fn nobody_is_connected_for_a_request_that_was_dropped() {
    in_system(async {
        let script = Script::new("a");
        script.reachable(false);
        let fleet = fleet(&[&script]);
        let mut changes = fleet.subscribe();
        let never = CancellationToken::new();
        tokio::select! {
            _ = fleet.lease(&script.id, "test", soon(), &never) => panic!("it is out of reach"),
            () = script.happened("connect", 1) => {}
        }
        while changes.recv().await.unwrap().state != Some(DeviceState::Absent) {}
        assert_eq!(
            fleet.status().await[0].last_death,
            None,
            "cancelled, not dead"
        );
        script.reachable(true);
        lease(&fleet, &script).await;
        assert_eq!(script.story(), ["connect", "connect"]);
    });
}

#[test]
fn a_failed_attempt_to_connect_answers_those_who_waited_when_it_began() {
    on_jumping_clock(async {
        let script = Script::new("a");
        script.refuse_connections(2);
        let fleet = fleet(&[&script]);
        let never = CancellationToken::new();
        script.reachable(false);
        let ask = || fleet.lease(&script.id, "test", soon(), &never);
        let (first, second, third, ()) = tokio::join!(ask(), ask(), ask(), async {
            script.happened("connect", 1).await;
            script.reachable(true);
        });
        for refused in [first, second, third] {
            let expected = LeaseError::NotConnected(DriverError::lost("not plugged in"));
            assert_eq!(refused.unwrap_err(), expected);
        }
        assert_eq!(script.story(), ["connect", "connect"]);
        lease(&fleet, &script).await;
    });
}

#[test]
fn an_idle_lease_is_taken_over_by_whoever_waits_and_its_token_is_stale() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let fleet = fleet(&[&script]);
        let idle = lease(&fleet, &script).await;
        idle.execute(begin(), soon()).await.unwrap();
        let begun = Instant::now();
        let never = CancellationToken::new();
        let hour = begun + Duration::from_secs(3600);
        let renews = async {
            until(begun + Duration::from_secs(10 * 60)).await;
            drop(idle.in_use());
        };
        let waits = fleet.lease(&script.id, "other", hour, &never);
        let (next, ()) = tokio::join!(waits, renews);
        let next = next.unwrap();
        let minutes = begun.elapsed().as_secs() / 60;
        assert_eq!(minutes, 25, "15 minutes after it was last used");
        let stale = idle
            .execute(command(Act::Echo(1)), soon())
            .await
            .unwrap_err();
        assert!(matches!(stale, CommandError::Stale(_)), "{stale:?}");
        assert_eq!(script.story(), ["connect", "begin", "end"]);
        next.execute(command(Act::Echo(2)), soon()).await.unwrap();
    });
}

#[test]
fn a_lease_in_use_is_not_taken_over_however_long_that_takes() {
    on_jumping_clock(async {
        let script = Script::new("a");
        let shared = SharedDevices::new(&[]);
        let fleet = Fleet::with_lease_idle(&shared, Duration::from_secs(5 * 60));
        fleet.add(script.connector()).unwrap();
        let held = lease(&fleet, &script).await;
        held.execute(begin(), soon()).await.unwrap();
        let begun = Instant::now();
        let never = CancellationToken::new();
        let uses = async {
            // A call that sends no command.
            let in_use = held.in_use();
            until(begun + Duration::from_secs(40 * 60)).await;
            let echoed = held.execute(command(Act::Echo(1)), soon()).await;
            assert!(echoed.is_ok(), "{echoed:?}");
            drop(in_use);
        };
        let day = begun + Duration::from_secs(24 * 3600);
        let waits = fleet.lease(&script.id, "other", day, &never);
        let (next, ()) = tokio::join!(waits, uses);
        next.unwrap();
        let minutes = begun.elapsed().as_secs() / 60;
        assert_eq!(minutes, 45, "5 minutes after the call has ended");
    });
}
