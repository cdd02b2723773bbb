//! From what a tool said to what it means for the step. Pure.

#[cfg(test)]
mod tests;

use std::time::Duration;

use packtrain_device_actors::{CommandError, DeviceState, LeaseError};
use packtrain_drivers::{DriverError, Fault};
use packtrain_model::{Blame, CancelCause, Failure, Outcome};
use packtrain_tools::ToolError;

/// What an error has to be judged by.
pub(crate) struct Circumstances<'a> {
    /// The tool that was called.
    pub(crate) tool: &'a str,
    /// The call's place in the trail file.
    pub(crate) at: Option<String>,
    /// Why the session shall end, if it shall.
    pub(crate) stop: CancelCause,
    /// The time that was allowed, when it is over.
    pub(crate) overtime: Option<TimeLimit>,
}

/// What was allowed so much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    Session(Duration),
    Step(Duration),
}

/// What an error of a tool means.
pub(crate) fn judge(error: &ToolError, circumstances: Circumstances<'_>) -> Outcome {
    let Circumstances {
        tool,
        at,
        stop,
        overtime,
    } = circumstances;
    let failure = |message: String, log: &[String], hint: Option<String>| {
        let failure = Failure {
            message,
            tool: Some(tool.to_owned()),
            log: log.to_vec(),
            hint,
            at,
            fatal: matches!(error, ToolError::Fatal { .. }),
        };
        Outcome::Failed(match overtime {
            Some(limit) => timed_out(failure, limit),
            None => failure,
        })
    };
    match error {
        ToolError::Arguments(error) => failure(error.to_string(), &[], error.hint.clone()),
        ToolError::Failed { message, log, hint } => failure(message.clone(), log, hint.clone()),
        ToolError::Fatal { message, log } => failure(message.clone(), log, None),
        ToolError::NeedsAgent(what) => Outcome::NeedsAgent {
            why: format!("{what} needs a model that looks at the screen"),
        },
        ToolError::Cancelled => Outcome::Cancelled { by: stop },
        ToolError::Infrastructure {
            blame,
            cause,
            hint,
            unstarted,
        } => Outcome::Infrastructure {
            blame: *blame,
            cause: cause.clone(),
            hint: hint.clone(),
            unstarted: unstarted.clone(),
        },
        // The session's time was over, not the device's patience.
        ToolError::Command(CommandError::Driver(DriverError::Timeout { log, .. }))
            if overtime.is_some() =>
        {
            failure(error.to_string(), log, None)
        }
        ToolError::Command(error) => match error.fault() {
            Fault::App | Fault::Caller => failure(error.to_string(), error.log(), error.hint()),
            Fault::Device => Outcome::Infrastructure {
                blame: Blame::Device,
                cause: with_log(error),
                hint: error.hint(),
                unstarted: Vec::new(),
            },
            Fault::Nobody => Outcome::Cancelled { by: stop },
        },
    }
}

/// A failure that came when the time of its session or step was over.
fn timed_out(mut failure: Failure, limit: TimeLimit) -> Failure {
    let words = |limit: Duration| match limit.as_secs() {
        0 => format!("{} ms", limit.as_millis()),
        _ => format!("{:.0} s", limit.as_secs_f64()),
    };
    let (what, hint) = match limit {
        TimeLimit::Session(limit) => (
            format!("session timed out after {}", words(limit)),
            "`--timeout` allows a session more time",
        ),
        TimeLimit::Step(limit) => (
            format!("the step timed out after {}", words(limit)),
            "`--step-timeout` allows a step more time",
        ),
    };
    failure.message = format!("{what}: {}", failure.message);
    failure.hint = Some(hint.to_owned());
    failure
}

/// What it means that a device could not be leased.
pub(crate) fn judge_lease(error: &LeaseError, stop: CancelCause) -> Outcome {
    let hint = match error {
        LeaseError::Cancelled | LeaseError::NotConnected(DriverError::Cancelled) => {
            return Outcome::Cancelled { by: stop };
        }
        LeaseError::NotConnected(error) => error.hint().map(str::to_owned),
        LeaseError::TimedOut { reason, .. } => match reason.state {
            DeviceState::Leased(_) | DeviceState::Closing(_) => {
                Some("wait for the other run, or choose another device".to_owned())
            }
            DeviceState::Absent
            | DeviceState::Connecting
            | DeviceState::Ready
            | DeviceState::Dead { .. } => None,
        },
        LeaseError::Unknown(_) => Some("`packtrain devices` lists what there is".to_owned()),
        LeaseError::Removed(_) | LeaseError::ShuttingDown => None,
    };
    Outcome::Infrastructure {
        blame: Blame::Device,
        cause: error.to_string(),
        hint,
        unstarted: Vec::new(),
    }
}

fn with_log(error: &CommandError) -> String {
    match error.log().last() {
        Some(last) => format!("{error} ({last})"),
        None => error.to_string(),
    }
}
