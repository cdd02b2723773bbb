//! Takes a request's body in: so many bytes, in so much time.

use axum::body::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::policy::Limits;
use super::refusal::Refusal;

/// Bytes of a body that is too large which are still read: who writes while its connection is closed
/// does not get to see why.
const MAX_DRAINED: u64 = 16 * 1024 * 1024;

/// The body. `declared` is how many bytes it says it has.
pub(crate) async fn received(
    body: Incoming,
    declared: Option<u64>,
    limits: &Limits,
) -> Result<Bytes, Refusal> {
    if declared.is_some_and(|length| length > MAX_DRAINED) {
        return Err(too_large(declared, limits));
    }
    match tokio::time::timeout(limits.body_timeout, read(body, limits.body)).await {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => Err(too_large(declared, limits)),
        Ok(Err(error)) => Err(Refusal::Unreadable(error.to_string())),
        Err(_) => Err(Refusal::TooSlow(limits.body_timeout)),
    }
}

fn too_large(declared: Option<u64>, limits: &Limits) -> Refusal {
    let most = limits.body;
    Refusal::TooLarge { declared, most }
}

/// Reads a body; `None` for one that is too large. What comes in one piece is not copied.
async fn read(mut body: Incoming, most: usize) -> Result<Option<Bytes>, hyper::Error> {
    let (mut first, mut joined, mut length) = (Bytes::new(), Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        if length > most {
            if length as u64 > MAX_DRAINED {
                break;
            }
        } else if length == data.len() {
            first = data;
        } else {
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
    }
    if length > most {
        return Ok(None);
    }
    Ok(Some(match joined.is_empty() {
        true => first,
        false => joined.into(),
    }))
}
