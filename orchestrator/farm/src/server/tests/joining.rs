//! Computers join by tokens.

use chrono::{TimeDelta, Utc};

use super::*;

fn invitation(farm: &Farm, role: Role, ttl: TimeDelta) -> Invitation {
    Invitation {
        id: uuid::Uuid::new_v4().to_string(),
        role,
        expires: Utc::now() + ttl,
        password: farm.folder.secret().unwrap().join_password(),
        pin: farm.server.pin().map(str::to_owned),
    }
}

fn token(farm: &Farm, role: Role) -> String {
    let secret = farm.folder.secret().unwrap();
    invitation(farm, role, TimeDelta::hours(1)).token(&secret)
}

/// Joins while the farm lets computers in.
async fn joins(farm: &Farm, token: &str, identity: &Identity) -> Result<Access, JoinError> {
    let broker = farm.connect(Role::Broker, "farm").await;
    let servers = [farm.server.url()];
    let requests = JoinRequests::listen(&broker).await.unwrap();
    tokio::select! {
        answer = join(&servers, token, identity.clone()) => answer,
        served = let_in(&farm.folder, &farm.server, &broker, requests) => {
            panic!("the broker's connection was closed: {served:?}")
        }
    }
}

fn host(text: &str) -> Identity {
    Identity::new(Role::Host, name(text)).unwrap()
}

#[tokio::test]
async fn who_has_a_token_joins_and_stays_known() {
    let farm = Farm::up().await;
    let before = farm.connect(Role::Broker, "farm").await;
    let mac = host("mac-1");
    let access = joins(&farm, &token(&farm, Role::Host), &mac).await.unwrap();
    connect(&access).await.unwrap();
    // Who was connected before still is.
    before.client.flush().await.unwrap();
    assert_eq!(
        before
            .client
            .statistics()
            .connects
            .load(std::sync::atomic::Ordering::Relaxed),
        1
    );

    let Farm {
        folder,
        server,
        _place,
    } = farm;
    server.end().await;
    let server = Embedded::start(&nats_server().await, &folder, Listen::default(), "here").await;
    connect(&server.unwrap().access(mac)).await.unwrap();
}

#[tokio::test]
async fn joining_is_encrypted_where_the_server_is() {
    let farm = Farm::with(Listen("0.0.0.0:0".parse().unwrap()), &[]).await;
    let access = joins(&farm, &token(&farm, Role::Host), &host("mac-1")).await;
    assert!(matches!(access.unwrap().trust, Trust::Pinned(_)));
}

#[tokio::test]
async fn joining_again_with_the_same_key_is_no_harm() {
    let farm = Farm::up().await;
    let (token, mac) = (token(&farm, Role::Host), host("mac-1"));
    joins(&farm, &token, &mac).await.unwrap();
    joins(&farm, &token, &mac).await.unwrap();
}

#[tokio::test]
async fn an_expired_token_lets_nobody_in() {
    let farm = Farm::up().await;
    let expired = invitation(&farm, Role::Host, TimeDelta::seconds(-1));
    let token = expired.token(&farm.folder.secret().unwrap());
    let error = joins(&farm, &token, &host("mac-1")).await.unwrap_err();
    assert_eq!(error.to_string(), "the token has expired");
}

#[tokio::test]
async fn a_forged_token_lets_nobody_in() {
    let farm = Farm::up().await;
    let forger = Secret::new().unwrap();
    // With the password that a token once had, and without.
    let mut forged = invitation(&farm, Role::Host, TimeDelta::hours(1));
    let words = "the token was not made by this farm";
    let error = joins(&farm, &forged.token(&forger), &host("mac-1")).await;
    assert_eq!(error.unwrap_err().to_string(), words);
    forged.password = "guessed".to_owned();
    let error = joins(&farm, &forged.token(&forger), &host("mac-1")).await;
    assert_eq!(error.unwrap_err().to_string(), words);
}

#[tokio::test]
async fn a_token_lets_one_in_and_no_other() {
    let farm = Farm::up().await;
    let token = token(&farm, Role::Host);
    joins(&farm, &token, &host("mac-1")).await.unwrap();
    let error = joins(&farm, &token, &host("mac-2")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the token was already used by `mac-1`; each is for one computer"
    );
}

#[tokio::test]
async fn nobody_takes_anothers_name() {
    let farm = Farm::up().await;
    joins(&farm, &token(&farm, Role::Host), &host("mac-1"))
        .await
        .unwrap();
    let error = joins(&farm, &token(&farm, Role::Host), &host("mac-1")).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "`mac-1` is taken by another computer; join under another name"
    );
}

#[tokio::test]
async fn a_token_for_looking_is_none_for_hosting() {
    let farm = Farm::up().await;
    let error = joins(&farm, &token(&farm, Role::Viewer), &host("mac-1")).await;
    assert_eq!(error.unwrap_err().to_string(), "the token is for a viewer");
}

#[tokio::test]
async fn a_joiner_can_do_nothing_but_ask() {
    let farm = Farm::up().await;
    let permissions = Permissions::of_joiners();
    assert_eq!(permissions.publish, ["join"]);
    assert_eq!(permissions.subscribe, ["_INBOX.>"]);
    assert!(!permissions.answers);
    let config = std::fs::read_to_string(farm.folder.config_file()).unwrap();
    assert!(config.contains("user: \"join\""));
}
