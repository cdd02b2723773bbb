//! What a virtual adbd can do, and what of it a link uses: only what both sides name.

use std::collections::BTreeSet;

/// How new a device's adbd is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    /// As on a current phone.
    #[default]
    Current,
    /// Before shell v2: clients cannot see exit codes.
    BeforeShellV2,
}

/// What is announced. `abb` and `abb_exec` are left out so that installs arrive as
/// `exec:cmd package install`, compression so that sync data is plain.
const CURRENT: [&str; 12] = [
    "shell_v2",
    "cmd",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "apex",
    "fixed_push_symlink_timestamp",
    "remount_shell",
    "track_app",
    "sendrecv_v2",
    "sendrecv_v2_dry_run_send",
    "delayed_ack",
];

impl Generation {
    /// The features it announces.
    pub const fn features(self) -> &'static [&'static str] {
        match self {
            Self::Current => &CURRENT,
            Self::BeforeShellV2 => &["cmd"],
        }
    }
}

/// The features both sides of a link have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features(BTreeSet<&'static str>);

impl Features {
    /// What a device of `generation` and the sender of this greeting
    /// (`host::features=shell_v2,...`) both have.
    pub fn agreed(generation: Generation, greeting: &[u8]) -> Self {
        let greeting = String::from_utf8_lossy(greeting);
        let theirs = greeting
            .trim_end_matches('\0')
            .split(';')
            .find_map(|part| part.rsplit("::").next()?.strip_prefix("features="))
            .unwrap_or("");
        let theirs: BTreeSet<&str> = theirs.split(',').collect();
        let ours = generation.features().iter();
        Self(ours.copied().filter(|f| theirs.contains(f)).collect())
    }

    /// Whether data is acknowledged late, by bytes.
    pub fn delayed_ack(&self) -> bool {
        self.0.contains("delayed_ack")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_sides_name_is_used() {
        let host = b"host::features=shell_v2,cmd,delayed_ack,something_new\0";
        assert!(Features::agreed(Generation::Current, host).delayed_ack());
        assert!(!Features::agreed(Generation::BeforeShellV2, host).delayed_ack());
        assert!(!Features::agreed(Generation::Current, b"host::features=shell_v2").delayed_ack());
        assert_eq!(
            Features::agreed(Generation::Current, b"host::"),
            Features::default()
        );
    }
}
