//! What each role may not do, the server refuses.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;

/// A refusal comes at once; this bounds a test that would wait for one that never comes.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);

const USERS: [(Role, &str); 6] = [
    (Role::Host, "mac-1"),
    (Role::Host, "mac-2"),
    (Role::Run, "ci"),
    (Role::Viewer, "eve"),
    (Role::Operator, "ada"),
    (Role::Broker, "farm"),
];

/// A user, and what the server refuses it.
struct User {
    client: Client,
    refused: mpsc::Receiver<String>,
}

impl User {
    async fn of(farm: &Farm, role: Role, name: &str) -> Self {
        let access = farm.access(role, name);
        let (tx, refused) = mpsc::channel(64);
        let identity = &access.identity;
        let options = ConnectOptions::with_nkey(identity.seed.clone());
        let options = options.custom_inbox_prefix(identity.inbox_prefix());
        let options = options.event_callback(move |event| {
            let tx = tx.clone();
            async move {
                if let Event::ServerError(error) = event {
                    let _ = tx.send(error.to_string()).await;
                }
            }
        });
        let client = options.connect(access.servers.as_slice()).await.unwrap();
        Self { client, refused }
    }

    /// The subjects of these that it may not publish to: what follows them is refused for sure.
    async fn may_not_publish(&mut self, subjects: &[&str]) {
        for subject in subjects {
            self.client
                .publish((*subject).to_owned(), "{}".into())
                .await
                .unwrap();
            let refusal = self.refusal().await;
            let expected = format!("Permissions Violation for Publish to \"{subject}\"");
            assert!(refusal.contains(&expected), "{subject}: {refusal}");
        }
    }

    async fn may_not_subscribe(&mut self, subjects: &[&str]) {
        for subject in subjects {
            let subscription = self.client.subscribe((*subject).to_owned()).await.unwrap();
            let refusal = self.refusal().await;
            let expected = format!("Permissions Violation for Subscription to \"{subject}\"");
            assert!(refusal.contains(&expected), "{subject}: {refusal}");
            drop(subscription);
        }
    }

    /// Nothing of this is refused: the first refusal is that of what comes after it.
    async fn may_publish(&mut self, subjects: &[&str]) {
        for subject in subjects {
            self.client
                .publish((*subject).to_owned(), "{}".into())
                .await
                .unwrap();
        }
        self.may_not_publish(&["nobody.may"]).await;
    }

    async fn may_subscribe(&mut self, subjects: &[&str]) {
        let mut open = Vec::new();
        for subject in subjects {
            open.push(self.client.subscribe((*subject).to_owned()).await.unwrap());
        }
        self.may_not_publish(&["nobody.may"]).await;
    }

    async fn refusal(&mut self) -> String {
        let refusal = tokio::time::timeout(REFUSAL_TIMEOUT, self.refused.recv()).await;
        refusal.expect("the server refuses at once").unwrap()
    }
}

async fn farm() -> Farm {
    Farm::with(Listen::default(), &USERS).await
}

#[tokio::test]
async fn a_host_speaks_for_itself_and_no_other() {
    let farm = farm().await;
    let mut host = User::of(&farm, Role::Host, "mac-1").await;
    host.may_publish(&[
        "r.run.ev.s1.mac-1",
        "r.run.end.s1.mac-1",
        "$KV.live.host.mac-1",
        "$KV.device.mac-1.android=2fa",
        "blob.abc",
        "$JS.API.CONSUMER.CREATE.KV_lease.x.$KV.lease.mac-1.>",
        "$JS.API.DIRECT.GET.RUNS.r.run.demand.s1",
        "$JS.API.STREAM.MSG.GET.KV_live",
    ])
    .await;
    host.may_not_publish(&[
        "r.run.ev.s1.mac-2",
        "r.run.end.s1.mac-2",
        "$KV.live.host.mac-2",
        "$KV.device.mac-2.android=2fa",
        "r.run.demand.s1",
        "r.run.grant.s1",
        "$KV.lease.mac-1.android=2fa",
        "$KV.live.broker",
        "$KV.live.run.run",
        "$KV.manifest.run",
        "cancel.run",
        "place.run",
        "ctl.host.mac-2",
        "join",
    ])
    .await;
    host.may_subscribe(&["cancel.*", "ctl.host.mac-1"]).await;
    host.may_not_subscribe(&[
        "ctl.host.mac-2",
        "ctl.broker",
        "join",
        "r.>",
        ">",
        "_INBOX_host_mac-2.>",
        "_INBOX.>",
    ])
    .await;
}

