//! One `tools/call`: sent, awaited, cancelled.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, ElicitRequest, InputRequest, InputRequiredResult, InputResponses, MetaObject,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::handler::{CallProgress, ProgressCalls, elicited};
use super::{McpClient, sentence};

/// How often a server may ask for more before it answers a call.
const MAX_ROUNDS: usize = 10;

/// What a server answered to a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallResult {
    /// Its texts, in order.
    pub(crate) texts: Vec<String>,
    /// The same as data.
    pub(crate) structured: Option<Value>,
    /// Whether it says that the call failed.
    pub(crate) is_error: bool,
    /// Its metadata.
    pub(crate) meta: Map<String, Value>,
    /// What was noticed while it was waited for.
    pub(crate) notes: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    /// The server answered with an error.
    #[error("{0}")]
    Answered(String),
    /// The connection broke.
    #[error("{0}")]
    Broken(String),
}

/// A call that is under way.
pub(crate) struct PendingCall {
    peer: Peer<RoleClient>,
    params: CallToolRequestParams,
    handle: RequestHandle<RoleClient>,
    watched: Arc<ProgressCalls>,
    rounds: usize,
}

impl McpClient {
    /// Sends a call.
    ///
    /// # Errors
    /// [`CallError::Broken`] when it cannot be sent.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        meta: Map<String, Value>,
    ) -> Result<PendingCall, CallError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        params.meta = Some(RequestMetaObject(MetaObject(meta)));
        let peer = self.peer.clone();
        let handle = send(&peer, params.clone()).await?;
        let watched = Arc::clone(&self.watched);
        watched.watch(handle.progress_token.clone(), CallProgress::begun());
        Ok(PendingCall {
            peer,
            params,
            handle,
            watched,
            rounds: 0,
        })
    }
}

async fn send(
    peer: &Peer<RoleClient>,
    params: CallToolRequestParams,
) -> Result<RequestHandle<RoleClient>, CallError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::no_options();
    let sent = peer.send_cancellable_request(request, options).await;
    sent.map_err(|error| CallError::Broken(sentence(&error)))
}

impl PendingCall {
    /// Waits for the answer. May be dropped and asked again.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn answer(&mut self) -> Result<CallResult, CallError> {
        loop {
            let received = (&mut self.handle.rx).await;
            let received = received.unwrap_or(Err(ServiceError::TransportClosed));
            let needed = match received {
                Ok(ServerResult::CallToolResult(result)) => {
                    let notes = self.watched.take_notes(&self.handle.progress_token);
                    return Ok(CallResult {
                        notes,
                        ..taken(result)
                    });
                }
                Ok(ServerResult::InputRequiredResult(needed)) => needed,
                Ok(_) => {
                    return Err(CallError::Answered("it answered something else".to_owned()));
                }
                Err(error @ ServiceError::McpError(_)) => {
                    return Err(CallError::Answered(sentence(&error)));
                }
                Err(error) => return Err(CallError::Broken(sentence(&error))),
            };
            self.rounds += 1;
            if self.rounds > MAX_ROUNDS {
                return Err(CallError::Answered(format!(
                    "it asked for input more than {MAX_ROUNDS} times"
                )));
            }
            self.params.input_responses = Some(self.responses(&needed)?);
            self.params.request_state = needed.request_state;
            let progress = self.watched.forget(&self.handle.progress_token);
            self.handle = send(&self.peer, self.params.clone()).await?;
            let progress = progress.unwrap_or_else(CallProgress::begun);
            self.watched
                .watch(self.handle.progress_token.clone(), progress);
        }
    }

    /// When the call was last heard of: its beginning, its progress, its callbacks.
    pub(crate) fn heard(&self) -> Instant {
        let heard = self.watched.heard(&self.handle.progress_token);
        heard.unwrap_or_else(Instant::now)
    }

    /// Counts as a sign of life.
    pub(crate) fn hear(&self) {
        self.watched.hear(&self.handle.progress_token);
    }

    /// Tells the server that its caller stopped waiting.
    pub(crate) async fn cancel(&self, why: &str) {
        let id = Some(self.handle.id.clone());
        let cancelled = CancelledNotificationParam::new(id, Some(why.to_owned()));
        // A server that is gone need not be told.
        let _ = self.peer.notify_cancelled(cancelled).await;
    }

    /// The answers to what a server wants to know, as far as there are any without a person.
    fn responses(&self, needed: &InputRequiredResult) -> Result<InputResponses, CallError> {
        let mut responses = InputResponses::new();
        for (key, request) in needed.input_requests.iter().flatten() {
            match request {
                InputRequest::Elicitation(ElicitRequest { params, .. }) => {
                    let (answer, note) = elicited(params);
                    self.watched.note_on(&self.handle.progress_token, &note);
                    responses.insert(key.clone(), serde_json::json!(answer));
                }
                _ => {
                    return Err(CallError::Answered(
                        "it asks for a model or for folders, which are not available".to_owned(),
                    ));
                }
            }
        }
        Ok(responses)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.watched.forget(&self.handle.progress_token);
    }
}

fn taken(result: CallToolResult) -> CallResult {
    let texts = result.content.iter().filter_map(|part| part.as_text());
    CallResult {
        texts: texts.map(|part| part.text.clone()).collect(),
        structured: result.structured_content,
        is_error: result.is_error == Some(true),
        meta: result.meta.map(|meta| meta.0).unwrap_or_default(),
        notes: Vec::new(),
    }
}
