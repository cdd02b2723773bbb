//! Saving the files of a run: `artifacts/<session>/<step>-<name>`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use packtrain_model::{Artifact, ArtifactKind, SessionId, StepIndex};

use crate::error::RecordError;
use crate::{ARTIFACTS_FOLDER, name};

/// How many files of one name a step may save before that is an error: a loop, most likely.
const MOST_OF_ONE_NAME: u32 = 10_000;

/// Saves files below a run's folder. Cheap to clone; several sessions may save at once.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    run: PathBuf,
}

/// A file that was made for an artifact and not filled yet.
struct Place {
    file: File,
    path: PathBuf,
    /// Below the run's folder, with `/`.
    relative: String,
}

impl ArtifactStore {
    /// A store for the run in this folder.
    pub fn new(run: &Path) -> Self {
        Self {
            run: run.to_path_buf(),
        }
    }

    /// Saves bytes. The name is a suggestion: folders and odd characters are taken out of it, and
    /// a second file of the same name gets a number.
    ///
    /// # Errors
    /// When the disk refuses; nothing is left behind then.
    pub fn save(
        &self,
        session: &SessionId,
        step: StepIndex,
        kind: ArtifactKind,
        name: &str,
        bytes: &[u8],
    ) -> Result<Artifact, RecordError> {
        self.save_from(session, step, kind, name, &mut &*bytes)
    }

