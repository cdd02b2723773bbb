//! Why a command did not do what was asked: whose fault, try again or not, what it was doing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The app under test did not behave as the trail says: a failed step.
    App,
    /// The caller asked for something impossible: a mistake in the trail or the configuration.
    Caller,
    /// The device or its wire broke: infrastructure.
    Device,
    /// The caller gave up.
    Nobody,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum DriverError {
    /// The app was reachable but what was asked for did not come true in time.
    #[error("{what}")]
    Unmet {
        /// What was expected and what was there instead.
        what: String,
        /// What was tried, in order.
        log: Vec<String>,
    },
    /// The device did not answer in time, though it is not known to be gone.
    #[error("{doing} took longer than {}", human(.after))]
    Timeout {
        /// What was being done.
        doing: String,
        /// How long it was waited for.
        after: Duration,
        /// What was seen while waiting.
        log: Vec<String>,
    },
    /// An argument no device could honour.
    #[error("{0}")]
    Invalid(String),
    /// This device cannot do that.
    #[error("{command} is not possible on {device}")]
    Unsupported {
        /// The command's name.
        command: String,
        /// The platform or driver that refuses it.
        device: String,
    },
    /// The device is gone; the driver is of no further use.
    #[error("lost the device: {cause}")]
    Lost {
        /// What happened, as far as is known.
        cause: String,
        /// What a person can do about it.
        hint: Option<String>,
    },
    /// The run gave up on the command.
    #[error("cancelled")]
    Cancelled,
}

impl DriverError {
    /// [`DriverError::Unmet`] without a log.
    pub fn unmet(what: impl Into<String>) -> Self {
        Self::Unmet {
            what: what.into(),
            log: Vec::new(),
        }
    }

    /// [`DriverError::Lost`] without a hint.
    pub fn lost(cause: impl Into<String>) -> Self {
        Self::Lost {
            cause: cause.into(),
            hint: None,
        }
    }

    /// Who has to act.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Unmet { .. } => Fault::App,
            Self::Invalid(_) | Self::Unsupported { .. } => Fault::Caller,
            Self::Timeout { .. } | Self::Lost { .. } => Fault::Device,
            Self::Cancelled => Fault::Nobody,
        }
    }

    /// Whether the driver may be given further commands.
    pub const fn ends_driver(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Lost { hint, .. } => hint.as_deref(),
            Self::Timeout { .. } => Some(
                "it is connected but does not respond in time: check or restart it; if it is only slow, raise `--timeout`",
            ),
            Self::Unmet { .. } | Self::Invalid(_) | Self::Unsupported { .. } | Self::Cancelled => {
                None
            }
        }
    }

    /// What was tried or seen on the way, oldest first.
    pub fn log(&self) -> &[String] {
        match self {
            Self::Unmet { log, .. } | Self::Timeout { log, .. } => log,
            Self::Invalid(_) | Self::Unsupported { .. } | Self::Lost { .. } | Self::Cancelled => {
                &[]
            }
        }
    }
}

fn human(duration: &Duration) -> String {
    if duration.as_secs() == 0 {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}
