//! Sessions of the protocol's revisions before 2026-07-28: whose each one is, how many there may be, and
//! when one has ended. The content of a session does not matter here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::visit::Holder;
use crate::door::Principal;

/// How often to look for sessions that have ended.
const REAP_POLL: Duration = Duration::from_millis(500);
/// How long what ends a session may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many sessions there may be and for how long.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Of everybody.
    pub total: usize,
    /// Of one principal.
    pub of_one: usize,
    /// Kept for the owner.
    pub kept: usize,
    /// Listeners of one session.
    pub listeners: usize,
    /// How long one may be silent with nothing under way.
    pub idle: Duration,
    /// How long one may be silent that has asked for nothing yet.
    pub unused: Duration,
    /// How long one may be silent that listened and has stopped, as when its program was killed.
    pub lost: Duration,
    /// As `lost`, when what it asked for besides was answered after it stopped listening.
    pub doubtful: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            total: 512,
            of_one: 256,
            kept: 128,
            listeners: 4,
            idle: Duration::from_secs(4 * 60 * 60),
            unused: Duration::from_secs(60),
            lost: Duration::from_secs(3),
            doubtful: Duration::from_secs(30),
        }
    }
}

/// What is reported of an ended session, by its id.
pub type OnClosed = Arc<dyn Fn(&str) + Send + Sync>;

/// All sessions of a front.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    limits: SessionLimits,
    on_closed: OnClosed,
    local: LocalSessionManager,
    open: Mutex<HashMap<SessionId, Session>>,
    reaping: OnceLock<AbortOnDropHandle<()>>,
}

struct Session {
    holder: Holder,
    /// When it was last heard of.
    heard: Instant,
    /// Answers and listeners under way.
    streams: usize,
    listeners: usize,
    /// How long it may be silent.
    patience: Duration,
    /// Whether it listened, stopped, and was not heard of since.
    is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Answer,
    Listener,
}

