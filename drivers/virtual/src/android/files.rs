//! A device's files: a fixed skeleton that all devices share, and what was written on top.
//!
//! Knows who may write where, and nothing of what commands do with files.

use std::collections::BTreeMap;
use std::fmt;
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

/// Why a file operation failed, with Linux' numbers and words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errno {
    NoEntry,
    Denied,
    Exists,
    NotDirectory,
    IsDirectory,
    NoSpace,
    ReadOnly,
    NotEmpty,
    NameTooLong,
    TooManyLinks,
    Invalid,
}

impl Errno {
    /// Linux' number, as sync answers carry it, and its words.
    const fn parts(self) -> (u32, &'static str) {
        match self {
            Self::NoEntry => (2, "No such file or directory"),
            Self::Denied => (13, "Permission denied"),
            Self::Exists => (17, "File exists"),
            Self::NotDirectory => (20, "Not a directory"),
            Self::IsDirectory => (21, "Is a directory"),
            Self::Invalid => (22, "Invalid argument"),
            Self::NoSpace => (28, "No space left on device"),
            Self::ReadOnly => (30, "Read-only file system"),
            Self::NameTooLong => (36, "File name too long"),
            Self::NotEmpty => (39, "Directory not empty"),
            Self::TooManyLinks => (40, "Too many symbolic links encountered"),
        }
    }

    /// Linux' number.
    pub const fn number(self) -> u32 {
        self.parts().0
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.parts().1)
    }
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
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Meta {
    /// Whether it is a directory.
    pub const fn is_dir(&self) -> bool {
        self.mode & TYPE_BITS == DIRECTORY
    }
}

#[derive(Debug, Clone)]
enum Node {
    File { blob: Blob, mode: u32, mtime: i64 },
    Dir { mtime: i64 },
    Link { target: String },
}

