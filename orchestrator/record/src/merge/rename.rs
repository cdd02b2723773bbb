//! What a part calls its sessions and files, and what they are called in the whole.

use packtrain_drivers::DeviceEvent;
use packtrain_model::{AttemptNumber, RunEvent, SessionId, SessionIndex};

use super::plan::PartRun;
use crate::{ARTIFACTS_FOLDER, name};

/// Folders with a folder for each session.
const BY_SESSION: [&str; 2] = [ARTIFACTS_FOLDER, "downloads"];
/// Folders in which files are called by their content.
pub(super) const BY_CONTENT: [&str; 2] = ["trees", "pictures"];

/// The names of one part.
pub(super) struct Renaming<'a> {
    pub(super) part: &'a PartRun,
}

impl Renaming<'_> {
    /// Renames what an event names; answers the place of its session, `None` when it has none that
    /// the part planned.
    pub(super) fn event(&self, event: &mut RunEvent) -> Option<u32> {
        let (renamed, place) = self.session(event.session()?)?;
        match event {
            RunEvent::SessionStarted {
                session, planned, ..
            } => {
                *session = renamed;
                planned.place = None;
            }
            RunEvent::ToolFinished { session, via, .. } => {
                *session = renamed;
                if let Some(log) = via.as_mut().and_then(|via| via.log.as_mut()) {
                    *log = self.path(log);
                }
            }
            RunEvent::StepObserved {
                session, observed, ..
            } => {
                *session = renamed;
                if let Some(tree) = &mut observed.tree {
                    tree.artifact = self.path(&tree.artifact);
                }
                if let Some(picture) = &mut observed.picture {
                    picture.artifact = self.path(&picture.artifact);
                }
            }
            RunEvent::ArtifactSaved {
                session, artifact, ..
            } => {
                *session = renamed;
                artifact.path = self.path(&artifact.path);
            }
            RunEvent::DeviceReported {
                session, report, ..
            } => {
                *session = renamed;
                if let DeviceEvent::Downloaded {
                    path: Some(path), ..
                } = report
                    && path.starts_with("downloads/")
                {
                    *path = self.path(path);
                }
            }
            RunEvent::SessionConfigured { session, .. }
            | RunEvent::StepStarted { session, .. }
            | RunEvent::ToolStarted { session, .. }
            | RunEvent::StepFinished { session, .. }
            | RunEvent::SessionWillRetry { session, .. }
            | RunEvent::SessionFinished { session, .. } => *session = renamed,
            RunEvent::RunStarted { .. }
            | RunEvent::SinkFailed { .. }
            | RunEvent::StopRequested { .. }
            | RunEvent::RunFinished { .. } => {}
        }
        Some(place)
    }

    /// `s7.2` for the part's `s3.2`, and its place in the plan.
    fn session(&self, session: &SessionId) -> Option<(SessionId, u32)> {
        let number = session.0.strip_prefix('s')?;
        let (number, attempt) = match number.split_once('.') {
            Some((number, attempt)) => (number, attempt.parse().ok()?),
            None => (number, 1),
        };
        let index = SessionIndex(number.parse::<usize>().ok()?.checked_sub(1)?);
        let attempt = AttemptNumber(attempt);
        // Two names of one session, such as `s1` and `s01`, would become one.
        if SessionId::new(index, attempt) != *session {
            return None;
        }
        let place = self.part.sessions.get(index.0)?.place?;
        let renamed = SessionId::new(SessionIndex(place as usize), attempt);
        Some((renamed, place))
    }

    /// The path of a part's file below the folder of the whole.
    pub(super) fn path(&self, path: &str) -> String {
        let (folder, rest) = path.split_once('/').unwrap_or(("", path));
        if BY_CONTENT.contains(&folder) {
            return path.to_owned();
        }
        if BY_SESSION.contains(&folder)
            && let Some((session, rest)) = rest.split_once('/')
            && let Some((renamed, _)) = self.session(&SessionId(session.to_owned()))
        {
            let renamed = name::file_name(&renamed.0);
            return format!("{folder}/{renamed}/{rest}");
        }
        format!("parts/{}/{path}", self.part.number)
    }
}
