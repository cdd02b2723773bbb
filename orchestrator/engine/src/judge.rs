//! From what a tool said to what it means for the step. Pure.

use packtrain_device_actors::{CommandError, LeaseError};
use packtrain_drivers::{DriverError, Fault};
use packtrain_model::{Blame, CancelCause, Failure, Outcome};
use packtrain_tools::ToolError;

/// What an error of a tool means. `at` is the call's place in the trail file.
pub(crate) fn judge(
    error: &ToolError,
    tool: &str,
    at: Option<String>,
    stop: CancelCause,
) -> Outcome {
    let failure = |message: String, log: &[String], hint: Option<String>| {
        Outcome::Failed(Failure {
            message,
            tool: Some(tool.to_owned()),
            log: log.to_vec(),
            hint,
            at,
        })
    };
    match error {
        ToolError::Arguments(error) => failure(error.to_string(), &[], error.hint.clone()),
        ToolError::Failed { message, log, hint } => failure(message.clone(), log, hint.clone()),
        ToolError::NeedsAgent(what) => Outcome::NeedsAgent {
            why: format!("{what} needs a model that looks at the screen"),
        },
        ToolError::Cancelled => Outcome::Cancelled { by: stop },
        ToolError::Command(error) => match error.fault() {
            Fault::App | Fault::Caller => failure(error.to_string(), error.log(), error.hint()),
            Fault::Device => Outcome::Infrastructure {
                blame: Blame::Device,
                cause: with_log(error),
                hint: error.hint(),
            },
            Fault::Nobody => Outcome::Cancelled { by: stop },
        },
    }
}

/// What it means that a device could not be leased.
pub(crate) fn judge_lease(error: &LeaseError, stop: CancelCause) -> Outcome {
    let hint = match error {
        LeaseError::NotConnected(DriverError::Cancelled) => {
            return Outcome::Cancelled { by: stop };
        }
        LeaseError::NotConnected(error) => error.hint().map(str::to_owned),
        LeaseError::Busy { .. } => {
            Some("wait for the other run, or choose another device".to_owned())
        }
        LeaseError::Unknown(_) => Some("`packtrain devices` lists what there is".to_owned()),
        LeaseError::ShuttingDown => None,
    };
    Outcome::Infrastructure {
        blame: Blame::Device,
        cause: error.to_string(),
        hint,
    }
}

fn with_log(error: &CommandError) -> String {
    match error.log().last() {
        Some(last) => format!("{error} ({last})"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn outcome(error: DriverError) -> Outcome {
        judge(&error.into(), "web_click", None, CancelCause::Interrupt)
    }

    #[test]
    fn the_app_fails_a_step_and_the_device_does_not() {
        assert!(matches!(
            outcome(DriverError::unmet("no")),
            Outcome::Failed(_)
        ));
        assert!(matches!(
            outcome(DriverError::Invalid("no".into())),
            Outcome::Failed(_)
        ));
        let timeout = DriverError::Timeout {
            doing: "click".into(),
            after: Duration::from_secs(1),
            log: vec![],
        };
        assert!(matches!(outcome(timeout), Outcome::Infrastructure { .. }));
        assert!(matches!(
            outcome(DriverError::lost("gone")),
            Outcome::Infrastructure { .. }
        ));
    }

    #[test]
    fn what_was_called_off_is_no_failure() {
        assert_eq!(
            outcome(DriverError::Cancelled),
            Outcome::Cancelled {
                by: CancelCause::Interrupt
            }
        );
    }
}