/// What every phone has on its disks from the beginning.
enum Fixed {
    Dir,
    Link(&'static str),
    Device,
    /// A file whose content the device makes up when it is read.
    MadeUp,
    Program,
}

static SKELETON: LazyLock<BTreeMap<String, Fixed>> = LazyLock::new(|| {
    let owned = |path: &str| path.to_owned();
    let dirs = recorded::table("directories").map(|path| (owned(path), Fixed::Dir));
    let devices = recorded::table("devices").map(|path| (owned(path), Fixed::Device));
    let made_up = recorded::files().map(|path| (owned(path), Fixed::MadeUp));
    let links = recorded::table("links").filter_map(|line| {
        let (path, target) = line.split_once(' ')?;
        Some((owned(path), Fixed::Link(target)))
    });
    let programs = crate::android::commands::names();
    let programs = programs.map(|name| (format!("/system/bin/{name}"), Fixed::Program));
    (dirs.chain(devices).chain(made_up).chain(links))
        .chain(programs)
        .collect()
});

fn is_device(path: &str) -> bool {
    matches!(SKELETON.get(path), Some(Fixed::Device))
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
            return Err(Errno::NameTooLong);
        }
        let mut path = clean(cwd, path);
        for _ in 0..MAX_LINKS {
            let Some((link, target)) = self.first_link(&path, last) else {
                return Ok(path);
            };
            let rest = &path[link.len()..];
            path = clean(parent_of(&link), &format!("{target}{rest}"));
            if path.len() > MAX_PATH {
                return Err(Errno::NameTooLong);
            }
        }
        Err(Errno::TooManyLinks)
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
        match self.written.get(path) {
            Some(Node::Link { target }) => Some(target),
            Some(Node::File { .. } | Node::Dir { .. }) => None,
            None => match SKELETON.get(path)? {
                Fixed::Link(target) => Some(target),
                Fixed::Dir | Fixed::Device | Fixed::MadeUp | Fixed::Program => None,
            },
        }
    }

    /// What is known of the file at this real path.
    pub fn meta(&self, path: &str) -> Option<Meta> {
        let meta = |mode, size, mtime, uid| Meta {
            mode,
            size,
            mtime,
            uid,
            gid: uid,
        };
        let mine = owner_of(path);
        match self.written.get(path) {
            Some(Node::File { blob, mode, mtime }) => {
                return Some(meta(REGULAR | (mode & 0o7777), blob.length(), *mtime, mine));
            }
            Some(Node::Dir { mtime }) => return Some(meta(DIRECTORY | 0o775, 4096, *mtime, mine)),
            Some(Node::Link { target }) => {
                return Some(meta(LINK | 0o777, target.len() as u64, BUILT, mine));
            }
            None => {}
        }
        let is_free = is_under(path, "/data/local/tmp") || is_under(path, "/storage/emulated/0");
        Some(match SKELETON.get(path)? {
            Fixed::Dir => meta(
                DIRECTORY | if is_free { 0o771 } else { 0o755 },
                4096,
                BUILT,
                mine,
            ),
            Fixed::Link(target) => meta(LINK | 0o777, target.len() as u64, BUILT, 0),
            Fixed::Device => meta(DEVICE | 0o666, 0, BUILT, 0),
            Fixed::MadeUp => meta(REGULAR | 0o444, 0, BUILT, 0),
            Fixed::Program => meta(REGULAR | 0o755, 68_936, BUILT, 0),
        })
    }

    /// The names in the directory at this real path, in order.
    ///
    /// # Errors
    /// When it is no directory or may not be read.
    pub fn list(&self, path: &str, who: &FileUser) -> Result<Vec<String>, Errno> {
        let meta = self.meta(path).ok_or(Errno::NoEntry)?;
        if !meta.is_dir() {
            return Err(Errno::NotDirectory);
        }
        if !may_list(path, who) {
            return Err(Errno::Denied);
        }
        let inside = if path == "/" {
            "/".to_owned()
        } else {
            format!("{path}/")
        };
        let child = |path: &str| {
            let name = path.strip_prefix(&inside)?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        let written = self.written.range(inside.clone()..).map(|(p, _)| p);
        let fixed = SKELETON.range(inside.clone()..).map(|(p, _)| p);
        let written = written.take_while(|p| p.starts_with(&inside));
        let fixed = fixed.take_while(|p| p.starts_with(&inside));
        let mut names: Vec<String> = written.chain(fixed).filter_map(|p| child(p)).collect();
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
            return Err(Errno::Denied);
        }
        match self.written.get(path) {
            Some(Node::File { blob, .. }) => Ok(Some(blob.clone())),
            Some(Node::Dir { .. }) => Err(Errno::IsDirectory),
            Some(Node::Link { .. }) => Err(Errno::NoEntry),
            None => match self.meta(path) {
                None => Err(Errno::NoEntry),
                Some(meta) if meta.is_dir() => Err(Errno::IsDirectory),
                Some(_) => Ok(None),
            },
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
        let free = is_under(path, "/data/local/tmp") || is_under(path, "/storage/emulated/0");
        let own = match who {
            FileUser::App(id) => is_under(path, &format!("/data/data/{id}")),
            FileUser::Root => !system || self.remounted,
            FileUser::Shell => false,
        };
        if free || own {
            Ok(())
        } else if system {
            Err(Errno::ReadOnly)
        } else {
            Err(Errno::Denied)
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
            None => return Err(Errno::NoEntry),
            Some(meta) if !meta.is_dir() => return Err(Errno::NotDirectory),
            Some(_) => {}
        }
        self.may_write(path, who)?;
        self.needs_room(path)?;
        if self.meta(path).is_some_and(|meta| meta.is_dir()) {
            return Err(Errno::IsDirectory);
        }
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
            Some(_) => return Err(Errno::Exists),
            None => {}
        }
        self.may_write(path, who)?;
        self.needs_room(path)?;
        let above = parent_of(path).to_owned();
        match self.meta(&above) {
            Some(meta) if meta.is_dir() => {}
            Some(_) => return Err(Errno::NotDirectory),
            None if parents => self.make_dir(&above, mtime, true, who)?,
            None => return Err(Errno::NoEntry),
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
            return Err(Errno::Exists);
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
        let meta = self.meta(path).ok_or(Errno::NoEntry)?;
        self.may_write(path, who)?;
        let inside = format!("{path}/");
        let children: Vec<String> = (self.written.range(inside.clone()..))
            .map(|(p, _)| p.clone())
            .take_while(|p| p.starts_with(&inside))
            .collect();
        if meta.is_dir() && !all && !self.list(path, &FileUser::Root)?.is_empty() {
            return Err(Errno::NotEmpty);
        }
        for child in children {
            self.written.remove(&child);
        }
        match self.written.remove(path) {
            Some(_) => Ok(()),
            // What belongs to the skeleton stays, emptied.
            None if all => Ok(()),
            None => Err(Errno::Denied),
        }
    }

    /// Removes what is at this path, whoever may; nothing when nothing is there.
    pub fn remove_system(&mut self, path: &str) {
        let inside = format!("{path}/");
        self.written
            .retain(|p, _| p != path && !p.starts_with(&inside));
    }

    /// Moves what is at the real path `from` to the real path `to`.
    ///
    /// # Errors
    /// When it is not there or cannot be moved there.
    pub fn rename(&mut self, from: &str, to: &str, who: &FileUser) -> Result<(), Errno> {
        self.meta(from).ok_or(Errno::NoEntry)?;
        self.may_write(from, who)?;
        self.may_write(to, who)?;
        if is_under(to, from) && to != from {
            return Err(Errno::Invalid);
        }
        if !self.meta(parent_of(to)).is_some_and(|meta| meta.is_dir()) {
            return Err(Errno::NoEntry);
        }
        let inside = format!("{from}/");
        let moved: Vec<String> = (self.written.range(from.to_owned()..))
            .map(|(p, _)| p.clone())
            .take_while(|p| p == from || p.starts_with(from))
            .filter(|p| p == from || p.starts_with(&inside))
            .collect();
        for old in moved {
            if let Some(node) = self.written.remove(&old) {
                self.written
                    .insert(format!("{to}{}", &old[from.len()..]), node);
            }
        }
        Ok(())
    }

    /// Changes the permissions of what is at this real path.
    ///
    /// # Errors
    /// When it is not there or may not be changed.
    pub fn set_mode(&mut self, path: &str, new: u32, who: &FileUser) -> Result<(), Errno> {
        self.meta(path).ok_or(Errno::NoEntry)?;
        self.may_write(path, who)?;
        if let Some(Node::File { mode, .. }) = self.written.get_mut(path) {
            *mode = new & 0o7777;
        }
        Ok(())
    }

    fn needs_room(&self, path: &str) -> Result<(), Errno> {
        if path.len() > MAX_PATH {
            return Err(Errno::NameTooLong);
        }
        if self.written.len() >= MAX_FILES && !self.written.contains_key(path) {
            return Err(Errno::NoSpace);
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
    match who {
        FileUser::Root => true,
        FileUser::App(id) => {
            is_under(path, &format!("/data/data/{id}")) || !is_under(path, "/data")
        }
        FileUser::Shell => !is_under(path, "/data") || is_under(path, "/data/local/tmp"),
    }
}

fn may_read(path: &str, who: &FileUser) -> bool {
    match who {
        FileUser::Root => true,
        FileUser::App(id) => {
            is_under(path, &format!("/data/data/{id}")) || !is_under(path, "/data/data")
        }
        // Apps' packages can be read by everybody, their data by nobody else.
        FileUser::Shell => {
            !is_under(path, "/data/data")
                && !is_under(path, "/data/user")
                && !is_under(path, "/data/misc")
        }
    }
}

#[cfg(test)]
mod tests;
