//! HTTP/1.1: from bytes to a command and back, one request at a time.
//!
//! Source: `FBWebServer.m`, `FBResponsePayload.m` and `FBUnknownCommands.m` of
//! <https://github.com/appium/WebDriverAgent>.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, SERVER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use super::error::{ErrorKind, WdaError};
use super::handle::{Answer, Handler};
use super::request::Arguments;
use super::{Inner, Running, State, route};
use crate::faults::{Event, Fault};
use crate::usbmux::BoxStream;
use crate::usbmux::line::{Line, Trouble};

/// The largest body a client may send: a picture for the pasteboard.
const MAX_BODY: usize = 32 * 1024 * 1024;
/// How long a body may take once its head is there.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// No answer is to come: the connection ends instead.
#[derive(Debug, thiserror::Error)]
#[error("the connection is given up")]
struct GivenUp;

/// Serves one connection until it ends, WebDriverAgent goes down or a fault cuts it.
pub(super) async fn serve(inner: Arc<Inner>, stream: BoxStream) {
    let mut cuts = inner.device.cuts();
    let trouble = Arc::new(Trouble::default());
    let mut flaps = None;
    for fault in inner.device.strike(Event::Connect("wda")) {
        match fault {
            Fault::Refuse | Fault::Reset => return,
            Fault::Delay(time) => inner.device.sleep(time.0).await,
            Fault::Flap(time) => flaps = Some(time.0),
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                inner.befall(&fault);
                return;
            }
            other => trouble.befall(&other),
        }
    }
    let line = Line::new(stream, trouble.clone());
    let service = service_fn(|request| answer(inner.clone(), trouble.clone(), request));
    let connection = http1::Builder::new()
        .title_case_headers(true)
        .serve_connection(TokioIo::new(line), service);
    let flap = async {
        match flaps {
            Some(time) => inner.device.sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a WebDriverAgent client was dropped");
            }
        }
        () = inner.becomes(Running::Down) => {}
        _ = cuts.changed() => {}
        () = flap => {}
    }
}

async fn answer(
    inner: Arc<Inner>,
    trouble: Arc<Trouble>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, GivenUp> {
    let (head, body) = request.into_parts();
    let whole = Limited::new(body, MAX_BODY).collect();
    let body = match tokio::time::timeout(BODY_TIMEOUT, whole).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let text = "Request Entity Too Large";
            return Ok(page(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        Ok(Err(_)) | Err(_) => return Err(GivenUp),
    };
    // Done in a task of its own: a phone finishes what it has begun even if nobody listens.
    let phone = inner.clone();
    let work = async move {
        tokio::select! {
            answer = work(&phone, &trouble, &head.method, &head.uri, &body) => answer,
            () = phone.becomes(Running::Down) => Err(GivenUp),
        }
    };
    let done = inner.tasks.spawn(work).await;
    // The answer to a shutdown is the last one.
    inner.stop_if_asked();
    done.unwrap_or(Err(GivenUp))
}

async fn work(
    inner: &Inner,
    trouble: &Trouble,
    method: &Method,
    uri: &hyper::Uri,
    body: &[u8],
) -> Result<Response<Full<Bytes>>, GivenUp> {
    let named = format!("{method} {}", uri.path());
    let mut failure = None;
    let mut taken = false;
    for fault in inner.device.strike(Event::Route(&named)) {
        match fault {
            Fault::Delay(time) => inner.device.sleep(time.0).await,
            Fault::NoAnswer => {
                return std::future::pending::<Result<_, Infallible>>()
                    .await
                    .map_err(|never| match never {});
            }
            Fault::Fail(text) => failure = Some(WdaError::unknown(text)),
            Fault::StaleElement => {
                let message =
                    "The previously found element is not present in the current view anymore";
                failure = Some(WdaError::new(ErrorKind::StaleElementReference, message));
            }
            Fault::SessionKilled => taken = true,
            Fault::Refuse | Fault::Reset | Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_) => {
                return Err(GivenUp);
            }
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                inner.befall(&fault);
                return Err(GivenUp);
            }
            other => trouble.befall(&other),
        }
    }
    let mut state = inner.state.lock().await;
    state.revive(inner.incarnation());
    if taken {
        state.taken_by_another(inner);
    }
    let answer = match failure {
        Some(error) => Err(error),
        None => command(inner, &mut state, method, uri, body).await,
    };
    Ok(response(&state, answer))
}

async fn command(
    inner: &Inner,
    state: &mut State,
    method: &Method,
    uri: &hyper::Uri,
    body: &[u8],
) -> Result<Answer, WdaError> {
    let Some(found) = route::find(method.as_str(), uri.path()) else {
        inner
            .device
            .note_unhandled(&format!("{method} {}", uri.path()));
        return Err(WdaError::new(
            ErrorKind::UnknownCommand,
            format!("Unhandled endpoint: {} with parameters {{}}", uri.path()),
        ));
    };
    inner.device.takes(inner.device.latency().agent_call).await;
    let handler = Handler {
        inner,
        state,
        found,
        arguments: Arguments::read(uri.query().unwrap_or_default(), body)?,
        tree_faults: Vec::new(),
    };
    handler.run().await
}

fn response(state: &State, answer: Result<Answer, WdaError>) -> Response<Full<Bytes>> {
    let (status, value) = match answer {
        Ok(Answer::Page(text)) => return page(StatusCode::OK, text),
        Ok(Answer::Value(value)) => (StatusCode::OK, value),
        Err(error) => (
            error.kind.status(),
            json!({
                "error": error.kind.word(),
                "message": error.message,
                "traceback": "",
            }),
        ),
    };
    let session = state.session.as_ref().map(|session| session.id.0.as_str());
    let envelope: Value = json!({"value": value, "sessionId": session});
    let mut response = page(status, &format!("{envelope:#}"));
    let json = HeaderValue::from_static("application/json;charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn page(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("WebDriverAgent/1.0"));
    headers.insert("access-control-allow-origin", HeaderValue::from_static("*"));
    headers.insert(
        "access-control-allow-headers",
        HeaderValue::from_static("Content-Type, X-Requested-With"),
    );
    response
}
