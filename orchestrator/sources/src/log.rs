//! What a source writes to its standard error, and what there is to tell of it: a file of the run,
//! and the last lines for errors.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use packtrain_model::memory::Redactor;
use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Lines that errors quote.
pub(super) const TAIL_LINES: usize = 64;
/// Bytes of a line that are kept.
const MAX_LINE: usize = 8 * 1024;
/// Bytes of a line in which secrets are looked for. More than are kept: half a secret is not
/// recognised, so that it has to be hidden before the line is cut.
const MAX_LOOK: usize = 64 * 1024;
/// Bytes that are left out at the end of what was looked at, when the line goes on behind it: half a
/// secret may stand there, and comes within what is kept when what is hidden before it was longer
/// than its name. A secret that is longer than this is not safe there.
const MAX_SECRET: usize = 4 * 1024;
/// Bytes of a file; what comes after is not written.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Receives who wrote a line, and the line without secrets.
pub type LogListener = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The log of one process. Cheap to clone.
#[derive(Clone)]
pub(super) struct SourceLog(Arc<Mutex<Lines>>);

struct Lines {
    tail: VecDeque<String>,
    file: Option<File>,
    written: u64,
    path: Option<PathBuf>,
    redactor: Redactor,
    name: String,
    listener: Option<LogListener>,
}

impl SourceLog {
    /// A log; without a folder it is in memory only.
    pub(super) fn new(
        folder: Option<&Path>,
        name: &str,
        redactor: Redactor,
        listener: Option<LogListener>,
    ) -> Self {
        let path = folder.and_then(|folder| {
            std::fs::create_dir_all(folder).ok()?;
            Some(folder.join(format!("{name}.log")))
        });
        let open = |path: &PathBuf| File::options().create(true).append(true).open(path).ok();
        let file = path.as_ref().and_then(open);
        Self(Arc::new(Mutex::new(Lines {
            tail: VecDeque::new(),
            path: path.filter(|_| file.is_some()),
            file,
            written: 0,
            redactor,
            name: name.to_owned(),
            listener,
        })))
    }

    /// Adds a line.
    pub(super) fn line(&self, text: &str) {
        self.add(text, 0);
    }

    /// Adds a line that has this many bytes more.
    fn add(&self, text: &str, mut dropped: usize) {
        let mut lines = self.lock();
        let mut text = lines.redactor.redact(text).into_owned();
        let unsafe_end = if dropped > 0 { MAX_SECRET } else { 0 };
        let end = text.len().saturating_sub(unsafe_end).min(MAX_LINE);
        let end = text.floor_char_boundary(end);
        dropped += text.len() - end;
        text.truncate(end);
        if dropped > 0 {
            text.push_str(&format!(" [... {dropped} bytes]"));
        }
        if lines.written < MAX_FILE {
            lines.written += text.len() as u64 + 1;
            let is_full = lines.written >= MAX_FILE;
            // A disk that is full costs the log, not the source.
            if let Some(file) = &mut lines.file {
                let _ = writeln!(file, "{text}");
                if is_full {
                    let _ = writeln!(file, "[log truncated here]");
                }
            }
        }
        if let Some(listener) = &lines.listener {
            listener(&lines.name, &text);
        }
        if lines.tail.len() == TAIL_LINES {
            lines.tail.pop_front();
        }
        lines.tail.push_back(text);
    }

    /// Another start: errors quote what comes from now on.
    pub(super) fn begin(&self) {
        self.lock().tail.clear();
    }

    /// Its last lines.
    pub(super) fn tail(&self) -> Vec<String> {
        self.lock().tail.iter().cloned().collect()
    }

    /// The file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.lock().path.clone()
    }

    /// Reads lines until there are no more.
    pub(super) async fn follow(self, from: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        let mut dropped = 0;
        loop {
            let taken = {
                let Ok(buffer) = reader.fill_buf().await else {
                    return;
                };
                if buffer.is_empty() {
                    self.end_line(&mut line, &mut dropped);
                    return;
                }
                let end = buffer.iter().position(|byte| *byte == b'\n');
                let part = &buffer[..end.unwrap_or(buffer.len())];
                let room = MAX_LOOK.saturating_sub(line.len()).min(part.len());
                line.extend_from_slice(&part[..room]);
                dropped += part.len() - room;
                if end.is_some() {
                    self.end_line(&mut line, &mut dropped);
                }
                part.len() + usize::from(end.is_some())
            };
            reader.consume(taken);
        }
    }

    fn end_line(&self, line: &mut Vec<u8>, dropped: &mut usize) {
        if !line.is_empty() {
            self.add(String::from_utf8_lossy(line).trim_end(), *dropped);
        }
        line.clear();
        *dropped = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery-staple";

    async fn logged(line: &str) -> String {
        let secrets = [("KEY".to_owned(), SECRET.to_owned())];
        let log = SourceLog::new(None, "x", Redactor::of(&secrets), None);
        log.clone().follow(line.as_bytes()).await;
        log.line(line);
        log.tail().join("\n")
    }

    #[tokio::test]
    async fn no_part_of_a_secret_is_logged_where_a_line_is_cut() {
        for limit in [MAX_LINE, MAX_LOOK, MAX_LOOK - MAX_SECRET] {
            for before in [1, 8, SECRET.len() - 1] {
                let begin = "ä".repeat(limit / 2 - before);
                let said = logged(&format!("{begin}{SECRET}{begin}")).await;
                assert!(!said.contains("corr"), "{limit} {before}");
                assert!(said.len() < 2 * MAX_LINE + 100, "{limit} {before}");
            }
        }
        // What is hidden is shorter than it was.
        let said = logged(&SECRET.repeat(MAX_LOOK / SECRET.len() + 2)).await;
        assert!(!said.contains("corr"));
    }

    #[tokio::test]
    async fn a_line_that_is_cut_says_how_much_is_missing() {
        let said = logged(&"x".repeat(100_000)).await;
        let kept = "x".repeat(MAX_LINE);
        let line = format!("{kept} [... {} bytes]", 100_000 - MAX_LINE);
        assert_eq!(said, format!("{line}\n{line}"));
    }
}