#[tokio::test]
async fn a_host_cannot_change_the_streams_or_follow_what_is_not_for_it() {
    let farm = farm().await;
    let mut host = User::of(&farm, Role::Host, "mac-1").await;
    host.may_not_publish(&[
        "$JS.API.STREAM.CREATE.MINE",
        "$JS.API.STREAM.UPDATE.RUNS",
        "$JS.API.STREAM.DELETE.RUNS",
        "$JS.API.STREAM.PURGE.RUNS",
        "$JS.API.STREAM.MSG.DELETE.RUNS",
        "$JS.API.CONSUMER.CREATE.RUNS",
        "$JS.API.CONSUMER.CREATE.RUNS.x",
        "$JS.API.CONSUMER.CREATE.RUNS.x.r.>",
        "$JS.API.CONSUMER.CREATE.BLOBS.x.blob.*",
        "$JS.API.CONSUMER.CREATE.KV_live.x.$KV.live.host.mac-1",
        "$JS.API.CONSUMER.CREATE.KV_device.x.$KV.device.mac-1.>",
        "$JS.API.CONSUMER.CREATE.KV_device.x.$KV.device.mac-2.>",
        "$JS.API.CONSUMER.CREATE.KV_lease.x.$KV.lease.mac-2.>",
        "$JS.API.CONSUMER.DURABLE.CREATE.RUNS.x",
        "$JS.API.CONSUMER.NAMES.RUNS",
        "$JS.API.STREAM.SNAPSHOT.RUNS",
        "$JS.API.META.LEADER.STEPDOWN",
    ])
    .await;
}

#[tokio::test]
async fn a_run_asks_and_does_not_decide() {
    let farm = farm().await;
    let mut run = User::of(&farm, Role::Run, "ci").await;
    run.may_publish(&[
        "r.run.demand.s1",
        "$KV.live.run.run",
        "$KV.manifest.run",
        "$KV.manifest.run.mac-1",
        "blob.abc",
        "cancel.run",
        "ctl.broker",
        "$JS.API.CONSUMER.CREATE.RUNS.x.r.run.>",
        "$JS.API.CONSUMER.MSG.NEXT.RUNS.x",
    ])
    .await;
    run.may_not_publish(&[
        "r.run.grant.s1",
        "r.run.ev.s1.mac-1",
        "r.run.end.s1.mac-1",
        "$KV.lease.mac-1.android=2fa",
        "$KV.device.mac-1.android=2fa",
        "$KV.live.host.mac-1",
        "$KV.live.broker",
        "place.run",
        "ctl.host.mac-1",
        "join",
        "$JS.API.STREAM.PURGE.RUNS",
        "$JS.API.STREAM.DELETE.RUNS",
    ])
    .await;
    run.may_subscribe(&["place.run"]).await;
    run.may_not_subscribe(&["ctl.>", "join", "_INBOX_viewer_eve.>"])
        .await;
}

#[tokio::test]
async fn a_viewer_looks_and_touches_nothing() {
    let farm = farm().await;
    let mut viewer = User::of(&farm, Role::Viewer, "eve").await;
    viewer
        .may_publish(&[
            "ctl.broker",
            "$JS.API.STREAM.INFO.RUNS",
            "$JS.API.CONSUMER.CREATE.KV_live.x.$KV.live.>",
        ])
        .await;
    viewer
        .may_not_publish(&[
            "$KV.lease.mac-1.android=2fa",
            "r.run.demand.s1",
            "cancel.run",
            "blob.abc",
            "$KV.live.run.run",
            "$KV.manifest.run",
            "ctl.host.mac-1",
            "r.run.end.s1.mac-1",
            "$JS.API.STREAM.PURGE.RUNS",
            "$JS.API.DIRECT.GET.KV_manifest",
            "$JS.API.STREAM.MSG.GET.KV_manifest",
        ])
        .await;
    viewer
        .may_not_subscribe(&["_INBOX_run_ci.>", "ctl.>", "r.>"])
        .await;
}

