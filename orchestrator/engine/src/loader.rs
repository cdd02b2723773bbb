//! Where trails inside trails come from; reading files is done elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use packtrain_drivers::Reach;
use packtrain_model::trail::Trail;

/// Finds trails for trails that run trails.
pub trait TrailLoader: Send + Sync {
    /// Reads the trail at `path`, relative to the first of `folders` that has it within `reach`.
    ///
    /// # Errors
    /// A message that says which file and what is wrong with it.
    fn load(
        &self,
        path: &str,
        folders: &[PathBuf],
        reach: Option<&Reach>,
    ) -> Result<Arc<Trail>, String>;
}
