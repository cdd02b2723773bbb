//! What there is in folders: taken down once, and compared with what there is later. Whatever its name,
//! depth or number, a file that is another one is seen, also when its length and its times are as before.
//! It knows nothing of who reads the files.

#[cfg(target_os = "linux")]
mod watch;
/// Elsewhere events come late, so it checks each time.
#[cfg(not(target_os = "linux"))]
mod watch {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    pub(crate) enum Watch {}

    impl Watch {
        pub(crate) const fn new() -> Option<Self> {
            None
        }

        pub(crate) const fn add(&mut self, _: &Path) -> bool {
            match *self {}
        }

        pub(crate) const fn is_quiet(&mut self) -> bool {
            match *self {}
        }

        pub(crate) const fn note_reads(&mut self, _: &[PathBuf]) {
            match *self {}
        }

        pub(crate) const fn reads(&mut self) -> Option<&mut HashSet<PathBuf>> {
            match *self {}
        }

        pub(crate) const fn is_unread(&self, _: &Path) -> bool {
            match *self {}
        }
    }
}

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use self::watch::Watch;

/// Folders of what is installed or made, and of histories: what is in them changes with files outside.
const LEFT_OUT: [&str; 5] = [
    ".git",
    "__pycache__",
    "node_modules",
    "site-packages",
    "target",
];
/// The most that is kept of. Where there is more it is not known whether anything has changed.
const MAX_ENTRIES: usize = 100_000;
/// A file may be written again so soon after it was written without its times telling.
const CLOCK_STEP: Duration = Duration::from_secs(2);
/// The largest file whose bytes are looked at when its times may not tell.
const MAX_CONTENT: u64 = 1024 * 1024;

/// Which file it is and when it was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    is_folder: bool,
    /// Bytes and times, of what is not a folder.
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What is known of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// They are other ones only if the stamp is.
    ByStamp,
    /// The file was written just now: this is what was in it.
    Hash(u64),
    /// The file was written just now, and is large.
    Unknown,
    /// It is unread, and it is not read here: that would be reported as a read.
    Unread,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    stamp: Stamp,
    /// When the system noted a change; this cannot be set back.
    changed_at: Option<SystemTime>,
    content: Content,
}

/// A file that is not what it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: PathBuf,
    /// When it was changed last; `None` when it is gone, or that is not known.
    pub(crate) at: Option<SystemTime>,
    /// Whether it was not there before.
    pub(crate) is_new: bool,
}

/// What there was in folders at a moment.
pub(crate) struct Files {
    roots: Vec<PathBuf>,
    /// Folders that Packtrain itself writes to.
    own: Vec<PathBuf>,
    found: Found,
    watch: Option<Watch>,
}

#[derive(Default)]
struct Found {
    entries: BTreeMap<PathBuf, Entry>,
    /// What may change or be read without its folder being told: links, files of several names, the
    /// roots, and what is in a folder that came later.
    elsewhere: Vec<PathBuf>,
    /// Whether there was more than is kept of, or may be looked at.
    is_cut_off: bool,
}

impl Files {
    /// Takes down what there is in these files and folders, links followed, but for Packtrain's `own`
    /// folders and what is installed. Blocks.
    pub(crate) fn take(mut roots: Vec<PathBuf>, own: Vec<PathBuf>) -> Self {
        roots.sort();
        roots.dedup();
        let mut files = Self {
            roots,
            own,
            found: Found::default(),
            watch: Watch::new(),
        };
        files.found = files.look();
        if let Some(watch) = &mut files.watch {
            watch.note_reads(&files.found.elsewhere);
        }
        files
    }

    /// What may have been read by anybody since it was taken down, and the kinds of what was; `None` when
    /// the system does not tell.
    pub(crate) fn reads(&mut self) -> Option<&HashSet<PathBuf>> {
        let reads = self.watch.as_mut()?.reads()?;
        reads.extend(self.found.elsewhere.iter().cloned());
        Some(reads)
    }

    /// What is not as it was; `None` when that cannot be known. Blocks.
    pub(crate) fn differences(&mut self) -> Option<Vec<Difference>> {
        if self.found.is_cut_off {
            return None;
        }
        if self.is_quiet() {
            return Some(Vec::new());
        }
        let now = self.look();
        if now.is_cut_off {
            return None;
        }
        let differences = self.found.differences(&now);
        self.found = now;
        Some(differences)
    }

    /// Whether nothing can have changed.
    fn is_quiet(&mut self) -> bool {
        self.watch.as_mut().is_some_and(Watch::is_quiet) && self.found.is_same_elsewhere()
    }

    fn look(&mut self) -> Found {
        let mut looking = Looking {
            own: (self.own.iter())
                .filter_map(|own| fs::metadata(own).ok())
                .map(|about| id(&about))
                .collect(),
            folders: HashSet::new(),
            left: Vec::new(),
            found: Found::default(),
            watch: self.watch.as_mut(),
        };
        for root in &self.roots {
            looking.root(root);
        }
        looking.found
    }
}

impl Found {
    fn differences(&self, now: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (path, was) in &self.entries {
            let is = now.entries.get(path);
            // Folders are what is in them.
            let are_folders = was.is_folder() && is.is_none_or(Entry::is_folder);
            if !are_folders && !is.is_some_and(|is| was.is_same(is, path)) {
                differences.push(Difference {
                    path: path.clone(),
                    at: is.and_then(|is| is.changed_at),
                    is_new: false,
                });
            }
        }
        for (path, is) in &now.entries {
            if !is.is_folder() && !self.entries.contains_key(path) {
                differences.push(Difference {
                    path: path.clone(),
                    at: is.changed_at,
                    is_new: true,
                });
            }
        }
        differences
    }

