//! Writing and reading.

use std::time::Duration;

use packtrain_farm::bundle;
use packtrain_farm::follow::Followed;
use packtrain_farm::live::{Alive, Liveness, Take};
use packtrain_farm::names::{self, LIVE};
use packtrain_farm::store::Put;
use tokio::time::Instant;

use crate::nats::Nats;

#[tokio::test]
async fn of_two_who_write_the_same_the_second_is_refused() {
    let nats = Nats::start().await;
    let farm = nats.farm().await;
    let first = farm.put_if("r.a.grant.s1", 0, "one".into(), None).await;
    let second = farm.put_if("r.a.grant.s1", 0, "two".into(), None).await;
    assert!(matches!(first, Ok(Put::Done(_))), "{first:?}");
    assert_eq!(second, Ok(Put::Refused));
    let last = farm.last("r.a.grant.s1").await.unwrap().unwrap();
    assert_eq!(last.value.as_deref(), Some(&b"one"[..]));
}

#[tokio::test]
async fn what_is_written_while_the_server_is_away_is_there_once() {
    let mut nats = Nats::start().await;
    let farm = nats.farm().await;
    nats.kill().await;
    let writing = tokio::spawn({
        let farm = farm.clone();
        async move { farm.put_if("r.a.end.s1.h", 0, "x".into(), None).await }
    });
    nats.restart().await;
    assert!(matches!(writing.await.unwrap(), Ok(Put::Done(_))));
    let again = farm.put_if("r.a.end.s1.h", 0, "y".into(), None).await;
    assert_eq!(again, Ok(Put::Refused));
}

#[tokio::test]
async fn a_follower_reads_what_is_there_then_what_comes_also_over_a_restart() {
    let mut nats = Nats::start().await;
    let farm = nats.farm().await;
    for n in 0..3 {
        farm.put_once("r.a.ev.s1.h", &format!("{n}"), n.to_string().into())
            .await
            .unwrap();
    }
    let mut follower = farm.follow_runs(vec!["r.a.ev.>".into(), "r.a.end.>".into()]);
    let mut read = Vec::new();
    while let Followed::Message(message) = follower.next().await.unwrap() {
        read.push(message.value.unwrap());
    }
    nats.kill().await;
    nats.restart().await;
    farm.put_once("r.a.ev.s1.h", "3", "3".into()).await.unwrap();
    match follower.next().await.unwrap() {
        Followed::Message(message) => read.push(message.value.unwrap()),
        Followed::CaughtUp => panic!("it had caught up"),
    }
    assert_eq!(read, ["0", "1", "2", "3"]);
}

#[tokio::test]
async fn a_key_that_is_renewed_stays_one_that_is_not_expires_and_one_taken_again_still_expires() {
    let nats = Nats::start().await;
    let farm = nats.farm().await;
    let ttl = Duration::from_secs(1);
    let mut keys = farm.follow_keys(LIVE, &["host.>".to_owned()]);
    assert_eq!(keys.next().await, Ok(Followed::CaughtUp));
    for round in 0..2 {
        let value = format!(r#"{{"incarnation":"{round}"}}"#);
        let take =
            |value: Vec<u8>| Liveness::take(&farm, "host.a".into(), value, ttl, Take::Free, None);
        let taken = take(value.into()).await;
        let taken = taken.unwrap().expect("nobody has it");
        let refused = take(b"{}".into()).await;
        assert!(refused.unwrap().is_none());
        let mut alive = taken.alive();
        let first = alive.borrow_and_update().clone();
        // Three renewals are more than the time to live.
        for _ in 0..3 {
            alive.changed().await.unwrap();
        }
        let Alive::Until(later) = *alive.borrow() else {
            panic!("nobody took it");
        };
        assert!(Alive::Until(later) != first && later > Instant::now());
        drop(taken);
        // As the watcher is told, whatever was written before.
        loop {
            if let Followed::Message(message) = keys.next().await.unwrap()
                && message.value.is_none()
            {
                break;
            }
        }
    }
}

#[tokio::test]
async fn whoever_is_taken_over_is_told() {
    let nats = Nats::start().await;
    let farm = nats.farm().await;
    let ttl = Duration::from_secs(1);
    let take = |value: &'static str| {
        Liveness::take(&farm, "host.a".into(), value.into(), ttl, Take::Over, None)
    };
    let first = take(r#"{"incarnation":"1"}"#).await.unwrap().unwrap();
    let _second = take(r#"{"incarnation":"2"}"#).await.unwrap().unwrap();
    let mut alive = first.alive();
    let told = alive
        .wait_for(|alive| matches!(alive, Alive::Taken(_)))
        .await;
    assert!(told.is_ok());
}

#[tokio::test]
async fn a_key_that_is_released_is_free_at_once() {
    let nats = Nats::start().await;
    let farm = nats.farm().await;
    let ttl = Duration::from_secs(60);
    let value = br#"{"incarnation":"1"}"#.to_vec();
    let taken = Liveness::take(&farm, "broker".into(), value, ttl, Take::Free, None).await;
    taken.unwrap().unwrap().release().await;
    let last = farm
        .last(&names::key_subject(LIVE, "broker"))
        .await
        .unwrap();
    assert!(last.is_some_and(|last| last.value.is_none()));
}

#[tokio::test]
async fn a_blob_that_is_not_what_its_name_says_is_put_again() {
    let nats = Nats::start().await;
    let farm = nats.farm().await;
    let blob = bundle::put(&farm, "a trail".into()).await.unwrap();
    let subject = names::blob(&blob.digest);
    for wrong in ["another", ""] {
        farm.put_once(&subject, wrong, wrong.into()).await.unwrap();
        assert!(bundle::get(&farm, &blob, 100).await.is_err());
        let again = bundle::put(&farm, "a trail".into()).await.unwrap();
        assert_eq!(again, blob);
        let content = bundle::get(&farm, &blob, 100).await.unwrap();
        assert_eq!(&content[..], b"a trail");
    }
    let before = farm.last(&subject).await.unwrap();
    bundle::put(&farm, "a trail".into()).await.unwrap();
    let after = farm.last(&subject).await.unwrap();
    assert_eq!(after, before, "it is right, and is there");
}
