//! A stand-in for uiautomator2's server on the device (`u2.jar`): HTTP on a port of the device,
//! JSON-RPC 2.0 at `/jsonrpc/0`. Source: the public client `uiautomator2` 3.7 and the interface
//! in its jar.

mod objects;
mod rpc;
mod selector;
mod touch;

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::io::DuplexStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::android::Android;
use crate::android::shell::io::{Output, Stop};
use crate::faults::{Event, Fault};

/// The port it listens on when nothing else is said.
pub(super) const PORT: u16 = 9008;
/// The longest request, in bytes.
const MAX_REQUEST: usize = 8 * 1024 * 1024;
/// The most connections at once.
const MAX_CONNECTIONS: usize = 64;

/// A server that runs.
#[derive(Debug)]
pub(super) struct Server {
    android: Arc<Android>,
    /// Its process ends.
    ends: CancellationToken,
    /// `Configurator`, as clients set it.
    configurator: Mutex<Map<String, Value>>,
}

/// Runs the server until its process is ended; its exit code.
pub(super) async fn run(
    android: &Arc<Android>,
    port: u16,
    faults: &[Fault],
    out: &Output,
) -> Result<i32, Stop> {
    out.write("[server] INFO: [UiAutomator2Server] Starting Server\n")
        .await?;
    android
        .device()
        .takes(android.device().latency().agent_start)
        .await;
    let claim = android.claim_automation();
    let Some(_claim) = claim.filter(|_| !faults.contains(&Fault::UiAutomationTaken)) else {
        out.write("java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5deffd5already registered!\n").await?;
        return Ok(1);
    };
    let listener = android.ports.listen(&format!("tcp:{port}"));
    let Some(mut listener) = listener.ok().filter(|_| !faults.contains(&Fault::PortBusy)) else {
        out.write("java.net.BindException: bind failed: EADDRINUSE (Address already in use)\n")
            .await?;
        return Ok(1);
    };
    let server = Arc::new(Server {
        android: android.clone(),
        ends: CancellationToken::new(),
        configurator: Mutex::default(),
    });
    // Dropped with the process, and with it every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            connection = listener.accept() => match connection {
                Some(connection) => {
                    while connections.len() >= MAX_CONNECTIONS {
                        connections.join_next().await;
                    }
                    connections.spawn(serve(server.clone(), connection));
                }
                None => return Ok(0),
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            () = server.ends.cancelled() => return Ok(137),
        }
    }
}

async fn serve(server: Arc<Server>, connection: DuplexStream) {
    let ends = server.ends.clone();
    let answer = service_fn(move |request| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let http = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), answer);
    tokio::select! {
        // A client that breaks off has what it wanted.
        _ = http => {}
        () = ends.cancelled() => {}
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response
}

impl Server {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().trim_end_matches('/').to_owned();
        if request.method() == Method::GET && path == "/ping" {
            if let Err(answer) = self.apply_faults("GET /ping").await {
                return plain(StatusCode::INTERNAL_SERVER_ERROR, answer);
            }
            return plain(StatusCode::OK, "pong");
        }
        if path != "/jsonrpc/0" {
            self.android
                .device()
                .note_unhandled(&format!("u2 {} {path}", request.method()));
            return plain(StatusCode::NOT_FOUND, "Not Found");
        }
        let Ok(body) = Limited::new(request.into_body(), MAX_REQUEST)
            .collect()
            .await
        else {
            return plain(StatusCode::BAD_REQUEST, "the request cannot be read");
        };
        let answer = self.call(&body.to_bytes()).await;
        let mut response = plain(StatusCode::OK, answer.to_string());
        response.headers_mut().insert(
            hyper::header::CONTENT_TYPE,
            hyper::header::HeaderValue::from_static("application/json"),
        );
        response
    }

    /// Lets the faults of a request happen; the text of the error when one fails it.
    async fn apply_faults(&self, route: &str) -> Result<Vec<Fault>, String> {
        let faults = self.android.device().fire_faults(Event::Route(route));
        for fault in &faults {
            match fault {
                Fault::Delay(time) => self.android.device().sleep(time.0).await,
                Fault::NoAnswer => std::future::pending().await,
                Fault::AgentDies => {
                    self.ends.cancel();
                    std::future::pending().await
                }
                Fault::Fail(text) => return Err(text.clone()),
                _ => {}
            }
        }
        Ok(faults)
    }
}
