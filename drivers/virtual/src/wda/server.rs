//! HTTP/1.1: from a request to a command and back, one at a time.
//!
//! Source: `FBWebServer.m`, `FBResponsePayload.m` and `FBUnknownCommands.m` of
//! <https://github.com/appium/WebDriverAgent>. Since version 16 it knows nothing of bodies in
//! chunks: one ends the connection, without an answer.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use super::error::{ErrorKind, WdaError};
use super::handle::Handler;
use super::request::{Arguments, decode};
use super::{Running, State, Wda, route};
use crate::faults::{Event, Fault};
use crate::usbmux::BoxStream;
use crate::usbmux::faulty_stream::{ConnectionFaults, FaultyStream};

/// The largest head a client may send; a phone takes any.
const MAX_HEAD: usize = 64 * 1024;
/// The largest body a client may send, with room for a picture for the pasteboard; what is larger
/// is answered with 413. A phone takes a GiB.
const MAX_BODY: u64 = 32 * 1024 * 1024;

/// No answer is to come: the connection ends instead.
#[derive(Debug, thiserror::Error)]
#[error("the connection is given up")]
struct GivenUp;

/// Serves one connection until it ends, WebDriverAgent goes down or a fault cuts it.
pub async fn serve(wda: Arc<Wda>, stream: BoxStream) {
    let mut cuts = wda.device.cuts();
    let faults = Arc::new(ConnectionFaults::default());
    let mut flaps = None;
    for fault in wda.device.fire_faults(Event::Connect("wda")) {
        match fault {
            Fault::Refuse | Fault::Reset => return,
            Fault::Delay(time) => wda.device.sleep(time.0).await,
            Fault::Flap(time) => flaps = Some(time.0),
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                return wda.apply_fault(&fault);
            }
            other => faults.apply(&other),
        }
    }
    let stream = TokioIo::new(FaultyStream::new(stream, faults.clone()));
    let service = service_fn(|request| answer(wda.clone(), faults.clone(), request));
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .half_close(true)
        .max_buf_size(MAX_HEAD)
        .title_case_headers(true)
        .serve_connection(stream, service);
    let flap = async {
        match flaps {
            Some(time) => wda.device.sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a WebDriverAgent client was dropped");
            }
            // The answer to a shutdown is the last one.
            wda.stop_if_asked();
        }
        () = wda.becomes(Running::Down) => {}
        _ = cuts.changed() => {}
        () = flap => {}
    }
}

