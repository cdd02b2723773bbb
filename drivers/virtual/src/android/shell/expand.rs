//! From words to arguments: parameters, commands, fields.

use std::sync::Arc;

use crate::android::files::{Errno, FinalLink};
use crate::android::lock;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{Input, Io, Output, Stop};
use crate::android::shell::syntax::{List, Piece, PieceKind, Word};

/// The most arguments one command line can expand to.
const MAX_ARGUMENTS: usize = 10_000;

impl Shell {
    /// The arguments a list of words comes to.
    ///
    /// # Errors
    /// When the shell has to end.
    pub(super) async fn arguments_of(
        &mut self,
        words: &[Word],
        io: &Io,
    ) -> Result<Vec<String>, Stop> {
        let mut all = Vec::new();
        for word in words {
            let mut open: Option<String> = None;
            for piece in &word.0 {
                let value = self.value_of(piece, io).await?;
                if piece.quoted || matches!(piece.kind, PieceKind::Text(_)) {
                    self.note_pattern(piece.quoted, &value);
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
        }
        Ok(all)
    }

    /// A pattern for file names is not looked for, which whoever runs the fleet is told.
    fn note_pattern(&self, quoted: bool, value: &str) {
        if !quoted && value.starts_with('/') && value.contains(['*', '?']) {
            self.android.device().note_unhandled(value);
        }
    }

    /// A word as one text, as in assignments and redirections.
    ///
    /// # Errors
    /// As [`Shell::arguments_of`].
    pub(super) async fn text_of(&mut self, word: &Word, io: &Io) -> Result<String, Stop> {
        let mut text = String::new();
        for piece in &word.0 {
            text.push_str(&self.value_of(piece, io).await?);
        }
        Ok(text)
    }

    async fn value_of(&mut self, piece: &Piece, io: &Io) -> Result<String, Stop> {
        match &piece.kind {
            PieceKind::Text(text) => Ok(text.clone()),
            PieceKind::Parameter(name) => Ok(self.parameter(name)),
            PieceKind::Output(list) => Box::pin(self.output_of(list, io)).await,
        }
    }

    fn parameter(&self, name: &str) -> String {
        match name {
            "?" => self.status.to_string(),
            "$" => self.pid.to_string(),
            "#" => self.arguments.len().to_string(),
            "@" | "*" => self.arguments.join(" "),
            "0" => "sh".to_owned(),
            _ => match name.parse::<usize>() {
                Ok(number) => self.arguments.get(number - 1).cloned().unwrap_or_default(),
                Err(_) => self.get(name).unwrap_or_default(),
            },
        }
    }

    /// What a command prints, without the line ends at its end.
    async fn output_of(&mut self, list: &List, io: &Io) -> Result<String, Stop> {
        let captured = Arc::default();
        let inner = Io {
            stdin: Input::empty(),
            stdout: Output::Capture(Arc::clone(&captured)),
            stderr: io.stderr.clone(),
        };
        self.status = self.copy().run_to_end(list, &inner).await;
        let text = String::from_utf8_lossy(&lock(&captured)).into_owned();
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// The real path of `path`, links followed.
    pub fn real_path(&self, path: &str) -> Result<String, Errno> {
        lock(&self.android.files).resolve(&self.cwd, path, FinalLink::Follow)
    }
}
