//! How a typed command fails: one of Connect's codes and a sentence that says what to do.

use std::time::Duration;

use packtrain_drivers::Platform;

use crate::invocation::CallbackError;
use crate::tool::ToolError;

/// Bytes of a message.
const MAX_MESSAGE: usize = 8 * 1024;

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// What kind of failure it is.
    pub code: Code,
    /// What happened and what to do.
    pub message: String,
}

/// The codes of the Connect protocol that commands answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The session was called off.
    Canceled,
    /// The request is not what the command takes.
    InvalidArgument,
    /// It took longer than it may.
    DeadlineExceeded,
    /// There is no such command, or what a URL named is gone.
    NotFound,
    /// It is not for this caller.
    PermissionDenied,
    /// Calls nest too deep, or the request is too large.
    ResourceExhausted,
    /// It did not come true, or the device said no.
    FailedPrecondition,
    /// The trail is over.
    Aborted,
    /// This device has no such thing.
    Unimplemented,
    /// Something here is wrong.
    Internal,
    /// The device or what it hangs on is not there.
    Unavailable,
    /// The tool call that the invocation id belongs to has ended, or never was.
    Unauthenticated,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Canceled,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::Unauthenticated,
    ];

    /// As it goes over the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::InvalidArgument => "invalid_argument",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::NotFound => "not_found",
            Self::PermissionDenied => "permission_denied",
            Self::ResourceExhausted => "resource_exhausted",
            Self::FailedPrecondition => "failed_precondition",
            Self::Aborted => "aborted",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Unauthenticated => "unauthenticated",
        }
    }

    /// The HTTP status that goes with it, by the Connect protocol.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Canceled => 499,
            Self::InvalidArgument | Self::FailedPrecondition => 400,
            Self::Unauthenticated => 401,
            Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::Aborted => 409,
            Self::ResourceExhausted => 429,
            Self::Internal => 500,
            Self::Unimplemented => 501,
            Self::Unavailable => 503,
            Self::DeadlineExceeded => 504,
        }
    }
}

impl CommandError {
    /// An error of a kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let mut message = message.into();
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        Self { code, message }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// The call is over.
    pub fn invocation_ended() -> Self {
        Self::new(
            Code::Unauthenticated,
            "the tool call that this invocation id belongs to has ended, or never was: wait for \
             every command before the tool returns, and take the client of each call anew",
        )
    }

    pub(super) fn wrong_platform(command: &str, works: &[Platform], on: Platform) -> Self {
        let works: Vec<_> = works.iter().map(|platform| platform.as_str()).collect();
        let works = works.join(" and ");
        let condition: Vec<_> = works.split(" and ").map(|one| format!("{one:?}")).collect();
        Self::new(
            Code::Unimplemented,
            format!(
                "{command} works on {works}, and this device is {on}: call it only where the \
                 context's `device.platform` is {}, or let the tool support these platforms only \
                 (`trailblaze/supportedPlatforms`)",
                condition.join(" or ")
            ),
        )
    }

    /// What went wrong in carrying out a command.
    pub(super) fn of(command: &str, error: CallbackError, given: Option<Duration>) -> Self {
        match error {
            CallbackError::Late(limit) if given.is_some_and(|given| given <= limit) => Self::new(
                Code::DeadlineExceeded,
                format!(
                    "{command} was not done within the {:.1} s that the caller allowed: allow it \
                     more time. An action that has begun goes on, and the next command waits for it",
                    limit.as_secs_f64()
                ),
            ),
            CallbackError::Late(limit) => Self::new(
                Code::DeadlineExceeded,
                format!(
                    "{command} was still running after {:.1} s, which is all the time that a \
                     callback has; what it was doing was given up. The device hangs or is slow: \
                     the run's report shows what it did last",
                    limit.as_secs_f64()
                ),
            ),
            CallbackError::Tool(error) => Self::of_tool(command, error),
        }
    }

    fn of_tool(command: &str, error: ToolError) -> Self {
        match error {
            ToolError::Arguments(error) => Self::invalid(format!("{command}: {error}")),
            ToolError::Failed { message, log, hint } => {
                let log = log.iter().map(|line| format!("\n  {line}"));
                let hint = hint.map(|hint| format!("\n{hint}"));
                let rest: String = log.chain(hint).collect();
                Self::new(Code::FailedPrecondition, message + &rest)
            }
            ToolError::Fatal { message, .. } => Self::new(Code::Aborted, message),
            ToolError::Command(error) => Self::new(Code::Unavailable, error.to_string()),
            ToolError::Infrastructure { cause, hint, .. } => {
                let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
                Self::new(Code::Unavailable, cause + &hint)
            }
            ToolError::NeedsAgent(what) => {
                Self::new(Code::Unimplemented, format!("{what} needs an agent"))
            }
            ToolError::Cancelled => Self::new(
                Code::Canceled,
                "the session was called off; return from the tool",
            ),
        }
    }
}
