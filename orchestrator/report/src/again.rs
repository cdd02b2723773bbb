//! The command that runs a session again, and nothing else.

use crate::comparison::commands;
use crate::paths::relative;
use crate::view::{RunView, SessionView, TrailView};
use crate::wording::one_line;

/// The command line, to be pasted into a shell in the folder that the run was started in.
pub fn again(view: &RunView, trail: &TrailView, session: &SessionView) -> String {
    let path = relative(&view.options.working_directory, &trail.summary.path);
    let device = session.device.as_ref().map(ToString::to_string);
    let command = commands(view).run(&path, device.as_deref(), &session.cell.0);
    one_line(&command).into_owned()
}
