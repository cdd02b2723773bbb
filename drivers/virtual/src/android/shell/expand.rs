//! From words to arguments: parameters, commands, fields.

use crate::android::files::{Errno, FinalLink};
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{Input, Io, Output, Stop, pipe};
use crate::android::shell::syntax::{List, Piece, PieceKind, Word};

/// The most arguments one command line can expand to.
const MAX_ARGUMENTS: usize = 10_000;
/// The most bytes a command line, or a word, can expand to.
const MAX_EXPANSION: usize = 4 * 1024 * 1024;

impl Shell {
    /// The arguments a list of words comes to; `None` after a complaint.
    ///
    /// # Errors
    /// When the shell has to end.
    pub(super) async fn arguments_of(
        &mut self,
        words: &[Word],
        io: &Io,
    ) -> Result<Option<Vec<String>>, Stop> {
        let mut all = Vec::new();
        let mut size = 0;
        for word in words {
            let mut open: Option<String> = None;
            let mut is_pattern = false;
            let begin = all.len();
            for piece in &word.0 {
                let value = self.value_of(piece, &mut size, io).await?;
                is_pattern |= !piece.quoted && value.contains(['*', '?']);
                if piece.quoted || matches!(piece.kind, PieceKind::Text(_)) {
                    open.get_or_insert_default().push_str(&value);
                    continue;
                }
                // What comes from an unquoted expansion is split at spaces.
                for c in value.chars() {
                    if c.is_ascii_whitespace() {
                        all.extend(open.take());
                    } else {
                        open.get_or_insert_default().push(c);
                    }
                }
            }
            all.extend(open);
            all.truncate(MAX_ARGUMENTS);
            let mut patterns = all.get(begin..).unwrap_or(&[]).iter();
            if is_pattern && let Some(pattern) = patterns.find(|word| self.may_mean_files(word)) {
                self.android.device().note_unhandled(pattern);
                let message = format!("{pattern}: a virtual phone looks for no names");
                self.complain(io, &message).await?;
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Whether a word with `*` or `?` in it could stand for files that are there. One that does
    /// not is passed on as it is.
    fn may_mean_files(&self, word: &str) -> bool {
        let Some(sign) = word.find(['*', '?']) else {
            return false;
        };
        let (dir, start) = word[..sign]
            .rsplit_once('/')
            .unwrap_or((".", &word[..sign]));
        let dir = if dir.is_empty() { "/" } else { dir };
        let end = word[sign..].split('/').next().unwrap_or("");
        let end = end.rsplit(['*', '?']).next().unwrap_or("");
        let files = self.android.files.lock();
        let real = files.resolve(&self.cwd, dir, FinalLink::Follow);
        let names = real.and_then(|real| files.list(&real, &self.who));
        (names.unwrap_or_default().iter())
            .any(|name| name.starts_with(start) && name.ends_with(end))
    }

    /// A word as one text, as in assignments and redirections.
    ///
    /// # Errors
    /// As [`Shell::arguments_of`].
    pub(super) async fn text_of(&mut self, word: &Word, io: &Io) -> Result<String, Stop> {
        let mut text = String::new();
        let mut size = 0;
        for piece in &word.0 {
            text.push_str(&self.value_of(piece, &mut size, io).await?);
        }
        Ok(text)
    }

    /// What a piece comes to; `size` is what all of them have come to.
    async fn value_of(&mut self, piece: &Piece, size: &mut usize, io: &Io) -> Result<String, Stop> {
        let value = match &piece.kind {
            PieceKind::Text(text) => text.clone(),
            PieceKind::Parameter(name) => self.parameter(name),
            PieceKind::Output(list) => Box::pin(self.output_of(list, io)).await?,
        };
        *size += value.len();
        if *size > MAX_EXPANSION {
            self.complain(io, "Argument list too long").await?;
            return Err(Stop(1));
        }
        Ok(value)
    }

    fn parameter(&self, name: &str) -> String {
        match name {
            "?" => self.status.to_string(),
            "$" => self.pid.to_string(),
            // Nothing here gives a shell arguments.
            "#" => "0".to_owned(),
            "0" => "sh".to_owned(),
            _ => self.get(name).unwrap_or_default(),
        }
    }

    /// What a command prints, without the line ends at its end.
    async fn output_of(&mut self, list: &List, io: &Io) -> Result<String, Stop> {
        let (printed, captured) = pipe();
        let inner = Io {
            stdin: Input::empty(),
            stdout: Output::Pipe(printed),
            stderr: io.stderr.clone(),
        };
        let mut shell = self.copy();
        // The pipe ends with what writes to it.
        let running = async move { shell.run_to_end(list, &inner).await };
        // What is too much breaks the pipe.
        let reading = async move { captured.all(MAX_EXPANSION).await };
        let (status, text) = tokio::join!(running, reading);
        self.status = status;
        let text = String::from_utf8_lossy(&text);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// The real path of `path`, links followed.
    pub fn real_path(&self, path: &str) -> Result<String, Errno> {
        self.android
            .files
            .lock()
            .resolve(&self.cwd, path, FinalLink::Follow)
    }
}
