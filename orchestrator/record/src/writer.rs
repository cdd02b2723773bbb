//! Writing a journal, one event at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use packtrain_model::{Entry, RunEvent, RunId};

use crate::error::RecordError;
use crate::{ArtifactStore, EVENTS_FILE, line, name};

/// The writing end of a run's journal. Each event is handed to the system before `append`
/// returns; at the end of a session and of the run it is on the disk.
///
/// While it lives it holds a lock, by which [`list_runs`](crate::list_runs) tells a run that goes
/// on from one that was cut short.
#[derive(Debug)]
pub struct JournalWriter {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// Bytes of whole lines written so far.
    length: u64,
}

impl JournalWriter {
    /// Makes the run's folder and its empty journal.
    ///
    /// # Errors
    /// When the id is not a plain name, the folder is there already, or the disk refuses.
    pub fn create(root: &Path, run: &RunId) -> Result<Self, RecordError> {
        let folder = root.join(name::run_folder(&run.0)?);
        fs::create_dir_all(root).map_err(RecordError::disk("create", root))?;
        let mut private = fs::DirBuilder::new();
        // Pictures and logs may show what is for the user alone.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        let made = private.create(&folder);
        made.map_err(RecordError::disk("create", &folder))?;
        let path = folder.join(EVENTS_FILE);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(RecordError::disk("create", &path))?;
        #[cfg(unix)]
        {
            // Not every file system can lock; a run that cannot be seen to be going on is no
            // reason not to run.
            drop(file.try_lock());
            File::open(&folder)
                .and_then(|folder| folder.sync_all())
                .map_err(RecordError::sync(&folder))?;
        }
        Ok(Self {
            folder,
            path,
            file,
            length: 0,
        })
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the run's other files go.
    pub fn artifacts(&self) -> ArtifactStore {
        ArtifactStore::new(&self.folder)
    }

    /// Writes events, in order and in one go.
    ///
    /// # Errors
    /// When the disk refuses, or the file was removed. Events that found room stay; what was written of a line is taken back,
    /// so that the journal stays readable and a later event may still find room.
    pub fn append<'e>(
        &mut self,
        entries: impl IntoIterator<Item = &'e Entry>,
    ) -> Result<(), RecordError> {
        let (mut lines, mut ends, mut must_sync) = (Vec::new(), Vec::new(), false);
        for entry in entries {
            let line = line::encode(entry).map_err(|source| RecordError::Encode {
                seq: entry.seq,
                source,
            })?;
            lines.extend_from_slice(&line);
            ends.push(lines.len());
            must_sync |= must_last(&entry.event);
        }
        if self.file.write_all(&lines).is_err() {
            self.take_back();
            self.one_by_one(&lines, &ends)?;
        } else {
            self.length += lines.len() as u64;
        }
        if must_sync {
            let synced = self.file.sync_data();
            synced.map_err(RecordError::sync(&self.path))?;
        }
        self.is_there()
            .map_err(RecordError::disk("write", &self.path))
    }

    /// What is written into a file that was removed is nowhere.
    fn is_there(&self) -> io::Result<()> {
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&self.file.metadata()?) == 0 {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it was removed"));
        }
        Ok(())
    }

    /// Writes as many lines as there is room for.
    fn one_by_one(&mut self, lines: &[u8], ends: &[usize]) -> Result<(), RecordError> {
        let mut start = 0;
        for end in ends {
            if let Err(source) = self.file.write_all(&lines[start..*end]) {
                self.take_back();
                return Err(RecordError::disk("write", &self.path)(source));
            }
            self.length += (end - start) as u64;
            start = *end;
        }
        Ok(())
    }

    fn take_back(&self) {
        // A file that cannot be shortened either ends in a torn line; readers cope with that.
        drop(self.file.set_len(self.length));
    }
}