impl Stream {
    /// What goes on after the message of this id: those of listeners have no request's number behind a
    /// slash.
    pub(crate) fn of_event(id: &str) -> Self {
        match id.contains('/') {
            true => Self::Answer,
            false => Self::Listener,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("there are too many sessions")]
    Full,
    #[error("there are too many listeners")]
    TooManyListeners,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

pub(crate) type Transport = <LocalSessionManager as SessionManager>::Transport;

impl Sessions {
    /// None yet. Needs a tokio runtime, where it looks after them as long as it lives.
    pub fn new(limits: SessionLimits, on_closed: OnClosed) -> Self {
        let mut local = LocalSessionManager::default();
        // Its own timer counts a call that is long and says nothing as silence.
        local.session_config.keep_alive = None;
        local.session_config.sse_retry = Some(super::SSE_RETRY);
        let inner = Arc::new(Inner {
            limits,
            on_closed,
            local,
            open: Mutex::default(),
            reaping: OnceLock::new(),
        });
        // Not before there is something that it finds: it ends with that.
        let reaping = tokio::spawn(reap(Arc::downgrade(&inner)));
        let _ = inner.reaping.set(AbortOnDropHandle::new(reaping));
        Self(inner)
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.0.open.lock().len()
    }

    /// Ends one; `false` when there is none.
    pub async fn close(&self, id: &str) -> bool {
        let Some((id, _)) = self.0.open.lock().remove_entry(id) else {
            return false;
        };
        (self.0.on_closed)(&id);
        let closing = self.0.local.close_session(&id);
        match tokio::time::timeout(CLOSE_TIMEOUT, closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(session = %id, %error, "a session ended badly"),
            Err(_) => tracing::debug!(session = %id, "a session ends by itself"),
        }
        true
    }

    pub(crate) fn local(&self) -> &LocalSessionManager {
        &self.0.local
    }

    pub(crate) async fn create(
        &self,
        holder: &Holder,
    ) -> Result<(SessionId, Transport), SessionError> {
        if !self.has_room(holder, &self.0.open.lock()) {
            return Err(SessionError::Full);
        }
        let (id, transport) = self.0.local.create_session().await?;
        if self.enter(holder, &id) {
            return Ok((id, transport));
        }
        self.0.local.close_session(&id).await?;
        Err(SessionError::Full)
    }

    fn enter(&self, holder: &Holder, id: &SessionId) -> bool {
        let mut open = self.0.open.lock();
        let has_room = self.has_room(holder, &open);
        if has_room {
            let session = Session {
                holder: holder.clone(),
                heard: Instant::now(),
                streams: 0,
                listeners: 0,
                patience: self.0.limits.unused,
                is_lost: false,
            };
            open.insert(Arc::clone(id), session);
        }
        has_room
    }

    fn has_room(&self, holder: &Holder, open: &HashMap<SessionId, Session>) -> bool {
        let limits = &self.0.limits;
        let count = |is_meant: &dyn Fn(&Principal) -> bool| {
            let holders = open.values().map(|session| &session.holder.principal);
            holders.filter(|principal| is_meant(principal)).count()
        };
        let others = limits.total.saturating_sub(limits.kept);
        open.len() < limits.total
            && count(&|principal| *principal == holder.principal) < limits.of_one
            && (holder.principal.is_owner() || count(&|principal| !principal.is_owner()) < others)
    }

    /// Whether there is one of this id and this holder.
    pub(crate) fn has(&self, holder: &Holder, id: &str) -> bool {
        let open = self.0.open.lock();
        open.get(id)
            .is_some_and(|session| session.holder == *holder)
    }

    /// It was heard of.
    pub(crate) fn heard(&self, id: &SessionId) {
        if let Some(session) = self.0.open.lock().get_mut(id) {
            session.heard(&self.0.limits);
        }
    }

    /// It asks, or listens, as long as what is returned lives.
    pub(crate) fn streaming(
        &self,
        id: &SessionId,
        kind: Stream,
    ) -> Result<Streaming, SessionError> {
        if let Some(session) = self.0.open.lock().get_mut(id) {
            session.heard(&self.0.limits);
            match kind {
                Stream::Answer => session.patience = self.0.limits.idle,
                Stream::Listener if session.listeners >= self.0.limits.listeners => {
                    return Err(SessionError::TooManyListeners);
                }
                Stream::Listener => session.listeners += 1,
            }
            session.streams += 1;
        }
        Ok(Streaming {
            sessions: Arc::downgrade(&self.0),
            id: Arc::clone(id),
            kind,
            is_whole: AtomicBool::new(false),
        })
    }

    fn ended(&self, now: Instant) -> Vec<SessionId> {
        let open = self.0.open.lock();
        let ended = open.iter().filter(|(_, session)| {
            let silent = now.saturating_duration_since(session.heard);
            session.streams == 0 && silent >= session.patience
        });
        ended.map(|(id, _)| Arc::clone(id)).collect()
    }
}

impl Session {
    fn heard(&mut self, limits: &SessionLimits) {
        self.heard = Instant::now();
        if std::mem::take(&mut self.is_lost) {
            self.patience = limits.idle;
        }
    }
}

/// A stream of a session.
pub(crate) struct Streaming {
    sessions: Weak<Inner>,
    id: SessionId,
    kind: Stream,
    /// Whether it has come to its end, and was not broken off.
    is_whole: AtomicBool,
}

impl Streaming {
    /// It has come to its end.
    pub(crate) fn is_whole(&self) {
        self.is_whole.store(true, Ordering::Relaxed);
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let Some(inner) = self.sessions.upgrade() else {
            return;
        };
        let sessions = Sessions(inner);
        if let Some(session) = sessions.0.open.lock().get_mut(&self.id) {
            let limits = &sessions.0.limits;
            session.heard = Instant::now();
            session.streams -= 1;
            match self.kind {
                Stream::Listener => {
                    session.listeners -= 1;
                    session.is_lost = session.listeners == 0;
                    if session.is_lost {
                        session.patience = limits.lost;
                    }
                }
                // It was read, or sent to no one just before that was noticed.
                Stream::Answer if session.is_lost && *self.is_whole.get_mut() => {
                    session.patience = limits.doubtful;
                }
                Stream::Answer => {}
            }
        }
    }
}

async fn reap(sessions: Weak<Inner>) {
    let mut looking = tokio::time::interval(REAP_POLL);
    loop {
        looking.tick().await;
        let Some(sessions) = sessions.upgrade().map(Sessions) else {
            return;
        };
        for id in sessions.ended(Instant::now()) {
            sessions.close(&id).await;
        }
    }
}
