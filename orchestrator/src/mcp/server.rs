//! One agent's view of the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_tools::SharedRegistry;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::answers::{answered, failed, not_passed};
use super::catalog::{self, CatalogTool};
use super::devices::unknown_lease;
use super::{look, ours};
use crate::daemon::{Agent, Hub, Project, Transport};
use crate::exit::CliError;

/// How long a call of a tool may take.
const CALL: Duration = Duration::from_secs(300);
/// How often an agent is told that a call goes on.
const PROGRESS: Duration = Duration::from_secs(10);
/// The most of a message of progress, in characters.
const PROGRESS_LETTERS: usize = 200;

const INSTRUCTIONS: &str = "Packtrain drives browsers, Android phones and iPhones. Take a device with \
device_acquire; every call that is for it names the lease you get. Look with snapshot, act with the \
tools, give the device back with device_release. Trails are recorded flows: run_start runs them on \
many devices at once.";

/// One agent's view of the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AgentServer {
    inner: Arc<Inner>,
}

struct Inner {
    hub: Arc<Hub>,
    agent: Arc<Agent>,
    registry: SharedRegistry,
    catalog: Mutex<Option<Catalog>>,
}

/// The tools of one state of the registry.
struct Catalog {
    of: Arc<packtrain_tools::Registry>,
    tools: Arc<Vec<CatalogTool>>,
}

impl AgentServer {
    /// Takes in an agent.
    ///
    /// # Errors
    /// When the project's tools cannot be had.
    pub(crate) async fn open(
        hub: &Arc<Hub>,
        project: Arc<Project>,
        transport: Transport,
        _toolset: Option<String>,
    ) -> Result<(Self, crate::daemon::Present), CliError> {
        let registry = project.tools().await?;
        let present = hub.join(transport, project);
        let server = Self {
            inner: Arc::new(Inner {
                hub: Arc::clone(hub),
                agent: Arc::clone(present.agent()),
                registry,
                catalog: Mutex::default(),
            }),
        };
        Ok((server, present))
    }

    pub(super) fn agent(&self) -> &Arc<Agent> {
        &self.inner.agent
    }

