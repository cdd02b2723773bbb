//! What a door requires of its clients.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use axum::response::Response;

use super::refusal::{self, Refusal};
use super::tokens::Tokens;

/// The most a request's body may have on a door for agents, in bytes.
pub const MAX_AGENT_BODY: usize = 4 * 1024 * 1024;

/// What a door asks of every request.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Who may come in.
    pub admits: Admits,
    /// By which names this computer may be asked for.
    pub hosts: Hosts,
    /// Whose pages may ask.
    pub origins: Origins,
    /// What may be done; anything else is answered with 405.
    pub methods: &'static [Method],
    /// How much of everything.
    pub limits: Limits,
    /// What is answered to a request of this path that is refused.
    pub refusal: fn(&Refusal, path: &str) -> Response,
}

/// Who may come in.
#[derive(Debug, Clone)]
pub enum Admits {
    /// Clients with a token, in `Authorization: Bearer`.
    Bearer {
        /// What knows tokens.
        tokens: Tokens,
        /// Paths that need none.
        open: &'static [&'static str],
    },
    /// Clients that know the first segment of the path.
    Path(Arc<str>),
    /// Everybody: each endpoint asks for what proves who calls.
    Proven,
}

/// By which names this computer may be asked for. The port is always part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hosts {
    /// `127.0.0.1`, `localhost` and `[::1]`.
    LoopbackNames,
    /// The address alone.
    Address,
}

/// Whose pages may ask. Who sends no `Origin` is not a page, unless `Sec-Fetch-Site` says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origins {
    /// Nobody's.
    Nobody,
    /// Those of this door.
    Own,
    /// Those of servers of this computer: `http://localhost:*`, `http://127.0.0.1:*`, `http://[::1]:*`.
    Loopback,
}

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; more are closed.
    pub connections: usize,
    /// How long a request's head may take, counted from the end of the last request.
    pub head_timeout: Duration,
    /// Bytes of a body.
    pub body: usize,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// Requests of one principal a second; twice as many at once.
    pub rate: u32,
}

impl Policy {
    /// For agents and for commands of ours: a token, pages of this computer's servers, JSON.
    pub fn agents(tokens: Tokens) -> Self {
        const METHODS: &[Method] = &[Method::GET, Method::POST, Method::DELETE];
        Self {
            admits: Admits::Bearer {
                tokens,
                open: &["/health"],
            },
            hosts: Hosts::LoopbackNames,
            origins: Origins::Loopback,
            methods: METHODS,
            limits: Limits {
                connections: 1024,
                head_timeout: Duration::from_secs(60),
                body: MAX_AGENT_BODY,
                body_timeout: Duration::from_secs(30),
                rate: 2000,
            },
            refusal: refusal::plain,
        }
    }

    /// For callbacks of tools, which prove by the call's id that they are under way.
    pub fn callbacks() -> Self {
        const METHODS: &[Method] = &[Method::GET, Method::POST];
        Self {
            admits: Admits::Proven,
            hosts: Hosts::LoopbackNames,
            origins: Origins::Nobody,
            methods: METHODS,
            limits: Limits {
                connections: 4096,
                head_timeout: Duration::from_secs(120),
                body: 1024 * 1024,
                body_timeout: Duration::from_secs(30),
                rate: 50_000,
            },
            refusal: refusal::plain,
        }
    }

    /// For a page open to everyone who has its URL.
    pub fn page(token: &str) -> Self {
        const METHODS: &[Method] = &[Method::GET];
        Self {
            admits: Admits::Path(token.into()),
            hosts: Hosts::Address,
            origins: Origins::Own,
            methods: METHODS,
            limits: Limits {
                connections: 32,
                head_timeout: Duration::from_secs(10),
                body: 0,
                body_timeout: Duration::from_secs(10),
                rate: 2000,
            },
            refusal: refusal::plain,
        }
    }
}
