//! How a request can fail: WebDriver's words and the HTTP codes WebDriverAgent gives them.
//!
//! Source: `FBCommandStatus.m` and `FBExceptionHandler.m` of
//! <https://github.com/appium/WebDriverAgent>.

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

/// Each kind with the word in `error` and the code of the answer, in the order of the kinds.
const KINDS: [(ErrorKind, &str, u16); 13] = [
    (ErrorKind::InvalidArgument, "invalid argument", 400),
    (ErrorKind::InvalidElementState, "invalid element state", 400),
    (ErrorKind::InvalidSelector, "invalid selector", 400),
    (ErrorKind::InvalidSessionId, "invalid session id", 404),
    (ErrorKind::NoSuchAlert, "no such alert", 404),
    (ErrorKind::NoSuchElement, "no such element", 404),
    (ErrorKind::SessionNotCreated, "session not created", 500),
    (
        ErrorKind::StaleElementReference,
        "stale element reference",
        404,
    ),
    (ErrorKind::Timeout, "timeout", 408),
    (
        ErrorKind::UnableToCaptureScreen,
        "unable to capture screen",
        500,
    ),
    (ErrorKind::UnknownCommand, "unknown command", 404),
    (ErrorKind::UnknownError, "unknown error", 500),
    (
        ErrorKind::UnsupportedOperation,
        "unsupported operation",
        500,
    ),
];

impl ErrorKind {
    /// The word in `error`.
    pub(crate) const fn word(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// The code of the answer.
    pub(crate) const fn status(self) -> u16 {
        KINDS[self as usize].2
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
