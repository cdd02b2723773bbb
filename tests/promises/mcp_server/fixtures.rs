//! A server with what the scenarios of the protocol's conformance suite call: tools, prompts and
//! resources that do nothing but answer. It says what a front makes of a server that does everything.

mod rounds;
mod tasks;
mod tools;
mod wire;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use wire::{PNG, completed, filled_in, form, made, text_of};

/// How many changes a subscriber may be behind; the suite makes one at a time.
const CHANGES_AT_ONCE: usize = 16;

const WATCHED: &str = "test://watched-resource";

/// The server; clones are one server to several sessions.
#[derive(Clone)]
pub(crate) struct Fixtures {
    /// The tool that answers nothing, where a test wants a server that does not conform.
    broken: Option<&'static str>,
    /// States that were handed out and not handed back, each with its round.
    states: Arc<Mutex<HashMap<String, u32>>>,
    changes: broadcast::Sender<Change>,
    tasks: TaskManager,
}

/// A list that changed.
#[derive(Debug, Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

impl Fixtures {
    pub(crate) fn new(broken: Option<&'static str>) -> Self {
        Self {
            broken,
            states: Arc::default(),
            changes: broadcast::channel(CHANGES_AT_ONCE).0,
            tasks: TaskManager::new(),
        }
    }

    fn tell(&self, change: Change) {
        // Nobody may be listening.
        let _ = self.changes.send(change);
    }
}

fn lost(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = made(json!({
            "completions": {},
            "logging": {},
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true },
            "tools": { "listChanged": true },
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        }));
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("conformance-fixtures", "1.0.0"))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer(call, &ctx).await
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(completed(
            json!({ "completion": { "values": ["testable"], "total": 1, "hasMore": false } }),
        ))
    }

    #[expect(deprecated, reason = "the older revisions have it")]
    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({ "name": name, "description": name, "required": true });
        let prompts = json!([
            { "name": "test_simple_prompt", "description": "A text" },
            { "name": "test_prompt_with_arguments", "description": "A text of two",
              "arguments": [argument("arg1"), argument("arg2")] },
            { "name": "test_prompt_with_embedded_resource", "description": "A resource",
              "arguments": [argument("resourceUri")] },
            { "name": "test_prompt_with_image", "description": "An image" },
            { "name": "test_input_required_result_prompt", "description": "A text of what the user says" },
        ]);
        Ok(ListPromptsResult::with_all_items(made(prompts)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or("");
        let text = |text: &str| json!({ "type": "text", "text": text });
        let content = match request.name.as_str() {
            "test_simple_prompt" => vec![text("A prompt.")],
            "test_prompt_with_arguments" => {
                let both = format!("arg1='{}', arg2='{}'", argument("arg1"), argument("arg2"));
                vec![text(&both)]
            }
            "test_prompt_with_embedded_resource" => {
                let resource = text_of(argument("resourceUri"), "Embedded.");
                vec![
                    json!({ "type": "resource", "resource": resource }),
                    text("Process it."),
                ]
            }
            "test_prompt_with_image" => {
                let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
                vec![image, text("Look at it.")]
            }
            "test_input_required_result_prompt" => {
                match filled_in(request.input_responses.as_ref(), "user_context") {
                    Some(filled) => vec![text(&filled["context"].to_string())],
                    None => {
                        let form = form("What context should the prompt use?", "context", "string");
                        return Ok(self.ask(json!({ "user_context": form }), None).into());
                    }
                }
            }
            other => {
                let message = format!("there is no prompt {other}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let messages = content.into_iter();
        let messages = messages.map(|content| json!({ "role": "user", "content": content }));
        let messages: Vec<_> = messages.collect();
        Ok(completed::<GetPromptResult>(json!({ "messages": messages })).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = json!([
            { "uri": "test://static-text", "name": "text", "description": "A text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "binary", "description": "An image", "mimeType": "image/png" },
            { "uri": WATCHED, "name": "watched", "description": "Can be subscribed to", "mimeType": "text/plain" },
        ]);
        Ok(ListResourcesResult::with_all_items(made(resources)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = "test://template/{id}/data";
        let templates =
            json!([{ "uriTemplate": template, "name": "data", "mimeType": "application/json" }]);
        Ok(ListResourceTemplatesResult::with_all_items(made(templates)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/");
        let content = match (uri, id.and_then(|rest| rest.strip_suffix("/data"))) {
            ("test://static-binary", _) => {
                json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })
            }
            ("test://static-text" | WATCHED, _) => text_of(uri, "A text."),
            (_, Some(id)) => {
                let text = json!({ "id": id, "templateTest": true }).to_string();
                json!({ "uri": uri, "mimeType": "application/json", "text": text })
            }
            _ => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found("Resource not found", data));
            }
        };
        Ok(completed::<ReadResourceResult>(json!({ "contents": [content] })).into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, ctx: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = ctx.cancelled() => return Ok(()),
                change = changes.recv() => change.map_err(lost)?,
            };
            // What was not asked for is not sent.
            let _ = match change {
                Change::Tools => ctx.sink().notify_tool_list_changed().await,
                Change::Prompts => ctx.sink().notify_prompt_list_changed().await,
            };
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks
            .get_task(&request.task_id)
            .map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
