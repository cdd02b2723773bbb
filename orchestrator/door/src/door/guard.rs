//! What every request goes through before anybody answers it. Looks at headers only, and allocates
//! nothing for a request that comes in.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, Request, header};
use axum::response::Response;
use hyper::body::{Body as _, Incoming};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::time::Instant;

use super::body;
use super::places::Seat;
use super::policy::{Admits, Hosts, Origins, Policy};
use super::rate::Rate;
use super::refusal::Refusal;
use super::tokens::{Principal, is_same};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Asks of every request what the policy says.
pub(crate) struct Guard {
    policy: Policy,
    /// What a request may name as its host; the first is the address.
    hosts: [String; 3],
    rate: Rate,
}

impl Guard {
    pub(crate) fn new(policy: Policy, address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        let rate = Rate::new(policy.limits.rate);
        Self {
            policy,
            hosts,
            rate,
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Refuses it, or has it answered.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        seat: &Seat,
        router: &TowerToHyperService<Router>,
    ) -> Response {
        let (mut parts, body) = request.into_parts();
        match self.admitted(&parts, body, seat).await {
            Ok((principal, body)) => {
                if let Some(principal) = principal {
                    parts.extensions.insert(principal);
                }
                let answered = router.call(Request::from_parts(parts, body)).await;
                answered.unwrap_or_else(|never| match never {})
            }
            Err(refusal) => {
                let path = parts.uri.path();
                tracing::debug!(method = %parts.method, path = self.shown(path), %refusal, "refused");
                let mut response = (self.policy.refusal)(&refusal, path);
                refusal.complete(&mut response);
                response
            }
        }
    }

    /// A path as it may stand in a log: a token of one is left out.
    fn shown<'p>(&self, path: &'p str) -> &'p str {
        match self.policy.admits {
            Admits::Path(_) => "",
            Admits::Bearer { .. } | Admits::Proven => path,
        }
    }

    async fn admitted(
        &self,
        parts: &Parts,
        body: Incoming,
        seat: &Seat,
    ) -> Result<(Option<Principal>, Body), Refusal> {
        self.host(parts)?;
        self.origin(&parts.headers)?;
        if !self.policy.methods.contains(&parts.method) {
            return Err(Refusal::Method(self.policy.methods));
        }
        let principal = self.principal(parts)?;
        if !self.rate.admits(principal.as_ref(), Instant::now()) {
            return Err(Refusal::TooMany);
        }
        let proves_nothing =
            principal.is_none() && matches!(self.policy.admits, Admits::Bearer { .. });
        if !proves_nothing && !seat.is_let_in(principal.as_ref()) {
            return Err(Refusal::TooMany);
        }
        if parts.method != Method::POST {
            return Ok((principal, Body::empty()));
        }
        media_type(&parts.headers)?;
        let declared = body.size_hint().exact();
        let body = body::received(body, declared, &self.policy.limits).await?;
        Ok((principal, Body::from(body)))
    }

    fn host(&self, parts: &Parts) -> Result<(), Refusal> {
        let known = match self.policy.hosts {
            Hosts::LoopbackNames => &self.hosts[..],
            Hosts::Address => &self.hosts[..1],
        };
        let host = only(&parts.headers, &header::HOST).ok_or(Refusal::Host)?;
        let is_known = known.iter().any(|known| host.eq_ignore_ascii_case(known));
        // The absolute form is for proxies.
        (is_known && parts.uri.authority().is_none())
            .then_some(())
            .ok_or(Refusal::Host)
    }

    fn origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_fine = if headers.contains_key(header::ORIGIN) {
            let origin = only(headers, &header::ORIGIN);
            let origin = origin.and_then(|origin| origin.strip_prefix("http://"));
            origin.is_some_and(|origin| match self.policy.origins {
                Origins::Nobody => false,
                Origins::Own => origin == self.hosts[0],
                Origins::Loopback => is_loopback(origin),
            })
        } else {
            // Pages send no `Origin` with what they load as a picture, and browsers say so here.
            let site = headers.get_all(SEC_FETCH_SITE).iter();
            let mut site = site.map(|site| site.as_bytes());
            match self.policy.origins {
                Origins::Own => true,
                Origins::Nobody | Origins::Loopback => {
                    site.all(|site| matches!(site, b"none" | b"same-origin"))
                }
            }
        };
        is_fine.then_some(()).ok_or(Refusal::Origin)
    }

    fn principal(&self, parts: &Parts) -> Result<Option<Principal>, Refusal> {
        let path = parts.uri.path();
        match &self.policy.admits {
            Admits::Proven => Ok(None),
            Admits::Bearer { open, .. } if open.contains(&path) => Ok(None),
            Admits::Bearer { tokens, .. } => bearer(&parts.headers)
                .and_then(|token| tokens.principal(token))
                .map(Some)
                .ok_or(Refusal::Unauthorized),
            Admits::Path(token) => path
                .strip_prefix('/')
                .and_then(|path| path.split_once('/'))
                .filter(|(given, _)| is_same(given.as_bytes(), token.as_bytes()))
                .map(|_| None)
                .ok_or(Refusal::NotFound),
        }
    }
}

/// The token of `Authorization: Bearer`, when there is one such header and no other.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What a header says that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

/// A name of this computer and a port, as they stand in an origin.
fn is_loopback(authority: &str) -> bool {
    let names = ["localhost", "127.0.0.1", "[::1]"];
    let rest = names.iter().find_map(|name| authority.strip_prefix(name));
    rest.is_some_and(|rest| {
        let port = rest.strip_prefix(':');
        let is_port = |port: &str| {
            (1..=5).contains(&port.len()) && port.bytes().all(|digit| digit.is_ascii_digit())
        };
        rest.is_empty() || port.is_some_and(is_port)
    })
}

fn media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = only(headers, &header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    let is_plain = encodings.all(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    (kind.eq_ignore_ascii_case("application/json") && is_plain)
        .then_some(())
        .ok_or(Refusal::MediaType)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_of_this_computer_are_taken_for_such() {
        for yes in [
            "localhost",
            "localhost:1",
            "127.0.0.1:65535",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(yes), "{yes}");
        }
        for no in [
            "",
            "localhost.",
            "localhost.evil.test",
            "localhost:",
            "localhost:x",
            "localhost:123456",
            "localhost:80/",
            "localhost:80:80",
            "user@localhost",
            "127.0.0.1.evil.test",
            "127.0.0.2",
            "[::1].evil",
            "0.0.0.0:80",
        ] {
            assert!(!is_loopback(no), "{no}");
        }
    }
}
