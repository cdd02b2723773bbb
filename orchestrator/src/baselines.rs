//! Baselines in the project: `trails/<name>.baseline/<step>/<key>.webp`, its tree beside it, and
//! `baseline.json`, which says what they are. Never outside of the folder of the trail.

pub(crate) mod of_run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use packtrain_compare::picture::Picture;
use packtrain_compare::runs::approve::Approval;
use packtrain_compare::runs::{Approved, Baselines, Entry, Stored};
use packtrain_model::screen::ScreenTree;
use serde::{Deserialize, Serialize};

use crate::exit::{CliError, OrCliError as _};
use crate::run_files;

/// The file of a step.
const FILE: &str = "baseline.json";
/// The version of that file.
const SCHEMA_VERSION: u32 = 1;
/// No file of a baseline is larger, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Baselines below a working directory, by trail.
pub(crate) struct Kept {
    /// The working directory of the runs.
    root: PathBuf,
    /// The files of steps that were read, by their folder.
    read: BTreeMap<PathBuf, Result<Option<Step>, String>>,
}

/// `baseline.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    schema_version: u32,
    /// The step's words.
    step: String,
    /// By the cells' keys.
    screens: BTreeMap<String, Entry>,
}

impl Kept {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            read: BTreeMap::new(),
        }
    }

    /// The folder of a trail's baselines. The path comes from a journal, which may come from anywhere.
    fn folder(&self, trail: &str) -> Result<PathBuf, String> {
        let path = Path::new(trail);
        let outside = || format!("{trail} is outside {}", self.root.display());
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(outside());
        }
        let path = self.root.join(path);
        let is_file = path.metadata().is_ok_and(|about| about.is_file());
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(name), Some(parent), true) = (name, path.parent(), is_file) else {
            return Err(format!(
                "trail {trail} not found here; use the folder where the run was started"
            ));
        };
        let said = |error: std::io::Error| format!("{trail}: {error}");
        let real = |path: &Path| path.canonicalize().map_err(said);
        let parent = real(parent)?;
        if !parent.starts_with(real(&self.root)?) {
            return Err(outside());
        }
        let endings = [".trail.yaml", ".yaml", ".yml"];
        let short = endings.iter().find_map(|ending| name.strip_suffix(ending));
        let Some(short) = short.filter(|short| !short.is_empty()) else {
            return Err(format!("{trail} is not named like a trail"));
        };
        // As the project calls it, not as the disk does.
        let folder = path.with_file_name(format!("{short}.baseline"));
        no_link(&folder)?;
        Ok(folder)
    }

    fn step(&mut self, folder: &Path) -> Result<Option<Step>, String> {
        if let Some(known) = self.read.get(folder) {
            return known.clone();
        }
        let read = read_step(folder);
        self.read.insert(folder.to_owned(), read.clone());
        read
    }

    fn approved(&mut self, trail: &str, step: &str, key: &str) -> Result<Option<Approved>, String> {
        let folder = self.folder(trail)?.join(step);
        let step = self.step(&folder)?;
        let Some(entry) = step.and_then(|step| step.screens.get(key).cloned()) else {
            return Ok(None);
        };
        let there = |path: &Path| content(path)?.ok_or_else(|| said(path, &"is not there"));
        let path = folder.join(format!("{key}.webp"));
        let picture = Picture::from_webp(&there(&path)?).map_err(|error| said(&path, &error))?;
        if picture.digest() != entry.picture {
            return Err(said(&path, &"does not match baseline.json"));
        }
        let tree = match entry.tree {
            None => None,
            Some(_) => {
                let path = folder.join(format!("{key}.json"));
                let tree = serde_json::from_slice(&there(&path)?);
                let tree: ScreenTree = tree.map_err(|error| said(&path, &error))?;
                Some(Arc::new(tree))
            }
        };
        Ok(Some(Approved {
            entry,
            picture,
            tree,
        }))
    }

    /// An approved picture as its file has it, with a name that no other picture has.
    fn picture(&mut self, trail: &str, step: &str, key: &str) -> Option<(String, Vec<u8>)> {
        let folder = self.folder(trail).ok()?.join(step);
        let entry = self.step(&folder).ok()??.screens.get(key)?.clone();
        let bytes = content(&folder.join(format!("{key}.webp"))).ok()??;
        is_plain(&entry.picture).then_some((entry.picture, bytes))
    }

    /// Writes a baseline.
    pub(crate) fn write(&mut self, approval: &Approval) -> Result<(), CliError> {
        let folder = self.place(approval).map_err(CliError::infrastructure)?;
        let refused = format!("cannot write {}", folder.display());
        fs::create_dir_all(&folder).or_infrastructure(&refused)?;
        let (key, file) = (&approval.key, folder.join(FILE));
        let put = |path: PathBuf, bytes: &[u8]| {
            no_link(&path).map_err(CliError::infrastructure)?;
            run_files::replace(&path, bytes)
                .or_infrastructure(format_args!("cannot write {}", path.display()))
        };
        let webp = approval.picture.to_webp().or_infrastructure(&refused)?;
        put(folder.join(format!("{key}.webp")), &webp)?;
        if let Some(tree) = &approval.tree {
            let json = lines(tree).or_infrastructure(&refused)?;
            put(folder.join(format!("{key}.json")), json.as_bytes())?;
        }
        // What says that they are there comes last.
        let known = read_step(&folder).map_err(CliError::infrastructure)?;
        let mut step = known.unwrap_or_default();
        step.schema_version = SCHEMA_VERSION;
        step.step.clone_from(&approval.text);
        step.screens.insert(key.clone(), approval.entry.clone());
        put(file, pretty(&step).as_bytes())?;
        self.read.remove(&folder);
        Ok(())
    }

    /// A path as seen from the working directory.
    pub(crate) fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Where a baseline is written; nothing is.
    pub(crate) fn place(&self, approval: &Approval) -> Result<PathBuf, String> {
        let folder = self.folder(&approval.path)?.join(&approval.step_id);
        no_link(&folder)?;
        Ok(folder)
    }

    /// Baselines of steps and cells that a run does not have, each as its files. A step's whole folder
    /// stands for all of its cells.
    pub(crate) fn stale(
        &self,
        trail: &str,
        known: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<Vec<Stale>, String> {
        let folder = self.folder(trail)?;
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(said(&folder, &error)),
        };
        let mut stale = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            // What is not a baseline is not ours.
            if !is_folder || !path.join(FILE).is_file() {
                continue;
            }
            let Some(step) = read_step(&path)? else {
                continue;
            };
            let keys = known.get(&name);
            let gone = step.screens.into_keys();
            let gone = gone.filter(|key| keys.is_none_or(|keys| !keys.contains(key)));
            stale.extend(gone.map(|key| Stale {
                folder: path.clone(),
                key,
                has_step: keys.is_some(),
            }));
        }
        stale.sort();
        Ok(stale)
    }

    /// Removes a baseline; of a step, too, when that was its last one.
    pub(crate) fn remove(&mut self, stale: &Stale) -> Result<(), CliError> {
        let known = read_step(&stale.folder).map_err(CliError::infrastructure)?;
        let mut step = known.unwrap_or_default();
        step.screens.remove(&stale.key);
        let remove = |name: &str| match fs::remove_file(stale.folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        let remove_all = || {
            if step.screens.is_empty() {
                remove(FILE)?;
            } else {
                fs::write(stale.folder.join(FILE), pretty(&step))?;
            }
            if is_plain(&stale.key) {
                remove(&format!("{}.webp", stale.key))?;
                remove(&format!("{}.json", stale.key))?;
            }
            Ok::<_, std::io::Error>(())
        };
        remove_all().or_infrastructure(format_args!("cannot remove {}", stale.path().display()))?;
        // What somebody else put there stays.
        let _ = fs::remove_dir(&stale.folder);
        self.read.remove(&stale.folder);
        Ok(())
    }
}

