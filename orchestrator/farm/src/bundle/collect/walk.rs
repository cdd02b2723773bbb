//! Walks through folders: a project as git sees it, and what is named in spite of that.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};
use packtrain_model::discover;

use super::{CollectError, Found};

/// Folders that are made from what is in the project, whatever .gitignore says.
const MADE: [&str; 2] = ["node_modules", "__pycache__"];
/// Beside one of these, a folder `target` is what a build made.
const BUILDS: [&str; 3] = ["Cargo.toml", "pom.xml", "build.sbt"];
/// What marks a folder as made: a virtual environment, a cache.
const MARKS: [&str; 2] = ["pyvenv.cfg", "CACHEDIR.TAG"];

/// Whether a file is a trail by its name.
pub(super) fn is_trail(path: &Path) -> bool {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let folder = path.parent().and_then(name);
    name(path).is_some_and(|file| discover::is_trail_file(folder.as_deref(), &file))
}

/// The files of a project: those that git would see, without hidden ones and without `left_out`.
pub(super) fn walk_project(
    root: &Path,
    left_out: BTreeSet<PathBuf>,
) -> Result<Vec<Found>, CollectError> {
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(true)
        .ignore(false)
        .require_git(false)
        .filter_entry(move |entry| !left_out.contains(entry.path()) && !is_made(entry));
    finish(root, &walk)
}

/// The files of a project that match any of these patterns, whatever else would keep them out.
pub(super) fn walk_included(root: &Path, patterns: &[String]) -> Result<Vec<Found>, CollectError> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |error: ignore::Error| CollectError::Pattern(error.to_string());
    let mut wanted = OverrideBuilder::new(root);
    for pattern in patterns {
        wanted.add(pattern).map_err(wrong)?;
    }
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .overrides(wanted.build().map_err(wrong)?)
        .filter_entry(|entry| entry.file_name() != ".git");
    finish(root, &walk)
}

/// All files of a folder.
pub(super) fn walk_all(folder: &Path) -> Result<Vec<Found>, CollectError> {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(false);
    // A folder that was named by way of a link is where it leads.
    let real = std::fs::canonicalize(folder);
    finish(
        &real.map_err(|error| CollectError::unreadable(folder, error))?,
        &walk,
    )
}

/// Whether what is in a folder is made from the rest of the project.
fn is_made(entry: &DirEntry) -> bool {
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    if !is_folder || entry.depth() == 0 {
        return false;
    }
    let folder = entry.path();
    let name = entry.file_name().to_string_lossy();
    let beside = |file: &&str| {
        let parent = folder.parent();
        parent.is_some_and(|parent| parent.join(file).is_file())
    };
    MADE.contains(&name.as_ref())
        || (name == "target" && BUILDS.iter().any(beside))
        || MARKS.iter().any(|mark| folder.join(mark).is_file())
}

/// Links become what they lead to: a file is copied, a folder's files are there twice.
fn finish(root: &Path, walk: &WalkBuilder) -> Result<Vec<Found>, CollectError> {
    let (mut files, mut links) = (Vec::new(), Vec::new());
    for entry in walk.build() {
        let entry = entry.map_err(|error| {
            let path = root.to_owned();
            let source = error
                .into_io_error()
                .unwrap_or_else(|| std::io::Error::other("a folder leads into itself"));
            CollectError::Unreadable { path, source }
        })?;
        let (Some(kind), true) = (entry.file_type(), entry.depth() > 0) else {
            continue;
        };
        let path = below(root, entry.path())?;
        if kind.is_symlink() {
            links.push((path, entry.into_path()));
        } else if kind.is_file() {
            files.push(Found {
                path,
                source: entry.into_path(),
            });
        }
    }
    let mut linked = Vec::new();
    for (path, link) in links {
        // What leads nowhere is of no use there either.
        let Ok(target) = std::fs::canonicalize(&link) else {
            continue;
        };
        let Ok(inside) = target.strip_prefix(root) else {
            return Err(CollectError::LeadsOut { link, target });
        };
        if target.is_file() {
            linked.push(Found {
                path,
                source: target,
            });
            continue;
        }
        // Not what a link leads to that is in it: it may be this one.
        let all = files.iter().filter_map(|file| {
            let rest = file.path.strip_prefix(inside).ok()?;
            Some(Found {
                path: path.join(rest),
                source: file.source.clone(),
            })
        });
        linked.extend(all);
    }
    files.extend(linked);
    Ok(files)
}

fn below(root: &Path, path: &Path) -> Result<PathBuf, CollectError> {
    path.strip_prefix(root)
        .map(Path::to_owned)
        .map_err(|_| CollectError::Unnameable(path.to_owned()))
}
