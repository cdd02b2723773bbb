//! Toolsets on disk: `toolsets/NAME.json` of the project and of the user. Reading one never trusts
//! it; writing one loses nothing that another process writes.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use packtrain_config::Loaded;
use packtrain_model::suggest::did_you_mean;
use packtrain_terminal::exit::CliError;
use packtrain_tools::toolsets::{InvalidName, MAX_TOOLS, SavedToolset, ToolsetName};
use packtrain_tools::{Toolset, Toolsets};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

/// The folder of toolsets, in the project's and in the user's.
const FOLDER: &str = "toolsets";
/// No file of a toolset is larger, in bytes.
const MAX_FILE: u64 = 256 * 1024;
/// How many toolsets a folder has at most.
const MAX_TOOLSETS: usize = 200;
/// How long another process may keep a folder locked, which takes it no time unless it is stalled.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a locked folder is tried.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// Where a toolset comes from; the first of a name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// `toolsets` in the project's folder.
    Project,
    /// `toolsets` in the user's folder of configuration.
    User,
    /// The configuration, a YAML file or a tool that names it. Read-only.
    Defined,
}

/// A toolset and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The toolset.
    pub toolset: SavedToolset,
    /// Where it comes from.
    pub place: Place,
}

/// All toolsets, and what is odd about their files.
#[derive(Debug, Default)]
pub struct Listing {
    /// By place, then by name.
    pub toolsets: Vec<Stored>,
    /// Files that are left out, each with the reason.
    pub problems: Vec<String>,
}

/// Why a toolset is not read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("toolset: {0}")]
    Name(#[from] InvalidName),
    #[error("unknown toolset `{name}`")]
    Unknown { name: String, hint: Option<String> },
    #[error("toolset `{0}` is defined by the configuration or by a file, and is changed there")]
    ReadOnly(String),
    #[error("{}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("toolset `{name}` would take {bytes} bytes; the limit is {MAX_FILE}")]
    TooLarge { name: String, bytes: usize },
    #[error("{} has {MAX_TOOLSETS} toolsets, which is the limit", .0.display())]
    Full(PathBuf),
    #[error("another process keeps {} locked", .0.display())]
    Locked(PathBuf),
    #[error("cannot write {}: {error}", path.display())]
    Unwritable { path: PathBuf, error: io::Error },
    #[error("no folder for toolsets: neither a project nor a home")]
    Homeless,
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        let Self::Unknown { hint, .. } = self else {
            return None;
        };
        hint.as_deref()
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        use StoreError::{Full, Name, ReadOnly, TooLarge, Unknown};
        let is_misuse = matches!(
            error,
            Full(_) | Name(_) | ReadOnly(_) | TooLarge { .. } | Unknown { .. }
        );
        let told = if is_misuse {
            Self::misuse(error.to_string())
        } else {
            Self::infrastructure(error.to_string())
        };
        told.hinted(error.hint().map(str::to_owned))
    }
}

/// The toolsets of a project and of its user.
#[derive(Debug)]
pub struct ToolsetStore {
    /// Those that may be written to, the first of which takes new toolsets.
    folders: Vec<(Place, PathBuf)>,
    /// Those of files that define tools, which may be others by now.
    defined: watch::Sender<Vec<SavedToolset>>,
}

