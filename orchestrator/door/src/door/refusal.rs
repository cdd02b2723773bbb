//! Why a request does not come in, and what is answered.

use std::time::Duration;

use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

/// Why a request does not come in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It names another computer, or several.
    #[error("the request is for another host")]
    Host,
    /// It comes from a web page.
    #[error("not available to web pages")]
    Origin,
    /// What is asked to be done.
    #[error("method not allowed")]
    Method(&'static [Method]),
    /// No token, or a wrong one.
    #[error("missing bearer token")]
    Unauthorized,
    /// There is nothing for a client that does not know the URL.
    #[error("not found")]
    NotFound,
    /// The body is not JSON, or compressed.
    #[error("the body must be application/json and not compressed")]
    MediaType,
    /// The body has too many bytes.
    #[error("a body of {} bytes exceeds {most} bytes", size(*.declared, *.most))]
    TooLarge {
        /// How many it said.
        declared: Option<u64>,
        /// How many it may have.
        most: usize,
    },
    /// The body did not come in time.
    #[error("nothing more came within {} s", .0.as_secs_f64())]
    TooSlow(Duration),
    /// The body broke off.
    #[error("{0}")]
    Unreadable(String),
    /// Too many requests of this principal.
    #[error("too many requests")]
    TooMany,
}

impl Refusal {
    /// Its status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Unreadable(_) => StatusCode::BAD_REQUEST,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// The headers that go with the status.
    pub(crate) fn complete(&self, response: &mut Response) {
        let headers = response.headers_mut();
        let fixed = |value| HeaderValue::from_static(value);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
        match self {
            Self::Method(allowed) => {
                let names: Vec<_> = allowed.iter().map(Method::as_str).collect();
                if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
                    headers.insert(header::ALLOW, names);
                }
            }
            Self::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, fixed("Bearer"));
            }
            Self::MediaType => {
                let accept_post = HeaderName::from_static("accept-post");
                headers.insert(accept_post, fixed("application/json"));
                headers.insert(header::ACCEPT_ENCODING, fixed("identity"));
            }
            Self::TooMany => {
                headers.insert(header::RETRY_AFTER, fixed("1"));
            }
            Self::Host
            | Self::Origin
            | Self::NotFound
            | Self::TooLarge { .. }
            | Self::TooSlow(_)
            | Self::Unreadable(_) => {}
        }
    }
}

/// What people read of how large a body is: `over 1024` for one that did not say.
pub fn size(declared: Option<u64>, most: usize) -> String {
    declared.map_or_else(|| format!("over {most}"), |length| length.to_string())
}

/// The reason in words.
pub(crate) fn plain(refusal: &Refusal, _path: &str) -> Response {
    (refusal.status(), refusal.to_string()).into_response()
}
