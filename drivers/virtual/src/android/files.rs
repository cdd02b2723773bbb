//! A device's files: a fixed skeleton that all devices share, and what was written on top.
//!
//! Knows who may write where, and nothing of what commands do with files.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::android::blobs::Blob;
use crate::android::recorded;

/// The longest path, in bytes.
pub const MAX_PATH: usize = 1024;
/// The most files of one device beside the skeleton.
const MAX_FILES: usize = 20_000;
/// The most links that are followed for one path.
const MAX_LINKS: usize = 16;

/// The type bits of a mode.
pub const TYPE_BITS: u32 = 0o170_000;
/// A regular file.
pub const REGULAR: u32 = 0o100_000;
/// A directory.
pub const DIRECTORY: u32 = 0o040_000;
/// A symbolic link.
pub const LINK: u32 = 0o120_000;
/// A character device.
pub const DEVICE: u32 = 0o020_000;

/// Why a file operation failed: Linux' number for it, as sync answers carry it, and its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{1}")]
pub struct Errno(pub u32, &'static str);

impl Errno {
    pub const NO_ENTRY: Self = Self(2, "No such file or directory");
    pub const DENIED: Self = Self(13, "Permission denied");
    pub const EXISTS: Self = Self(17, "File exists");
    pub const NOT_DIRECTORY: Self = Self(20, "Not a directory");
    pub const IS_DIRECTORY: Self = Self(21, "Is a directory");
    pub const INVALID: Self = Self(22, "Invalid argument");
    pub const NO_SPACE: Self = Self(28, "No space left on device");
    pub const READ_ONLY: Self = Self(30, "Read-only file system");
    pub const NAME_TOO_LONG: Self = Self(36, "File name too long");
    pub const NOT_EMPTY: Self = Self(39, "Directory not empty");
    pub const TOO_MANY_LINKS: Self = Self(40, "Too many symbolic links encountered");
}

/// Who touches a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileUser {
    /// adb's own user.
    Shell,
    /// After `adb root`.
    Root,
    /// An app, as `run-as` is; it has its own directory.
    App(String),
}

impl FileUser {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Root => "root",
            Self::App(_) => "u0_a200",
        }
    }

    /// Its number.
    pub const fn uid(&self) -> u32 {
        match self {
            Self::Shell => 2000,
            Self::Root => 0,
            Self::App(_) => 10_200,
        }
    }

    fn owns(&self, path: &str) -> bool {
        match self {
            Self::Shell => false,
            Self::Root => true,
            Self::App(id) => is_under(path, &format!("/data/data/{id}")),
        }
    }
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Type and permissions.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Seconds since 1970.
    pub mtime: i64,
    /// Owner, which is its group too.
    pub uid: u32,
}

impl Meta {
    /// Whether it is a directory.
    pub const fn is_dir(&self) -> bool {
        self.mode & TYPE_BITS == DIRECTORY
    }
}

#[derive(Debug, Clone)]
enum Node {
    File {
        blob: Blob,
        mode: u32,
        mtime: i64,
    },
    Dir {
        mtime: i64,
    },
    Link {
        target: String,
    },
    /// Of the skeleton, by its mode and size: a device, or a file whose content is made up when
    /// it is read.
    Fixed(u32, u64),
}

/// What every phone has on its disks from the beginning.
static SKELETON: LazyLock<BTreeMap<String, Node>> = LazyLock::new(|| {
    let all = |paths: Vec<String>, node: Node| paths.into_iter().map(move |p| (p, node.clone()));
    let table = |name| recorded::table(name).map(str::to_owned).collect();
    let programs = crate::android::commands::names().map(|name| format!("/system/bin/{name}"));
    let made_up = recorded::files().map(str::to_owned).collect();
    let links = recorded::table("links").filter_map(|line| {
        let (path, target) = line.split_once(' ')?;
        let target = target.to_owned();
        Some((path.to_owned(), Node::Link { target }))
    });
    all(table("directories"), Node::Dir { mtime: BUILT })
        .chain(all(table("devices"), Node::Fixed(DEVICE | 0o666, 0)))
        .chain(all(made_up, Node::Fixed(REGULAR | 0o444, 0)))
        .chain(links)
        .chain(all(
            programs.collect(),
            Node::Fixed(REGULAR | 0o755, 68_936),
        ))
        .collect()
});

