//! The list at the end of a run of many trails: every failure in a line, and how to run it again.

use super::Layout;
use crate::again::again;
use crate::mark::Mark;
use crate::problem::Names;
use crate::view::{AttemptView, RunView};
use crate::wording;

/// A run of more trails than this closes with a list of its failures.
pub const MANY_TRAILS: usize = 3;
/// How many failures are listed.
const MOST_FAILURES: usize = 30;
/// How much of a message is shown.
const MOST_WORDS: usize = 160;

/// Each session that did not pass: trail, device, step, what it said, and the command that runs it
/// again. Empty after a run of few trails, or when all went well.
pub fn failures(view: &RunView, names: &Names<'_>, layout: Layout) -> String {
    if view.trails.len() <= MANY_TRAILS {
        return String::new();
    }
    use Mark::{Failed, Infrastructure, NeedsAgent, Unfinished};
    let is_failure = |mark| matches!(mark, Failed | Infrastructure | NeedsAgent | Unfinished);
    let failed = view.sessions().filter(|(_, one)| is_failure(one.mark()));
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut text = "Failures:\n".to_owned();
    for (trail, session) in failed.iter().take(MOST_FAILURES) {
        let step = session.last().and_then(AttemptView::first_bad_step);
        let message = session.said().message().unwrap_or_default();
        text.push_str(&format!(
            "  {} {} on {}{}: {}\n",
            layout.sign(session.mark()),
            layout.bold(&wording::one_line(&trail.summary.title)),
            names.get(session),
            step.map_or_else(String::new, |one| format!(", {}", wording::step(one.step))),
            wording::cut(&wording::one_line(&message), MOST_WORDS),
        ));
        let command = format!("    {}", again(view, trail, session));
        text.push_str(&(layout.dim(&command) + "\n"));
    }
    if let Some(more) = wording::more(failed.len(), MOST_FAILURES) {
        text.push_str(&format!("  {more} in the report\n"));
    }
    text.push('\n');
    text
}
