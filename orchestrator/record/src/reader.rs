//! Reading a journal back.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use packtrain_model::{Entry, SCHEMA_VERSION};
use serde::Deserialize;

use crate::error::RecordError;
use crate::{EVENTS_FILE, line};

/// Longest line read, in bytes. A tool's answer is the longest thing in an event and far shorter.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// A journal's events, in order.
///
/// An event that cannot be read is an error that names the file and the line; what follows it can
/// still be read. Only the disk's own errors end the journal.
#[derive(Debug)]
pub struct JournalReader {
    path: PathBuf,
    lines: BufReader<File>,
    /// The line read last, from 1.
    line: u64,
    /// The first line, read to see the version, until it is given out.
    first: Option<Vec<u8>>,
    /// The number of the event before; 0 at the beginning.
    seq: u64,
    /// An event that came out of order, behind the error that says so.
    early: Option<Entry>,
    torn: Option<TornLine>,
    ended: bool,
}

/// A last line that a crash cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornLine {
    /// Which line, from 1.
    pub line: u64,
    /// How many bytes of it were written.
    pub bytes: u64,
}

/// What every version writes the same way.
#[derive(Deserialize)]
struct Head {
    event: String,
    schema_version: u32,
}

impl JournalReader {
    /// Opens a journal, by its own path or its run's folder.
    ///
    /// # Errors
    /// When there is none, it does not begin as a journal, or it is of a later version.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let path = match path.is_dir() {
            true => path.join(EVENTS_FILE),
            false => path.to_path_buf(),
        };
        let file = File::open(&path).map_err(RecordError::disk("open", &path))?;
        let mut reader = Self {
            path,
            lines: BufReader::new(file),
            line: 0,
            first: None,
            seq: 0,
            early: None,
            torn: None,
            ended: false,
        };
        reader.first = reader.next_line()?;
        if let Some(first) = &reader.first {
            let head = serde_json::from_slice::<Head>(first).ok();
            match head.filter(|head| head.event == "run_started") {
                Some(head) if head.schema_version > SCHEMA_VERSION => {
                    return Err(RecordError::NewerSchema {
                        file: reader.path,
                        found: head.schema_version,
                        known: SCHEMA_VERSION,
                    });
                }
                None if first.ends_with(b"\n") => {
                    return Err(RecordError::NotAJournal(reader.path));
                }
                Some(_) | None => (),
            }
        }
        Ok(reader)
    }

    /// The journal's own path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last line, when it was cut off and left out; known once everything was read.
    pub const fn torn(&self) -> Option<TornLine> {
        self.torn
    }

    /// The next line with its newline; `None` at the end.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, RecordError> {
        let mut bytes = Vec::new();
        (&mut self.lines)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(RecordError::disk("read", &self.path))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if bytes.len() as u64 == LONGEST_LINE && !bytes.ends_with(b"\n") {
            return Err(RecordError::LineTooLong {
                file: self.path.clone(),
                line: self.line,
                limit: LONGEST_LINE,
            });
        }
        Ok(Some(bytes))
    }

    fn next_entry(&mut self) -> Result<Option<Entry>, RecordError> {
        let bytes = match self.first.take() {
            Some(first) => first,
            None => match self.next_line() {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            },
        };
        match line::decode(&bytes) {
            Ok(entry) => Ok(Some(entry)),
            Err(_) if !bytes.ends_with(b"\n") => {
                self.torn = Some(TornLine {
                    line: self.line,
                    bytes: bytes.len() as u64,
                });
                Ok(None)
            }
            Err(source) => Err(RecordError::Line {
                file: self.path.clone(),
                line: self.line,
                source,
            }),
        }
    }
}