fn is_device(path: &str) -> bool {
    matches!(SKELETON.get(path), Some(Node::Fixed(mode, _)) if mode & TYPE_BITS == DEVICE)
}

/// The files of one device.
#[derive(Debug, Default)]
pub struct Files {
    written: BTreeMap<String, Node>,
    /// Whether `remount` made the system writable.
    pub remounted: bool,
}

/// Seconds since 1970 of everything in the skeleton: when the system was built.
const BUILT: i64 = 1_230_768_000;

/// Joins, then takes out `.`, `..` and doubled slashes.
fn clean(cwd: &str, path: &str) -> String {
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{cwd}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The directory something is in.
pub fn parent_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((parent, _)) => parent,
    }
}

/// The last part of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_under(path: &str, dir: &str) -> bool {
    path == dir || (path.strip_prefix(dir)).is_some_and(|rest| rest.starts_with('/'))
}

impl Files {
    /// The real path of `path`, links followed in all parts but, if `last` says so, the last.
    ///
    /// # Errors
    /// When it is too long or its links go in circles.
    pub fn resolve(&self, cwd: &str, path: &str, last: FinalLink) -> Result<String, Errno> {
        if path.len() > MAX_PATH || cwd.len() > MAX_PATH {
            return Err(Errno::NAME_TOO_LONG);
        }
        let mut path = clean(cwd, path);
        for _ in 0..MAX_LINKS {
            let Some((link, target)) = self.first_link(&path, last) else {
                return Ok(path);
            };
            let rest = &path[link.len()..];
            path = clean(parent_of(&link), &format!("{target}{rest}"));
            if path.len() > MAX_PATH {
                return Err(Errno::NAME_TOO_LONG);
            }
        }
        Err(Errno::TOO_MANY_LINKS)
    }

    /// The first part of `path` that is a link, and where it leads.
    fn first_link(&self, path: &str, last: FinalLink) -> Option<(String, String)> {
        let mut end = 1;
        while end <= path.len() {
            end = path[end..].find('/').map_or(path.len(), |i| end + i);
            if end == path.len() && last == FinalLink::Keep {
                return None;
            }
            let part = &path[..end];
            if let Some(target) = self.link_target(part) {
                return Some((part.to_owned(), target.to_owned()));
            }
            end += 1;
        }
        None
    }

    /// Where the link at this real path leads.
    pub fn link_target(&self, path: &str) -> Option<&str> {
        match self.node(path)? {
            Node::Link { target } => Some(target),
            Node::File { .. } | Node::Dir { .. } | Node::Fixed(..) => None,
        }
    }

    fn node(&self, path: &str) -> Option<&Node> {
        self.written.get(path).or_else(|| SKELETON.get(path))
    }

    /// What is known of the file at this real path.
    pub fn meta(&self, path: &str) -> Option<Meta> {
        let is_written = self.written.contains_key(path);
        let (mode, size, mtime) = match self.node(path)? {
            Node::File { blob, mode, mtime } => (REGULAR | mode, blob.length(), *mtime),
            Node::Dir { mtime } if is_written => (DIRECTORY | 0o775, 4096, *mtime),
            Node::Dir { mtime } if is_free(path) => (DIRECTORY | 0o771, 4096, *mtime),
            Node::Dir { mtime } => (DIRECTORY | 0o755, 4096, *mtime),
            Node::Link { target } => (LINK | 0o777, target.len() as u64, BUILT),
            Node::Fixed(mode, size) => (*mode, *size, BUILT),
        };
        // Of the skeleton, all but the directories are the system's.
        let uid = if is_written || mode & TYPE_BITS == DIRECTORY {
            owner_of(path)
        } else {
            0
        };
        Some(Meta {
            mode,
            size,
            mtime,
            uid,
        })
    }