#[tokio::test]
async fn an_operator_is_a_run_that_may_drain_hosts() {
    let farm = farm().await;
    let mut operator = User::of(&farm, Role::Operator, "ada").await;
    operator
        .may_publish(&["ctl.host.mac-1", "r.run.demand.s1", "cancel.run"])
        .await;
    operator
        .may_not_publish(&["r.run.grant.s1", "$KV.lease.mac-1.android=2fa"])
        .await;
}

#[tokio::test]
async fn a_broker_reads_nobodys_answers_and_is_no_administrator_of_the_server() {
    let farm = farm().await;
    let mut broker = User::of(&farm, Role::Broker, "farm").await;
    broker
        .may_publish(&["r.run.grant.s1", "$KV.lease.mac-1.android=2fa"])
        .await;
    broker
        .may_not_publish(&[
            "_INBOX_run_ci.x",
            "_INBOX_operator_ada.x",
            "$SYS.REQ.SERVER.PING",
        ])
        .await;
    broker
        .may_not_subscribe(&[">", "_INBOX_run_ci.>", "_INBOX_host_mac-1.>", "$SYS.>"])
        .await;
}

#[tokio::test]
async fn what_is_refused_is_told_as_a_refusal_and_not_as_silence() {
    use crate::link::FarmError;
    let farm = farm().await;
    let broker = farm.connect(Role::Broker, "farm").await;
    broker.set_up(1).await.unwrap();
    // What each would like to have done, most of all.
    for (role, name, subject) in [
        (Role::Host, "mac-1", "r.run.end.s1.mac-2"),
        (Role::Run, "ci", "r.run.grant.s1"),
        (Role::Viewer, "eve", "r.run.demand.s1"),
        (Role::Operator, "ada", "$KV.lease.mac-1.android=2fa"),
        (Role::Broker, "farm", "$SYS.REQ.SERVER.PING"),
    ] {
        let link = farm.connect(role, name).await;
        let begun = Instant::now();
        let refused = link.put_if(subject, 0, "{}".into(), None).await;
        let Err(FarmError::Forbidden(told)) = refused else {
            panic!("{role}: {refused:?}");
        };
        assert!(told.contains(subject), "{role}: {told}");
        assert!(begun.elapsed() < REFUSAL_TIMEOUT, "{role}");
    }
}

#[tokio::test]
async fn a_host_answers_who_asks_it_and_only_once() {
    use futures::StreamExt as _;
    let farm = farm().await;
    let mut host = User::of(&farm, Role::Host, "mac-1").await;
    let operator = farm.connect(Role::Operator, "ada").await;
    let mut requests = host.client.subscribe("ctl.host.mac-1").await.unwrap();
    // The server has taken the subscription when it refuses what comes after it.
    host.may_publish(&[]).await;
    let asking = operator.client.request("ctl.host.mac-1", "drain".into());
    let answering = async {
        let request = requests.next().await.unwrap();
        let reply = request.reply.unwrap();
        host.client
            .publish(reply.clone(), "done".into())
            .await
            .unwrap();
        reply
    };
    let (answer, reply) = tokio::join!(asking, answering);
    assert_eq!(answer.unwrap().payload.as_ref(), b"done");
    host.may_not_publish(&[reply.as_str()]).await;
}

#[tokio::test]
async fn what_the_server_copies_for_somebody_is_not_read_as_that_somebodys_word() {
    use crate::store::Put;
    let farm = farm().await;
    let broker = farm.connect(Role::Broker, "farm").await;
    broker.set_up(1).await.unwrap();
    let host = farm.connect(Role::Host, "mac-1").await;
    let word = "{\"lost\":{\"cause\":\"a lie\"}}";
    let stored = host.put_if("blob.abc", 0, word.into(), None).await;
    assert!(matches!(stored.unwrap(), Put::Done(_)));

    // Asks for the blob, and wants the answer to be another host's verdict.
    let verdict = "r.run.end.s1.mac-2";
    let blob = "$JS.API.DIRECT.GET.BLOBS.blob.abc";
    let asked = host.client.publish_with_reply(blob, verdict, "".into());
    asked.await.unwrap();
    let copied = loop {
        if let Some(copied) = broker.last(verdict).await.unwrap() {
            break copied;
        }
    };
    assert_eq!(copied.value, None);
}