/// A baseline of a step or a cell that is no more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stale {
    folder: PathBuf,
    key: String,
    /// Whether the step is still there, and only the run does not have the cell.
    pub(crate) has_step: bool,
}

impl Stale {
    /// Its files without their endings.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(&self.key)
    }
}

impl Baselines for Kept {
    fn get(&mut self, trail: &str, step: &str, key: &str) -> Stored {
        match self.approved(trail, step, key) {
            Ok(None) => Stored::Missing,
            Ok(Some(approved)) => Stored::Approved(Box::new(approved)),
            Err(why) => Stored::Unreadable(format!("the baseline cannot be read: {why}")),
        }
    }
}

fn read_step(folder: &Path) -> Result<Option<Step>, String> {
    no_link(folder)?;
    let path = folder.join(FILE);
    let Some(bytes) = content(&path)? else {
        return Ok(None);
    };
    let step: Step = serde_json::from_slice(&bytes).map_err(|error| said(&path, &error))?;
    match step.schema_version {
        SCHEMA_VERSION => Ok(Some(step)),
        other => Err(said(
            &path,
            &format_args!("has version {other}; this program reads version 1"),
        )),
    }
}

fn said(path: &Path, what: &dyn std::fmt::Display) -> String {
    format!("{}: {what}", path.display())
}

/// A file's content; `None` when there is none.
fn content(path: &Path) -> Result<Option<Vec<u8>>, String> {
    no_link(path)?;
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if ErrorKind::NotFound == std::io::Error::kind(&error) => Ok(None),
        Err(error) => Err(said(path, &error)),
    }
}

/// A link may lead anywhere.
fn no_link(path: &Path) -> Result<(), String> {
    match path.symlink_metadata() {
        Ok(about) if about.is_symlink() => Err(format!("{} is a link", path.display())),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether a key is the name of a file and of nothing else: `baseline.json` may say anything.
fn is_plain(key: &str) -> bool {
    let mut parts = Path::new(key).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == key)
}

fn pretty(step: &Step) -> String {
    let text = serde_json::to_string_pretty(step).unwrap_or_default();
    format!("{text}\n")
}

/// A tree as JSON with a line for each node, so that git shows which one changed.
fn lines(tree: &ScreenTree) -> serde_json::Result<String> {
    let head = serde_json::to_string(&ScreenTree {
        nodes: Vec::new(),
        ..tree.clone()
    })?;
    let nodes = tree.nodes.iter().map(serde_json::to_string);
    let nodes = nodes.collect::<serde_json::Result<Vec<_>>>()?.join(",\n");
    let head = head.strip_suffix("[]}").unwrap_or_default();
    Ok(format!("{head}[\n{nodes}\n]}}\n"))
}
