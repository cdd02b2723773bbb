//! HTTP/1.1 to a WebDriverAgent: one connection that is kept, over TCP or a tunnel alike.
//!
//! hyper speaks on the stream itself. A general client such as reqwest would need a local port
//! in front of each tunnel, at twice the time of a request; and what it knows beyond this,
//! WebDriverAgent has no use for. This file knows nothing of commands.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::dial::{Dial, DialError};

/// How long an unused connection is kept. WebDriverAgent closes one after half a minute,
/// and whether a tap sent at that very moment arrived could not be told.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    /// There is no connection.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The connection ended, though the request may have arrived.
    #[error("the connection closed before the response: {0}")]
    Broken(String),
    /// What came is not HTTP.
    #[error("what answered does not speak HTTP: {0}")]
    Garbage(String),
    /// The answer is larger than any sensible one.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// Nothing came in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Slow(Duration),
}

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) method: Method,
    /// With a slash in front.
    pub(crate) path: &'a str,
    /// JSON; empty for none.
    pub(crate) body: Bytes,
    /// How long the answer may take.
    pub(crate) limit: Duration,
    /// How many bytes it may have.
    pub(crate) most: usize,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// A client of one WebDriverAgent.
#[derive(Debug)]
pub(crate) struct Http {
    dial: Dial,
    /// What stands before every path.
    prefix: String,
    live: Option<IdleConnection>,
}

/// An idle connection.
#[derive(Debug)]
struct IdleConnection {
    sender: SendRequest<Full<Bytes>>,
    /// Ends when the other end closes.
    connection: AbortOnDropHandle<()>,
    used: Instant,
}

impl Http {
    pub(crate) const fn new(dial: Dial, prefix: String) -> Self {
        Self {
            dial,
            prefix,
            live: None,
        }
    }

    /// Asks, and waits for the whole answer. Dropping the future drops the connection, so that a
    /// late answer is never taken for that to the next request.
    pub(crate) async fn ask(&mut self, asked: HttpRequest<'_>) -> Result<HttpAnswer, WireError> {
        let limit = asked.limit;
        match tokio::time::timeout(limit, self.exchange(asked)).await {
            Ok(answer) => answer,
            Err(_) => Err(WireError::Slow(limit)),
        }
    }

    async fn exchange(&mut self, asked: HttpRequest<'_>) -> Result<HttpAnswer, WireError> {
        let mut request = self.request(&asked)?;
        let fresh = |live: &IdleConnection| {
            live.used.elapsed() < IDLE_TIMEOUT && !live.connection.is_finished()
        };
        let mut kept = self.live.take().filter(fresh);
        let (mut live, answer) = loop {
            let was_kept = kept.is_some();
            let mut live = match kept.take() {
                Some(live) => live,
                None => self.connect().await?,
            };
            let sent = match live.sender.ready().await {
                Ok(()) => live.sender.try_send_request(request).await,
                Err(_) if was_kept => continue,
                Err(error) => return Err(broken(&error)),
            };
            match sent {
                Ok(answer) => break (live, answer),
                Err(mut refused) => match refused.take_message() {
                    // The other end had closed an idle connection; not a byte was sent.
                    Some(unsent) if was_kept => request = unsent,
                    _ => return Err(broken(&refused.into_error())),
                },
            }
        };
        let answer = collect(answer, asked.most).await?;
        live.used = Instant::now();
        self.live = Some(live);
        Ok(answer)
    }

    fn request(&self, asked: &HttpRequest<'_>) -> Result<Request<Full<Bytes>>, WireError> {
        let mut request = Request::builder()
            .method(asked.method.clone())
            .uri(format!("{}{}", self.prefix, asked.path))
            .header(HOST, self.dial.host());
        if !asked.body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let built = request.body(Full::new(asked.body.clone()));
        built.map_err(|error| WireError::Garbage(format!("invalid address: {error}")))
    }

    async fn connect(&self) -> Result<IdleConnection, WireError> {
        let stream = self.dial.open().await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error))?;
        // Ends with the connection or with the client, whichever is first.
        let connection = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to WebDriverAgent ended");
            }
        });
        Ok(IdleConnection {
            sender,
            connection: AbortOnDropHandle::new(connection),
            used: Instant::now(),
        })
    }
}

async fn collect(answer: Response<Incoming>, most: usize) -> Result<HttpAnswer, WireError> {
    let status = answer.status().as_u16();
    let body = answer.into_body();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > most {
        return Err(WireError::TooLarge(most));
    }
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(HttpAnswer {
            status,
            body: body.to_bytes(),
        }),
        Err(error) if error.is::<LengthLimitError>() => Err(WireError::TooLarge(most)),
        Err(error) => match error.downcast::<hyper::Error>() {
            Ok(error) => Err(broken(&error)),
            Err(error) => Err(WireError::Broken(error.to_string())),
        },
    }
}

fn broken(error: &hyper::Error) -> WireError {
    let mut text = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        text = format!("{text}: {cause}");
    }
    if error.is_parse() {
        WireError::Garbage(text)
    } else {
        WireError::Broken(text)
    }
}

#[cfg(test)]
mod tests;