    /// Saves bytes under a path of theirs below the run's folder, of which the last part names the
    /// content: what is there already is the same.
    ///
    /// # Errors
    /// When the path leads elsewhere, or the disk refuses; nothing is left behind then.
    pub fn share(
        &self,
        kind: ArtifactKind,
        relative: &str,
        bytes: &[u8],
    ) -> Result<Artifact, RecordError> {
        let path = self.run.join(relative);
        let is_inside = Path::new(relative)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_inside {
            return Err(RecordError::NotAFile(path));
        }
        let artifact = Artifact {
            kind,
            path: relative.to_owned(),
            bytes: bytes.len() as u64,
        };
        if path.exists() {
            return Ok(artifact);
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(RecordError::disk("create", folder))?;
        }
        let beside = path.with_extension("part");
        let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &path));
        written.map_err(|source| {
            // The first error is the one to report.
            drop(fs::remove_file(&beside));
            RecordError::disk("write", &path)(source)
        })?;
        Ok(artifact)
    }

    /// Saves what a reader gives, without holding it in memory.
    ///
    /// # Errors
    /// When the disk or the reader refuses; nothing is left behind then.
    pub fn save_from(
        &self,
        session: &SessionId,
        step: StepIndex,
        kind: ArtifactKind,
        name: &str,
        content: &mut dyn Read,
    ) -> Result<Artifact, RecordError> {
        let mut place = self.place(session, step, name)?;
        let written = io::copy(content, &mut place.file);
        let written = written.and_then(|bytes| place.file.flush().map(|()| bytes));
        drop(place.file);
        let bytes = written.map_err(|source| {
            // The first error is the one to report.
            drop(fs::remove_file(&place.path));
            RecordError::disk("write", &place.path)(source)
        })?;
        Ok(Artifact {
            kind,
            path: place.relative,
            bytes,
        })
    }

    /// Counts a file that is in the run's folder already, such as a download, among the run's.
    ///
    /// # Errors
    /// When it is not a regular file, or lies elsewhere.
    pub fn adopt(&self, kind: ArtifactKind, file: &Path) -> Result<Artifact, RecordError> {
        let about = fs::symlink_metadata(file).map_err(RecordError::disk("read", file))?;
        let below = file.strip_prefix(&self.run).ok();
        let parts: Option<Vec<_>> = below.map(|below| {
            let parts = below.iter();
            parts.map(|part| part.to_string_lossy()).collect()
        });
        match parts {
            Some(parts) if about.is_file() && !parts.iter().any(|part| part == "..") => {
                Ok(Artifact {
                    kind,
                    path: parts.join("/"),
                    bytes: about.len(),
                })
            }
            _ => Err(RecordError::NotAFile(file.to_path_buf())),
        }
    }

    /// Moves a file in. Across file systems it is copied and the original removed.
    ///
    /// # Errors
    /// When it is not a regular file, or the disk refuses; the original is still there then.
    pub fn take(
        &self,
        session: &SessionId,
        step: StepIndex,
        kind: ArtifactKind,
        name: &str,
        original: &Path,
    ) -> Result<Artifact, RecordError> {
        let about = fs::symlink_metadata(original).map_err(RecordError::disk("move", original))?;
        if !about.is_file() {
            return Err(RecordError::NotAFile(original.to_path_buf()));
        }
        let place = self.place(session, step, name)?;
        drop(place.file);
        let mut bytes = about.len();
        if fs::rename(original, &place.path).is_err() {
            bytes = fs::copy(original, &place.path).map_err(|source| {
                drop(fs::remove_file(&place.path));
                RecordError::disk("move", original)(source)
            })?;
            fs::remove_file(original).map_err(RecordError::disk("remove", original))?;
        }
        Ok(Artifact {
            kind,
            path: place.relative,
            bytes,
        })
    }

    /// Makes a new empty file.
    fn place(
        &self,
        session: &SessionId,
        step: StepIndex,
        suggested: &str,
    ) -> Result<Place, RecordError> {
        let session = name::file_name(&session.0);
        let folder = self.run.join(ARTIFACTS_FOLDER).join(&session);
        fs::create_dir_all(&folder).map_err(RecordError::disk("create", &folder))?;
        let wanted = format!("{:02}-{}", step.0, name::file_name(suggested));
        for number in 1..=MOST_OF_ONE_NAME {
            let name = name::numbered(&wanted, number);
            let path = folder.join(&name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Place {
                        file,
                        relative: format!("{ARTIFACTS_FOLDER}/{session}/{name}"),
                        path,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RecordError::disk("create", &path)(error)),
            }
        }
        let path = folder.join(wanted);
        Err(RecordError::disk("create", &path)(
            ErrorKind::AlreadyExists.into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Read};

    use packtrain_model::{ArtifactKind, SessionId, StepIndex};

    use super::ArtifactStore;
    use crate::RecordError;

    fn session() -> SessionId {
        SessionId("s2.2".to_owned())
    }

    #[test]
    fn what_was_saved_is_found_under_the_path_that_was_answered() {
        let run = tempfile::tempdir().unwrap();
        let artifact = ArtifactStore::new(run.path())
            .save(
                &session(),
                StepIndex(4),
                ArtifactKind::Screenshot,
                "end.png",
                b"png",
            )
            .unwrap();
        assert_eq!(artifact.path, "artifacts/s2.2/04-end.png");
        assert_eq!(artifact.bytes, 3);
        assert_eq!(fs::read(run.path().join(&artifact.path)).unwrap(), b"png");
    }

    #[test]
    fn files_of_one_name_do_not_replace_each_other() {
        let run = tempfile::tempdir().unwrap();
        let store = ArtifactStore::new(run.path());
        let paths: Vec<_> = (0..3u8)
            .map(|byte| {
                store
                    .save(
                        &session(),
                        StepIndex(1),
                        ArtifactKind::Download,
                        "a.txt",
                        &[byte],
                    )
                    .unwrap()
                    .path
            })
            .collect();
        assert_eq!(
            paths,
            ["01-a.txt", "01-a-2.txt", "01-a-3.txt"].map(|name| format!("artifacts/s2.2/{name}"))
        );
        for (byte, path) in (0..3u8).zip(&paths) {
            assert_eq!(fs::read(run.path().join(path)).unwrap(), [byte]);
        }
    }

    #[test]
    fn hostile_names_stay_in_the_run() {
        let run = tempfile::tempdir().unwrap();
        let store = ArtifactStore::new(&run.path().join("run"));
        for (session, name) in [
            ("../../x", "../../../outside.txt"),
            ("/etc", "/etc/passwd"),
            ("", ""),
            ("a\0b", "c\0d"),
        ] {
            let artifact = store
                .save(
                    &SessionId(session.to_owned()),
                    StepIndex(1),
                    ArtifactKind::Download,
                    name,
                    b"x",
                )
                .unwrap();
            assert!(!artifact.path.contains(".."), "{}", artifact.path);
            assert!(run.path().join("run").join(&artifact.path).is_file());
        }
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_of_the_run_is_counted_where_it_is_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let kept = run.join("downloads/s1/a (2).txt");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, b"content").unwrap();
        fs::write(folder.path().join("outside"), b"x").unwrap();
        let store = ArtifactStore::new(&run);
        let artifact = store.adopt(ArtifactKind::Download, &kept).unwrap();
        assert_eq!(artifact.path, "downloads/s1/a (2).txt");
        assert_eq!(artifact.bytes, 7);
        for other in [
            folder.path().join("outside"),
            run.join("../outside"),
            run.join("downloads"),
        ] {
            let error = store.adopt(ArtifactKind::Download, &other).unwrap_err();
            assert!(matches!(error, RecordError::NotAFile(_)), "{error:?}");
        }
    }

    #[test]
    fn a_log_is_moved_in() {
        let run = tempfile::tempdir().unwrap();
        let original = run.path().join("device.part");
        fs::write(&original, b"content").unwrap();
        let artifact = ArtifactStore::new(run.path())
            .take(
                &session(),
                StepIndex(2),
                ArtifactKind::DeviceLog,
                "device.log",
                &original,
            )
            .unwrap();
        assert_eq!(artifact.bytes, 7);
        assert_eq!(
            fs::read(run.path().join(artifact.path)).unwrap(),
            b"content"
        );
        assert!(!original.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_moved_in() {
        let run = tempfile::tempdir().unwrap();
        let link = run.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        let error = ArtifactStore::new(run.path())
            .take(&session(), StepIndex(2), ArtifactKind::Download, "x", &link)
            .unwrap_err();
        assert!(matches!(error, RecordError::NotAFile(_)), "{error:?}");
        assert!(!run.path().join("artifacts").exists());
    }

    #[test]
    fn content_that_breaks_off_leaves_nothing_behind() {
        struct FailingReader;
        impl Read for FailingReader {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let run = tempfile::tempdir().unwrap();
        let mut content = (&b"some"[..]).chain(FailingReader);
        ArtifactStore::new(run.path())
            .save_from(
                &session(),
                StepIndex(1),
                ArtifactKind::Download,
                "x",
                &mut content,
            )
            .unwrap_err();
        let left = fs::read_dir(run.path().join("artifacts/s2.2")).unwrap();
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_run_that_is_no_folder_is_an_error_and_not_a_panic() {
        let run = tempfile::tempdir().unwrap();
        let file = run.path().join("file");
        fs::write(&file, "").unwrap();
        ArtifactStore::new(&file)
            .save(&session(), StepIndex(1), ArtifactKind::Tree, "x", b"x")
            .unwrap_err();
    }
}
