//! What a run differs in from what was approved, for the run's own reports. It is reported there;
//! `packtrain compare` judges.

use std::fs;
use std::path::Path;

use packtrain_compare::runs::{
    ChangeKind, ChangeStatus, RunComparison, compare_with_baselines, names,
};
use packtrain_report::RunView;

use super::Kept;
use crate::run_files;

/// The folder of approved pictures in a run's folder.
const APPROVED: &str = "approved";
/// Changes that are listed at a run's end.
const MAX_TOLD: usize = 5;

/// Compares a run's trails that have baselines; `None` when there are none here. Approved pictures that
/// something differs from are copied into the run's folder, which then shows them wherever it goes.
pub(crate) fn compare(view: &RunView, folder: &Path) -> Option<RunComparison> {
    let root = Path::new(&view.options.working_directory);
    // What lies here is nothing to a run of another folder or computer.
    if std::env::current_dir().ok()? != root {
        return None;
    }
    let mut kept = Kept::new(root);
    let trails = view
        .trails
        .iter()
        .map(|trail| kept.folder(&trail.summary.path));
    let has_baselines: Vec<_> = trails
        .map(|folder| folder.is_ok_and(|it| it.is_dir()))
        .collect();
    if !has_baselines.contains(&true) {
        return None;
    }
    let file = |path: &str| run_files::file(folder, path);
    let (mut run, pictures) = packtrain_report::comparison::input(view, &mut { file });
    run.sessions.retain(|session| has_baselines[session.trail]);
    let mut bytes = |digest: &str| file(pictures.get(digest)?);
    let mut compared = compare_with_baselines((&run, &mut bytes), &mut kept, &ChangeKind::ALL);
    for change in &mut compared.changes {
        if change.status != ChangeStatus::New && !change.step_id.is_empty() {
            let key = names::key(&run.cells[run.sessions[change.place].cell]);
            let picture = kept.picture(&change.path, &change.step_id, &key);
            change.approved = picture.and_then(|(name, picture)| copied(folder, &name, &picture));
        }
    }
    Some(compared)
}

/// Puts an approved picture into the run's folder: its path there.
fn copied(folder: &Path, name: &str, picture: &[u8]) -> Option<String> {
    let path = format!("{APPROVED}/{name}.webp");
    let file = folder.join(&path);
    if !file.exists() {
        fs::create_dir_all(folder.join(APPROVED)).ok()?;
        fs::write(file, picture).ok()?;
    }
    Some(path)
}

/// What a person reads of it at the run's end.
pub(crate) fn told(compared: &RunComparison) -> String {
    let mut text = format!("baselines: {}\n", compared.sentence);
    let clusters = compared.clusters();
    let told = clusters.iter().filter_map(|all| Some((all, all.first()?)));
    for (cluster, first) in told.take(MAX_TOLD) {
        let places = match cluster.len() {
            1 => String::new(),
            places => format!(", in {places} places"),
        };
        let (letter, title, kind) = (&first.letter, &first.title, first.kind.word());
        text.push_str(&format!("  {letter}  {title}  ({kind}{places})\n"));
    }
    if !clusters.is_empty() {
        text.push_str(
            "  `packtrain compare` lists them, `packtrain approve` accepts what is right\n",
        );
    }
    text
}
