//! The way to a WebDriverAgent, from what was configured.

use hyper::Uri;

use crate::dial::{AgentPort, Dial};
use crate::error::WdaError;
use crate::http::Http;
use crate::mux::MuxAddress;

/// The port of WebDriverAgent on every device.
const PORT: u16 = 8100;

/// Where to connect to and what stands before every path.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    dial: Dial,
    prefix: String,
}

impl Route {
    /// To an address.
    pub(crate) fn to_url(name: &str, url: &str) -> Result<Self, WdaError> {
        let invalid = |why: &str| WdaError::Address {
            name: name.to_owned(),
            url: url.to_owned(),
            why: why.to_owned(),
        };
        let parsed: Uri = url.trim().parse().map_err(|_| invalid("it is not a URL"))?;
        match parsed.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(invalid("WebDriverAgent speaks http, without encryption"));
            }
            Some(_) | None => return Err(invalid("it should begin with http://")),
        }
        if parsed.query().is_some() {
            return Err(invalid("there is a question mark in it"));
        }
        let authority = parsed
            .authority()
            .ok_or_else(|| invalid("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("WebDriverAgent has no users or passwords"));
        }
        let host = authority.host().trim_matches(['[', ']']);
        Ok(Self {
            dial: Dial::Tcp {
                host: host.to_owned(),
                port: authority.port_u16().unwrap_or(80),
            },
            prefix: parsed.path().trim_end_matches('/').to_owned(),
        })
    }

    /// To a port of this computer.
    pub(crate) fn to_port(port: u16) -> Self {
        let host = "127.0.0.1".to_owned();
        Self {
            dial: Dial::Tcp { host, port },
            prefix: String::new(),
        }
    }

    /// To a simulator's, wherever it listens by then.
    pub(crate) const fn to_simulator(port: AgentPort) -> Self {
        Self {
            dial: Dial::Simulator(port),
            prefix: String::new(),
        }
    }

    /// Through a cable.
    pub(crate) const fn through(muxer: MuxAddress, udid: String) -> Self {
        Self {
            dial: Dial::Tunnel {
                muxer,
                udid,
                port: PORT,
            },
            prefix: String::new(),
        }
    }

    /// The port on which WebDriverAgent is expected, before anybody chose another one.
    pub(crate) const fn port(&self) -> u16 {
        match &self.dial {
            Dial::Tcp { port, .. } | Dial::Tunnel { port, .. } => *port,
            Dial::Simulator(_) => PORT,
        }
    }

    pub(crate) fn client(&self) -> Http {
        Http::new(self.dial.clone(), self.prefix.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (url, host, port, prefix) in [
            ("http://127.0.0.1:8100", "127.0.0.1", 8100, ""),
            ("http://phone.local/", "phone.local", 80, ""),
            ("http://[::1]:81/wda/1/", "::1", 81, "/wda/1"),
        ] {
            let route = Route::to_url("x", url).unwrap();
            let Dial::Tcp { host: to, .. } = &route.dial else {
                panic!("{url}: {route:?}");
            };
            let found = (to.as_str(), route.port(), route.prefix.as_str());
            assert_eq!(found, (host, port, prefix), "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (url, why) in [
            ("", "not a URL"),
            ("127.0.0.1:8100", "http://"),
            ("https://a", "without encryption"),
            ("ftp://a", "http://"),
            ("http://a?b", "question mark"),
            ("http://u:p@a", "users"),
        ] {
            let error = Route::to_url("x", url).unwrap_err().to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
