//! Where trails inside trails come from; reading files is somebody else's.

use std::path::PathBuf;
use std::sync::Arc;

use packtrain_model::trail::Trail;

/// Finds trails for trails that run trails.
pub trait TrailLoader: Send + Sync {
    /// Reads the trail at `path`, relative to the first of `folders` that has it.
    ///
    /// # Errors
    /// A message that says which file and what is wrong with it.
    fn load(&self, path: &str, folders: &[PathBuf]) -> Result<Arc<Trail>, String>;
}
