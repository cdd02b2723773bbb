//! A tool source in Rust: `hold` keeps its call open for measurements, `echo` answers at once,
//! `drive` makes forty callbacks.

use std::sync::mpsc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use crate::client::request;

/// Callbacks of one call of `drive`.
const CALLBACKS: usize = 40;

/// A source that runs.
pub(crate) struct Source {
    address: String,
    _runtime: tokio::runtime::Runtime,
}

/// A call that is kept open.
pub(crate) struct Held {
    pub(crate) address: String,
    session: String,
    invocation: String,
    done: oneshot::Sender<()>,
}

impl Held {
    /// A callback that has its device do nothing.
    pub(crate) fn callback(&self) -> String {
        callback(&self.session, &self.invocation)
    }

    pub(crate) fn release(self) {
        let _ = self.done.send(());
    }
}

fn callback(session: &str, invocation: &str) -> String {
    json!({
        "version": 1,
        "session_id": session,
        "invocation_id": invocation,
        "action": { "type": "call_tool", "tool_name": "bench_act", "arguments_json": "{}" },
    })
    .to_string()
}

impl Source {
    pub(crate) fn start() -> (Self, mpsc::Receiver<Held>) {
        let (held_tx, held) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = Router::new()
            .route("/mcp", post(answer))
            .with_state(held_tx);
        let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
        runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
        let source = Self {
            address,
            _runtime: runtime,
        };
        (source, held)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

async fn answer(State(held): State<mpsc::Sender<Held>>, body: axum::body::Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let Some(id) = message.get("id").cloned() else {
        return StatusCode::ACCEPTED.into_response();
    };
    let params = &message["params"];
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench", "version": "1" },
        }),
        "tools/list" => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": [tool("bench_hold"), tool("bench_echo"), tool("bench_drive")] })
        }
        "tools/call" => {
            let about = &params["_meta"]["trailblaze"];
            let word = |key: &str| about[key].as_str().unwrap().to_owned();
            match params["name"].as_str().unwrap() {
                "bench_hold" => {
                    let (done, released) = oneshot::channel();
                    let address = word("baseUrl").trim_start_matches("http://").to_owned();
                    let (session, invocation) = (word("sessionId"), word("invocationId"));
                    held.send(Held {
                        address,
                        session,
                        invocation,
                        done,
                    })
                    .unwrap();
                    let _ = released.await;
                }
                "bench_drive" => {
                    let body = callback(&word("sessionId"), &word("invocationId"));
                    drive(word("baseUrl").trim_start_matches("http://"), &body).await;
                }
                _ => {}
            }
            text("ok")
        }
        _ => json!({}),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    ([("content-type", "application/json")], answer.to_string()).into_response()
}

/// Callbacks one after another over one connection.
async fn drive(address: &str, body: &str) {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let request = request("/scripting/callback", address, body);
    let mut buffer = vec![0; 4096];
    for _ in 0..CALLBACKS {
        stream.write_all(request.as_bytes()).await.unwrap();
        // Answers are short.
        let count = stream.read(&mut buffer).await.unwrap();
        let answer = String::from_utf8_lossy(&buffer[..count]);
        assert!(answer.contains("\"success\":true"), "{answer}");
    }
}
