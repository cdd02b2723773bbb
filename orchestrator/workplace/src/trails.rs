//! Trail files on disk: found, read, parsed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use packtrain_drivers::{DeviceInfo, Reach};
use packtrain_engine::{RequestedTrail, TrailLoader};
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::{self, Companion, FoundFile, FoundTrail};
use packtrain_model::trail::{Parsed, Trail};
use packtrain_terminal::exit::CliError;

/// A trail file larger than this is none.
const LARGEST: u64 = 4 * 1024 * 1024;
/// What to do where there are no trails yet.
const FIRST_TRAIL: &str = "pass trail files or folders that contain some, or write trails/NAME.trail.yaml as \
docs/trails.md shows; `packtrain demo` runs an example";
/// How trails are distinguished from other files.
const NAMES: &str = "trails are named trail.yaml or <name>.trail.yaml";

/// What was read.
pub struct Loaded {
    /// The trails, in the order of the paths, folders in alphabetical order.
    pub trails: Vec<LoadedTrail>,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
    /// What is wrong with the files that are not among them.
    pub mistakes: Vec<Diagnostic>,
}

/// A trail in one file, or in several that are for different devices.
pub enum LoadedTrail {
    /// For every device.
    File(Arc<Trail>),
    /// For each device its own, by path.
    PerDevice(FoundTrail, BTreeMap<String, Arc<Trail>>),
}

impl LoadedTrail {
    /// Its files.
    pub fn files(&self) -> Vec<&Arc<Trail>> {
        match self {
            Self::File(trail) => vec![trail],
            Self::PerDevice(_, trails) => trails.values().collect(),
        }
    }

    /// As a run asks for it: each file with the devices it is for.
    pub fn requested(&self, devices: &[DeviceInfo]) -> Vec<RequestedTrail> {
        match self {
            Self::File(trail) => vec![RequestedTrail {
                trail: Arc::clone(trail),
                only: None,
                matrix: None,
            }],
            Self::PerDevice(found, trails) => trails
                .iter()
                .map(|(path, trail)| RequestedTrail {
                    matrix: None,
                    trail: Arc::clone(trail),
                    only: {
                        let devices = devices.iter();
                        let own = devices.filter(|device| {
                            found.file_for(&device.classifiers).as_ref() == Some(path)
                        });
                        Some(own.map(|device| device.id.clone()).collect())
                    },
                })
                .collect(),
        }
    }
}

/// Reads files, and every trail below folders. Files that only describe a trail are left out, and so are
/// those that have mistakes.
///
/// # Errors
/// When a file cannot be read at all.
pub fn read(paths: &[PathBuf]) -> Result<Loaded, CliError> {
    let mut reading = Reading::default();
    let mut trails = Vec::new();
    let found = find(paths)?;
    if let (true, Some((path, kind))) = (found.trails.is_empty(), found.companions.first()) {
        let (path, kind) = (path.display(), kind.word());
        return Err(CliError::misuse(format!("{path} is a {kind}, not a trail")).hint(NAMES));
    }
    for found in found.trails {
        match &found {
            FoundTrail::File(path) => {
                let read = reading.read(path)?;
                trails.extend(read.into_iter().map(LoadedTrail::File));
            }
            FoundTrail::PerDevice { folder, names } => {
                let mut files = BTreeMap::new();
                for name in names {
                    let path = join(folder, name);
                    if let Some(trail) = reading.read(&path)? {
                        files.insert(path, trail);
                    }
                }
                trails.push(LoadedTrail::PerDevice(found, files));
            }
        }
    }
    Ok(Loaded {
        trails,
        warnings: reading.warnings,
        mistakes: reading.mistakes,
    })
}

/// Files being read, and what was wrong with them so far.
#[derive(Default)]
struct Reading {
    warnings: Vec<Diagnostic>,
    mistakes: Vec<Diagnostic>,
}

impl Reading {
    /// The trail in a file; `None` when it has mistakes or only describes a trail.
    fn read(&mut self, path: &str) -> Result<Option<Arc<Trail>>, CliError> {
        match parse(Path::new(path))? {
            Ok(parsed) => {
                self.warnings.extend(parsed.warnings);
                Ok((!parsed.trail.is_metadata_only()).then(|| Arc::new(parsed.trail)))
            }
            Err(found) => {
                self.mistakes.extend(found);
                Ok(None)
            }
        }
    }
}

