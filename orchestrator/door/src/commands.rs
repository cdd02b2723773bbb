//! `POST /packtrain.v1.Commands/Tap`: typed commands as unary calls of the Connect protocol in JSON,
//! and what they captured, to be fetched from `/packtrain.v1.Screens/ID.png`.
//!
//! Wire: <https://connectrpc.com/docs/protocol>, unary requests, codec `json`, no compression.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use packtrain_sources::Callbacks;
use packtrain_sources::commands::{Code, CommandCall, CommandError, SCREENS, SERVICE};
use serde_json::json;

use super::door::guard::bearer;
use super::door::{Refusal, size};

/// The media type of both directions.
const JSON: &str = "application/json";

#[derive(Clone)]
struct Service {
    callbacks: Callbacks,
    base_url: String,
}

/// The routes.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(
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
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let timeout = match timeout(&headers) {
        Ok(timeout) => timeout,
        Err(error) => return refused(&error),
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
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Response {
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

/// What is said to whom the door's guard does not let in.
pub(crate) fn refused_by(refusal: &Refusal, path: &str) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (code, message) = match refusal {
        Refusal::Host | Refusal::Origin => (Code::PermissionDenied, refusal.to_string()),
        Refusal::TooLarge { declared, most } => {
            let size = size(*declared, *most);
            let message = format!("{name}: a request of {size} bytes is too large");
            (Code::ResourceExhausted, message)
        }
        Refusal::TooMany => (Code::ResourceExhausted, refusal.to_string()),
        Refusal::TooSlow(_) | Refusal::Unreadable(_) => {
            let message = format!("{name}: the body could not be read: {refusal}");
            (Code::InvalidArgument, message)
        }
        // By the protocol, with no body.
        Refusal::Method(_) | Refusal::Unauthorized | Refusal::NotFound | Refusal::MediaType => {
            return refusal.status().into_response();
        }
    };
    refused(&CommandError::new(code, message))
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