    /// The names in the directory at this real path, in order.
    ///
    /// # Errors
    /// When it is no directory or may not be read.
    pub fn list(&self, path: &str, who: &FileUser) -> Result<Vec<String>, Errno> {
        let meta = self.meta(path).ok_or(Errno::NO_ENTRY)?;
        if !meta.is_dir() {
            return Err(Errno::NOT_DIRECTORY);
        }
        if !may_list(path, who) {
            return Err(Errno::DENIED);
        }
        let inside = if path == "/" {
            "/".to_owned()
        } else {
            format!("{path}/")
        };
        let children = |nodes: &BTreeMap<String, Node>| -> Vec<String> {
            let names = nodes.range(inside.clone()..);
            let names = names.map_while(|(path, _)| path.strip_prefix(&inside));
            let names = names.filter(|name| !name.is_empty() && !name.contains('/'));
            names.map(str::to_owned).collect()
        };
        let mut names = children(&self.written);
        names.extend(children(&SKELETON));
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The content of the file at this real path; `None` when the device makes it up.
    ///
    /// # Errors
    /// When there is none or it may not be read.
    pub fn content(&self, path: &str, who: &FileUser) -> Result<Option<Blob>, Errno> {
        if !may_read(path, who) {
            return Err(Errno::DENIED);
        }
        match self.node(path).ok_or(Errno::NO_ENTRY)? {
            Node::File { blob, .. } => Ok(Some(blob.clone())),
            Node::Fixed(..) => Ok(None),
            Node::Dir { .. } => Err(Errno::IS_DIRECTORY),
            Node::Link { .. } => Err(Errno::NO_ENTRY),
        }
    }

    /// Whether `who` may create or change the file at this real path.
    ///
    /// # Errors
    /// When not.
    pub fn may_write(&self, path: &str, who: &FileUser) -> Result<(), Errno> {
        if is_device(path) {
            return Ok(());
        }
        let system = !is_under(path, "/data") && !is_under(path, "/storage");
        let fixed = system && *who == FileUser::Root && !self.remounted;
        if is_free(path) || who.owns(path) && !fixed {
            Ok(())
        } else if system {
            Err(Errno::READ_ONLY)
        } else {
            Err(Errno::DENIED)
        }
    }

    /// Writes a file at this real path. Its directory must exist.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn write(
        &mut self,
        path: &str,
        blob: Blob,
        mode: u32,
        mtime: i64,
        who: &FileUser,
    ) -> Result<(), Errno> {
        if is_device(path) {
            return Ok(());
        }
        // The directory is looked up before anybody asks whether it may be written.
        match self.meta(parent_of(path)) {
            None => return Err(Errno::NO_ENTRY),
            Some(meta) if !meta.is_dir() => return Err(Errno::NOT_DIRECTORY),
            Some(_) => {}
        }
        self.may_write(path, who)?;
        self.needs_room(path)?;
        if self.meta(path).is_some_and(|meta| meta.is_dir()) {
            return Err(Errno::IS_DIRECTORY);
        }
        let mode = mode & 0o7777;
        self.written
            .insert(path.to_owned(), Node::File { blob, mode, mtime });
        Ok(())
    }

    /// Makes a directory at this real path, and with `parents` those it is in.
    ///
    /// # Errors
    /// When it is there already or cannot be made.
    pub fn make_dir(
        &mut self,
        path: &str,
        mtime: i64,
        parents: bool,
        who: &FileUser,
    ) -> Result<(), Errno> {
        match self.meta(path) {
            Some(meta) if meta.is_dir() && parents => return Ok(()),
            Some(_) => return Err(Errno::EXISTS),
            None => {}
        }
        self.may_write(path, who)?;
        self.needs_room(path)?;
        let above = parent_of(path).to_owned();
        match self.meta(&above) {
            Some(meta) if meta.is_dir() => {}
            Some(_) => return Err(Errno::NOT_DIRECTORY),
            None if parents => self.make_dir(&above, mtime, true, who)?,
            None => return Err(Errno::NO_ENTRY),
        }
        self.written.insert(path.to_owned(), Node::Dir { mtime });
        Ok(())
    }

    /// Makes a directory that belongs to the system itself, whoever may write there.
    pub fn make_system_dir(&mut self, path: &str, mtime: i64) {
        self.written.insert(path.to_owned(), Node::Dir { mtime });
    }

    /// Writes a file that belongs to the system itself, whoever may write there.
    pub fn write_system(&mut self, path: &str, blob: Blob, mtime: i64) {
        let mode = 0o644;
        self.written
            .insert(path.to_owned(), Node::File { blob, mode, mtime });
    }