/// What paths stand for.
#[derive(Default)]
pub struct Found {
    /// The trails.
    pub trails: Vec<FoundTrail>,
    /// What lies beside them.
    pub companions: Vec<(PathBuf, Companion)>,
}

/// What paths stand for: files as they are, folders walked.
///
/// # Errors
/// When a path does not exist or a folder holds neither trails nor what belongs to them.
pub fn find(paths: &[PathBuf]) -> Result<Found, CliError> {
    let mut found = Found::default();
    for path in paths {
        collect(path, &mut found)?;
    }
    Ok(found)
}

/// The files of a trail that was found.
pub fn files(found: &FoundTrail) -> Vec<PathBuf> {
    match found {
        FoundTrail::File(path) => vec![path.into()],
        FoundTrail::PerDevice { folder, names } => {
            names.iter().map(|name| join(folder, name).into()).collect()
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// Reads and parses one file.
///
/// # Errors
/// When the file cannot be read at all; mistakes in it are the inner result.
pub fn parse(file: &Path) -> Result<Result<Parsed, Vec<Diagnostic>>, CliError> {
    Ok(Trail::parse_with(
        &text(file)?,
        &file.display().to_string(),
        &|name| std::env::var(name).ok(),
    ))
}

/// Reads one file.
///
/// # Errors
/// When it cannot be read or is not text.
pub fn text(file: &Path) -> Result<String, CliError> {
    let size = std::fs::metadata(file)
        .map_err(|error| unreadable(file, &error))?
        .len();
    if size > LARGEST {
        return Err(CliError::misuse(format!(
            "{} has {size} bytes; a trail file may have at most {LARGEST}",
            file.display()
        )));
    }
    let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
    String::from_utf8(bytes)
        .map_err(|error| unreadable(file, &error.utf8_error()).hint("trail files are UTF-8"))
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> CliError {
    CliError::misuse(format!("cannot read {}", path.display())).because(error)
}

fn collect(path: &Path, found: &mut Found) -> Result<(), CliError> {
    let kind = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            CliError::misuse(format!("{} does not exist", path.display())).hint(FIRST_TRAIL)
        }
        _ => unreadable(path, &error),
    })?;
    if kind.is_file() {
        // A file that is named is a trail, unless its name is that of something else.
        match classify(path).map_err(|error| unreadable(path, &error))? {
            Some(Classified::Companion(kind)) => found.companions.push((path.to_owned(), kind)),
            Some(Classified::Trail(_)) | None => {
                let path = path.display().to_string();
                found.trails.push(FoundTrail::File(path));
            }
        }
        return Ok(());
    }
    let (mut files, known) = (Vec::new(), found.companions.len());
    let walked = walk(path, &mut files, &mut found.companions);
    walked.map_err(|error| unreadable(path, &error))?;
    let below = discover::group(files);
    if below.is_empty() && found.companions.len() == known {
        let message = format!("no trails in {}", path.display());
        return Err(CliError::misuse(message).hint(NAMES));
    }
    found.trails.extend(below);
    Ok(())
}

/// What lies below a folder beside trails; nothing when there is no such folder.
///
/// # Errors
/// When it cannot be read.
pub fn companions(folder: &Path) -> Result<Vec<(PathBuf, Companion)>, CliError> {
    let mut companions = Vec::new();
    if folder.is_dir() {
        let walked = walk(folder, &mut Vec::new(), &mut companions);
        walked.map_err(|error| unreadable(folder, &error))?;
    }
    Ok(companions)
}

/// Walks a folder in alphabetical order; symbolic links are not followed.
fn walk(
    folder: &Path,
    files: &mut Vec<FoundFile>,
    companions: &mut Vec<(PathBuf, Companion)>,
) -> std::io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() && !discover::is_pruned(&entry.file_name().to_string_lossy()) {
            walk(&entry.path(), files, companions)?;
        } else if kind.is_file() {
            match classify(&entry.path())? {
                Some(Classified::Trail(file)) => files.push(file),
                Some(Classified::Companion(kind)) => companions.push((entry.path(), kind)),
                None => {}
            }
        }
    }
    Ok(())
}

/// What a file is by its name, and by its text where names mean two things.
enum Classified {
    Trail(FoundFile),
    Companion(Companion),
}

