//! From what went wrong on the wire or in the agent to whose fault it is.

use packtrain_drivers::DriverError;

use crate::agent::AgentError;
use crate::wire::WireError;

/// Whatever went wrong below a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// It is a driver's error already.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl CommandError {
    /// Whether the device was asked and its effect is unknown.
    pub(crate) const fn leaves_doubt(&self) -> bool {
        matches!(
            self,
            Self::Wire(WireError::Lost { .. })
                | Self::Agent(
                    AgentError::Died { .. }
                        | AgentError::Silent { .. }
                        | AgentError::Wire(WireError::Lost { .. })
                )
        )
    }

    /// As the caller of `command` sees it.
    pub(crate) fn into_driver_error(self, command: &'static str) -> DriverError {
        match self {
            Self::Wire(error) | Self::Agent(AgentError::Wire(error)) => wire(error),
            Self::Agent(error) => agent(error, command),
            Self::Driver(error) => error,
        }
    }
}

fn wire(error: WireError) -> DriverError {
    match error {
        WireError::Timeout { doing, after } => DriverError::Timeout {
            doing,
            after,
            log: Vec::new(),
        },
        // The device lives; it is its file system, or what the trail wants there.
        WireError::File { .. } => DriverError::unmet(error.to_string()),
        error => DriverError::Lost {
            hint: error.hint().map(str::to_owned),
            cause: error.to_string(),
        },
    }
}

fn agent(error: AgentError, command: &'static str) -> DriverError {
    match error {
        AgentError::Wire(error) => wire(error),
        AgentError::NoStart { ref hint, .. } => DriverError::Lost {
            hint: hint.map(str::to_owned),
            cause: error.to_string(),
        },
        AgentError::Died { .. } | AgentError::Silent { .. } => DriverError::Lost {
            cause: error.to_string(),
            hint: Some("the action may have taken effect, so it was not retried".to_owned()),
        },
        AgentError::Refused(reason) => DriverError::unmet(format!("{command}: {reason}")),
        AgentError::NeedsU2 => DriverError::Unsupported {
            command: command.to_owned(),
            device: "this device without u2.jar (`packtrain doctor --fix` installs it)".to_owned(),
        },
    }
}
