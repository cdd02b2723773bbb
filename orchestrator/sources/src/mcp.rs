//! MCP towards one server that is there: the only place that knows rmcp. Knows nothing of how the
//! server was started and of what its tools are for.
//!
//! Wire: the Model Context Protocol, 2024-11-05 to 2025-11-25 (`initialize`) and 2026-07-28
//! (`server/discover`).

mod call;
mod handler;
mod http;
mod listing;
mod stdio;
mod unreadable;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use packtrain_config::Protocol;
use rmcp::model::{
    JsonObject, ProtocolVersion, ReadResourceRequestParams, ResourceContents, SubscriptionFilter,
    Tool, ToolAnnotations,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RunningService, ServiceError,
};
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use rmcp::{ClientServiceExt, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(super) use self::call::{CallError, CallResult, PendingCall};
use self::handler::{Handler, Notices, ProgressCalls};
use self::http::HttpClient;
pub(super) use self::stdio::{STDOUT, Stdin, StdioTransport};

/// How long a server may take to end a session when asked.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long an unused connection is kept. Node and uvicorn close theirs after five seconds,
/// and what is sent at that moment is lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a server says unasked that waits to be looked at.
const NOTICES: usize = 256;

/// What a server says unasked.
#[derive(Debug)]
pub(super) enum Notice {
    /// Its tools are others now.
    ToolsChanged,
    /// A line for its log.
    Log(String),
}

/// A tool as a server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) description: String,
    /// JSON Schema of its arguments.
    pub(super) arguments: Value,
    /// What it says about its effects.
    pub(super) annotations: Option<ToolAnnotations>,
    /// JSON Schema of what it answers.
    pub(super) output: Option<Arc<JsonObject>>,
    pub(super) meta: Map<String, Value>,
}

fn listed(tool: Tool) -> ListedTool {
    ListedTool {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        arguments: Value::Object((*tool.input_schema).clone()),
        annotations: tool.annotations,
        output: tool.output_schema,
        meta: tool.meta.map(|meta| meta.0).unwrap_or_default(),
    }
}

/// The way to a server.
pub(super) enum Wire {
    /// Streamable HTTP.
    Http {
        url: String,
        headers: Vec<(String, String)>,
        /// Calls that may be under way at a time.
        concurrency: usize,
    },
    /// Its standard input and output.
    Stdio(StdioTransport),
}

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum ConnectError {
    /// No server is there yet; worth trying again.
    #[error("{0}")]
    NotYet(String),
    /// Somebody is there and says no.
    #[error("{0}")]
    Refused(String),
    /// The server speaks only the newer protocol.
    #[error("{0}")]
    OtherEra(String),
}

/// A connection to a server.
pub(super) struct McpClient {
    peer: Peer<RoleClient>,
    /// Asks the task that has the connection to end it.
    closing: CancellationToken,
    /// Says that it has.
    closed: CancellationToken,
    _service: AbortOnDropHandle<()>,
    watched: Arc<ProgressCalls>,
    /// As long as the connection is there.
    notices: mpsc::WeakSender<Notice>,
    /// The server's notifications, for its supervisor.
    pub(super) told: Option<mpsc::Receiver<Notice>>,
    /// Says when tools change, on connections where that has to be asked for.
    _listening: Option<AbortOnDropHandle<()>>,
}

impl McpClient {
    /// Connects and agrees on a version of the protocol.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub(super) async fn connect(wire: Wire, protocol: Protocol) -> Result<Self, ConnectError> {
        let (notices, told) = mpsc::channel(NOTICES);
        let watched = Arc::new(ProgressCalls::default());
        let weak = notices.downgrade();
        let notices = Notices::new(notices);
        let handler = Handler::new(notices.clone(), Arc::clone(&watched));
        let lifecycle = lifecycle(protocol);
        let connected = match wire {
            Wire::Stdio(transport) => handler.serve_with_lifecycle(transport, lifecycle).await,
            Wire::Http {
                url,
                headers,
                concurrency,
            } => {
                let transport = streamable_http(url, &headers, concurrency)?;
                handler.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        let service = connected.map_err(|error| connect_error(&error))?;
        let listening = listen(&service, notices);
        let peer = service.peer().clone();
        let (closing, closed) = (CancellationToken::new(), CancellationToken::new());
        let until_closed = until_closed(service, closing.clone(), closed.clone());
        Ok(Self {
            peer,
            closing,
            closed,
            _service: AbortOnDropHandle::new(tokio::spawn(until_closed)),
            watched,
            notices: weak,
            told: Some(told),
            _listening: listening,
        })
    }

    /// The version of the protocol that was agreed on.
    pub(super) fn version(&self) -> String {
        let info = self.peer.peer_info();
        info.map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// The text of a resource, when the server has resources and this one among them.
    pub(super) async fn resource(&self, uri: &str) -> Option<String> {
        let info = self.peer.peer_info()?;
        info.capabilities.resources.as_ref()?;
        let params = ReadResourceRequestParams::new(uri);
        let answer = self.peer.read_resource(params).await.ok()?;
        answer.contents.into_iter().find_map(|part| match part {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        })
    }

    /// Whether the server still answers anything.
    pub(super) async fn answers(&self) -> bool {
        if self.is_modern() {
            return self.peer.list_tools(None).await.is_ok();
        }
        let ping = rmcp::model::ClientRequest::PingRequest(rmcp::model::PingRequest::default());
        !matches!(
            self.peer.send_request(ping).await,
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))
        )
    }

