//! The device's own log of a session, written to a file; crashes in it become events.

mod crash;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{DeviceEvent, EventSink};
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::phone::{Phone, Repeat};
use crate::wire::{Stream, WireError};
use crash::Crashes;

/// New lines only, with time, process and tag. The terminal of `exec:` ends `logcat` with the
/// stream.
const SERVICE: &str = "exec:logcat -v threadtime -T 1";
/// The most that is kept of a session's log, in bytes.
const MAX_LOG: u64 = 64 * 1024 * 1024;
/// The longest line.
const MAX_LINE: usize = 16 * 1024;
/// The pause before a log that broke off is taken up again.
const REOPEN_INTERVAL: Duration = Duration::from_millis(500);
/// How long `logcat` may take to start.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last lines may take to get to the disk.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a session waits for the first line.
const FIRST_LINE_TIMEOUT: Duration = Duration::from_secs(2);

/// The line that a session's log ends with.
const LAST_LINE: &str = "the session is over";

/// A log that is being kept. Dropping it stops it.
pub(crate) struct LogCapture {
    phone: Arc<Phone>,
    /// Something came, or nothing will.
    begun: CancellationToken,
    /// The last line came, or never will.
    ended: CancellationToken,
    stop: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl LogCapture {
    /// Starts to keep the log in `path`, again whenever the device was away.
    pub(crate) fn start(phone: Arc<Phone>, path: PathBuf, events: EventSink) -> Self {
        let (begun, stop) = (CancellationToken::new(), CancellationToken::new());
        let ended = CancellationToken::new();
        let progress = LogProgress {
            begins: begun.clone(),
            ends: ended.clone(),
        };
        let (stopped, log) = (stop.clone(), Arc::clone(&phone));
        let task = tokio::spawn(async move {
            // A log that is not kept has no waiters.
            let _now_or_never = (
                progress.begins.clone().drop_guard(),
                progress.ends.clone().drop_guard(),
            );
            let kept = keep(&log, &path, &events, (&progress, &stopped)).await;
            if let Err(error) = kept {
                tracing::warn!(%error, path = %path.display(), "a device's log cannot be kept");
            }
        });
        Self {
            phone,
            begun,
            ended,
            stop,
            task: AbortOnDropHandle::new(task),
        }
    }

    /// Waits until the log is being written, so that what happens from now on is in it. A device
    /// that is slow to start is not waited for long.
    pub(crate) async fn begun(&self) {
        let _ = tokio::time::timeout(FIRST_LINE_TIMEOUT, self.begun.cancelled()).await;
    }

    /// Stops, and waits until what the device wrote by now is on the disk.
    pub(crate) async fn stop(self) {
        let all = async {
            let line = format!("log -t Packtrain '{LAST_LINE}'");
            let deadline = Instant::now() + CLOSE_TIMEOUT;
            match self.phone.shell(&line, Repeat::IfNotBegun, deadline).await {
                Ok(_) => self.ended.cancelled().await,
                Err(error) => tracing::debug!(%error, "the device's log may lack its end"),
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, all).await;
        self.stop.cancel();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.task).await;
    }
}

async fn keep(
    phone: &Phone,
    path: &Path,
    events: &EventSink,
    (progress, stop): (&LogProgress, &CancellationToken),
) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await?;
    }
    let file = tokio::fs::File::create(path).await?;
    let mut log = Log {
        file: tokio::io::BufWriter::new(file),
        written: 0,
        line: Vec::new(),
        crashes: Crashes::default(),
    };
    let follow = async {
        loop {
            let opened = phone
                .open(SERVICE, "the device's log", Instant::now() + OPEN_TIMEOUT)
                .await;
            match opened {
                Ok(stream) => log.follow(stream, events, progress).await?,
                Err(error @ WireError::ServiceRefused { .. }) => {
                    tracing::warn!(%error, "the device has no log");
                    return Ok(());
                }
                Err(error) => tracing::debug!(%error, "waiting for the device's log"),
            }
            tokio::time::sleep(REOPEN_INTERVAL).await;
        }
    };
    let result = tokio::select! {
        result = follow => result,
        () = stop.cancelled() => Ok(()),
    };
    log.file.flush().await?;
    result
}

/// What a log tells those who wait for it.
struct LogProgress {
    begins: CancellationToken,
    ends: CancellationToken,
}

/// The file and what is known of the log so far.
struct Log {
    file: tokio::io::BufWriter<tokio::fs::File>,
    written: u64,
    line: Vec<u8>,
    crashes: Crashes,
}

impl Log {
    async fn follow(
        &mut self,
        mut stream: Stream,
        events: &EventSink,
        progress: &LogProgress,
    ) -> std::io::Result<()> {
        while let Ok(bytes) = stream.read_some().await {
            if bytes.is_empty() {
                break;
            }
            progress.begins.cancel();
            if self.written < MAX_LOG {
                self.file.write_all(&bytes).await?;
                self.written += bytes.len() as u64;
            }
            let is_over = self.look(&bytes, events);
            // What was seen when a run is killed should be there.
            self.file.flush().await?;
            if is_over {
                progress.ends.cancel();
            }
        }
        Ok(())
    }

    /// Looks for crashes; answers whether the last line is among these.
    fn look(&mut self, bytes: &[u8], events: &EventSink) -> bool {
        let mut is_over = false;
        for byte in bytes {
            if *byte != b'\n' {
                if self.line.len() < MAX_LINE {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = String::from_utf8_lossy(&self.line);
            is_over |= line.contains("Packtrain") && line.trim_end().ends_with(LAST_LINE);
            if let Some(what) = self.crashes.feed(line.trim_end()) {
                events.report(DeviceEvent::Crashed { what });
            }
            self.line.clear();
        }
        is_over
    }
}
