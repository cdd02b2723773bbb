//! HTTP for the connection to a server: reqwest, but that an answer that is too long fails its call
//! with the reason, as it does on standard input and output.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

/// What the transport's reader says of an event that is too long.
const TOO_LONG: &str = "exceeded the maximum size";

/// A client for HTTP. Cheap to clone.
#[derive(Clone)]
pub(super) struct HttpClient(pub(super) reqwest::Client);

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let client = &self.0;
        client
            .post_message(uri, message, session, auth, headers)
            .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let client = &self.0;
        let posted = client
            .post_message_with_max_sse_event_size(uri, message, session, auth, headers, most)
            .await;
        let Some(id) = request else {
            return posted;
        };
        match posted {
            Err(StreamableHttpError::ResponseBodyTooLarge { max_size }) => Ok(
                StreamableHttpPostResponse::Json(too_long(id, max_size), None),
            ),
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                let events = events.map(move |event| match event {
                    Err(SseError::Body(error)) if error.to_string().contains(TOO_LONG) => {
                        let answer = serde_json::to_string(&too_long(id.clone(), most));
                        Ok(Sse::default().data(answer.unwrap_or_default()))
                    }
                    event => event,
                });
                Ok(StreamableHttpPostResponse::Sse(events.boxed(), session))
            }
            posted => posted,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let client = &self.0;
        client.get_stream(uri, session, last, auth, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, HttpError> {
        let client = &self.0;
        client
            .get_stream_with_max_sse_event_size(uri, session, last, auth, headers, most)
            .await
    }
}

/// The answer that stands for one that is too long.
fn too_long(id: RequestId, most: usize) -> ServerJsonRpcMessage {
    let message = format!("its answer is too long, at most {most} bytes are taken");
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None);
    JsonRpcMessage::Error(JsonRpcError::new(Some(id), error))
}
