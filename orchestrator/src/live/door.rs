//! Who may look at the report of a run: programs of this computer that were told its address. Pages of
//! a browser were not, and what reaches this port by another name is refused.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::files;
use super::follow::{Followed, NotShown};

/// Connections at once; more are closed.
const MOST_CONNECTIONS: usize = 32;
/// How long a request's head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long answers under way may take at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long nothing is accepted after that failed, as when too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port of loopback behind which the report of a run is.
pub(super) struct Door {
    url: String,
    closing: CancellationToken,
    connections: TaskTracker,
    accepting: AbortOnDropHandle<()>,
}

struct Guard {
    run: Arc<Followed>,
    /// What a request must name as its host.
    host: String,
    /// What a path must begin with.
    token: String,
}

impl Door {
    pub(super) async fn open(run: Arc<Followed>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let host = listener.local_addr()?.to_string();
        let token = uuid::Uuid::new_v4().simple().to_string();
        let url = format!("http://{host}/{token}/");
        let guard = Arc::new(Guard { run, host, token });
        let closing = CancellationToken::new();
        let connections = TaskTracker::new();
        let accepting = accept(listener, guard, closing.clone(), connections.clone());
        Ok(Self {
            url,
            closing,
            connections,
            accepting: AbortOnDropHandle::new(tokio::spawn(accepting)),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) async fn close(self) {
        drop(self.accepting);
        self.closing.cancel();
        self.connections.close();
        // Who does not read is left alone.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.connections.wait()).await;
    }
}

async fn accept(
    listener: TcpListener,
    guard: Arc<Guard>,
    closing: CancellationToken,
    connections: TaskTracker,
) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let connection = match listener.accept().await {
            Ok((connection, _)) => connection,
            Err(error) => {
                tracing::debug!(%error, "a connection to the live report failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let serving = serve(connection, Arc::clone(&guard), closing.clone());
        connections.spawn(async move {
            serving.await;
            drop(place);
        });
    }
}

async fn serve(connection: TcpStream, guard: Arc<Guard>, closing: CancellationToken) {
    // Messages are short and waited for.
    if let Err(error) = connection.set_nodelay(true) {
        tracing::debug!(%error, "the live report may be slow");
    }
    let answer = service_fn(move |request| {
        let guard = Arc::clone(&guard);
        async move { Ok::<_, Infallible>(guard.answer(&request).await) }
    });
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(connection), answer);
    tokio::pin!(http);
    // A browser that breaks off has what it wanted.
    tokio::select! {
        _ = http.as_mut() => {}
        () = closing.cancelled() => {
            http.as_mut().graceful_shutdown();
            let _ = http.await;
        }
    }
}

impl Guard {
    async fn answer(&self, request: &Request<Incoming>) -> Response {
        let mut response = match self.admitted(request) {
            Ok(path) => self.get(path).await,
            Err(refusal) => refusal.into_response(),
        };
        for (name, value) in [
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
        ] {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// What is asked for, below the token.
    fn admitted<'r>(&self, request: &'r Request<Incoming>) -> Result<&'r str, StatusCode> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let is_host = hosts.next().is_some_and(|host| *host == *self.host);
        if !is_host || hosts.next().is_some() || request.uri().authority().is_some() {
            return Err(StatusCode::FORBIDDEN);
        }
        if !is_own(request.headers(), &self.host) {
            return Err(StatusCode::FORBIDDEN);
        }
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let path = path.split_once('/');
        let path = path.filter(|(token, _)| is_same(token.as_bytes(), self.token.as_bytes()));
        let (_, path) = path.ok_or(StatusCode::NOT_FOUND)?;
        if request.method() != Method::GET {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        Ok(path)
    }

    async fn get(&self, path: &str) -> Response {
        match path {
            "" => shown("text/html; charset=utf-8", self.run.page().await),
            "data.json" => shown("application/json", self.run.data().await),
            "events" => Sse::new(self.run.events())
                .keep_alive(KeepAlive::default())
                .into_response(),
            _ => {
                let (folder, path) = (self.run.folder().to_owned(), path.to_owned());
                let reading = tokio::task::spawn_blocking(move || files::read(&folder, &path));
                match reading.await.ok().flatten() {
                    Some(file) => sent(file),
                    None => StatusCode::NOT_FOUND.into_response(),
                }
            }
        }
    }
}

/// Whether it does not come from somebody else's page.
fn is_own(headers: &HeaderMap, host: &str) -> bool {
    headers
        .get_all(header::ORIGIN)
        .iter()
        .all(|origin| origin.as_bytes() == format!("http://{host}").as_bytes())
}

/// Compares without telling by the time it takes how much is right.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given.iter().zip(wanted);
    given.len() == wanted.len() && differing.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

fn shown(media_type: &'static str, made: Result<String, NotShown>) -> Response {
    match made {
        Ok(text) => ([(header::CONTENT_TYPE, media_type)], text).into_response(),
        Err(error) => {
            tracing::warn!(%error, cause = ?std::error::Error::source(&error), "no live report");
            (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
        }
    }
}

fn sent(file: files::Sent) -> Response {
    let disposition = match file.is_shown {
        true => "inline",
        false => "attachment",
    };
    let headers = [
        (header::CONTENT_TYPE, file.media_type),
        (header::CONTENT_DISPOSITION, disposition),
        // It comes from a tested app.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
    ];
    (headers, Body::from(file.bytes)).into_response()
}
