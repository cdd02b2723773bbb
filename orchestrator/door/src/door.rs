//! The one door that every listener of ours has: a port of loopback, a guard who asks of every request
//! what the policy says (docs/security.md), and a router behind it that knows nothing of either.

mod body;
mod deadline;
pub mod guard;
mod places;
mod policy;
mod rate;
mod refusal;
mod tokens;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::deadline::Deadlines;
use self::guard::Guard;
use self::places::{Places, Seat};
pub use self::policy::{Admits, Hosts, Limits, MAX_AGENT_BODY, Origins, Policy};
pub use self::refusal::Refusal;
pub use self::refusal::size;
pub use self::tokens::{Principal, Tokens};

/// How long answers under way may take at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long nothing is accepted after that failed, as when too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Bytes of a request's head, with the cookies of every other server of this computer.
const MAX_HEAD: usize = 64 * 1024;

/// A loopback port that does not answer yet.
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    closing: CancellationToken,
}

impl Door {
    /// Takes a free port of loopback.
    ///
    /// # Errors
    /// When the system has none.
    pub async fn bind(policy: Policy) -> io::Result<Self> {
        Self::bind_at(policy, 0).await
    }

    /// Takes this port of loopback.
    ///
    /// # Errors
    /// When it is taken.
    pub async fn bind_at(policy: Policy, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let guard = Guard::new(policy, address);
        Ok(Self {
            listener,
            address,
            guard,
            closing: CancellationToken::new(),
        })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Cancelled when it closes, for answers that would not end by themselves.
    pub fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Answers what the guard lets in, as long as the handle lives.
    pub fn serve(self, router: Router) -> Serving {
        let connections = TaskTracker::new();
        let inside = Arc::new(Inside {
            // The guard has measured what is behind it.
            router: TowerToHyperService::new(router.layer(DefaultBodyLimit::disable())),
            guard: self.guard,
            closing: self.closing.clone(),
        });
        let accepting = accept(self.listener, inside, connections.clone());
        Serving {
            closing: self.closing,
            connections,
            accepting: AbortOnDropHandle::new(tokio::spawn(accepting)),
        }
    }
}

/// A door that is open, until this is dropped.
#[must_use = "it closes when this is dropped"]
pub struct Serving {
    closing: CancellationToken,
    connections: TaskTracker,
    accepting: AbortOnDropHandle<()>,
}

impl Serving {
    /// Closes it. Who is being answered is answered, and who does not read is not waited for.
    pub async fn close(self) {
        self.accepting.abort();
        self.closing.cancel();
        self.connections.close();
        self.connections.wait().await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

struct Inside {
    router: TowerToHyperService<Router>,
    guard: Guard,
    closing: CancellationToken,
}

async fn accept(listener: TcpListener, inside: Arc<Inside>, connections: TaskTracker) {
    let places = Places::new(inside.guard.policy().limits.connections);
    loop {
        let connection = match listener.accept().await {
            Ok((connection, from)) if from.ip().is_loopback() => connection,
            Ok(_) => continue,
            Err(error) => {
                tracing::debug!(%error, "a connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // With no place left the connection is closed: its program hears so at once.
        let Some(seat) = places.take() else {
            continue;
        };
        connections.spawn(serve(connection, Arc::clone(&inside), Arc::new(seat)));
    }
}

async fn serve(connection: TcpStream, inside: Arc<Inside>, seat: Arc<Seat>) {
    // Answers are short and waited for.
    if let Err(error) = connection.set_nodelay(true) {
        tracing::debug!(%error, "answers may be slow");
    }
    let answer = service_fn(|request| {
        let (inside, seat) = (Arc::clone(&inside), Arc::clone(&seat));
        async move {
            let answering = inside.guard.answer(request, &seat, &inside.router);
            Ok::<_, Infallible>(answering.await)
        }
    });
    let head_timeout = inside.guard.policy().limits.head_timeout;
    let http = http1::Builder::new()
        .timer(Deadlines)
        .header_read_timeout(head_timeout)
        .max_header_size(MAX_HEAD)
        .serve_connection(TokioIo::new(connection), answer);
    tokio::pin!(http);
    // Its own, so that connections do not wait for each other to look at one.
    let closing = inside.closing.child_token();
    let mut tick = tokio::time::interval(head_timeout / 2);
    loop {
        tokio::select! {
            biased;
            // A client that disconnects has what it wanted.
            _ = http.as_mut() => return,
            _ = tick.tick() => {}
            () = seat.taken.cancelled() => return,
            () = closing.cancelled() => break,
        }
    }
    http.as_mut().graceful_shutdown();
    // Who does not read is left alone.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, http).await;
}