impl Iterator for JournalReader {
    type Item = Result<Entry, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(entry) = self.early.take() {
            return Some(Ok(entry));
        }
        if self.ended {
            return None;
        }
        match self.next_entry() {
            Ok(Some(entry)) => {
                let expected = self.seq + 1;
                let found = entry.seq;
                self.seq = found;
                if found == expected {
                    return Some(Ok(entry));
                }
                self.early = Some(entry);
                Some(Err(RecordError::OutOfOrder {
                    file: self.path.clone(),
                    line: self.line,
                    expected,
                    found,
                }))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                // The line's event is lost, its number with it.
                self.seq += 1;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use packtrain_model::Entry;
    use tempfile::TempDir;

    use super::{JournalReader, TornLine};
    use crate::{RecordError, line, sample};

    fn journal(bytes: &[u8]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.ndjson");
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn whole() -> Vec<Vec<u8>> {
        sample::entries()
            .iter()
            .map(|entry| line::encode(entry).unwrap())
            .collect()
    }

    fn read(path: &std::path::Path) -> (Vec<Entry>, Vec<RecordError>, Option<TornLine>) {
        let mut reader = JournalReader::open(path).unwrap();
        let (mut entries, mut errors) = (Vec::new(), Vec::new());
        for item in &mut reader {
            match item {
                Ok(entry) => entries.push(entry),
                Err(error) => errors.push(error),
            }
        }
        (entries, errors, reader.torn())
    }

    #[test]
    fn a_journal_cut_off_anywhere_gives_its_whole_lines_and_says_what_it_left_out() {
        let lines = whole();
        let bytes = lines.concat();
        let ends = lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        for cut in ends.flat_map(|end| [end - 40, end - 2, end - 1, end, end + 1]) {
            let cut = cut.min(bytes.len());
            let (_folder, path) = journal(&bytes[..cut]);
            let (entries, errors, torn) = read(&path);
            assert!(errors.is_empty(), "cut at {cut}: {errors:?}");
            let mut rest = cut;
            let mut complete = 0;
            for line in &lines {
                // A line that lacks nothing but its newline is whole.
                if rest + 1 < line.len() {
                    break;
                }
                complete += 1;
                rest = rest.saturating_sub(line.len());
            }
            assert_eq!(entries, sample::entries()[..complete], "cut at {cut}");
            let expected = (rest > 0).then_some(TornLine {
                line: complete as u64 + 1,
                bytes: rest as u64,
            });
            assert_eq!(torn, expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_damaged_line_is_named_and_what_follows_is_read() {
        let mut lines = whole();
        lines[2] = b"{\"seq\":3,\"at\":\"yesterday\"}\n".to_vec();
        let (_folder, path) = journal(&lines.concat());
        let (entries, errors, torn) = read(&path);
        assert_eq!(entries.len(), lines.len() - 1);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].to_string(), format!("read {}:3", path.display()));
        assert_eq!(torn, None);
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error_and_not_a_panic() {
        let mut lines = whole();
        lines[1] = b"\xff\xfe\0\x01\n".to_vec();
        let (_folder, path) = journal(&lines.concat());
        assert_eq!(read(&path).1.len(), 1);
    }

    #[test]
    fn missing_events_are_said_before_the_one_that_follows_them() {
        let mut lines = whole();
        lines.drain(3..5);
        let (_folder, path) = journal(&lines.concat());
        let mut reader = JournalReader::open(&path).unwrap().skip(3);
        let error = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                RecordError::OutOfOrder {
                    line: 4,
                    expected: 4,
                    found: 6,
                    ..
                }
            ),
            "{error:?}"
        );
        assert_eq!(reader.next().unwrap().unwrap().seq, 6);
    }

    #[test]
    fn a_journal_of_a_later_version_is_refused_before_its_events_are_read() {
        let (_folder, path) = journal(
            b"{\"seq\":1,\"event\":\"run_started\",\"schema_version\":999,\"novel\":true}\n",
        );
        let error = JournalReader::open(&path).unwrap_err();
        assert!(
            matches!(error, RecordError::NewerSchema { found: 999, .. }),
            "{error:?}"
        );
    }

    #[test]
    fn another_kind_of_file_is_not_taken_for_a_journal() {
        let (_folder, path) = journal(b"time,level,message\n1,2,3\n");
        let error = JournalReader::open(&path).unwrap_err();
        assert!(matches!(error, RecordError::NotAJournal(_)), "{error:?}");
    }

    #[test]
    fn a_missing_journal_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = JournalReader::open(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with("events.ndjson"), "{error}");
    }
}
