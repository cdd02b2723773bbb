//! What a virtual adbd can do, and what of it a link uses: only what both sides name.

/// How new a device's adbd is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    /// As on a current phone.
    #[default]
    Current,
    /// Before shell v2: clients cannot see exit codes.
    BeforeShellV2,
}

impl Generation {
    /// The features it announces. `abb` and `abb_exec` are left out so that installs arrive as
    /// `exec:cmd package install`, compression so that sync data is plain.
    pub const fn features(self) -> &'static str {
        match self {
            Self::Current => {
                "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,apex,fixed_push_symlink_timestamp,\
                 remount_shell,track_app,sendrecv_v2,sendrecv_v2_dry_run_send,delayed_ack"
            }
            Self::BeforeShellV2 => "cmd",
        }
    }

    /// Whether it and the sender of this greeting (`host::features=shell_v2,...`) acknowledge
    /// data late, by bytes.
    pub fn delays_acks(self, greeting: &[u8]) -> bool {
        const DELAYED: &str = "delayed_ack";
        let greeting = String::from_utf8_lossy(greeting);
        let parts = greeting.trim_end_matches('\0').split(';');
        let theirs = parts.filter_map(|part| part.rsplit("::").next()?.strip_prefix("features="));
        let mut theirs = theirs.flat_map(|list| list.split(','));
        self == Self::Current && theirs.any(|feature| feature == DELAYED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_sides_name_is_used() {
        let host = b"host::features=shell_v2,cmd,delayed_ack,something_new\0";
        assert!(Generation::Current.delays_acks(host));
        assert!(!Generation::BeforeShellV2.delays_acks(host));
        assert!(!Generation::Current.delays_acks(b"host::features=shell_v2"));
        assert!(!Generation::Current.delays_acks(b"host::"));
    }
}
