//! What the elected broker is asked: [`CTL_BROKER`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::state::State;
use crate::link::{FarmError, Link};
use crate::names::CTL_BROKER;
use crate::wire::QueuePosition;

/// The longest request that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// A question to the elected broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerRequest {
    /// Which runs there are, in the order in which they are served.
    Queue,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerAnswer {
    /// The runs with sessions, those that are served first first.
    Queue(Vec<QueuePosition>),
    /// The question was not understood; why, in one sentence.
    NotUnderstood(String),
}

/// Asks the elected broker for the queue.
///
/// # Errors
///
/// When no broker leads, or none answers within `patience`.
pub async fn queue(link: &Link, patience: Duration) -> Result<Vec<QueuePosition>, FarmError> {
    let server = |cause: String| FarmError::server("ask the broker for the queue", &cause);
    let request = serde_json::to_vec(&BrokerRequest::Queue);
    let request = request.map_err(|error| server(error.to_string()))?;
    let answer = link.ask(CTL_BROKER.to_owned(), request, patience).await?;
    match serde_json::from_slice(&answer) {
        Ok(BrokerAnswer::Queue(queue)) => Ok(queue),
        Ok(BrokerAnswer::NotUnderstood(cause)) => Err(server(cause)),
        Err(error) => Err(server(error.to_string())),
    }
}

/// The answer to a request, as it is sent.
pub(super) fn answer(state: &State, request: &[u8]) -> Vec<u8> {
    let read = if request.len() > LONGEST {
        Err(format!("a request takes {LONGEST} bytes at most"))
    } else {
        serde_json::from_slice(request).map_err(|error| error.to_string())
    };
    let answer = match read {
        Ok(BrokerRequest::Queue) => BrokerAnswer::Queue(state.queue()),
        Err(error) => BrokerAnswer::NotUnderstood(error),
    };
    serde_json::to_vec(&answer).unwrap_or_default()
}
