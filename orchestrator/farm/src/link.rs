//! A connection to the farm's servers: how to get one, and what goes wrong with it in words.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ClientError, ConnectOptions, Event, ServerError};
use packtrain_drivers::local_network;
use packtrain_terminal::exit::CliError;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::server::{OLDEST, Version, tls};

/// How long a connection may take, and an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// How long the server may take to store something that is written to see whether it does.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);
/// What is written then, in bytes: more than fits into the last page of a file on a full disk.
const PROBE_BYTES: usize = 16 * 1024;
/// A connection that is half open is noticed after two of these.
const PING_INTERVAL: Duration = Duration::from_secs(2);
/// How long the server's answer is waited for before a request is made again. It says nothing about
/// whether the request was carried out.
pub(crate) const ACK_TIMEOUT: Duration = Duration::from_secs(1);
/// The pauses before a connection that was not let in is tried again: a server that reads its users
/// again, because a computer joins, refuses new connections for a moment.
const LET_IN_DELAYS: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(550),
    Duration::from_millis(1_100),
];
/// The longest pause between two attempts to connect again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Messages that may wait for one subscriber: what is beyond is lost, and told.
const SUBSCRIPTION_CAPACITY: usize = 256 * 1024;
/// How many refusals are remembered.
const REFUSALS_KEPT: usize = 64;

/// Where a farm is, and who asks.
#[derive(Debug, Clone)]
pub struct FarmAddress {
    /// `nats://host:port` or `tls://host:port`; any of them will do.
    pub servers: Vec<String>,
    /// Who asks.
    pub credentials: Credentials,
    /// Whom to take for the server.
    pub trust: Trust,
}

/// Who asks.
#[derive(Clone, Default)]
pub enum Credentials {
    /// Anybody: servers without users.
    #[default]
    None,
    /// A user with a password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A user with an nkey.
    Nkey {
        /// The seed, which never travels.
        seed: String,
        /// What the user's inboxes begin with: `_INBOX_host_mac-1`.
        inbox: String,
    },
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Password { .. } => "Password",
            Self::Nkey { .. } => "Nkey",
        })
    }
}

/// Whom to take for the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Any server, or, with `tls://`, one that the system trusts.
    #[default]
    System,
    /// Certificates that lead to one of this file (PEM); always encrypted.
    CaFile(std::path::PathBuf),
    /// Certificates that lead to the one with this SHA-256, in hexadecimal digits; always encrypted.
    Pinned(String),
}

/// What goes wrong with the farm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FarmError {
    /// No server answers.
    #[error("no farm answers at {servers}: {cause}")]
    Unreachable {
        /// Where it was looked for.
        servers: String,
        /// What the network said.
        cause: String,
    },
    /// The server is not the one whose certificate is trusted.
    #[error("the server at {servers} is not trusted: {cause}")]
    Untrusted {
        /// Where.
        servers: String,
        /// Why.
        cause: String,
    },
    /// The server lacks what is needed.
    #[error(
        "the nats-server at {server} is {version}: Packtrain's farm needs {}.{} or later",
        OLDEST.major, OLDEST.minor
    )]
    TooOld {
        /// Where.
        server: String,
        /// What it is.
        version: String,
    },
    /// The server knows no user of that name or key.
    #[error("the farm at {servers} refused access: {cause}")]
    NotAllowedIn {
        /// Where.
        servers: String,
        /// What the server said.
        cause: String,
    },
    /// The server does not let this user do that.
    #[error("the farm does not allow this: {0}")]
    Forbidden(String),
    /// The server has no JetStream.
    #[error(
        "the nats-server has no JetStream: start it with `--jetstream`, or `jetstream {{}}` in its configuration"
    )]
    NoJetStream,
    /// The farm was never set up.
    #[error("the farm has no {0} yet: start `packtrain farm up` or `packtrain farm broker` first")]
    NotSetUp(String),
    /// The server did not answer in time.
    #[error("the farm did not answer within {} s: {doing}", seconds.as_secs())]
    Silent {
        /// What was asked of it.
        doing: String,
        /// How long it was waited for.
        seconds: Duration,
    },
    /// Somebody else has the name.
    #[error("{0}")]
    Taken(String),
    /// Something else the server said.
    #[error("{doing}: {cause}")]
    Server {
        /// What was being done.
        doing: String,
        /// What the server said.
        cause: String,
    },
}