    fn is_same_elsewhere(&self) -> bool {
        self.elsewhere.iter().all(|path| {
            let was = self.entries.get(path);
            let is = Stamp::of(fs::metadata(path).ok().as_ref());
            was.is_some_and(|was| was.stamp == is && was.content == Content::ByStamp)
        })
    }
}

impl Entry {
    fn new(path: &Path, about: Option<&Metadata>, is_unread: bool) -> Self {
        let stamp = Stamp::of(about);
        let changed_at = about.and_then(changed_at);
        let is_fresh = changed_at.is_none_or(|at| {
            let age = SystemTime::now().duration_since(at);
            age.map_or(true, |age| age < CLOCK_STEP)
        });
        // What has no bytes cannot have other ones. Special files are not read.
        let is_doubtful = is_fresh && stamp.length > 0 && about.is_some_and(Metadata::is_file);
        let content = match is_doubtful {
            _ if is_unread => Content::Unread,
            true => content(path, stamp.length),
            false => Content::ByStamp,
        };
        Self {
            stamp,
            changed_at,
            content,
        }
    }

    const fn is_folder(&self) -> bool {
        self.stamp.is_folder
    }

    fn is_same(&self, now: &Self, path: &Path) -> bool {
        self.stamp == now.stamp
            && match (self.content, now.content) {
                (Content::ByStamp | Content::Unread, _) | (_, Content::Unread) => true,
                (Content::Unknown, _) => false,
                (was, Content::ByStamp) => was == content(path, now.stamp.length),
                (was, is) => was == is,
            }
    }
}

impl Stamp {
    /// Of what is not there, or may not be looked at, there is none.
    fn of(about: Option<&Metadata>) -> Self {
        let Some(about) = about else {
            return Self::default();
        };
        let mut stamp = Self {
            device: about.dev(),
            inode: about.ino(),
            mode: about.mode(),
            is_folder: about.is_dir(),
            ..Self::default()
        };
        // Of a folder, what is in it tells.
        if !stamp.is_folder {
            stamp.length = about.len();
            stamp.modified = (about.mtime(), about.mtime_nsec());
            stamp.changed = (about.ctime(), about.ctime_nsec());
        }
        stamp
    }
}

fn changed_at(about: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(about.ctime()).ok()?;
    let nanos = u32::try_from(about.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

fn id(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// What stands for all files of one folder and ending.
pub(crate) fn kind(path: &Path) -> PathBuf {
    let ending = path.extension().unwrap_or_default();
    path.with_file_name("*").with_extension(ending)
}

fn content(path: &Path, length: u64) -> Content {
    if length > MAX_CONTENT {
        return Content::Unknown;
    }
    let Ok(bytes) = fs::read(path) else {
        return Content::Unknown;
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Content::Hash(hasher.finish())
}

/// One look through all folders.
struct Looking<'a> {
    own: HashSet<(u64, u64)>,
    /// Those that were seen: links may lead in circles.
    folders: HashSet<(u64, u64)>,
    left: Vec<PathBuf>,
    found: Found,
    watch: Option<&'a mut Watch>,
}

impl Looking<'_> {
    fn root(&mut self, root: &Path) {
        // Without a given folder it is the whole computer.
        if root.parent().is_none() {
            self.found.is_cut_off = true;
            return;
        }
        self.found.elsewhere.push(root.to_owned());
        self.take_down(root.to_owned(), fs::metadata(root).ok());
        while let Some(folder) = self.left.pop() {
            self.folder(&folder);
        }
    }

    fn folder(&mut self, folder: &Path) {
        // Before it is read: later changes are reported.
        let is_late = self.watch.as_mut().is_some_and(|watch| watch.add(folder));
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            if self.found.is_cut_off {
                return;
            }
            let path = entry.path();
            let Ok(mut about) = entry.metadata() else {
                continue;
            };
            let is_link = about.is_symlink();
            if is_link || is_late || (about.nlink() > 1 && !about.is_dir()) {
                self.found.elsewhere.push(path.clone());
            }
            if is_link {
                let Ok(followed) = fs::metadata(&path) else {
                    // It leads nowhere yet.
                    self.take_down(path, None);
                    continue;
                };
                about = followed;
            }
            let name = entry.file_name();
            let is_left_out = LEFT_OUT.iter().any(|left_out| name == *left_out);
            if !(about.is_dir() && (is_left_out || self.own.contains(&id(&about)))) {
                self.take_down(path, Some(about));
            }
        }
    }

    fn take_down(&mut self, path: PathBuf, about: Option<Metadata>) {
        if self.found.entries.len() >= MAX_ENTRIES {
            self.found.is_cut_off = true;
            return;
        }
        let watch = self.watch.as_ref();
        let is_unread = watch.is_some_and(|watch| watch.is_unread(&path));
        let entry = Entry::new(&path, about.as_ref(), is_unread);
        if let Some(about) = about.filter(Metadata::is_dir)
            && self.folders.insert(id(&about))
        {
            self.left.push(path.clone());
        }
        self.found.entries.insert(path, entry);
    }
}

#[cfg(test)]
mod tests;