async fn answer(
    wda: Arc<Wda>,
    connection_faults: Arc<ConnectionFaults>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, GivenUp> {
    let (head, body) = request.into_parts();
    let length = body.size_hint().exact().ok_or(GivenUp)?;
    if length > MAX_BODY {
        return Ok(last(respond(413, "Payload Too Large".into())));
    }
    let body = body.collect().await.map_err(|_| GivenUp)?.to_bytes();
    // Done in a task of its own: a phone finishes what it has begun even if nobody listens.
    let phone = wda.clone();
    let work = async move {
        let method = head.method.as_str().to_uppercase();
        let (path, query) = (decode(head.uri.path()), head.uri.query().unwrap_or(""));
        tokio::select! {
            answer = work(&phone, &connection_faults, &method, &path, query, &body) => answer,
            () = phone.becomes(Running::Down) => Err(GivenUp),
        }
    };
    wda.tasks.spawn(work).await.unwrap_or(Err(GivenUp))
}

async fn work(
    wda: &Wda,
    connection_faults: &ConnectionFaults,
    method: &str,
    path: &str,
    query: &str,
    body: &[u8],
) -> Result<Response<Full<Bytes>>, GivenUp> {
    let named = format!("{method} {path}");
    let mut told = None;
    let mut taken = false;
    for fault in wda.device.fire_faults(Event::Route(&named)) {
        match fault {
            Fault::Delay(time) => wda.device.sleep(time.0).await,
            Fault::NoAnswer => match std::future::pending::<Infallible>().await {},
            Fault::Fail(text) => told = Some(Err(WdaError::unknown(text))),
            Fault::StaleElement => {
                let message =
                    "The previously found element is not present in the current view anymore";
                told = Some(Err(WdaError::new(
                    ErrorKind::STALE_ELEMENT_REFERENCE,
                    message,
                )));
            }
            Fault::Ignore if told.is_none() => told = Some(Ok(Value::Null)),
            Fault::SessionKilled => taken = true,
            Fault::Refuse | Fault::Reset | Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_) => {
                return Err(GivenUp);
            }
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                wda.apply_fault(&fault);
                return Err(GivenUp);
            }
            other => connection_faults.apply(&other),
        }
    }
    let mut state = wda.state.lock().await;
    state.revive(wda.incarnation());
    if taken {
        state.taken_by_another(&wda.device);
    }
    let mut is_fault = told.is_some();
    let answer = match (told, route::find(method, path)) {
        (Some(told), _) => told,
        (None, Some(found)) => {
            wda.device.takes(wda.device.latency().agent_call).await;
            let state = &mut *state;
            match Arguments::read(query, body) {
                Ok(arguments) => {
                    let mut handler = Handler {
                        wda,
                        state,
                        found,
                        arguments,
                        tree_faults: Vec::new(),
                    };
                    let answer = handler.run().await;
                    let fails = |fault: &Fault| matches!(fault, Fault::Fail(_) | Fault::NullRoot);
                    is_fault = handler.tree_faults.iter().any(fails);
                    answer
                }
                Err(error) => Err(error),
            }
        }
        (None, None) => {
            let path_without_ids = without_ids(path);
            wda.device
                .note_unhandled(&format!("{method} {path_without_ids}"));
            let message = format!("Unhandled endpoint: {path}");
            Err(WdaError::new(ErrorKind::UNKNOWN_COMMAND, message))
        }
    };
    // A selector that this phone does not understand: the kinds are those of a phone.
    if let Err(error) = &answer
        && !is_fault
        && [ErrorKind::INVALID_SELECTOR, ErrorKind::UNKNOWN_ERROR].contains(&error.kind)
        && ["/element", "/elements"]
            .iter()
            .any(|end| path.ends_with(end))
    {
        let why = error.message.lines().next().unwrap_or_default();
        wda.device
            .note_unhandled(&format!("{method} {}: {why}", without_ids(path)));
    }
    if wda.is_ending() {
        return Ok(last(respond(200, "Shutting down".into())));
    }
    Ok(enveloped(&state, answer))
}

/// A path that is the same for every session and element.
fn without_ids(path: &str) -> String {
    let mut before = "";
    let parts = path.split('/').map(|part| {
        let is_id = part.len() == 36 && part.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
        match (is_id, std::mem::replace(&mut before, part)) {
            (false, _) => part,
            (true, "session") => ":session",
            (true, _) => ":element",
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn enveloped(state: &State, answer: Result<Value, WdaError>) -> Response<Full<Bytes>> {
    let (status, value) = answer.map_or_else(
        |WdaError { kind, message }| {
            let value = json!({"error": kind.0, "message": message, "traceback": ""});
            (kind.1, value)
        },
        |value| (200, value),
    );
    let session = state.session.as_ref().map(|session| session.id.0.as_str());
    let envelope: Value = json!({"value": value, "sessionId": session});
    let mut response = respond(status, format!("{envelope:#}").into());
    let json = header::HeaderValue::from_static("application/json;charset=UTF-8");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn respond(status: u16, body: Bytes) -> Response<Full<Bytes>> {
    Response::builder()
        .status(status)
        .header(header::SERVER, "WebDriverAgent/1.0")
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .header(
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Content-Type, X-Requested-With",
        )
        .body(Full::new(body))
        .expect("the codes of `ErrorKind` are codes, and the headers are text")
}

/// The connection ends after this answer.
fn last(mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let close = header::HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
