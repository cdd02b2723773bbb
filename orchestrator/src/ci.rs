//! What a CI takes beside the reports: a summary in Markdown, and annotations at the trails' lines.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use packtrain_compare::answer::Comparison;
use packtrain_report::RunView;

/// Names the file that GitHub shows on the page of a job.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";
/// Names the folder of the repository.
const WORKSPACE_VARIABLE: &str = "GITHUB_WORKSPACE";

/// The file for summaries that the CI names, when it does.
pub fn summary_file() -> Option<PathBuf> {
    let file = std::env::var_os(SUMMARY_VARIABLE)?;
    (!file.is_empty()).then(|| file.into())
}

/// Adds a summary to a file.
///
/// # Errors
/// When the disk refuses.
pub fn append(file: &Path, summary: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(summary.as_bytes())
}

/// The annotations of a run, as lines for the runner; none elsewhere.
pub fn annotations(view: &RunView, comparison: &Comparison) -> Vec<String> {
    if !crate::render::is_runner_reading() {
        return Vec::new();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let workspace = std::env::var_os(WORKSPACE_VARIABLE).map(PathBuf::from);
    let workspace = workspace.filter(|folder| folder.is_absolute());
    let workspace = workspace.unwrap_or_else(|| here.clone());
    packtrain_report::annotations(view, comparison, &|path| {
        let file = here.join(path).display().to_string();
        packtrain_report::relative(&workspace.display().to_string(), &file)
    })
}
