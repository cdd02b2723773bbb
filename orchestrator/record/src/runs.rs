//! Finding runs below the root: by name, by prefix, the newest.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_model::{Entry, RunEvent, RunId, Verdict};

use crate::error::RecordError;
use crate::{EVENTS_FILE, JournalReader, LATEST, line, name};

/// How far from its end a journal's last line is looked for, in bytes. The end of a run is short.
const TAIL: u64 = 64 * 1024;

/// How many runs an error lists.
const SUGGESTIONS: usize = 5;

/// Longest content of a `latest` that is a file, in bytes.
const LONGEST_POINTER: u64 = 1024;

/// A run below the root.
#[derive(Debug)]
pub struct ListedRun {
    /// Its name.
    pub id: RunId,
    /// Its folder.
    pub folder: PathBuf,
    /// What its journal says; the reason when it cannot be read.
    pub summary: Result<RunSummary, RecordError>,
}

/// What a journal says at its beginning and its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// When it started.
    pub started: DateTime<Utc>,
    /// The trails' names.
    pub trails: Vec<String>,
    /// How many devices.
    pub devices: usize,
    /// How many sessions were planned.
    pub sessions: usize,
    /// How it ended.
    pub state: RunState,
}

/// How a run ended, if it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// To its end.
    Finished {
        /// The answer.
        verdict: Verdict,
        /// From start to end.
        duration: Duration,
    },
    /// It goes on: a process holds its journal.
    Running,
    /// It did not get to its end.
    CutShort,
}

/// Makes `<root>/latest` lead to a run: a link, or where links cannot be made a file that holds
/// the run's name.
///
/// # Errors
/// When the disk refuses, which is not a reason not to go on with the run.
pub fn mark_latest(root: &Path, run: &RunId) -> Result<(), RecordError> {
    let target = name::run_folder(&run.0)?;
    let pointer = root.join(LATEST);
    // Made beside and moved over, so that there is always one or the other.
    let fresh = root.join(format!(".{LATEST}-{target}"));
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(target, &fresh);
    #[cfg(not(unix))]
    let made: std::io::Result<()> = Err(ErrorKind::Unsupported.into());
    made.or_else(|_| fs::write(&fresh, target))
        .map_err(RecordError::disk("create", &fresh))?;
    fs::rename(&fresh, &pointer).map_err(|source| {
        drop(fs::remove_file(&fresh));
        RecordError::disk("replace", &pointer)(source)
    })
}

/// The folder of a run: `latest`, a run's name, a prefix only one run has, or a path.
///
/// # Errors
/// When there is no such run, or more than one; the error says which there are.
pub fn find_run(root: &Path, wanted: &str) -> Result<PathBuf, RecordError> {
    let missing = |ids: Vec<String>| RecordError::NoSuchRun {
        root: root.to_path_buf(),
        wanted: wanted.to_owned(),
        newest: ids.into_iter().take(SUGGESTIONS).collect(),
    };
    if wanted == LATEST {
        return match latest(root)? {
            Some(folder) => Ok(folder),
            None => Err(missing(run_ids(root)?)),
        };
    }
    let path = Path::new(wanted);
    // No run's name begins with a dot.
    if path.components().count() > 1 || path.is_absolute() || wanted.starts_with('.') {
        if path.join(EVENTS_FILE).is_file() {
            return Ok(path.to_path_buf());
        }
        return match path.parent() {
            Some(folder)
                if path.file_name().is_some_and(|n| n == EVENTS_FILE) && path.is_file() =>
            {
                Ok(folder.to_path_buf())
            }
            _ => Err(missing(run_ids(root)?)),
        };
    }
    let ids = run_ids(root)?;
    if ids.iter().any(|id| id == wanted) {
        return Ok(root.join(wanted));
    }
    let candidates: Vec<&String> = ids
        .iter()
        .filter(|id| !wanted.is_empty() && id.starts_with(wanted))
        .collect();
    match candidates[..] {
        [] => Err(missing(ids)),
        [only] => Ok(root.join(only)),
        [..] => Err(RecordError::AmbiguousRun {
            wanted: wanted.to_owned(),
            candidates: candidates.into_iter().take(SUGGESTIONS).cloned().collect(),
        }),
    }
}

