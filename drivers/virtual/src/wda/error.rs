//! How a request can fail: WebDriver's words and the HTTP codes WebDriverAgent gives them.
//!
//! Source: `FBCommandStatus.m` and `FBExceptionHandler.m` of
//! <https://github.com/appium/WebDriverAgent>.

/// What kind of failure: the word in `error` and the code of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorKind(pub(crate) &'static str, pub(crate) u16);

impl ErrorKind {
    pub(crate) const INVALID_ARGUMENT: Self = Self("invalid argument", 400);
    pub(crate) const INVALID_ELEMENT_STATE: Self = Self("invalid element state", 400);
    pub(crate) const INVALID_SELECTOR: Self = Self("invalid selector", 400);
    pub(crate) const INVALID_SESSION_ID: Self = Self("invalid session id", 404);
    pub(crate) const NO_SUCH_ALERT: Self = Self("no such alert", 404);
    pub(crate) const NO_SUCH_ELEMENT: Self = Self("no such element", 404);
    pub(crate) const SESSION_NOT_CREATED: Self = Self("session not created", 500);
    pub(crate) const STALE_ELEMENT_REFERENCE: Self = Self("stale element reference", 404);
    pub(crate) const TIMEOUT: Self = Self("timeout", 408);
    pub(crate) const UNABLE_TO_CAPTURE_SCREEN: Self = Self("unable to capture screen", 500);
    pub(crate) const UNKNOWN_COMMAND: Self = Self("unknown command", 404);
    pub(crate) const UNKNOWN_ERROR: Self = Self("unknown error", 500);
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", kind.0)]
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
        Self::new(ErrorKind::INVALID_ARGUMENT, message)
    }

    pub(crate) fn invalid_state(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::INVALID_ELEMENT_STATE, message)
    }

    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::UNKNOWN_ERROR, message)
    }

    /// An `NSError` of WebDriverAgent's own, told with everything around it as its `description`
    /// has it.
    pub(crate) fn failed(text: &str) -> Self {
        Self::described(ErrorKind::UNKNOWN_ERROR, text)
    }

    /// The same of another kind.
    pub(crate) fn described(kind: ErrorKind, text: &str) -> Self {
        let message = format!(
            "Error Domain=com.facebook.WebDriverAgent Code=1 \"{text}\" UserInfo={{NSLocalizedDescription={text}}}"
        );
        Self::new(kind, message)
    }

    pub(crate) fn no_alert() -> Self {
        Self::new(
            ErrorKind::NO_SUCH_ALERT,
            "An attempt was made to operate on a modal dialog when one was not open",
        )
    }
}