    pub(super) fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }

    /// The tools of the registry as it is now.
    fn catalog(&self) -> Arc<Vec<CatalogTool>> {
        let now = self.inner.registry.snapshot();
        let catalog = self.inner.catalog.lock();
        let mut catalog = catalog.unwrap_or_else(PoisonError::into_inner);
        match &*catalog {
            Some(known) if Arc::ptr_eq(&known.of, &now) => Arc::clone(&known.tools),
            _ => {
                let own = ours::names();
                let tools = Arc::new(catalog::of(&now, |name| own.contains_key(name), &[]));
                *catalog = Some(Catalog {
                    of: now,
                    tools: Arc::clone(&tools),
                });
                tools
            }
        }
    }

    async fn called(
        &self,
        name: &str,
        arguments: JsonObject,
        reporter: &Reporter,
    ) -> Result<CallToolResult, ErrorData> {
        Ok(match name {
            "device_list" => self.device_list(arguments_of(arguments)?).await,
            "device_acquire" => self.device_acquire(arguments_of(arguments)?, reporter).await,
            "device_release" => self.device_release(arguments_of(arguments)?).await,
            "snapshot" => self.snapshot(arguments_of(arguments)?).await,
            "screenshot" => self.screenshot(arguments_of(arguments)?).await,
            _ => self.registry_tool(name, arguments).await?,
        })
    }

    /// Calls a tool of the registry on the device of its lease.
    async fn registry_tool(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let catalog = self.catalog();
        let Some(known) = catalog.iter().find(|known| known.tool.name == name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{name}`"), None));
        };
        if let Some(why) = &known.hidden {
            return Ok(failed(format!("`{name}` cannot be called: {why}")));
        }
        let lease = arguments.remove(ours::LEASE);
        let Some(lease) = lease.as_ref().and_then(serde_json::Value::as_str) else {
            return Ok(failed(format!(
                "`{name}` needs the argument `{}`: which device it is for; device_acquire gives one",
                ours::LEASE
            )));
        };
        let Some(held) = self.agent().held(lease) else {
            return Ok(failed(unknown_lease(lease)));
        };
        let call = ToolCall::new(name, Value::from(&serde_json::Value::Object(arguments)));
        Ok(match held.call(&call, CALL).await {
            Some(Ok(answer)) => answered(answer),
            Some(Err(outcome)) => not_passed(&outcome),
            None => failed(unknown_lease(lease)),
        })
    }
}

/// The arguments of a tool of ours.
fn arguments_of<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(serde_json::Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// Tells whoever called how it goes on.
pub(super) struct Reporter {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    said: tokio::sync::watch::Sender<String>,
}

impl Reporter {
    fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            said: tokio::sync::watch::Sender::new("still at it".to_owned()),
        }
    }

    /// What it waits for, or how far it is; told at once.
    pub(super) fn say(&self, what: String) {
        let what = what.chars().take(PROGRESS_LETTERS).collect();
        self.said.send_replace(what);
    }

    /// Tells of it until `work` is done, each 10 s and when there is something new.
    async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(token) = self.token.clone() else {
            return work.await;
        };
        tokio::pin!(work);
        let mut said = self.said.subscribe();
        let mut number = 0.0;
        let mut every = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = every.tick() => {}
                changed = said.changed() => if changed.is_err() { continue },
            }
            number += 1.0;
            let mut progress = ProgressNotificationParam::new(token.clone(), number);
            progress.message = Some(said.borrow_and_update().clone());
            // Whoever is gone is not told.
            let _ = self.peer.notify_progress(progress).await;
        }
    }
}

impl ServerHandler for AgentServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("packtrain", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        let version = negotiated.protocol_version.to_string();
        self.agent().introduce(&request.client_info.name, Some(version));
        Ok(negotiated)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.noticed(&context);
        let mut tools: Vec<Tool> = ours::definitions();
        let catalog = self.catalog();
        let offered = catalog.iter().filter(|known| known.hidden.is_none());
        tools.extend(offered.map(|known| known.tool.clone()));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.noticed(&context);
        let reporter = Reporter::new(&context);
        let arguments = request.arguments.unwrap_or_default();
        let calling = self.called(&request.name, arguments, &reporter);
        let gone = self.agent().gone.clone();
        let answer = tokio::select! {
            answer = reporter.during(calling) => answer?,
            () = context.ct.cancelled() => failed("cancelled"),
            () = gone.cancelled() => failed("the session has ended"),
        };
        self.agent().touch();
        Ok(answer.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.noticed(&context);
        let held = self.agent().all_held();
        let pictures = held.iter().flat_map(|held| {
            let pictures = held.pictures().into_iter();
            pictures.map(|(number, png)| look::picture(held, number, &png))
        });
        Ok(ListResourcesResult::with_all_items(pictures.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.noticed(&context);
        for held in self.agent().all_held() {
            for (number, png) in held.pictures() {
                if look::picture_uri(&held, number) == request.uri {
                    let data = BASE64_STANDARD.encode(&*png);
                    let content = ResourceContents::blob(data, request.uri);
                    let content = content.with_mime_type("image/png");
                    return Ok(ReadResourceResult::new(vec![content]).into());
                }
            }
        }
        let message = format!("there is no resource {}", request.uri);
        Err(ErrorData::resource_not_found(message, None))
    }
}

impl AgentServer {
    /// Takes down who asks.
    fn noticed(&self, context: &RequestContext<RoleServer>) {
        let agent = self.agent();
        agent.touch();
        if let Some(client) = context.client_info() {
            let version = context.protocol_version().map(|version| version.to_string());
            agent.introduce(&client.name, version);
        }
    }
}
