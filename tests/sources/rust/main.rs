//! A tool source in Rust: one tool that makes callbacks, as fast as they are answered.
//! `rust-source --transport http --port N` serves it at `http://127.0.0.1:N/mcp`.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

#[derive(Clone)]
struct Source {
    /// Keeps its connections.
    http: reqwest::Client,
}

impl ServerHandler for Source {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": {
                "callbacks": { "type": "integer", "minimum": 0 },
                "tool": { "type": "string" },
                "arguments": { "type": "object" },
            },
            "required": ["callbacks", "tool"],
            "additionalProperties": false,
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let about = "Calls a tool a number of times and says how many calls passed.";
        let tool = Tool::new("bench_drive", about, schema);
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "bench_drive" {
            return Err(ErrorData::invalid_params("no such tool", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match context.meta.get("trailblaze") {
            Some(on) => self.drive(&arguments, on).await,
            None => Err("it works in a session only".to_owned()),
        };
        Ok(CallToolResponse::Complete(match result {
            Ok(counts) => CallToolResult::structured(counts),
            Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
        }))
    }
}

impl Source {
    async fn drive(&self, arguments: &Value, on: &Value) -> Result<Value, String> {
        let callbacks = arguments["callbacks"].as_u64().unwrap_or_default();
        let text = arguments
            .get("arguments")
            .map_or("{}".to_owned(), Value::to_string);
        let body = json!({
            "version": 1,
            "session_id": on["sessionId"],
            "invocation_id": on["invocationId"],
            "action": { "type": "call_tool", "tool_name": arguments["tool"], "arguments_json": text },
        });
        let body = body.to_string();
        let url = format!(
            "{}/scripting/callback",
            on["baseUrl"].as_str().unwrap_or_default()
        );
        let mut passed = 0;
        for _ in 0..callbacks {
            let request = self
                .http
                .post(&url)
                .header("content-type", "application/json");
            let answer = request.body(body.clone()).send().await;
            let answer = answer.map_err(|error| error.to_string())?;
            let answer = answer.bytes().await.map_err(|error| error.to_string())?;
            let answer: Value =
                serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
            passed += u64::from(answer["result"]["success"] == true);
        }
        Ok(json!({ "callbacks": callbacks, "passed": passed, "failed": callbacks - passed }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--port");
    let port: u16 = arguments.nth(1).ok_or("--port N is missing")?.parse()?;
    let http = reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .build()?;
    let source = Source { http };
    let mut config = StreamableHttpServerConfig::default();
    // Sessions for the older protocol, plain answers for the newer one.
    config.legacy_session_mode = true;
    config.json_response = true;
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(source.clone()), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    Ok(axum::serve(listener, router).await?)
}