impl From<FarmError> for CliError {
    fn from(error: FarmError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self::infrastructure(error.to_string()).hinted(hint)
    }
}

impl FarmError {
    pub(crate) fn server(doing: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        Self::Server {
            doing: doing.into(),
            cause: cause.to_string(),
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint_on(std::env::consts::OS)
    }

    fn hint_on(&self, system: &str) -> Option<&'static str> {
        match self {
            Self::Unreachable { cause, .. } => Some(
                local_network::hint(system, cause)
                    .unwrap_or("is the farm up? `packtrain farm up` on its computer starts it"),
            ),
            Self::Untrusted { .. } => {
                Some("if the farm was set up again, join it again with a new token")
            }
            Self::TooOld { .. } => Some("`packtrain doctor --fix` installs a suitable one"),
            Self::NotAllowedIn { .. } => {
                Some("`packtrain farm token` on the farm's computer prints a token")
            }
            Self::Forbidden(_) => {
                Some("your role does not include it; `packtrain farm doctor` says what it is")
            }
            Self::NoJetStream => {
                Some("`packtrain farm config` prints a configuration with JetStream")
            }
            Self::NotSetUp(_) | Self::Silent { .. } | Self::Taken(_) | Self::Server { .. } => None,
        }
    }
}

/// What keeps the farm from working, as far as a connection can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarmOutage {
    /// No server answers.
    Away,
    /// The server does not let this user in any more.
    NotAllowedIn,
    /// The server answers and stores nothing; with the reason.
    NotStoring(String),
}

/// A connection, which is made again by itself whenever it breaks. Cheap to clone.
#[derive(Clone)]
pub struct Link {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
    /// The same, of which acknowledgements are not waited for as long.
    pub(crate) publishing: Context,
    state: Arc<State>,
}

/// What is known of a connection.
struct State {
    /// When the server was connected last; `None` while it is not.
    connected: watch::Sender<Option<Instant>>,
    trouble: watch::Sender<Option<FarmOutage>>,
    /// What the server has refused to this user.
    refusals: watch::Sender<VecDeque<String>>,
    servers: String,
}

impl Link {
    /// Connects. A server that does not let us in is asked a few times, for about two seconds.
    ///
    /// # Errors
    /// When no server answers, it does not let us in, or it is too old.
    pub async fn connect(address: &FarmAddress, name: &str) -> Result<Self, FarmError> {
        for delay in LET_IN_DELAYS {
            match Self::connect_once(address, name).await {
                Err(FarmError::NotAllowedIn { cause, .. }) => {
                    tracing::debug!(cause, "not let in; tried again");
                    tokio::time::sleep(delay).await;
                }
                connected => return connected,
            }
        }
        Self::connect_once(address, name).await
    }