/// Whether a power cut after this event must not lose it.
const fn must_last(event: &RunEvent) -> bool {
    match event {
        RunEvent::SessionFinished { .. } | RunEvent::RunFinished { .. } => true,
        RunEvent::RunStarted { .. }
        | RunEvent::SessionStarted { .. }
        | RunEvent::SessionConfigured { .. }
        | RunEvent::StepObserved { .. }
        | RunEvent::StepStarted { .. }
        | RunEvent::ToolStarted { .. }
        | RunEvent::ToolFinished { .. }
        | RunEvent::StepFinished { .. }
        | RunEvent::ArtifactSaved { .. }
        | RunEvent::DeviceReported { .. }
        | RunEvent::SessionWillRetry { .. }
        | RunEvent::SinkFailed { .. }
        | RunEvent::StopRequested { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use packtrain_model::RunId;

    use super::JournalWriter;
    use crate::{JournalReader, RecordError, sample};

    #[cfg(unix)]
    #[test]
    fn a_run_is_for_its_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let writer = JournalWriter::create(root.path(), &sample::run()).unwrap();
        let mode = fs::metadata(writer.folder()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn every_event_is_in_the_file_when_append_returns() {
        let root = tempfile::tempdir().unwrap();
        let mut writer = JournalWriter::create(root.path(), &sample::run()).unwrap();
        for (written, entry) in (1..).zip(sample::entries()) {
            writer.append([&entry]).unwrap();
            let lines = fs::read_to_string(writer.folder().join("events.ndjson")).unwrap();
            assert_eq!(lines.lines().count(), written);
            assert!(lines.ends_with('\n'));
        }
        let read: Vec<_> = JournalReader::open(writer.folder())
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(read, sample::entries());
    }

    #[test]
    fn a_run_never_writes_over_another() {
        let root = tempfile::tempdir().unwrap();
        let _first = JournalWriter::create(root.path(), &sample::run()).unwrap();
        let second = JournalWriter::create(root.path(), &sample::run()).unwrap_err();
        assert!(
            matches!(&second, RecordError::Disk { source, .. } if source.kind() == ErrorKind::AlreadyExists),
            "{second:?}"
        );
    }

    #[test]
    fn a_run_id_cannot_lead_out_of_the_root() {
        let root = tempfile::tempdir().unwrap();
        let error = JournalWriter::create(root.path(), &RunId("../evil".to_owned())).unwrap_err();
        assert!(matches!(error, RecordError::RunName(_)));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_root_that_is_no_folder_is_an_error_that_names_it() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let error = JournalWriter::create(&file, &sample::run()).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }

    /// `/dev/full` answers every write with "no space left on device".
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_not_a_panic() {
        let mut writer = JournalWriter {
            folder: "/dev".into(),
            path: "/dev/full".into(),
            file: fs::OpenOptions::new()
                .append(true)
                .open("/dev/full")
                .unwrap(),
            length: 0,
        };
        for entry in sample::entries() {
            let error = writer.append([&entry]).unwrap_err();
            assert!(
                matches!(&error, RecordError::Disk { source, .. } if source.kind() == ErrorKind::StorageFull),
                "{error:?}"
            );
        }
    }

    /// `/dev/null` takes every write and cannot be synced.
    #[cfg(unix)]
    #[test]
    fn a_file_system_that_refuses_fsync_is_named() {
        let mut writer = JournalWriter {
            folder: "/dev".into(),
            path: "/dev/null".into(),
            file: fs::OpenOptions::new()
                .append(true)
                .open("/dev/null")
                .unwrap(),
            length: 0,
        };
        let error = writer.append(&sample::entries()).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with("sync /dev/null: its file system refuses fsync"),
            "{said}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_that_was_removed_is_an_error_and_not_written_into_nothing() {
        let root = tempfile::tempdir().unwrap();
        let mut writer = JournalWriter::create(root.path(), &sample::run()).unwrap();
        let entries = sample::entries();
        writer.append([&entries[0]]).unwrap();
        fs::remove_dir_all(writer.folder()).unwrap();
        let error = writer.append([&entries[1]]).unwrap_err();
        assert!(
            matches!(&error, RecordError::Disk { source, .. } if source.kind() == ErrorKind::NotFound),
            "{error:?}"
        );
    }

    #[test]
    fn half_a_line_is_taken_back() {
        use std::io::Write;
        let root = tempfile::tempdir().unwrap();
        let mut writer = JournalWriter::create(root.path(), &sample::run()).unwrap();
        let entries = sample::entries();
        writer.append([&entries[0]]).unwrap();
        writer.file.write_all(b"{\"seq\":2,\"at\":\"20").unwrap();
        writer.take_back();
        writer.append([&entries[1]]).unwrap();
        let read: Vec<_> = JournalReader::open(writer.folder())
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(read, entries[..2]);
    }
}