impl ToolsetStore {
    /// The toolsets below these folders, and those that are defined elsewhere.
    pub fn new<'t>(
        project: Option<&Path>,
        user: Option<&Path>,
        defined: impl IntoIterator<Item = &'t Toolset>,
    ) -> Self {
        let project = project.map(|folder| (Place::Project, folder.join(FOLDER)));
        let user = user.map(|folder| (Place::User, folder.join(FOLDER)));
        Self {
            folders: project.into_iter().chain(user).collect(),
            defined: watch::Sender::new(defined.into_iter().map(SavedToolset::from).collect()),
        }
    }

    /// Those of a configuration: its project's, when it has one, and the user's.
    pub fn of(loaded: &Loaded, defined: &Toolsets) -> Self {
        let environment = std::env::vars_os();
        let environment: Vec<_> = environment
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let user = packtrain_config::user_file(&environment);
        let is_project = loaded.files.iter().any(|file| Some(file) != user.as_ref());
        Self::new(
            is_project.then_some(loaded.root.as_path()),
            user.as_deref().and_then(Path::parent),
            defined.all(),
        )
    }

    /// From now on those that are defined elsewhere are those of the other store.
    pub fn redefine(&self, other: &Self) {
        self.defined.send_replace(other.defined.borrow().clone());
    }

    /// All toolsets; an invalid file is reported and does not keep the others from being used.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        for (place, folder) in &self.folders {
            let found = no_link(*place, folder).and_then(|()| names(folder));
            let names = match found {
                Ok((names, odd)) => {
                    listing.problems.extend(odd);
                    names
                }
                Err(problem) => {
                    listing.problems.push(problem.to_string());
                    continue;
                }
            };
            if names.len() > MAX_TOOLSETS {
                let told = format!(
                    "{}: only the first {MAX_TOOLSETS} toolsets are read",
                    folder.display()
                );
                listing.problems.push(told);
            }
            for name in names.iter().take(MAX_TOOLSETS) {
                match read(folder, name) {
                    Ok(Some(toolset)) => listing.add(toolset, *place),
                    // Somebody has deleted it meanwhile.
                    Ok(None) => {}
                    Err(problem) => listing.problems.push(problem.to_string()),
                }
            }
        }
        for toolset in self.defined.borrow().iter() {
            listing.add(toolset.clone(), Place::Defined);
        }
        listing
    }

    /// A toolset by its name.
    ///
    /// # Errors
    /// When there is none, or its file is none.
    pub fn load(&self, name: &str) -> Result<Stored, StoreError> {
        if let Ok(name) = ToolsetName::parse(name) {
            for (place, folder) in &self.folders {
                no_link(*place, folder)?;
                if let Some(toolset) = read(folder, &name)? {
                    return Ok(Stored {
                        toolset,
                        place: *place,
                    });
                }
            }
        }
        let found = (self.defined.borrow().iter())
            .find(|toolset| toolset.name == name)
            .cloned();
        Ok(Stored {
            toolset: found.ok_or_else(|| self.unknown(name))?,
            place: Place::Defined,
        })
    }

    /// Changes a toolset, or makes one when `change` is given none. No other process changes it
    /// meanwhile; readers find the file of before or of after.
    ///
    /// # Errors
    /// Those of `change`, which then has changed nothing, and of the disk.
    pub async fn change<T, E: From<StoreError>>(
        &self,
        name: &str,
        change: impl FnOnce(Option<SavedToolset>) -> Result<(SavedToolset, T), E>,
    ) -> Result<(Stored, T), E> {
        let (name, place, folder) = self.home_of(name)?;
        let unwritable = |error| StoreError::Unwritable {
            path: folder.clone(),
            error,
        };
        fs::create_dir_all(folder).map_err(unwritable)?;
        let lock = lock(folder).await?;
        let known = read(folder, &name)?;
        if known.is_none() && names(folder)?.0.len() >= MAX_TOOLSETS {
            return Err(StoreError::Full(folder.clone()).into());
        }
        let (mut toolset, answer) = change(known)?;
        let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        name.as_str().clone_into(&mut toolset.name);
        toolset.created_at.get_or_insert_with(|| now.clone());
        toolset.last_modified = Some(now);
        let owned = folder.clone();
        // Once begun it completes, even if the caller has stopped waiting.
        let writing = tokio::task::spawn_blocking(move || {
            let written = write(&owned, &name, &toolset).map(|()| toolset);
            drop(lock);
            written
        });
        let written = writing.await.map_err(|error| unwritable(error.into()))?;
        let stored = Stored {
            toolset: written?,
            place,
        };
        Ok((stored, answer))
    }

    /// Deletes a toolset.
    ///
    /// # Errors
    /// When there is none, or the disk refuses.
    pub async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let (known, _, folder) = self.home_of(name)?;
        if !is_there(&path(folder, &known)) {
            return Err(self.unknown(name));
        }
        let _lock = lock(folder).await?;
        let path = path(folder, &known);
        fs::remove_file(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => self.unknown(name),
            _ => StoreError::Unwritable { path, error },
        })
    }

    /// The folder that has a toolset or would, unless it is one that is defined elsewhere.
    fn home_of(&self, name: &str) -> Result<(ToolsetName, Place, &PathBuf), StoreError> {
        let parsed = ToolsetName::parse(name);
        let there = parsed.as_ref().ok().and_then(|name| {
            let mut folders = self.folders.iter();
            folders.find(|(_, folder)| is_there(&path(folder, name)))
        });
        let is_defined = || {
            self.defined
                .borrow()
                .iter()
                .any(|toolset| toolset.name == name)
        };
        if there.is_none() && is_defined() {
            return Err(StoreError::ReadOnly(name.to_owned()));
        }
        let name = parsed?;
        let home = there.or_else(|| self.folders.first());
        let (place, folder) = home.ok_or(StoreError::Homeless)?;
        no_link(*place, folder)?;
        Ok((name, *place, folder))
    }

    fn unknown(&self, name: &str) -> StoreError {
        let listing = self.list();
        let names = listing.toolsets.iter();
        StoreError::Unknown {
            hint: did_you_mean(name, names.map(|stored| stored.toolset.name.as_str())),
            name: name
                .chars()
                .take(packtrain_tools::toolsets::MAX_NAME)
                .collect(),
        }
    }
}

