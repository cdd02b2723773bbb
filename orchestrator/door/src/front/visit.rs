//! One request to the front: whose it is, where it goes, and which sessions it may see.

use std::sync::{Arc, OnceLock};
use std::task::Poll;

use futures::{Stream as Messages, StreamExt as _, stream};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager;

use super::sessions::{SessionError, Sessions, Stream, Streaming, Transport};
use crate::door::Principal;

/// Whom a handler is made for.
#[derive(Debug, Clone)]
pub struct Visitor(Arc<Visiting>);

#[derive(Debug)]
struct Visiting {
    holder: Holder,
    session: OnceLock<SessionId>,
}

/// Who has a session, and where it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) principal: Principal,
    /// Of the endpoint: none at `/mcp`.
    pub(crate) toolset: Option<Arc<str>>,
}

impl Visitor {
    pub(crate) fn new(holder: Holder) -> Self {
        Self(Arc::new(Visiting {
            holder,
            session: OnceLock::new(),
        }))
    }

    /// A client of this toolset's endpoint, without a request of HTTP.
    pub fn at_endpoint(principal: &str, toolset: &str) -> Self {
        Self::new(Holder {
            principal: Principal::named(principal),
            toolset: Some(toolset.into()),
        })
    }

    /// Whose token it came with.
    pub fn principal(&self) -> &Principal {
        &self.0.holder.principal
    }

    /// The toolset whose endpoint it came to.
    pub fn toolset(&self) -> Option<&str> {
        self.0.holder.toolset.as_deref()
    }

    /// The id of the session that was opened for it, from before its first request is handled; none in
    /// the revision 2026-07-28.
    pub fn session(&self) -> Option<&str> {
        self.0.session.get().map(|id| &**id)
    }
}

/// Why a request was refused here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    TooManySessions,
    TooManyListeners,
    NoSession,
    NoToolset,
}

/// The sessions as one request may see them.
pub(crate) struct Visit {
    sessions: Sessions,
    visitor: Visitor,
    refused: OnceLock<Refused>,
}

impl Visit {
    pub(crate) fn new(sessions: Sessions, holder: Holder) -> Self {
        Self {
            sessions,
            visitor: Visitor::new(holder),
            refused: OnceLock::new(),
        }
    }

    pub(crate) fn visitor(&self) -> Visitor {
        self.visitor.clone()
    }

    pub(crate) fn refuse(&self, why: Refused) {
        // The first reason is the reason.
        let _ = self.refused.set(why);
    }

    pub(crate) fn refused(&self) -> Option<Refused> {
        self.refused.get().copied()
    }

    fn holder(&self) -> &Holder {
        &self.visitor.0.holder
    }

    fn streaming(&self, id: &SessionId, kind: Stream) -> Result<Streaming, SessionError> {
        let streaming = self.sessions.streaming(id, kind);
        streaming.inspect_err(|_| self.refuse(Refused::TooManyListeners))
    }
}

type Streamed<S> = Result<S, SessionError>;

impl SessionManager for Visit {
    type Error = SessionError;
    type Transport = Transport;

    async fn create_session(&self) -> Result<(SessionId, Transport), SessionError> {
        let created = self.sessions.create(self.holder()).await;
        match &created {
            Ok((id, _)) => {
                // A request opens one session.
                let _ = self.visitor.0.session.set(Arc::clone(id));
            }
            Err(SessionError::Full) => self.refuse(Refused::TooManySessions),
            Err(SessionError::TooManyListeners | SessionError::Local(_)) => {}
        }
        created
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self
            .sessions
            .local()
            .initialize_session(id, message)
            .await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.sessions.has(self.holder(), id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let is_own = self.sessions.has(self.holder(), id);
        if !is_own || !self.sessions.close(id).await {
            self.refuse(Refused::NoSession);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Streamed<impl Messages<Item = ServerSseMessage> + Send + Sync + 'static> {
        let streaming = self.streaming(id, Stream::Answer)?;
        let stream = self.sessions.local().create_stream(id, message).await?;
        Ok(followed(stream, streaming))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        self.sessions.heard(id);
        Ok(self.sessions.local().accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Streamed<impl Messages<Item = ServerSseMessage> + Send + Sync + 'static> {
        let streaming = self.streaming(id, Stream::Listener)?;
        let stream = self.sessions.local().create_standalone_stream(id).await?;
        Ok(followed(stream, streaming))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Streamed<impl Messages<Item = ServerSseMessage> + Send + Sync + 'static> {
        let streaming = self.streaming(id, Stream::of_event(&last_event_id))?;
        let stream = self.sessions.local().resume(id, last_event_id).await?;
        Ok(followed(stream, streaming))
    }
}

/// A stream that is counted as long as it lives.
fn followed<S>(messages: S, streaming: Streaming) -> impl Messages<Item = S::Item> + Send + Sync
where
    S: Messages + Send + Sync,
{
    let end = stream::poll_fn(move |_| {
        streaming.is_whole();
        Poll::Ready(None)
    });
    messages.chain(end)
}