    /// Makes a link at this real path.
    ///
    /// # Errors
    /// When something is there already or it cannot be made.
    pub fn make_link(&mut self, path: &str, target: &str, who: &FileUser) -> Result<(), Errno> {
        if self.meta(path).is_some() {
            return Err(Errno::EXISTS);
        }
        self.may_write(path, who)?;
        self.needs_room(path)?;
        let target = target.to_owned();
        self.written.insert(path.to_owned(), Node::Link { target });
        Ok(())
    }

    /// Removes what is at this real path; a directory must be empty unless `all`.
    ///
    /// # Errors
    /// When it is not there or cannot be removed.
    pub fn remove(&mut self, path: &str, all: bool, who: &FileUser) -> Result<(), Errno> {
        let meta = self.meta(path).ok_or(Errno::NO_ENTRY)?;
        self.may_write(path, who)?;
        if meta.is_dir() && !all && !self.list(path, &FileUser::Root)?.is_empty() {
            return Err(Errno::NOT_EMPTY);
        }
        let was_written = self.written.contains_key(path);
        self.remove_system(path);
        // What belongs to the skeleton stays, emptied.
        if was_written || all {
            Ok(())
        } else {
            Err(Errno::DENIED)
        }
    }

    /// Removes what is at this path, whoever may; nothing when nothing is there.
    pub fn remove_system(&mut self, path: &str) {
        self.written.retain(|written, _| !is_under(written, path));
    }

    /// Moves what is at the real path `from` to the real path `to`.
    ///
    /// # Errors
    /// When it is not there or cannot be moved there.
    pub fn rename(&mut self, from: &str, to: &str, who: &FileUser) -> Result<(), Errno> {
        self.meta(from).ok_or(Errno::NO_ENTRY)?;
        self.may_write(from, who)?;
        self.may_write(to, who)?;
        if is_under(to, from) && to != from {
            return Err(Errno::INVALID);
        }
        if !self.meta(parent_of(to)).is_some_and(|meta| meta.is_dir()) {
            return Err(Errno::NO_ENTRY);
        }
        let inside = |path: &String, _: &mut Node| is_under(path, from);
        let moved: Vec<_> = self.written.extract_if(from.to_owned().., inside).collect();
        for (old, node) in moved {
            self.written
                .insert(format!("{to}{}", &old[from.len()..]), node);
        }
        Ok(())
    }

    /// Changes the permissions of what is at this real path.
    ///
    /// # Errors
    /// When it is not there or may not be changed.
    pub fn set_mode(&mut self, path: &str, new: u32, who: &FileUser) -> Result<(), Errno> {
        self.meta(path).ok_or(Errno::NO_ENTRY)?;
        self.may_write(path, who)?;
        if let Some(Node::File { mode, .. }) = self.written.get_mut(path) {
            *mode = new & 0o7777;
        }
        Ok(())
    }

    fn needs_room(&self, path: &str) -> Result<(), Errno> {
        if path.len() > MAX_PATH {
            return Err(Errno::NAME_TOO_LONG);
        }
        if self.written.len() >= MAX_FILES && !self.written.contains_key(path) {
            return Err(Errno::NO_SPACE);
        }
        Ok(())
    }
}

/// Whether links are followed in the last part of a path too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalLink {
    /// They are.
    Follow,
    /// The last part may be a link itself.
    Keep,
}

/// Where adb's own user may write.
fn is_free(path: &str) -> bool {
    is_under(path, "/data/local/tmp") || is_under(path, "/storage/emulated/0")
}

fn owner_of(path: &str) -> u32 {
    if is_under(path, "/data/local/tmp") {
        2000
    } else if is_under(path, "/storage/emulated") {
        1015
    } else if is_under(path, "/data") {
        1000
    } else {
        0
    }
}

fn may_list(path: &str, who: &FileUser) -> bool {
    let own = *who == FileUser::Shell && is_under(path, "/data/local/tmp");
    who.owns(path) || own || !is_under(path, "/data")
}

/// Apps' packages can be read by everybody, their data by nobody else.
fn may_read(path: &str, who: &FileUser) -> bool {
    let secret = match who {
        FileUser::Shell => &["/data/data", "/data/user", "/data/misc"][..],
        FileUser::Root | FileUser::App(_) => &["/data/data"],
    };
    who.owns(path) || !secret.iter().any(|secret| is_under(path, secret))
}

#[cfg(test)]
mod tests;
