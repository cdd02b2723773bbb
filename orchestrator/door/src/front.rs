//! The Model Context Protocol over HTTP, both of its eras at one address: rmcp's transport, set up in
//! one place, with sessions that belong to the client that opened them. Stands behind a [`door`](super::door).

mod sessions;
mod visit;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

pub use self::sessions::{OnClosed, SessionLimits, Sessions};
pub use self::visit::Visitor;
use self::visit::{Holder, Refused, Visit};
use super::door::{MAX_AGENT_BODY, Principal};

/// How soon a listener that was cut off comes back: sooner than its session is given up.
const SSE_RETRY: Duration = Duration::from_secs(1);
/// Characters of a toolset's name.
const TOOLSET_NAME: std::ops::RangeInclusive<usize> = 2..=50;

/// Answers at `/mcp`, at `/mcp/TOOLSET`, and at `/health` with `ok`.
///
/// `factory` makes what handles a session, or one request of the revision 2026-07-28. It may be asked
/// more than once a request, and so has to be cheap and to change nothing. An error of the kind
/// `NotFound` says that the toolset is unknown. When `closing` is cancelled everything ends.
pub fn mcp<S, F>(factory: F, sessions: Sessions, closing: CancellationToken) -> Router
where
    S: ServerHandler + Send + 'static,
    F: Fn(&Visitor) -> io::Result<S> + Send + Sync + 'static,
{
    let front = Arc::new(Front {
        factory: Arc::new(factory),
        sessions,
        config: config(closing),
    });
    let of_toolset = Arc::clone(&front);
    Router::new()
        .route(
            "/mcp",
            any(move |request: Request| async move { front.answer(None, request).await }),
        )
        .route(
            "/mcp/{toolset}",
            any(
                move |Path(toolset): Path<String>, request: Request| async move {
                    of_toolset.answer(Some(toolset), request).await
                },
            ),
        )
        .route("/health", get(|| async { "ok" }))
}

fn config(closing: CancellationToken) -> StreamableHttpServerConfig {
    let loopback = ["localhost", "127.0.0.1", "[::1]"];
    // What the door asks too: this holds without one.
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(["localhost", "127.0.0.1", "::1"])
        .with_allowed_origins(loopback.map(|host| format!("http://{host}:*")))
        .with_sse_retry(Some(SSE_RETRY))
        .with_max_request_body_bytes(MAX_AGENT_BODY)
        .with_cancellation_token(closing)
}

type Factory<S> = dyn Fn(&Visitor) -> io::Result<S> + Send + Sync;

struct Front<S> {
    factory: Arc<Factory<S>>,
    sessions: Sessions,
    config: StreamableHttpServerConfig,
}

impl<S: ServerHandler + Send + 'static> Front<S> {
    async fn answer(&self, toolset: Option<String>, request: Request) -> Response {
        if toolset.as_deref().is_some_and(|name| !is_toolset(name)) {
            return refused(Refused::NoToolset);
        }
        let is_twice = |name: &&&str| request.headers().get_all(**name).iter().count() > 1;
        if let Some(name) = SAID_ONCE.iter().find(is_twice) {
            let words = format!("`{name}` may be given once");
            return (StatusCode::BAD_REQUEST, words).into_response();
        }
        let principal = request.extensions().get::<Principal>().cloned();
        let visit = Arc::new(Visit::new(
            self.sessions.clone(),
            Holder {
                principal: principal.unwrap_or_else(|| Principal::named("anyone")),
                toolset: toolset.map(Into::into),
            },
        ));
        let (factory, of) = (Arc::clone(&self.factory), Arc::clone(&visit));
        let handler = move || {
            factory(&of.visitor()).inspect_err(|error| {
                if error.kind() == io::ErrorKind::NotFound {
                    of.refuse(Refused::NoToolset);
                }
            })
        };
        let is_end = request.method() == Method::DELETE;
        let config = self.config.clone();
        let service = StreamableHttpService::new(handler, Arc::clone(&visit), config);
        let mut response = service.handle(request).await;
        if is_end && response.status() == StatusCode::ACCEPTED {
            // It has ended; some clients take anything else for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        match visit.refused() {
            Some(Refused::NoSession) if !is_end => response.map(Body::new),
            Some(why) => refused(why),
            None => response.map(Body::new),
        }
    }
}

/// What may be said one way only.
const SAID_ONCE: [&str; 3] = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];

fn is_toolset(name: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    TOOLSET_NAME.contains(&name.len()) && name.bytes().all(is_allowed)
}

fn refused(why: Refused) -> Response {
    match why {
        Refused::TooManySessions => (
            StatusCode::TOO_MANY_REQUESTS,
            [(header::RETRY_AFTER, "60")],
            "there are too many sessions: end one, or try again later",
        )
            .into_response(),
        Refused::TooManyListeners => (
            StatusCode::TOO_MANY_REQUESTS,
            "too many listeners for this session",
        )
            .into_response(),
        Refused::NoSession => (StatusCode::NOT_FOUND, "unknown session").into_response(),
        Refused::NoToolset => (StatusCode::NOT_FOUND, "unknown toolset").into_response(),
    }
}
