//! What is at the address of a run's report: the page, what it is told as the run goes on, and files of
//! the run's folder. Who may look is the door's business.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use packtrain_door::door::Refusal;

use super::files;
use super::follow::{Followed, NotShown};

/// Answers at every path, with the address's token as its first segment.
pub(super) fn router(run: Arc<Followed>) -> Router {
    Router::new().fallback(answer).with_state(run)
}

/// What is said to whom the guard does not let in.
pub(super) fn refused(refusal: &Refusal, _path: &str) -> Response {
    careful(refusal.status().into_response())
}

async fn answer(State(run): State<Arc<Followed>>, uri: Uri) -> Response {
    let path = uri.path().strip_prefix('/');
    let path = path.and_then(|path| path.split_once('/'));
    careful(match path {
        Some((_, path)) => get(&run, path).await,
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

async fn get(run: &Arc<Followed>, path: &str) -> Response {
    match path {
        "" => shown("text/html; charset=utf-8", run.page().await),
        "data.json" => shown("application/json", run.data().await),
        "events" => Sse::new(run.events())
            .keep_alive(KeepAlive::default())
            .into_response(),
        _ => {
            let (folder, path) = (run.folder().to_owned(), path.to_owned());
            let reading = tokio::task::spawn_blocking(move || files::read(&folder, &path));
            match reading.await.ok().flatten() {
                Some(file) => sent(file),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        }
    }
}

/// Keeps it from other pages and from disks.
fn careful(mut response: Response) -> Response {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

fn shown(media_type: &'static str, made: Result<String, NotShown>) -> Response {
    match made {
        Ok(text) => ([(header::CONTENT_TYPE, media_type)], text).into_response(),
        Err(error) => {
            tracing::warn!(%error, cause = ?std::error::Error::source(&error), "no live report");
            (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
        }
    }
}

fn sent(file: files::Sent) -> Response {
    let disposition = match file.is_shown {
        true => "inline",
        false => "attachment",
    };
    let headers = [
        (header::CONTENT_TYPE, file.media_type),
        (header::CONTENT_DISPOSITION, disposition),
        // It comes from a tested app.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
    ];
    (headers, Body::from(file.bytes)).into_response()
}
