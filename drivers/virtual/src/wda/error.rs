//! How a request can fail: WebDriver's words and the HTTP codes WebDriverAgent gives them.
//!
//! Source: `FBCommandStatus.m` and `FBExceptionHandler.m` of
//! <https://github.com/appium/WebDriverAgent>.

use super::attribute::UnknownAttribute;
use super::class_chain::ClassChainError;
use super::predicate::PredicateError;
use super::xpath::XPathError;

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    InvalidArgument,
    InvalidElementState,
    InvalidSelector,
    InvalidSessionId,
    NoSuchAlert,
    NoSuchElement,
    SessionNotCreated,
    StaleElementReference,
    Timeout,
    UnableToCaptureScreen,
    UnknownCommand,
    UnknownError,
    UnsupportedOperation,
}

impl ErrorKind {
    /// The word in `error`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid argument",
            Self::InvalidElementState => "invalid element state",
            Self::InvalidSelector => "invalid selector",
            Self::InvalidSessionId => "invalid session id",
            Self::NoSuchAlert => "no such alert",
            Self::NoSuchElement => "no such element",
            Self::SessionNotCreated => "session not created",
            Self::StaleElementReference => "stale element reference",
            Self::Timeout => "timeout",
            Self::UnableToCaptureScreen => "unable to capture screen",
            Self::UnknownCommand => "unknown command",
            Self::UnknownError => "unknown error",
            Self::UnsupportedOperation => "unsupported operation",
        }
    }

    /// The code of the answer.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::InvalidArgument | Self::InvalidElementState | Self::InvalidSelector => 400,
            Self::InvalidSessionId
            | Self::NoSuchAlert
            | Self::NoSuchElement
            | Self::StaleElementReference
            | Self::UnknownCommand => 404,
            Self::Timeout => 408,
            Self::SessionNotCreated
            | Self::UnableToCaptureScreen
            | Self::UnknownError
            | Self::UnsupportedOperation => 500,
        }
    }
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", kind.word())]
pub(crate) struct WdaError {
    pub(crate) kind: ErrorKind,
    /// For people.
    pub(crate) message: String,
}

impl WdaError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn invalid_state(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidElementState, message)
    }

    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnknownError, message)
    }

    /// An `NSError` of WebDriverAgent's own, told with everything around it as its `description`
    /// has it.
    pub(crate) fn described(kind: ErrorKind, text: &str) -> Self {
        let message = format!(
            "Error Domain=com.facebook.WebDriverAgent Code=1 \"{text}\" UserInfo={{NSLocalizedDescription={text}}}"
        );
        Self::new(kind, message)
    }

    pub(crate) fn no_alert() -> Self {
        Self::new(
            ErrorKind::NoSuchAlert,
            "An attempt was made to operate on a modal dialog when one was not open",
        )
    }
}

/// Exceptions of Foundation that nobody translates: all are unknown errors.
impl From<PredicateError> for WdaError {
    fn from(error: PredicateError) -> Self {
        Self::unknown(error.to_string())
    }
}

impl From<UnknownAttribute> for WdaError {
    fn from(error: UnknownAttribute) -> Self {
        Self::unknown(error.to_string())
    }
}

impl From<ClassChainError> for WdaError {
    fn from(error: ClassChainError) -> Self {
        match error {
            ClassChainError::Syntax { .. } => {
                Self::new(ErrorKind::InvalidSelector, error.to_string())
            }
            ClassChainError::Predicate(error) => error.into(),
        }
    }
}

impl From<XPathError> for WdaError {
    fn from(error: XPathError) -> Self {
        let kind = match error {
            XPathError::Invalid { .. } => ErrorKind::InvalidSelector,
            XPathError::NoElements(_) => ErrorKind::UnknownError,
            XPathError::TooLong => ErrorKind::Timeout,
        };
        Self::new(kind, error.to_string())
    }
}
