//! `POST /packtrain.v1.Commands/Tap`: typed commands as unary calls of the Connect protocol in JSON,
//! and what they captured, to be fetched from `/packtrain.v1.Screens/ID.png`.
//!
//! Wire: <https://connectrpc.com/docs/protocol>, unary requests, codec `json`, no compression.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use packtrain_tools::Callbacks;
use packtrain_tools::commands::{Code, CommandCall, CommandError, SCREENS, SERVICE};
use serde_json::json;

use super::callbacks::{NotReceived, admitted, received};

/// The media type of both directions.
const JSON: &str = "application/json";

#[derive(Clone)]
struct Service {
    callbacks: Callbacks,
    base_url: String,
}

/// The routes.
pub(super) fn router<S: Clone + Send + Sync + 'static>(
    callbacks: Callbacks,
    base_url: String,
) -> Router<S> {
    Router::new()
        .route(&format!("/{SERVICE}/{{name}}"), post(command))
        .route(&format!("/{SCREENS}/{{file}}"), get(screen))
        .with_state(Service {
            callbacks,
            base_url,
        })
}

async fn command(
    State(service): State<Service>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let Err(refusal) = admitted(from, &headers) {
        return refused(&CommandError::new(Code::PermissionDenied, refusal));
    }
    let kind = text(&headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(JSON) {
        // By the protocol, with no body.
        let accepted = [(header::HeaderName::from_static("accept-post"), JSON)];
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, accepted).into_response();
    }
    let timeout = match timeout(&headers) {
        Ok(timeout) => timeout,
        Err(error) => return refused(&error),
    };
    let body = match received(&headers, body).await {
        Ok(body) => body,
        Err(NotReceived::TooLarge(length)) => {
            return refused(&CommandError::new(
                Code::ResourceExhausted,
                format!("{name}: a request of {length} bytes is too large"),
            ));
        }
        Err(NotReceived::Unreadable(why)) => {
            return refused(&CommandError::new(
                Code::InvalidArgument,
                format!("{name}: the body could not be read: {why}"),
            ));
        }
    };
    let call = CommandCall {
        name: &name,
        invocation: bearer(&headers),
        timeout,
        body: &body,
    };
    match service.callbacks.command(call, &service.base_url).await {
        Ok(answer) => ([(header::CONTENT_TYPE, JSON)], answer.to_string()).into_response(),
        Err(error) => refused(&error),
    }
}

async fn screen(
    State(service): State<Service>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = admitted(from, &headers) {
        return refused(&CommandError::new(Code::PermissionDenied, refusal));
    }
    match service.callbacks.screen(&file, bearer(&headers)) {
        Ok(file) => ([(header::CONTENT_TYPE, file.media_type)], file.bytes).into_response(),
        Err(error) => refused(&error),
    }
}

fn refused(error: &CommandError) -> Response {
    let status = StatusCode::from_u16(error.code.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = json!({ "code": error.code.as_str(), "message": error.message });
    (status, [(header::CONTENT_TYPE, JSON)], body.to_string()).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, "authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// How long the caller waits: up to ten digits of milliseconds.
fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, CommandError> {
    let Some(given) = headers.get("connect-timeout-ms") else {
        return Ok(None);
    };
    let given = given.to_str().unwrap_or_default();
    let is_number = (1..=10).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_digit());
    match given.parse() {
        Ok(millis) if is_number => Ok(Some(Duration::from_millis(millis))),
        Ok(_) | Err(_) => Err(CommandError::new(
            Code::InvalidArgument,
            format!("`Connect-Timeout-Ms` is {given:?}; it must be a number of at most 10 digits"),
        )),
    }
}
