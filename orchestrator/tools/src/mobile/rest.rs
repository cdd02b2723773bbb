//! Waiting for the screen to come to rest.

use std::time::{Duration, Instant};

use packtrain_drivers::{Command, Observation};

use super::watch::MARGIN;
use crate::call::Call;
use crate::tool::{Answer, ToolError};

/// How waiting for the screen to come to rest ended.
pub(crate) enum Settled {
    AtRest(Answer),
    /// Something moved until the time was over.
    Moving(Answer),
}

/// Waits until nothing has changed for `quiet`.
pub(crate) async fn settle(
    call: &Call<'_>,
    quiet: Duration,
    limit: Duration,
) -> Result<Settled, ToolError> {
    let limit = limit.min(call.remaining().saturating_sub(MARGIN));
    let begun = Instant::now();
    let answer = match call.device(Command::Settle { quiet, limit }).await? {
        Observation::Done(report) => Answer::from(report),
        Observation::Snapshot(_)
        | Observation::Screenshot(_)
        | Observation::Text(_)
        | Observation::Json(_) => Answer::default(),
    };
    // The device says in a note that it gave up.
    if !answer.report.notes.is_empty() {
        return Ok(Settled::Moving(answer));
    }
    call.session.screen().still_since(begun);
    Ok(Settled::AtRest(answer))
}
