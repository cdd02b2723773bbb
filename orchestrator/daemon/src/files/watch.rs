//! Whether anything has happened in folders and what was read there, as Linux tells: by inotify, whose
//! events are there when a write or a read returns. Where it cannot tell, it is never quiet.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use nix::sys::statfs::statfs;

use super::{MAX_ENTRIES, kind};

/// File systems that change only through this system's calls: btrfs, ext, f2fs, overlayfs, tmpfs, xfs,
/// zfs, bcachefs. (`linux/magic.h`)
const LOCAL: [u64; 8] = [
    0x9123_683e,
    0xef53,
    0xf2f5_2010,
    0x794c_7630,
    0x0102_1994,
    0x5846_5342,
    0x2fc1_2fc1,
    0xca45_1a4e,
];

/// Folders whose changes are reported.
pub(crate) struct Watch {
    inotify: Inotify,
    /// Devices whose changes are reported.
    devices: HashSet<u64>,
    /// Whether something may change without being told.
    is_blind: bool,
    /// Whether something has happened since it was asked.
    has_changed: bool,
    folders: HashMap<WatchDescriptor, PathBuf>,
    /// What was read, with its kind; `None` when it was not asked for, or something is missing.
    reads: Option<HashSet<PathBuf>>,
}

impl Watch {
    /// `None` when the system has no more of them.
    pub(crate) fn new() -> Option<Self> {
        let how = InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK;
        Some(Self {
            inotify: Inotify::init(how).ok()?,
            devices: HashSet::new(),
            is_blind: false,
            has_changed: false,
            folders: HashMap::new(),
            reads: None,
        })
    }

    /// Adds a folder; whether something may have been read in it that was not noted.
    pub(crate) fn add(&mut self, folder: &Path) -> bool {
        if self.is_blind {
            return false;
        }
        // Reading folders is reported too, and the queue is short.
        self.take_in();
        let what = AddWatchFlags::IN_ACCESS
            | AddWatchFlags::IN_ATTRIB
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_CLOSE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_DELETE_SELF
            | AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_MOVE
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_ONLYDIR;
        let added = self.inotify.add_watch(folder, what);
        // What has gone meanwhile was reported by its folder.
        let is_added = matches!(added, Ok(_) | Err(Errno::ENOENT | Errno::ENOTDIR));
        self.is_blind = !is_added || !self.is_local(folder);
        let known = added.map(|id| self.folders.insert(id, folder.to_owned()));
        matches!(known, Ok(None)) && self.reads.is_some()
    }

    /// Whether nothing has happened since the last time it was asked, but for reads.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.take_in();
        !mem::take(&mut self.has_changed) && !self.is_blind
    }

    /// Notes what is read from now on, besides what may be read without being told.
    pub(crate) fn note_reads(&mut self, elsewhere: &[PathBuf]) {
        self.take_in();
        self.reads = Some(elsewhere.iter().cloned().collect());
    }

    /// What was read since it is noted, for more to be added; `None` when that is not known.
    pub(crate) fn reads(&mut self) -> Option<&mut HashSet<PathBuf>> {
        self.take_in();
        self.reads.as_mut().filter(|_| !self.is_blind)
    }

    /// Whether a file is unread, as far as reported so far.
    pub(crate) fn is_unread(&self, file: &Path) -> bool {
        let reads = self.reads.as_ref().filter(|_| !self.is_blind);
        reads.is_some_and(|reads| !reads.contains(file))
    }

    fn take_in(&mut self) {
        // A memory map, or an empty read, is reported when the file is closed.
        let read = AddWatchFlags::IN_ACCESS | AddWatchFlags::IN_CLOSE_NOWRITE;
        loop {
            let events = match self.inotify.read_events() {
                Ok(events) => events,
                Err(Errno::EAGAIN) => return,
                Err(_) => {
                    self.is_blind = true;
                    return;
                }
            };
            for event in events {
                let is_read = event.mask.intersects(read);
                self.has_changed |= !is_read;
                if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                    self.reads = None;
                }
                let is_of_file = is_read && !event.mask.contains(AddWatchFlags::IN_ISDIR);
                if let Some(reads) = self.reads.as_mut().filter(|_| is_of_file)
                    && let Some(folder) = self.folders.get(&event.wd)
                {
                    let file = folder.join(event.name.unwrap_or_default());
                    reads.extend([kind(&file), file]);
                    if reads.len() > MAX_ENTRIES {
                        self.reads = None;
                    }
                }
                if event.mask.contains(AddWatchFlags::IN_IGNORED) {
                    self.folders.remove(&event.wd);
                }
            }
        }
    }

    fn is_local(&mut self, folder: &Path) -> bool {
        let Ok(device) = folder.metadata().map(|about| about.dev()) else {
            return true;
        };
        if self.devices.contains(&device) {
            return true;
        }
        let kind = statfs(folder).map(|about| u64::try_from(about.filesystem_type().0));
        let is_local = matches!(kind, Ok(Ok(kind)) if LOCAL.contains(&kind));
        if is_local {
            self.devices.insert(device);
        }
        is_local
    }
}
