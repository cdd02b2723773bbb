//! Progress of a call, for clients that want it.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::time::{Instant, interval_at};

/// How often a client gets progress of a call.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// The most of a message, in characters.
const LETTERS: usize = 200;

/// Reports progress to the caller.
pub(super) struct Reporter {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    said: watch::Sender<String>,
}

impl Reporter {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            said: watch::Sender::new("still running".to_owned()),
        }
    }

    /// What it waits for, or how far it is; told at once.
    pub(super) fn say(&self, what: &str) {
        let what = what.chars().take(LETTERS).collect();
        self.said.send_replace(what);
    }

    /// Tells of it until `work` is done: each 10 s, and when there is something new.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(token) = self.token.clone() else {
            return work.await;
        };
        tokio::pin!(work);
        let mut said = self.said.subscribe();
        let mut number = 0.0;
        let mut every = interval_at(Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = every.tick() => {}
                // Its sender is `self`'s.
                Ok(()) = said.changed() => {}
            }
            number += 1.0;
            let mut progress = ProgressNotificationParam::new(token.clone(), number);
            progress.message = Some(said.borrow_and_update().clone());
            // A client that is gone is not told.
            let _ = self.peer.notify_progress(progress).await;
        }
    }
}
