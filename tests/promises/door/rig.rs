//! A front with a handler of few words behind a door, in this process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use packtrain_door::callbacks::CallbackServer;
use packtrain_door::door::{Door, Policy, Serving, Tokens};
use packtrain_door::front::{self, SessionLimits, Sessions, Visitor};
use packtrain_sources::{CallbackLimits, Callbacks, Invocations};
use packtrain_tools::{Registry, SharedRegistry};
use parking_lot::Mutex;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::wire::{Answer, Request};

/// How long an event may take that has to come.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// What stands behind a front.
pub(super) struct Rig {
    pub(super) base: String,
    pub(super) tokens: Tokens,
    pub(super) sessions: Sessions,
    /// Ids of sessions that have ended.
    closed: Mutex<Receiver<String>>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) runtime: Runtime,
    serving: Option<Serving>,
}

/// What the rig's handlers have in common.
#[derive(Default)]
pub(super) struct Handlers {
    pub(super) alive: AtomicUsize,
    pub(super) made: AtomicUsize,
    /// Calls that were begun, of a tool that waits.
    pub(super) waiting: AtomicUsize,
    /// Lets them go on.
    pub(super) go_on: Option<Semaphore>,
}

/// A handler that says whom it was made for.
struct Mirror {
    visitor: Visitor,
    handlers: Arc<Handlers>,
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.handlers.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ServerHandler for Mirror {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "wait" {
            self.handlers.waiting.fetch_add(1, Ordering::SeqCst);
            let go_on = self.handlers.go_on.as_ref().unwrap();
            go_on.acquire().await.unwrap().forget();
        }
        let told = json!({
            "name": request.name,
            "arguments": request.arguments,
            "principal": self.visitor.principal().as_str(),
            "toolset": self.visitor.toolset(),
            "session": self.visitor.session(),
        });
        let content = vec![ContentBlock::text(told.to_string())];
        Ok(CallToolResult::success(content).into())
    }
}

pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(SessionLimits::default(), |policy| policy)
    }

    pub(super) fn with(limits: SessionLimits, changed: impl FnOnce(Policy) -> Policy) -> Self {
        let runtime = runtime();
        let (told, closed) = channel();
        let tokens = Tokens::generate().unwrap();
        let handlers = Arc::new(Handlers {
            go_on: Some(Semaphore::new(0)),
            ..Handlers::default()
        });
        let policy = changed(Policy::agents(tokens.clone()));
        let entered = runtime.enter();
        let door = runtime.block_on(Door::bind(policy)).unwrap();
        // Nobody listens when a test has ended.
        let on_closed = Arc::new(move |id: &str| drop(told.send(id.to_owned())));
        let sessions = Sessions::new(limits, on_closed);
        let common = Arc::clone(&handlers);
        let factory = move |visitor: &Visitor| {
            if visitor.toolset().is_some_and(|name| name != "smoke") {
                return Err(io::ErrorKind::NotFound.into());
            }
            common.made.fetch_add(1, Ordering::SeqCst);
            common.alive.fetch_add(1, Ordering::SeqCst);
            Ok(Mirror {
                visitor: visitor.clone(),
                handlers: Arc::clone(&common),
            })
        };
        let base = door.base_url();
        let router = front::mcp(factory, sessions.clone(), door.closing());
        let serving = Some(door.serve(router));
        drop(entered);
        Self {
            base,
            tokens,
            sessions,
            closed: Mutex::new(closed),
            handlers,
            runtime,
            serving,
        }
    }

    /// The next session that ends.
    pub(super) fn ended(&self) -> String {
        let closed = self.closed.lock();
        closed.recv_timeout(EVENT_TIMEOUT).unwrap()
    }

    /// Whether another one was told of.
    pub(super) fn has_another_ended(&self) -> bool {
        self.closed.lock().try_recv().is_ok()
    }

    pub(super) fn token(&self, name: &str) -> String {
        self.tokens.of(name).unwrap()
    }

    /// Ends what is under way and closes.
    pub(super) fn close(&mut self) {
        let serving = self.serving.take().unwrap();
        self.runtime.block_on(serving.close());
    }

    /// A request to an endpoint with a session.
    pub(super) fn asking(
        &self,
        token: &str,
        path: &str,
        session: &str,
        message: &Value,
    ) -> Request {
        let request = Request::new(&self.base, "POST", path).bearer(token);
        let request = request.json(message.to_string());
        match session {
            "" => request,
            _ => request.with("mcp-session-id", session),
        }
    }

    pub(super) fn ask(&self, token: &str, path: &str, session: &str, message: &Value) -> Answer {
        self.asking(token, path, session, message).send(&self.base)
    }

    /// Opens a session; its id.
    pub(super) fn session(&self, token: &str, path: &str) -> String {
        let answer = self.ask(token, path, "", &initialize());
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = self.ask(token, path, &session, &message);
        assert_eq!(answer.status, 202, "{answer:?}");
        session
    }
}

pub(super) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
}

pub(super) fn call(id: usize, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": { "of": id } } })
}

/// What the handler said.
pub(super) fn said(answer: &Answer) -> Value {
    let json = answer.json();
    let text = json["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer:?}"))).unwrap()
}

/// A door for callbacks with no call under way.
pub(super) fn callbacks(runtime: &Runtime) -> (String, Serving) {
    let callbacks = Callbacks::new(
        Invocations::default(),
        SharedRegistry::new(Registry::builtin()),
        CallbackLimits::default(),
    );
    runtime.block_on(async {
        let server = CallbackServer::bind().await.unwrap();
        (server.base_url(), server.serve(callbacks))
    })
}
