//! How a typed command fails: one of Connect's codes and a sentence that says what to do.

use std::time::Duration;

use packtrain_drivers::Platform;
use packtrain_tools::ToolError;

use crate::invocation::CallbackError;

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

/// Defines the codes, with the word and the HTTP status that the Connect protocol has for each.
macro_rules! codes {
    ($(#[doc = $about:literal] $code:ident = $word:literal, $status:literal;)*) => {
        /// The codes of the Connect protocol that commands answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $(#[doc = $about] $code,)* }

        impl Code {
            /// All of them.
            pub const ALL: [Self; [$($status),*].len()] = [$(Self::$code),*];

            /// As it goes over the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $word,)* }
            }

            /// The HTTP status that goes with it, by the Connect protocol.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$code => $status,)* }
            }
        }
    };
}

codes! {
    /// The session was cancelled.
    Canceled = "canceled", 499;
    /// The request is not what the command takes.
    InvalidArgument = "invalid_argument", 400;
    /// It took longer than it may.
    DeadlineExceeded = "deadline_exceeded", 504;
    /// There is no such command, or what a URL named is gone.
    NotFound = "not_found", 404;
    /// It is not for this caller.
    PermissionDenied = "permission_denied", 403;
    /// Calls nest too deep, or the request is too large.
    ResourceExhausted = "resource_exhausted", 429;
    /// It did not come true, or the device said no.
    FailedPrecondition = "failed_precondition", 400;
    /// The trail is over.
    Aborted = "aborted", 409;
    /// This device has no such thing.
    Unimplemented = "unimplemented", 501;
    /// Something here is wrong.
    Internal = "internal", 500;
    /// The device or what it hangs on is not there.
    Unavailable = "unavailable", 503;
    /// The tool call that the invocation id belongs to has ended, or never was.
    Unauthenticated = "unauthenticated", 401;
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
            "unknown invocation id, or its tool call has ended: wait for \
             every command before the tool returns, and get a new client for each call",
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
                     callback has; it was cancelled. The device hangs or is slow: \
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
                "the session was cancelled; return from the tool",
            ),
        }
    }
}
