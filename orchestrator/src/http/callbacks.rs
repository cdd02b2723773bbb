//! `POST /scripting/callback`: the door that callbacks of tools come in by. Typed commands come in by
//! it too.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use http_body_util::BodyExt as _;
use packtrain_tools::{CallbackReply, Callbacks};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::commands;

/// Bytes of a callback.
const MAX_BODY: usize = 1024 * 1024;
/// Bytes of one that is too large which are still read: who writes while its connection is closed
/// does not get to see why.
const MAX_DRAINED: usize = 16 * MAX_BODY;
/// How long a callback may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A port for callbacks, up as long as this lives.
pub struct CallbackServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl CallbackServer {
    /// Takes a free port of loopback.
    ///
    /// # Errors
    /// When the system has none.
    pub async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it is.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers callbacks, as long as the handle lives.
    pub fn serve(self, callbacks: Callbacks) -> AbortOnDropHandle<()> {
        let router = Router::new()
            .route("/scripting/callback", post(answer))
            .with_state(callbacks.clone())
            .merge(commands::router(callbacks, self.base_url()))
            .layer(DefaultBodyLimit::disable())
            .into_make_service_with_connect_info::<SocketAddr>();
        let listener = self.listener.tap_io(|connection| {
            // Answers are short and waited for.
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "callbacks may be slow");
            }
        });
        AbortOnDropHandle::new(tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "callbacks are not answered any more");
            }
        }))
    }
}

async fn answer(
    State(callbacks): State<Callbacks>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let Err(refusal) = admitted(from, &headers) {
        return (StatusCode::FORBIDDEN, refusal).into_response();
    }
    let body = match received(&headers, body).await {
        Ok(body) => body,
        Err(NotReceived::TooLarge(length)) => return too_large(&length),
        Err(NotReceived::Unreadable(why)) => {
            let refusal = format!("Failed to read request body: {why}");
            return (StatusCode::BAD_REQUEST, refusal).into_response();
        }
    };
    match callbacks.answer(&body).await {
        CallbackReply::Json(reply) => (
            [(header::CONTENT_TYPE, "application/json")],
            reply.to_string(),
        )
            .into_response(),
        CallbackReply::Malformed(why) => (StatusCode::BAD_REQUEST, why).into_response(),
    }
}

/// Who may call at all: programs of this computer.
pub(super) fn admitted(from: SocketAddr, headers: &HeaderMap) -> Result<(), String> {
    if !from.ip().is_loopback() {
        return Err(format!(
            "Scripting callback is only available from loopback (got {})",
            from.ip()
        ));
    }
    if headers.contains_key(header::ORIGIN) {
        // No tool sends one, and every page of a browser on this computer does.
        return Err("Scripting callback is not available to pages of a browser".to_owned());
    }
    Ok(())
}

/// Why there is no body.
pub(super) enum NotReceived {
    /// It has this many bytes.
    TooLarge(String),
    Unreadable(String),
}

/// Takes a body in.
pub(super) async fn received(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, NotReceived> {
    let declared = headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let declared = declared.filter(|length| *length > MAX_BODY);
    if let Some(length) = declared.filter(|length| *length > MAX_DRAINED) {
        return Err(NotReceived::TooLarge(length.to_string()));
    }
    match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => {
            let length = declared.map(|length| length.to_string());
            let length = length.unwrap_or_else(|| format!("over {MAX_BODY}"));
            Err(NotReceived::TooLarge(length))
        }
        Ok(Err(error)) => Err(NotReceived::Unreadable(error.to_string())),
        Err(_) => Err(NotReceived::Unreadable(format!(
            "nothing more came within {} s",
            BODY_TIMEOUT.as_secs()
        ))),
    }
}

fn too_large(length: &str) -> Response {
    let refusal =
        format!("JsScriptingCallbackRequest body size {length} exceeds max {MAX_BODY} bytes");
    (StatusCode::PAYLOAD_TOO_LARGE, refusal).into_response()
}

/// Reads a body; `None` for one that is too large.
async fn read(mut body: Body) -> Result<Option<Vec<u8>>, axum::Error> {
    let (mut read, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        if length <= MAX_BODY {
            read.extend_from_slice(&data);
        } else if length > MAX_DRAINED {
            break;
        }
    }
    Ok((length <= MAX_BODY).then_some(read))
}