    async fn connect_once(address: &FarmAddress, name: &str) -> Result<Self, FarmError> {
        let servers = address.servers.join(", ");
        let state = Arc::new(State {
            connected: watch::Sender::new(None),
            trouble: watch::Sender::new(None),
            refusals: watch::Sender::default(),
            servers: servers.clone(),
        });
        let told = Arc::clone(&state);
        let mut options = ConnectOptions::new()
            .name(name)
            .ping_interval(PING_INTERVAL)
            .connection_timeout(CONNECT_TIMEOUT)
            .request_timeout(Some(CONNECT_TIMEOUT))
            .subscription_capacity(SUBSCRIPTION_CAPACITY)
            .max_reconnects(None)
            .reconnect_delay_callback(|attempt| {
                let delay = Duration::from_millis(50).saturating_mul(attempt.min(100) as u32);
                delay.min(RECONNECT_DELAY)
            })
            .event_callback(move |event| {
                told.learn(&event);
                std::future::ready(())
            });
        options = match &address.credentials {
            Credentials::None => options,
            Credentials::Password { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            Credentials::Nkey { seed, inbox } => {
                options.nkey(seed.clone()).custom_inbox_prefix(inbox)
            }
        };
        options = match &address.trust {
            Trust::System => options,
            Trust::CaFile(file) => options
                .add_root_certificates(file.clone())
                .require_tls(true),
            Trust::Pinned(pin) => {
                let tls = tls::pinned(pin).map_err(|error| FarmError::Untrusted {
                    servers: servers.clone(),
                    cause: error.to_string(),
                })?;
                options.tls_client_config(tls).require_tls(true)
            }
        };
        let client = options
            .connect(address.servers.as_slice())
            .await
            .map_err(|error| {
                let (servers, cause) = (servers.clone(), in_one_line(&error));
                let lower = cause.to_lowercase();
                if lower.contains("authorization") || lower.contains("authentication") {
                    FarmError::NotAllowedIn { servers, cause }
                } else if lower.contains("invalidcontenttype") {
                    let cause = "it is not encrypted; write `nats://` instead of `tls://`";
                    FarmError::server(format!("connect to {servers}"), &cause)
                } else if lower.contains("certificate") {
                    FarmError::Untrusted { servers, cause }
                } else {
                    FarmError::Unreachable { servers, cause }
                }
            })?;
        let info = client.server_info();
        // One that does not say what it is is too old.
        if (info.version.parse::<Version>()).map_or(true, |version| version < OLDEST) {
            return Err(FarmError::TooOld {
                server: servers,
                version: info.version,
            });
        }
        if !info.jetstream {
            return Err(FarmError::NoJetStream);
        }
        state.connected.send_replace(Some(Instant::now()));
        let context = |timeout| {
            let builder = jetstream::ContextBuilder::new().timeout(timeout);
            builder.build(client.clone())
        };
        let (jetstream, publishing) = (context(CONNECT_TIMEOUT), context(ACK_TIMEOUT));
        Ok(Self {
            client,
            jetstream,
            publishing,
            state,
        })
    }

    /// When the server was connected last; `None` while it is not.
    pub fn connected(&self) -> watch::Receiver<Option<Instant>> {
        self.state.connected.subscribe()
    }

    /// What keeps the farm from working now.
    pub fn trouble(&self) -> watch::Receiver<Option<FarmOutage>> {
        self.state.trouble.subscribe()
    }

    /// Learns whether the server stores what it is sent.
    pub(crate) fn learn_of_store(&self, failure: Option<&PublishError>) {
        self.state.trouble.send_if_modified(|trouble| {
            let now = match (&*trouble, failure) {
                (Some(FarmOutage::NotStoring(_)), None) => None,
                (None, Some(error)) if error.kind() != PublishErrorKind::BrokenPipe => {
                    Some(FarmOutage::NotStoring(in_one_line(error)))
                }
                _ => return false,
            };
            *trouble = now;
            true
        });
    }

    /// Checks whether the server stores something, by a blob that is not needed.
    ///
    /// # Errors
    /// A sentence when it does not, and why.
    pub async fn check_store(&self) -> Result<(), String> {
        let content = crate::store::new_id();
        let content = content.repeat(PROBE_BYTES / content.len());
        let put = crate::bundle::put(self, content.into());
        match tokio::time::timeout(STORE_TIMEOUT, put).await {
            Ok(put) => put.map(drop).map_err(|error| error.to_string()),
            Err(_) => Err(match &*self.state.trouble.borrow() {
                Some(FarmOutage::NotStoring(cause)) => cause.clone(),
                _ => format!("no answer within {} s", STORE_TIMEOUT.as_secs()),
            }),
        }
    }

    /// Version of the server that answers now.
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// The servers, as they were given.
    pub fn servers(&self) -> &str {
        &self.state.servers
    }

    /// What the server said when it refused something about this subject to this user.
    /// It is reported once: what gets no answer later has another cause.
    pub(crate) fn refusal(&self, subject: &str) -> Option<String> {
        self.state.refusal(subject)
    }

    /// The error of something that got no answer: that it was refused, if it was.
    pub(crate) fn silent(&self, subject: &str, doing: &str, seconds: Duration) -> FarmError {
        match self.refusal(subject) {
            Some(refusal) => FarmError::Forbidden(refusal),
            None => FarmError::Silent {
                doing: match &*self.state.trouble.borrow() {
                    Some(FarmOutage::NotStoring(cause)) => format!("{doing}: {cause}"),
                    _ => doing.to_owned(),
                },
                seconds,
            },
        }
    }

    /// Sends a message that is not stored.
    pub async fn tell(&self, subject: String, message: Vec<u8>) {
        if let Err(error) = self.client.publish(subject, message.into()).await {
            tracing::debug!(%error, "a note was not sent");
        }
    }

    /// Asks somebody and waits for the answer.
    ///
    /// # Errors
    /// When there is no receiver or no answer within `patience`.
    pub async fn ask(
        &self,
        subject: String,
        message: Vec<u8>,
        patience: Duration,
    ) -> Result<bytes::Bytes, FarmError> {
        let asked = self.client.request(subject.clone(), message.into());
        match tokio::time::timeout(patience, asked).await {
            Ok(Ok(answer)) => Ok(answer.payload),
            Ok(Err(error)) => match self.refusal(&subject) {
                Some(refusal) => Err(FarmError::Forbidden(refusal)),
                None => Err(FarmError::server(format!("ask {subject}"), &error)),
            },
            Err(_) => Err(self.silent(&subject, &format!("a request to {subject}"), patience)),
        }
    }

    /// Everything that is sent to a subject from now on.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn listen(&self, subject: String) -> Result<async_nats::Subscriber, FarmError> {
        let subscribed = self.client.subscribe(subject.clone()).await;
        subscribed.map_err(|error| FarmError::server(format!("listen to {subject}"), &error))
    }