    fn is_modern(&self) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28)
    }

    /// Whether the connection is gone for good.
    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Ends the connection; on stdio it closes the server's input. Over HTTP the server is notified that
    /// its session is over, as far as it listens.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.closed.cancelled().await;
    }
}

/// Has the connection until it is to be closed.
async fn until_closed(
    mut service: RunningService<RoleClient, Handler>,
    closing: CancellationToken,
    closed: CancellationToken,
) {
    let _closed = closed.drop_guard();
    closing.cancelled().await;
    // A server that does not answer is ended all the same.
    let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
}

fn lifecycle(protocol: Protocol) -> ClientLifecycleMode {
    match protocol {
        Protocol::Legacy => ClientLifecycleMode::Initialize,
        Protocol::Modern => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        Protocol::Auto => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

fn streamable_http(
    url: String,
    headers: &[(String, String)],
    concurrency: usize,
) -> Result<StreamableHttpClientTransport<HttpClient>, ConnectError> {
    let refused = |error: &dyn std::fmt::Display| ConnectError::Refused(error.to_string());
    let mut all = HashMap::new();
    for (name, value) in headers {
        let name: reqwest::header::HeaderName = name.parse().map_err(|error| refused(&error))?;
        let value: reqwest::header::HeaderValue = value.parse().map_err(|error| refused(&error))?;
        all.insert(name, value);
    }
    let client = reqwest::Client::builder()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(1024)
        .pool_idle_timeout(IDLE_TIMEOUT)
        // What is said to a tool source is for it alone.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .map_err(|error| refused(&error))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    // The admission of calls is the source's; this is for what goes on besides.
    config.max_concurrent_requests = concurrency.saturating_mul(2).max(64);
    config.custom_headers = all;
    // A lost server is reported at once: its starter knows whether it comes back.
    let mut once = FixedInterval::default();
    once.max_times = Some(1);
    once.duration = Duration::from_millis(100);
    config.retry_config = Arc::new(once);
    Ok(StreamableHttpClientTransport::with_client(
        HttpClient(client),
        config,
    ))
}

/// On connections of the newer protocol, changes of the tools have to be asked for.
fn listen(
    service: &RunningService<RoleClient, Handler>,
    notices: Notices,
) -> Option<AbortOnDropHandle<()>> {
    let info = service.peer().peer_info()?;
    let tools = info.capabilities.tools.as_ref()?;
    if info.protocol_version < ProtocolVersion::V_2026_07_28 || tools.list_changed != Some(true) {
        return None;
    }
    let peer = service.peer().clone();
    let listening = async move {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut subscription) = peer.listen(filter).await else {
            return;
        };
        while let Ok(Some(_)) = subscription.next().await {
            notices.tools_changed();
        }
    };
    Some(AbortOnDropHandle::new(tokio::spawn(listening.map(|_| ()))))
}

fn connect_error(error: &ClientInitializeError) -> ConnectError {
    let told = match error {
        // Which of its types it went through is of no use to anybody.
        ClientInitializeError::TransportError { error, .. } => transport(error),
        other => chain(other),
    };
    match error {
        ClientInitializeError::JsonRpcError(rpc)
            if rpc.code.0 == -32022
                || (rpc.code.0 == -32601 && rpc.message.contains("initialize")) =>
        {
            ConnectError::OtherEra(rpc.message.to_string())
        }
        ClientInitializeError::JsonRpcError(rpc) => ConnectError::Refused(rpc.message.to_string()),
        _ => {
            // What a server that is not there yet or any more, or a proxy before it, says.
            let not_yet = [
                "Broken pipe",
                "error sending request",
                "connection closed",
                "HTTP 502",
                "HTTP 503",
            ];
            if not_yet.iter().any(|sign| told.contains(sign)) {
                ConnectError::NotYet(told)
            } else {
                ConnectError::Refused(told)
            }
        }
    }
}

/// An error of a request, as a sentence.
fn sentence(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(rpc) => rpc.message.to_string(),
        ServiceError::TransportSend(error) => transport(error),
        other => chain(other),
    }
}

/// An error of either transport.
fn transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref() {
        // It does not tell its own causes.
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) => chain(error),
        _ => chain(error.error.as_ref()),
    }
}

/// An error and its causes, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !told.contains(&words) {
            told = format!("{told}: {words}");
        }
        next = cause.source();
    }
    told
}