impl Listing {
    fn add(&mut self, toolset: SavedToolset, place: Place) {
        let mut known = self.toolsets.iter();
        match known.find(|known| known.toolset.name == toolset.name) {
            None => self.toolsets.push(Stored { toolset, place }),
            Some(_) => self.problems.push(format!(
                "toolset `{}` exists more than once; the one of the {} is used",
                toolset.name,
                if place == Place::User {
                    "project"
                } else {
                    "file"
                }
            )),
        }
    }
}

fn path(folder: &Path, name: &ToolsetName) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// A project that comes from elsewhere must not lead out of itself. Where the user keeps their own
/// toolsets is theirs to say.
fn no_link(place: Place, folder: &Path) -> Result<(), StoreError> {
    let is_link = folder
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    if is_link && place == Place::Project {
        return Err(StoreError::Unreadable {
            path: folder.to_owned(),
            why: "is a link".to_owned(),
        });
    }
    Ok(())
}

/// Whether anything is there: what is invalid is reported when it is read.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The names of a folder's toolsets, sorted, and what is wrong with other files. A folder that is not
/// there has none.
fn names(folder: &Path) -> Result<(Vec<ToolsetName>, Vec<String>), StoreError> {
    let unreadable = |error: io::Error| StoreError::Unreadable {
        path: folder.to_owned(),
        why: error.to_string(),
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(unreadable(error)),
    };
    let (mut names, mut odd) = (Vec::new(), Vec::new());
    for entry in entries {
        let file = entry.map_err(unreadable)?.file_name();
        let file = file.to_string_lossy();
        match file.strip_suffix(".json").map(ToolsetName::parse) {
            Some(Ok(name)) => names.push(name),
            Some(Err(error)) => odd.push(format!("{}: {error}", folder.join(&*file).display())),
            // What is not a toolset is not ours.
            None => {}
        }
    }
    names.sort();
    odd.sort();
    Ok((names, odd))
}

/// A toolset's file; `None` when there is none.
fn read(folder: &Path, name: &ToolsetName) -> Result<Option<SavedToolset>, StoreError> {
    let path = path(folder, name);
    let odd = |why: String| StoreError::Unreadable {
        path: path.clone(),
        why,
    };
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(odd(error.to_string())),
        // A link may lead anywhere, and a pipe nowhere.
        Ok(about) if !about.is_file() => return Err(odd("is not a file".to_owned())),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    read.map_err(|error| odd(error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(odd(format!("is larger than {MAX_FILE} bytes")));
    }
    let toolset: SavedToolset =
        serde_json::from_slice(&bytes).map_err(|error| odd(error.to_string()))?;
    if toolset.name != name.as_str() {
        return Err(odd("names another toolset".to_owned()));
    }
    if toolset.tools.len() > MAX_TOOLS {
        let count = toolset.tools.len();
        return Err(odd(format!("has {count} tools; the limit is {MAX_TOOLS}")));
    }
    Ok(Some(toolset))
}

/// Writes a file beside the toolset's and moves it there. The folder is locked.
fn write(folder: &Path, name: &ToolsetName, toolset: &SavedToolset) -> Result<(), StoreError> {
    let path = path(folder, name);
    let unwritable = |error: io::Error| StoreError::Unwritable {
        path: path.clone(),
        error,
    };
    let mut bytes = serde_json::to_vec_pretty(toolset).map_err(|error| unwritable(error.into()))?;
    bytes.push(b'\n');
    if bytes.len() as u64 > MAX_FILE {
        return Err(StoreError::TooLarge {
            name: name.to_string(),
            bytes: bytes.len(),
        });
    }
    let beside = folder.join(format!(".{name}.part"));
    let put = || {
        // What a killed process left; no other process writes here now.
        drop(fs::remove_file(&beside));
        let mut file = File::create_new(&beside)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    };
    put().map_err(|error| {
        // The first error is the one to report.
        drop(fs::remove_file(&beside));
        unwritable(error)
    })
}

/// Keeps other processes, and other tasks of this one, from writing to a folder while the answer
/// lives. The folder itself is locked, so that nothing is left in it.
async fn lock(folder: &Path) -> Result<File, StoreError> {
    let unwritable = |error| StoreError::Unwritable {
        path: folder.to_owned(),
        error,
    };
    let file = File::open(folder).map_err(unwritable)?;
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(unwritable(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(StoreError::Locked(folder.to_owned()));
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL).await,
        }
    }
}

#[cfg(test)]
mod tests;