/// Every run below the root, newest first. No root means no runs.
///
/// # Errors
/// When the root cannot be read. A run that cannot be read is listed with the reason.
pub fn list_runs(root: &Path) -> Result<Vec<ListedRun>, RecordError> {
    let listed = run_ids(root)?.into_iter().map(|id| {
        let folder = root.join(&id);
        ListedRun {
            summary: summarise(&folder),
            id: RunId(id),
            folder,
        }
    });
    Ok(listed.collect())
}

fn latest(root: &Path) -> Result<Option<PathBuf>, RecordError> {
    let pointer = root.join(LATEST);
    let about = match fs::symlink_metadata(&pointer) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RecordError::disk("read", &pointer)(error)),
    };
    let mut target = String::new();
    let read = match about.is_symlink() {
        true => fs::read_link(&pointer).map(|link| target = link.to_string_lossy().into_owned()),
        false => File::open(&pointer)
            .and_then(|file| file.take(LONGEST_POINTER).read_to_string(&mut target))
            .map(drop),
    };
    read.map_err(RecordError::disk("read", &pointer))?;
    let folder = root.join(name::run_folder(target.trim())?);
    Ok(folder.join(EVENTS_FILE).is_file().then_some(folder))
}

/// The names of the folders that hold a journal, newest first.
fn run_ids(root: &Path) -> Result<Vec<String>, RecordError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::disk("read", root)(error)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(RecordError::disk("read", root))?;
        if let Some(id) = entry.file_name().to_str()
            && name::run_folder(id).is_ok()
            && entry.path().join(EVENTS_FILE).is_file()
        {
            ids.push(id.to_owned());
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    Ok(ids)
}

fn summarise(folder: &Path) -> Result<RunSummary, RecordError> {
    let mut reader = JournalReader::open(folder)?;
    let path = reader.path().to_path_buf();
    let Some(first) = reader.next().transpose()? else {
        return Err(RecordError::NotAJournal(path));
    };
    let RunEvent::RunStarted {
        trails,
        devices,
        sessions,
        ..
    } = first.event
    else {
        return Err(RecordError::NotAJournal(path));
    };
    let state = match last(&path)?.map(|entry| entry.event) {
        Some(RunEvent::RunFinished {
            verdict,
            duration_ms,
        }) => RunState::Finished {
            verdict,
            duration: duration_ms,
        },
        Some(_) | None if is_held(&path) => RunState::Running,
        Some(_) | None => RunState::CutShort,
    };
    Ok(RunSummary {
        started: first.at,
        trails: trails.into_iter().map(|trail| trail.name).collect(),
        devices: devices.len(),
        sessions: sessions.len(),
        state,
    })
}

/// The last event, when it is whole and short.
fn last(path: &Path) -> Result<Option<Entry>, RecordError> {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok(tail)
    };
    let tail = read().map_err(RecordError::disk("read", path))?;
    let last = tail
        .split(|&byte| byte == b'\n')
        .rfind(|line| !line.is_empty());
    Ok(last.and_then(|line| line::decode(line).ok()))
}