    /// Sends what is still waiting and closes the connection.
    pub async fn close(self) {
        // What is not sent by now has no waiter.
        let _ = tokio::time::timeout(ACK_TIMEOUT, self.client.drain()).await;
    }
}

impl State {
    fn is_away(&self, is_refused: bool) {
        self.trouble.send_if_modified(|trouble| {
            let now = match trouble {
                Some(FarmOutage::NotAllowedIn) => return false,
                _ if is_refused => FarmOutage::NotAllowedIn,
                _ => FarmOutage::Away,
            };
            trouble.replace(now.clone()) != Some(now)
        });
    }

    fn refusal(&self, subject: &str) -> Option<String> {
        let quoted = format!("\"{subject}\"");
        let mut refusal = None;
        self.refusals.send_if_modified(|refusals| {
            let found = refusals.iter().rposition(|text| text.contains(&quoted));
            refusal = found.and_then(|found| refusals.remove(found));
            refusal.is_some()
        });
        refusal
    }

    fn learn(&self, event: &Event) {
        match event {
            Event::Connected => {
                // Who may do what may have changed.
                self.refusals.send_replace(VecDeque::new());
                self.connected.send_replace(Some(Instant::now()));
                self.trouble.send_replace(None);
            }
            Event::Disconnected | Event::Closed => {
                self.connected.send_replace(None);
                self.is_away(false);
            }
            Event::ServerError(ServerError::AuthorizationViolation) => self.is_away(true),
            // Of an attempt to connect again.
            Event::ClientError(ClientError::Other(why)) => {
                self.is_away(why.starts_with("authorization") || why.starts_with("authentication"));
            }
            Event::ServerError(ServerError::Other(text)) => {
                self.refusals.send_modify(|refusals| {
                    if refusals.len() == REFUSALS_KEPT {
                        refusals.pop_front();
                    }
                    refusals.push_back(text.clone());
                });
            }
            Event::SlowConsumer(_) => tracing::warn!("messages of the farm were lost: {event}"),
            _ => tracing::debug!(%event, "farm"),
        }
    }
}

pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut told: Vec<String> = causes.map(ToString::to_string).collect();
    // Some say in their own text what is behind them, and some are only said again with more.
    told.dedup_by(|next, before| {
        if next.contains(before.as_str()) {
            std::mem::swap(next, before);
        }
        before.contains(next.as_str())
    });
    told.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_refusal_is_not_the_cause_of_a_later_silence() {
        let state = State {
            connected: watch::Sender::new(None),
            trouble: watch::Sender::new(None),
            refusals: watch::Sender::default(),
            servers: String::new(),
        };
        let refuse = || {
            let text = "Permissions Violation for Publish to \"r.a.ev.s1.h1\"".to_owned();
            state.learn(&Event::ServerError(ServerError::Other(text)));
        };
        refuse();
        assert!(state.refusal("r.a.ev.s1").is_none());
        assert!(state.refusal("r.a.ev.s1.h1").is_some());
        assert!(state.refusal("r.a.ev.s1.h1").is_none());
        refuse();
        state.learn(&Event::Connected);
        assert!(state.refusal("r.a.ev.s1.h1").is_none());
    }

    #[test]
    fn what_macos_may_keep_from_us_is_hinted_at_so() {
        let (servers, cause) = ("10.0.0.7".to_owned(), "No route to host".to_owned());
        let error = FarmError::Unreachable { servers, cause };
        let hint = |system| error.hint_on(system).unwrap();
        assert!(hint("macos").contains("Local Network"));
        assert!(hint("linux").contains("is the farm up"));
    }
}
