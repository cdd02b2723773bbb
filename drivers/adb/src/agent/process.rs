//! The agent's process on the device: it lives as long as the stream it was started through.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::wire::Stream;

/// The most output that is kept: enough for a stack trace.
const KEPT: usize = 8 * 1024;

/// A process on the device. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    said: Arc<Mutex<String>>,
    ended: CancellationToken,
    _reader: AbortOnDropHandle<()>,
}

impl Process {
    /// `stream` is the shell service with a terminal that runs it: closing that hangs up.
    pub(super) fn of(mut stream: Stream) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let ended = CancellationToken::new();
        let (kept, end) = (Arc::clone(&said), ended.clone().drop_guard());
        let reader = tokio::spawn(async move {
            let _end = end;
            while let Ok(bytes) = stream.read_some().await {
                if bytes.is_empty() {
                    return;
                }
                let mut kept = kept.lock();
                if kept.len() < KEPT {
                    kept.push_str(&String::from_utf8_lossy(&bytes));
                }
            }
        });
        Self {
            said,
            ended,
            _reader: AbortOnDropHandle::new(reader),
        }
    }

    /// Whether it has ended, or the way to it.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits until it ends.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// What it printed so far.
    pub(super) fn said(&self) -> String {
        let said = self.said.lock();
        said.clone()
    }
}
