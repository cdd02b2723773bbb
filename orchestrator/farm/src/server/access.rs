//! How one reaches a farm: where it is, whom to trust there, and who one is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, ServerInfo};
use serde::{Deserialize, Serialize};

use super::credentials::Credentials;
use super::error::ServerError;
use super::folder::write_private;
use super::tls;
use super::version::{OLDEST, Version};

/// A connection that is half open is noticed within two of these.
const PING_INTERVAL: Duration = Duration::from_secs(2);
/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// How one reaches a farm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The servers' URLs: `nats://…` or, encrypted, `tls://…`.
    pub servers: Vec<String>,
    /// Whose certificates are trusted.
    pub trust: TlsTrust,
    /// Who one is.
    pub credentials: Credentials,
}

/// Whose certificates are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsTrust {
    /// Those the system trusts; TLS is used when the URL or the server says so.
    #[default]
    System,
    /// Those whose authority is in this file, in PEM; TLS always.
    CaFile(PathBuf),
    /// Those whose authority has this SHA-256; TLS always.
    Pinned(String),
}

impl Access {
    /// Reads the file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// When it cannot be read, or is no such file.
    pub fn load(path: &Path) -> Result<Self, ServerError> {
        let text = std::fs::read_to_string(path).map_err(ServerError::file(path))?;
        serde_json::from_str(&text).map_err(|error| ServerError::Unreadable {
            path: path.to_owned(),
            cause: error.to_string(),
        })
    }

    /// Writes it, for its owner's eyes only.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ServerError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_private(path, &text)
    }

    /// What async-nats connects with: the key, the private inbox, the certificates.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn connect_options(&self) -> Result<ConnectOptions, ServerError> {
        let credentials = &self.credentials;
        let options = ConnectOptions::with_nkey(credentials.seed.clone())
            .custom_inbox_prefix(credentials.inbox_prefix())
            .name(credentials.user());
        trusting(options, &self.trust)
    }
}

/// With what every connection to a farm has.
pub(super) fn trusting(
    options: ConnectOptions,
    trust: &TlsTrust,
) -> Result<ConnectOptions, ServerError> {
    let options = options
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT));
    Ok(match trust {
        TlsTrust::System => options,
        TlsTrust::CaFile(path) => options
            .add_root_certificates(path.clone())
            .require_tls(true),
        TlsTrust::Pinned(pin) => options
            .tls_client_config(tls::pinned(pin)?)
            .require_tls(true),
    })
}

/// Connects, and makes sure that the server will do.
///
/// # Errors
/// [`ServerError`], which names what is wrong with the server or the credentials.
pub async fn connect(access: &Access) -> Result<Client, ServerError> {
    let options = access.connect_options()?;
    open(options, &access.servers, &access.credentials.user()).await
}

/// Connects with options of one's own.
pub(super) async fn open(
    options: ConnectOptions,
    servers: &[String],
    user: &str,
) -> Result<Client, ServerError> {
    let place = servers.join(",");
    let client = options
        .connect(servers)
        .await
        .map_err(|error| explained(&error, &place, user))?;
    suits(&client.server_info(), &place)?;
    Ok(client)
}

/// Whether a server will do, by what it says of itself.
///
/// # Errors
/// [`ServerError::TooOld`], [`ServerError::NoJetStream`].
pub fn suits(info: &ServerInfo, place: &str) -> Result<(), ServerError> {
    let place = place.to_owned();
    let version: Version = info
        .version
        .parse()
        .map_err(|()| ServerError::Unknown(PathBuf::from(&place)))?;
    if version < OLDEST {
        return Err(ServerError::TooOld { version, place });
    }
    if !info.jetstream {
        return Err(ServerError::NoJetStream(place));
    }
    Ok(())
}

fn explained(error: &async_nats::ConnectError, servers: &str, user: &str) -> ServerError {
    let servers = servers.to_owned();
    let cause = chain(error);
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            ServerError::Unauthorized {
                servers,
                user: user.to_owned(),
            }
        }
        _ if cause.contains("certificate") => ServerError::Untrusted { servers, cause },
        _ => ServerError::Unreachable { servers, cause },
    }
}

/// An error and its causes, unless they say the same again.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        next = cause.source();
    }
    words
}
