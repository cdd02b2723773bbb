//! Which build of the program a process runs: what tells two of one version from each other.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;

use super::wire::VERSION;

/// The build that this process runs, `0.1.0+4f1c2a9be07d3358`: its version, and where its file is on disk,
/// how large it is and when it was written. A copy is another build, stripped or not; a hard link is the
/// same. The first call has to come before the file can be replaced.
pub fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        if let Ok(file) = packtrain_program::own_program().and_then(std::fs::metadata) {
            let written = (file.mtime(), file.mtime_nsec());
            (file.dev(), file.ino(), file.len(), written).hash(&mut hasher);
        }
        format!("{VERSION}+{:016x}", hasher.finish())
    })
}
