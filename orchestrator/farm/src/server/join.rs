//! How a computer becomes one of the farm's: it shows an invitation and the public half of a key that
//! it made itself, and the farm's server knows it from then on.

use async_nats::{Client, ConnectOptions, RequestErrorKind};
use chrono::{DateTime, Utc};
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::access::{Access, TlsTrust, connect, open, trusting};
use super::credentials::{Credentials, USER_PREFIX};
use super::embedded::Embedded;
use super::error::ServerError;
use super::folder::FarmFolder;
use super::role::{JOINER, Role, inbox_prefix};
use super::secret::Secret;
use super::token::{Invitation, TokenError};
use super::users::{User, Users};
use crate::names;
use crate::wire::HostName;

/// A request to join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    /// The invitation.
    pub(super) token: String,
    /// The public key of who asks.
    pub(super) key: String,
    /// The name it wants.
    pub(super) name: HostName,
    /// What it wants to be.
    pub(super) role: Role,
}

/// What the farm answers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The server knows the key now.
    Welcome,
    /// It does not.
    Refused(Refusal),
}

/// Why somebody may not join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The invitation has ended.
    #[error("the token has expired")]
    Expired,
    /// The farm made no such invitation.
    #[error("the token was not made by this farm")]
    Forged,
    /// The request is none.
    #[error("the request to join cannot be read")]
    Malformed,
    /// The invitation is for something else.
    #[error("the token invites a {0}")]
    Role(Role),
    /// The invitation has let somebody else in.
    #[error("the token was used by `{0}` already; each lets one in")]
    Used(HostName),
    /// Somebody else has the name.
    #[error("`{0}` is taken by another computer; join by another name")]
    Taken(HostName),
    /// The farm could not do it.
    #[error("the farm cannot let anybody in: {0}")]
    Broken(String),
}

/// Why joining came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The token lets nobody in.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The farm said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server cannot be reached or will not do.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The server is up, but nobody there lets anybody in.
    #[error("nobody at {0} lets computers join")]
    Nobody(String),
}

impl JoinError {
    /// What a person can do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Token(_)
            | Self::Refused(Refusal::Expired | Refusal::Forged | Refusal::Used(_)) => {
                Some("`packtrain farm token` on the farm's computer prints a new one")
            }
            Self::Refused(_) => None,
            Self::Server(error) => error.hint(),
            Self::Nobody(_) => Some(
                "`packtrain farm up` does; users of servers of your own are added with `packtrain farm config --user`",
            ),
        }
    }
}

/// Joins a farm with a key that the caller has stored already, so that trying again is no harm.
///
/// # Errors
/// [`JoinError`].
pub async fn join(
    servers: &[String],
    token: &str,
    credentials: Credentials,
) -> Result<Access, JoinError> {
    let invitation = Invitation::read(token)?;
    let trust = match invitation.pin {
        Some(pin) => TlsTrust::Pinned(pin),
        None => TlsTrust::System,
    };
    let options = ConnectOptions::with_user_and_password(JOINER.to_owned(), invitation.password)
        .custom_inbox_prefix(inbox_prefix(JOINER))
        .name(JOINER);
    let asking = match open(trusting(options, &trust)?, servers, JOINER).await {
        Ok(client) => client,
        // The password is the farm's own.
        Err(ServerError::Unauthorized { .. }) => return Err(TokenError::Forged.into()),
        Err(error) => return Err(error.into()),
    };
    let request = Request {
        token: token.trim().to_owned(),
        key: credentials.public_key()?,
        name: credentials.name.clone(),
        role: credentials.role,
    };
    let place = servers.join(",");
    let words = serde_json::to_vec(&request).unwrap_or_default();
    let reply = asking.request(names::JOIN, words.into()).await;
    let reply = reply.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => JoinError::Nobody(place.clone()),
        _ => JoinError::Server(ServerError::Unreachable {
            servers: place.clone(),
            cause: error.to_string(),
        }),
    })?;
    match serde_json::from_slice(&reply.payload) {
        Ok(Answer::Welcome) => {}
        Ok(Answer::Refused(refusal)) => return Err(refusal.into()),
        Err(_) => return Err(JoinError::Nobody(place)),
    }
    let access = Access {
        servers: servers.to_vec(),
        trust,
        credentials,
    };
    connect(&access).await?;
    Ok(access)
}