fn classify(path: &Path) -> std::io::Result<Option<Classified>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map(std::ffi::OsStr::to_string_lossy);
    if discover::is_trail_file(folder.as_deref(), &name) {
        let bytes = std::fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        if let Some(file) = FoundFile::new(&path.display().to_string(), &text) {
            return Ok(Some(Classified::Trail(file)));
        }
    }
    Ok(Companion::of(folder.as_deref(), &name).map(Classified::Companion))
}

/// The file of a trail that another one runs, within `reach`.
///
/// # Errors
/// A message that says where it was looked for.
pub fn locate(path: &str, folders: &[PathBuf], reach: Option<&Reach>) -> Result<PathBuf, String> {
    let mut files = folders.iter().map(|folder| folder.join(path));
    let is_held = |file: &PathBuf| reach.is_none_or(|reach| holds_trail(reach, file).is_some());
    let found = files.find(|file| file.is_file() && is_held(file));
    found.ok_or_else(|| {
        let named = folders
            .iter()
            .filter(|folder| !folder.as_os_str().is_empty());
        let looked: Vec<_> = named.map(|folder| folder.display().to_string()).collect();
        let within = reach.map(|reach| format!(" that lies in {}", reach.folder.display()));
        let within = within.unwrap_or_default();
        format!("no trail {path} in {}{within}", looked.join(" or "))
    })
}

/// Where a trail or a folder that somebody names really lies, when they may have it read: what is wrong
/// with a file is told with its lines, so it has to be a trail by its name.
pub fn holds_trail(reach: &Reach, path: &Path) -> Option<PathBuf> {
    let path = reach.held(path)?;
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map(std::ffi::OsStr::to_string_lossy);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (path.is_dir() || discover::is_trail_file(folder.as_deref(), &name)).then_some(path)
}

/// Reads trails for trails that run trails.
pub struct Disk;

impl TrailLoader for Disk {
    fn load(
        &self,
        path: &str,
        folders: &[PathBuf],
        reach: Option<&Reach>,
    ) -> Result<Arc<Trail>, String> {
        let file = locate(path, folders, reach)?;
        let parsed = parse(&file).map_err(|error| {
            [vec![error.explanation.message], error.explanation.causes]
                .concat()
                .join(": ")
        })?;
        match parsed {
            Ok(parsed) => Ok(Arc::new(parsed.trail)),
            Err(mistakes) => Err(mistakes
                .iter()
                .filter(|mistake| mistake.is_error())
                .map(|mistake| mistake.render(false))
                .collect::<Vec<_>>()
                .join("\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_confined_runs_trails_of_the_folder_with_links_followed() {
        let around = tempfile::tempdir().unwrap();
        let (folder, beside) = (around.path().join("project"), around.path().join("beside"));
        for each in [&folder, &beside] {
            std::fs::create_dir(each).unwrap();
            std::fs::write(each.join("a.trail.yaml"), "secret: [\n").unwrap();
        }
        std::os::unix::fs::symlink(&beside, folder.join("out")).unwrap();
        let reach = Reach {
            folder: folder.clone(),
            ..Reach::default()
        };
        let folders = [folder.join("trails"), folder.clone(), beside.clone()];
        let whole = beside.join("a.trail.yaml").display().to_string();
        for path in ["../beside/a.trail.yaml", "out/a.trail.yaml", &whole] {
            let refused = Disk.load(path, &folders, Some(&reach)).unwrap_err();
            assert!(
                refused.starts_with(&format!("no trail {path} in ")),
                "{refused}"
            );
            assert!(
                refused.ends_with(&format!(" that lies in {}", folder.display())),
                "{refused}"
            );
            assert!(!refused.contains("secret"), "{refused}");
            let read = Disk.load(path, &folders, None).unwrap_err();
            assert!(read.contains("secret"), "{read}");
        }
        let found = |folders: &[PathBuf]| locate("a.trail.yaml", folders, Some(&reach));
        assert_eq!(found(&folders).unwrap(), folder.join("a.trail.yaml"));
        assert_eq!(
            found(&[beside.clone(), folder.clone()]).unwrap(),
            folder.join("a.trail.yaml")
        );
        assert!(found(std::slice::from_ref(&beside)).is_err());
        assert!(locate("a.trail.yaml", &[beside], None).is_ok());
    }
}
