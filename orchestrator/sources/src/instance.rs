//! One running process of a source with the connection to it, or the connection alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use packtrain_config::{Stop, Transport};
use tokio::sync::watch;

use super::log::SourceLog;
use super::mcp::McpClient;
use super::process::Process;

/// How often a connection without a process is looked after.
const CONNECTION_POLL: Duration = Duration::from_millis(200);

/// How long a server may take to learn of cancelled calls before it is stopped.
const TELL_TIMEOUT: Duration = Duration::from_millis(500);

/// A process that answers.
pub(super) struct Instance {
    pub(super) client: McpClient,
    pub(super) process: Option<Process>,
    pub(super) transport: Transport,
    pub(super) version: String,
    pub(super) log: SourceLog,
    /// What was noticed while it started.
    pub(super) notes: Vec<String>,
    /// Cancelled calls, after which it has not answered anything yet.
    pub(super) doubts: watch::Sender<usize>,
    /// Calls under way.
    pub(super) calls: AtomicUsize,
}

impl Instance {
    /// Its process id.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
    }

    /// Waits until it is gone; answers how.
    pub(super) async fn gone(&self) -> String {
        let closed = async {
            while !self.client.is_closed() {
                tokio::time::sleep(CONNECTION_POLL).await;
            }
        };
        match &self.process {
            None => {
                closed.await;
                "the connection closed".to_owned()
            }
            Some(process) => tokio::select! {
                how = process.ended() => how,
                () = closed => match tokio::time::timeout(CONNECTION_POLL, process.ended()).await {
                    Ok(how) => how,
                    Err(_) => "it closed its output".to_owned(),
                },
            },
        }
    }

    /// Whether calls can be made: it is there, and nothing says that it is stuck.
    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && *self.doubts.borrow() == 0
    }

    /// Waits until it has answered something after each cancelled call.
    pub(super) async fn settled(&self) {
        // The sender lives as long as this.
        let _ = self
            .doubts
            .subscribe()
            .wait_for(|doubts| *doubts == 0)
            .await;
    }

    /// Waits until it knows of all cancelled calls, before it is stopped. One that reads
    /// nothing is ended all the same.
    pub(super) async fn told(&self) {
        let _ = tokio::time::timeout(TELL_TIMEOUT, self.settled()).await;
    }

    /// Counts a call for as long as the answer lives.
    pub(super) fn begin_call(self: &Arc<Self>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        ActiveCall(Arc::clone(self))
    }

    /// Ends it.
    pub(super) async fn stop(&self, policy: &Stop) {
        let reads_stdin = self.transport == Transport::Stdio;
        self.client.close().await;
        if let Some(process) = &self.process {
            process.stop(policy, reads_stdin).await;
        }
    }
}

/// A call under way on an instance.
pub(super) struct ActiveCall(pub(super) Arc<Instance>);

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}
