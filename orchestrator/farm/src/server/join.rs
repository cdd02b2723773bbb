//! How a computer becomes one of the farm's: it shows an invitation and the public half of a key that
//! it made itself, and the farm's server knows it from then on.

use std::time::Duration;

use async_nats::RequestErrorKind;
use chrono::{DateTime, Utc};
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::embedded::Embedded;
use super::error::ServerError;
use super::folder::FarmFolder;
use super::identity::{Identity, USER_PREFIX};
use super::role::{JOINER, Role};
use super::secret::Secret;
use super::token::Invitation;
use super::users::{User, Users};
use crate::link::{Credentials, FarmAddress, FarmError, Link, Trust};
use crate::names;
use crate::wire::HostName;

/// How long the farm may take to let somebody in: its server reads its configuration again.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

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
    #[error("the token is for a {0}")]
    Role(Role),
    /// The invitation has let somebody else in.
    #[error("the token was already used by `{0}`; each is for one computer")]
    Used(HostName),
    /// Somebody else has the name.
    #[error("`{0}` is taken by another computer; join under another name")]
    Taken(HostName),
    /// The farm could not do it.
    #[error("the farm cannot accept new computers: {0}")]
    Broken(String),
}

/// Why joining came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// It is cut off or no token.
    #[error("invalid farm token; was it copied completely?")]
    Token,
    /// The farm said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server cannot be reached or will not do.
    #[error(transparent)]
    Farm(#[from] FarmError),
    /// The key is none.
    #[error(transparent)]
    Key(#[from] ServerError),
    /// The server is up, but does not accept new computers.
    #[error("no server at {0} accepts new computers")]
    Nobody(String),
}

impl JoinError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Token | Self::Refused(Refusal::Expired | Refusal::Forged | Refusal::Used(_)) => {
                Some("`packtrain farm token` on the farm's computer prints a new one")
            }
            Self::Refused(_) => None,
            Self::Farm(error) => error.hint(),
            Self::Key(error) => error.hint(),
            Self::Nobody(_) => Some(
                "a farm started by `packtrain farm up` does; users of your own servers are added with `packtrain farm config --user`",
            ),
        }
    }
}

/// Joins a farm with a key that the caller has stored already, so that trying again is not harmful.
///
/// # Errors
/// [`JoinError`].
pub async fn join(
    servers: &[String],
    token: &str,
    identity: Identity,
) -> Result<Access, JoinError> {
    let invitation = Invitation::read(token)?;
    let trust = match invitation.pin {
        Some(pin) => Trust::Pinned(pin),
        None => Trust::System,
    };
    let address = FarmAddress {
        servers: servers.to_vec(),
        credentials: Credentials::Password {
            user: JOINER.to_owned(),
            password: invitation.password,
        },
        trust: trust.clone(),
    };
    let asking = match Link::connect(&address, JOINER).await {
        Ok(link) => link,
        // The password is the farm's own.
        Err(FarmError::NotAllowedIn { .. }) => return Err(Refusal::Forged.into()),
        Err(error) => return Err(error.into()),
    };
    let request = Request {
        token: token.trim().to_owned(),
        key: identity.public_key()?,
        name: identity.name.clone(),
        role: identity.role,
    };
    let place = servers.join(", ");
    let words = serde_json::to_vec(&request).unwrap_or_default();
    let asked = asking.client.request(names::JOIN, words.into());
    let reply = match tokio::time::timeout(ANSWER_TIMEOUT, asked).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => {
            return Err(JoinError::Nobody(place));
        }
        Ok(Err(error)) => return Err(FarmError::server("ask to join", &error).into()),
        Err(_) => {
            let silent = asking.silent(names::JOIN, "a request to join", ANSWER_TIMEOUT);
            return Err(silent.into());
        }
    };
    match serde_json::from_slice(&reply.payload) {
        Ok(Answer::Welcome) => {}
        Ok(Answer::Refused(refusal)) => return Err(refusal.into()),
        Err(_) => return Err(JoinError::Nobody(place)),
    }
    let access = Access {
        servers: servers.to_vec(),
        trust,
        identity,
    };
    let proof = Link::connect(&access.address(), &access.identity.user()).await?;
    proof.close().await;
    Ok(access)
}

/// Requests to join that wait to be answered.
#[derive(Debug)]
pub struct JoinRequests(async_nats::Subscriber);

impl JoinRequests {
    /// Takes requests from now on; earlier requests are answered that no server is there.
    ///
    /// # Errors
    /// When it cannot listen for them.
    pub async fn listen(link: &Link) -> Result<Self, FarmError> {
        let requests = link.listen(names::JOIN.to_owned()).await?;
        let flushed = link.client.flush().await;
        flushed.map_err(|error| FarmError::server("listen for requests to join", &error))?;
        Ok(Self(requests))
    }
}

/// Lets computers join the farm of a folder and its server, until the connection, a broker's, is closed.
///
/// # Errors
/// When the farm's secret cannot be read.
pub async fn let_in(
    folder: &FarmFolder,
    server: &Embedded,
    link: &Link,
    mut requests: JoinRequests,
) -> Result<(), ServerError> {
    let secret = folder.secret()?;
    while let Some(message) = requests.0.next().await {
        let Some(reply) = message.reply else { continue };
        let answer = match serde_json::from_slice::<Request>(&message.payload) {
            Ok(request) => {
                let answer = let_one_in(folder, server, &secret, &request).await;
                tracing::info!(role = %request.role, name = %request.name, ?answer, "asked to join");
                answer.map_or_else(Answer::Refused, |()| Answer::Welcome)
            }
            Err(_) => Answer::Refused(Refusal::Malformed),
        };
        let words = serde_json::to_vec(&answer).unwrap_or_default();
        link.tell(reply.to_string(), words).await;
    }
    Ok(())
}

async fn let_one_in(
    folder: &FarmFolder,
    server: &Embedded,
    secret: &Secret,
    request: &Request,
) -> Result<(), Refusal> {
    let broken = |error: ServerError| Refusal::Broken(error.to_string());
    let users = folder.users().map_err(broken)?;
    let users = admit(users, secret, request, Utc::now())?;
    server.set_users(users.clone()).await.map_err(broken)?;
    folder.save_users(&users).map_err(broken)
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
    let invitation = Invitation::verify(token, secret, now)?;
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
