//! One request to WebDriverAgent and the value it answers.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use packtrain_drivers::DriverError;
use serde::Deserialize;
use serde_json::Value;

/// How long most commands may take: WebDriverAgent does one thing at a time, and a slow phone
/// needs its seconds.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// How large most answers may be.
const MOST: usize = 1024 * 1024;

/// Where a command is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Behind `/session/:id`.
    Session,
    /// At the top.
    Top,
}

/// Whether a command may be sent a second time when it is not known what became of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// Twice is as good as once.
    Safe,
    /// Twice would be one tap too many.
    Never,
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct WdaRequest {
    /// What it is for, as in "failed to ...".
    pub(super) doing: &'static str,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Bytes,
    pub(super) scope: Scope,
    pub(super) retry: Retry,
    pub(super) limit: Duration,
    pub(super) most: usize,
}

impl WdaRequest {
    /// Asks for something; harmless.
    pub(crate) fn get(doing: &'static str, path: impl Into<String>) -> Self {
        Self::new(doing, Method::GET, path.into(), Retry::Safe)
    }

    /// Has something done.
    pub(crate) fn post(doing: &'static str, path: impl Into<String>, body: &Value) -> Self {
        Self {
            body: body.to_string().into(),
            ..Self::new(doing, Method::POST, path.into(), Retry::Never)
        }
    }

    /// Ends something; harmless, for it can end but once.
    pub(crate) fn delete(doing: &'static str, path: impl Into<String>) -> Self {
        Self::new(doing, Method::DELETE, path.into(), Retry::Safe)
    }

    const fn new(doing: &'static str, method: Method, path: String, retry: Retry) -> Self {
        Self {
            doing,
            method,
            path,
            body: Bytes::new(),
            scope: Scope::Session,
            retry,
            limit: COMMAND_TIMEOUT,
            most: MOST,
        }
    }

    /// It needs no session.
    pub(crate) const fn at_top(mut self) -> Self {
        self.scope = Scope::Top;
        self
    }

    /// Done twice, it is as if done once.
    pub(crate) const fn harmless(mut self) -> Self {
        self.retry = Retry::Safe;
        self
    }

    /// How long it may take.
    pub(crate) const fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// It takes this much longer than others.
    pub(crate) fn lasting(mut self, time: Duration) -> Self {
        self.limit = self.limit.saturating_add(time);
        self
    }

    /// How many bytes the answer may have.
    pub(crate) const fn up_to(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }

    pub(crate) const fn doing(&self) -> &'static str {
        self.doing
    }
}

/// The JSON of a value, which is UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply(Bytes);

impl Reply {
    pub(super) const fn new(json: Bytes) -> Self {
        Self(json)
    }

    pub(super) const fn nothing() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The JSON.
    pub(crate) fn json(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// The value, read.
    ///
    /// # Errors
    /// When it is of another form than such a command answers.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self, doing: &str) -> Result<T, DriverError> {
        serde_json::from_slice(&self.0).map_err(|error| {
            DriverError::unmet(format!(
                "{doing}: WebDriverAgent answered something unexpected: {error}"
            ))
        })
    }
}