/// Whether a writer has the journal open.
fn is_held(path: &Path) -> bool {
    File::open(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use packtrain_model::RunId;

    use super::{RunState, find_run, list_runs, mark_latest};
    use crate::{JournalWriter, RecordError, sample};

    fn write(root: &Path, id: &str, events: usize) -> JournalWriter {
        let mut writer = JournalWriter::create(root, &RunId(id.to_owned())).unwrap();
        for entry in &sample::entries()[..events] {
            writer.append([entry]).unwrap();
        }
        writer
    }

    #[test]
    fn latest_leads_to_the_run_marked_last() {
        let root = tempfile::tempdir().unwrap();
        for id in ["20261121-093015-k3f9", "20261121-093016-0000"] {
            write(root.path(), id, 1);
            mark_latest(root.path(), &RunId(id.to_owned())).unwrap();
            assert_eq!(
                find_run(root.path(), "latest").unwrap(),
                root.path().join(id)
            );
        }
        assert!(root.path().join("latest/events.ndjson").is_file());
    }

    #[test]
    fn latest_may_be_a_file_where_links_cannot_be_made() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a", 1);
        fs::write(root.path().join("latest"), "a\n").unwrap();
        assert_eq!(
            find_run(root.path(), "latest").unwrap(),
            root.path().join("a")
        );
    }

    #[test]
    fn a_latest_that_leads_elsewhere_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("latest"), "../../etc").unwrap();
        let error = find_run(root.path(), "latest").unwrap_err();
        assert!(matches!(error, RecordError::RunName(_)), "{error:?}");
    }

    #[test]
    fn a_prefix_finds_the_only_run_that_has_it() {
        let root = tempfile::tempdir().unwrap();
        for id in ["20261120-1-a", "20261121-1-a", "20261121-1-ab"] {
            write(root.path(), id, 1);
        }
        let find = |wanted| find_run(root.path(), wanted);
        assert_eq!(find("20261120").unwrap(), root.path().join("20261120-1-a"));
        assert_eq!(
            find("20261121-1-a").unwrap(),
            root.path().join("20261121-1-a")
        );
        let error = find("20261121").unwrap_err();
        assert_eq!(
            error.to_string(),
            "several runs begin with `20261121`: 20261121-1-ab, 20261121-1-a"
        );
        let error = find("2025").unwrap_err().to_string();
        assert!(error.contains("the newest: 20261121-1-ab"), "{error}");
        assert!(find("").is_err());
    }

    #[test]
    fn a_path_finds_a_run_anywhere() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let writer = write(elsewhere.path(), "a", 1);
        let folder = writer.folder().to_str().unwrap();
        assert_eq!(find_run(root.path(), folder).unwrap(), writer.folder());
        let journal = format!("{folder}/events.ndjson");
        assert_eq!(find_run(root.path(), &journal).unwrap(), writer.folder());
        assert!(find_run(root.path(), &format!("{folder}/b")).is_err());
    }

    #[test]
    fn the_list_tells_finished_running_and_cut_short_apart_newest_first() {
        let root = tempfile::tempdir().unwrap();
        let all = sample::entries().len();
        write(root.path(), "1-finished", all);
        let running = write(root.path(), "2-running", all - 1);
        write(root.path(), "3-cut-short", all - 1);
        fs::create_dir(root.path().join("4-broken")).unwrap();
        fs::write(root.path().join("4-broken/events.ndjson"), "?\n").unwrap();
        fs::create_dir(root.path().join("no-run")).unwrap();

        let runs = list_runs(root.path()).unwrap();
        let ids: Vec<_> = runs.iter().map(|run| run.id.0.as_str()).collect();
        assert_eq!(ids, ["4-broken", "3-cut-short", "2-running", "1-finished"]);
        assert!(matches!(runs[0].summary, Err(RecordError::NotAJournal(_))));
        let state = |place: usize| &runs[place].summary.as_ref().unwrap().state;
        assert_eq!(*state(1), RunState::CutShort);
        #[cfg(unix)]
        assert_eq!(*state(2), RunState::Running);
        assert!(matches!(state(3), RunState::Finished { verdict, .. } if verdict.passed == 1));
        let summary = runs[3].summary.as_ref().unwrap();
        assert_eq!(summary.trails, ["login"]);
        assert_eq!((summary.devices, summary.sessions), (1, 1));
        drop(running);
    }

    #[test]
    fn a_root_that_is_not_there_yet_has_no_runs() {
        let root = tempfile::tempdir().unwrap();
        let missing = root.path().join("missing");
        assert!(list_runs(&missing).unwrap().is_empty());
        let error = find_run(&missing, "latest").unwrap_err().to_string();
        let expected = format!("no run `latest` in {}", missing.display());
        assert_eq!(error, expected);
    }
}