/// Lets computers join, for as long as it is polled.
#[derive(Debug)]
pub struct JoinService<'a> {
    folder: &'a FarmFolder,
    server: &'a Embedded,
    secret: Secret,
}

impl<'a> JoinService<'a> {
    /// For the farm of a folder and its server.
    ///
    /// # Errors
    /// When the farm's secret cannot be read.
    pub fn new(folder: &'a FarmFolder, server: &'a Embedded) -> Result<Self, ServerError> {
        let secret = folder.secret()?;
        Ok(Self {
            folder,
            server,
            secret,
        })
    }

    /// Answers requests until the connection, a broker's, is closed.
    ///
    /// # Errors
    /// When it cannot listen for them.
    pub async fn serve(&self, client: &Client) -> Result<(), ServerError> {
        let requests = client.subscribe(names::JOIN).await;
        let mut requests = requests.map_err(|error| ServerError::Unreachable {
            servers: self.server.url(),
            cause: error.to_string(),
        })?;
        while let Some(message) = requests.next().await {
            let Some(reply) = message.reply else { continue };
            let answer = match serde_json::from_slice(&message.payload) {
                Ok(request) => self.answer(&request).await,
                Err(_) => Answer::Refused(Refusal::Malformed),
            };
            let words = serde_json::to_vec(&answer).unwrap_or_default();
            if let Err(error) = client.publish(reply, words.into()).await {
                tracing::warn!(%error, "who wants to join gets no answer");
            }
        }
        Ok(())
    }

    async fn answer(&self, request: &Request) -> Answer {
        match self.let_in(request).await {
            Ok(()) => {
                tracing::info!(role = %request.role, name = %request.name, "joined");
                Answer::Welcome
            }
            Err(refusal) => {
                tracing::info!(role = %request.role, name = %request.name, %refusal, "not joined");
                Answer::Refused(refusal)
            }
        }
    }

    async fn let_in(&self, request: &Request) -> Result<(), Refusal> {
        let broken = |error: ServerError| Refusal::Broken(error.to_string());
        let users = self.folder.users().map_err(broken)?;
        let users = admit(users, &self.secret, request, Utc::now())?;
        self.server.set_users(users.clone()).await.map_err(broken)?;
        self.folder.save_users(&users).map_err(broken)
    }
}

/// The users with the one who asks, who may be one of them already.
pub(super) fn admit(
    mut users: Users,
    secret: &Secret,
    request: &Request,
    now: DateTime<Utc>,
) -> Result<Users, Refusal> {
    let Request {
        token,
        key,
        name,
        role,
    } = request;
    let invitation = Invitation::verify(token, secret, now).map_err(|error| match error {
        TokenError::Expired => Refusal::Expired,
        TokenError::Forged => Refusal::Forged,
        TokenError::Malformed => Refusal::Malformed,
    })?;
    // It is written into the server's configuration.
    let is_user_key = key.starts_with(USER_PREFIX) && nkeys::KeyPair::from_public_key(key).is_ok();
    if !is_user_key {
        return Err(Refusal::Malformed);
    }
    if *role != invitation.role {
        return Err(Refusal::Role(invitation.role));
    }
    if let Some(user) = users.invited_by(&invitation.id)
        && (user.name != *name || user.key != *key)
    {
        return Err(Refusal::Used(user.name.clone()));
    }
    match users.find(*role, name) {
        Some(user) if user.key == *key => {}
        Some(_) => return Err(Refusal::Taken(name.clone())),
        None => users.put(User {
            role: *role,
            name: name.clone(),
            key: key.clone(),
            invitation: Some(invitation.id),
        }),
    }
    Ok(users)
}
