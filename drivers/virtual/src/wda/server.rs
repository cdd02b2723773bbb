//! HTTP/1.1: from bytes to a command and back, one request at a time.
//!
//! Source: `FBWebServer.m`, `FBResponsePayload.m` and `FBUnknownCommands.m` of
//! <https://github.com/appium/WebDriverAgent>.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::error::{ErrorKind, WdaError};
use super::handle::{Answer, Handler};
use super::http::{Connection, Framing, Incoming, Kind, Request, Response};
use super::request::Arguments;
use super::{Inner, Running, State, route};
use crate::faults::{Event, Fault};
use crate::usbmux::BoxStream;
use crate::usbmux::faulty_stream::{ConnectionFaults, FaultyStream};

/// No answer is to come: the connection ends instead.
#[derive(Debug, thiserror::Error)]
#[error("the connection is given up")]
struct GivenUp;

/// Serves one connection until it ends, WebDriverAgent goes down or a fault cuts it.
pub(super) async fn serve(inner: Arc<Inner>, stream: BoxStream) {
    let mut cuts = inner.device.cuts();
    let connection_faults = Arc::new(ConnectionFaults::default());
    let mut flaps = None;
    for fault in inner.device.fire_faults(Event::Connect("wda")) {
        match fault {
            Fault::Refuse | Fault::Reset => return,
            Fault::Delay(time) => inner.device.sleep(time.0).await,
            Fault::Flap(time) => flaps = Some(time.0),
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                inner.apply_fault(&fault);
                return;
            }
            other => connection_faults.apply(&other),
        }
    }
    let stream = FaultyStream::new(stream, connection_faults.clone());
    let connection = converse(inner.clone(), connection_faults, Connection::new(stream));
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

async fn converse(
    inner: Arc<Inner>,
    connection_faults: Arc<ConnectionFaults>,
    mut connection: Connection<FaultyStream>,
) -> io::Result<()> {
    while let Some(incoming) = connection.next().await? {
        let request = match incoming {
            Incoming::Request(request) => request,
            Incoming::TooLarge => {
                return connection
                    .answer(&refusal(413, "Request Entity Too Large"))
                    .await;
            }
        };
        let (framing, is_last) = (request.framing, request.is_last);
        let Ok(response) = answer(inner.clone(), connection_faults.clone(), request).await else {
            return Ok(());
        };
        if framing == Framing::Length {
            connection.answer(&response).await?;
        }
        // The answer to a shutdown is the last one.
        inner.stop_if_asked();
        if is_last || framing == Framing::Chunked {
            return Ok(());
        }
    }
    Ok(())
}

async fn answer(
    inner: Arc<Inner>,
    connection_faults: Arc<ConnectionFaults>,
    request: Request,
) -> Result<Response, GivenUp> {
    // Done in a task of its own: a phone finishes what it has begun even if nobody listens.
    let phone = inner.clone();
    let work = async move {
        tokio::select! {
            answer = work(&phone, &connection_faults, request) => answer,
            () = phone.becomes(Running::Down) => Err(GivenUp),
        }
    };
    inner.tasks.spawn(work).await.unwrap_or(Err(GivenUp))
}

async fn work(
    inner: &Inner,
    connection_faults: &ConnectionFaults,
    request: Request,
) -> Result<Response, GivenUp> {
    let named = format!("{} {}", request.method, request.path);
    let mut failure = None;
    let (mut taken, mut ignored) = (false, false);
    for fault in inner.device.fire_faults(Event::Route(&named)) {
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
            Fault::Ignore => ignored = true,
            Fault::SessionKilled => taken = true,
            Fault::Refuse | Fault::Reset | Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_) => {
                return Err(GivenUp);
            }
            Fault::WdaCrash(_) | Fault::AgentDies | Fault::Detach(_) => {
                inner.apply_fault(&fault);
                return Err(GivenUp);
            }
            other => connection_faults.apply(&other),
        }
    }
    let mut state = inner.state.lock().await;
    state.revive(inner.incarnation());
    if taken {
        state.taken_by_another(inner);
    }
    let answer = match failure {
        Some(error) => Err(error),
        None if !route::is_served(&request.method, &request.path) => {
            inner.device.note_unhandled(&named);
            return Ok(refusal(404, "Not Found"));
        }
        None if ignored => Ok(Answer::Value(Value::Null)),
        None => command(inner, &mut state, request).await,
    };
    Ok(response(&state, answer))
}

async fn command(inner: &Inner, state: &mut State, request: Request) -> Result<Answer, WdaError> {
    let Some(found) = route::find(&request.method, &request.path) else {
        inner
            .device
            .note_unhandled(&format!("{} {}", request.method, request.path));
        return Err(unhandled(request));
    };
    inner.device.takes(inner.device.latency().agent_call).await;
    let handler = Handler {
        inner,
        state,
        found,
        arguments: Arguments::read(request.query, &request.body)?,
        tree_faults: Vec::new(),
    };
    handler.run().await
}

/// Tells what was asked for, with the parameters as Foundation prints a dictionary.
fn unhandled(request: Request) -> WdaError {
    let wildcards = request.path.trim_start_matches('/').to_owned();
    let mut parameters: BTreeMap<String, String> = request.query.into_iter().collect();
    parameters.insert("wildcards".to_owned(), wildcards);
    let parameters: String = parameters
        .iter()
        .map(|(name, value)| format!("    {} = {};\n", word(name), word(value)))
        .collect();
    WdaError::new(
        ErrorKind::UnknownCommand,
        format!(
            "Unhandled endpoint: {} with parameters {{\n{parameters}}}",
            request.path
        ),
    )
}

fn word(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.is_empty() && text.chars().all(bare) {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}

fn response(state: &State, answer: Result<Answer, WdaError>) -> Response {
    let (status, value) = match answer {
        Ok(Answer::Page(text)) => {
            return Response {
                status: 200,
                kind: Kind::Page,
                body: text.into(),
            };
        }
        Ok(Answer::Value(value)) => (200, value),
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
    Response {
        status,
        kind: Kind::Json,
        body: format!("{envelope:#}").into_bytes(),
    }
}

fn refusal(status: u16, text: &str) -> Response {
    Response {
        status,
        kind: Kind::Refusal,
        body: text.into(),
    }
}
