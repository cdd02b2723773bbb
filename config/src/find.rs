//! Where the files of settings are.

use std::path::{Path, PathBuf};

/// The project's file.
pub const PROJECT_FILE: &str = "packtrain.yaml";

/// Where Trailblaze keeps its workspace file: in a workspace, and in a repository of trails.
const TRAILBLAZE_FILES: [&str; 2] = ["trails/config/trailblaze.yaml", "trailblaze.yaml"];

/// What a project has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The project's folder: the nearest one that has any of the files.
    pub root: PathBuf,
    /// Its packtrain.yaml.
    pub project: Option<PathBuf>,
    /// Its trailblaze.yaml.
    pub trailblaze: Option<PathBuf>,
}

/// Looks for a project in `start` and the folders around it. A relative `start` is looked up as
/// it is, which ends at its first part.
pub fn find(start: &Path) -> Option<Found> {
    start.ancestors().find_map(|folder| {
        let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        let found = Found {
            root: folder.to_owned(),
            project: file(PROJECT_FILE),
            trailblaze: TRAILBLAZE_FILES
                .into_iter()
                // Seen from inside, a workspace's file belongs to the folder around the trails.
                .filter(|_| !folder.ends_with("trails/config"))
                .find_map(file),
        };
        (found.project.is_some() || found.trailblaze.is_some()).then_some(found)
    })
}

/// The user's own file, whether it exists or not: in `XDG_CONFIG_HOME`, or in `.config` of
/// `HOME`. `None` when the environment has neither.
pub fn user_file(environment: &[(String, String)]) -> Option<PathBuf> {
    let folder = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| PathBuf::from(value))
            .filter(|path| path.is_absolute())
    };
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("packtrain").join("config.yaml"))
}
