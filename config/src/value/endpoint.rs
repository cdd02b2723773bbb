//! Addresses of servers: `127.0.0.1:5037`, `phone.local:5555`, `[::1]:5037`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ValueError;

const EXPECTED: &str = "a host and a port such as 127.0.0.1:5037";

/// A host and a TCP port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^.+:[0-9]+$", "examples" = ["127.0.0.1:5037"]))]
pub struct Endpoint {
    host: String,
    port: u16,
}

impl Endpoint {
    /// An address; an IPv6 host is given without brackets.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// Name or number of the host, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The TCP port, never 0.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Endpoint {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = || ValueError::new(text, EXPECTED);
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(error)?;
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = bracketed.unwrap_or(host);
        let odd =
            |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '[' | ']' | '@');
        if host.is_empty() || host.contains(odd) || (bracketed.is_none() && host.contains(':')) {
            return Err(error());
        }
        let port = port
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(error)?;
        Ok(Self::new(host, port))
    }
}

impl TryFrom<String> for Endpoint {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse()
    }
}

impl From<Endpoint> for String {
    fn from(endpoint: Endpoint) -> Self {
        endpoint.to_string()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
