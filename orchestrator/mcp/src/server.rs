//! The protocol's requests, for one session, or for one request of those who have none.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use packtrain_daemon::wire::ProjectKey;
use packtrain_daemon::{Agent, AgentGuard, Answers, Hub, Update};
use packtrain_door::front::Visitor;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsRequestMethod,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio::sync::{OnceCell, broadcast, watch};
use tokio_util::task::AbortOnDropHandle;

use super::agent_context::AgentContext;
use super::answers::failed;
use super::reporter::Reporter;

/// The most resources that one session may follow.
const FOLLOWED: usize = 256;

const INSTRUCTIONS: &str = "Packtrain drives browsers, Android phones and iPhones. Take a device with \
device_acquire; every call that is for it names the lease you get. Look with snapshot; do several things in \
one call with act, which returns what has changed; give the device back with device_release. Trails are \
recorded flows: run_start runs them on many devices at once. tools/list has the usual tools: \
list-available-tools names all others, and every one can be called by its name or by act.";

/// Who asks.
enum ClientIdentity {
    /// The client at the other end of a connection.
    Connected(Arc<Agent>),
    /// A client over HTTP.
    Visitor {
        visitor: Visitor,
        project: ProjectKey,
        /// The agent of its session, from its first request on.
        session: OnceCell<AgentGuard>,
    },
}

/// One session's view of the server, or one request's. Cheap to clone.
#[derive(Clone)]
pub struct AgentServer {
    inner: Arc<Inner>,
}

struct Inner {
    hub: Arc<Hub>,
    who: ClientIdentity,
    /// The resources that a session wants to hear of.
    followed: watch::Sender<BTreeSet<String>>,
    /// Tells a session of what changes.
    telling: OnceLock<AbortOnDropHandle<()>>,
}

impl AgentServer {
    fn new(hub: &Arc<Hub>, who: ClientIdentity) -> Self {
        Self {
            inner: Arc::new(Inner {
                hub: Arc::clone(hub),
                who,
                followed: watch::Sender::default(),
                telling: OnceLock::new(),
            }),
        }
    }

    /// The agent that asks, and what is done for it.
    async fn desk(&self, context: &RequestContext<RoleServer>) -> Result<AgentContext, ErrorData> {
        let client = context.client_info();
        let name = client.map_or_else(String::new, |client| client.name);
        let version = context.protocol_version();
        let agent = self.agent(&name).await?;
        let asking = agent.asks();
        agent.introduce(&name, version.as_ref().map(ToString::to_string));
        let is_modern =
            version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        Ok(AgentContext {
            hub: Arc::clone(&self.inner.hub),
            agent,
            is_modern,
            is_at_toolset: self.is_at_toolset(),
            _asking: asking,
        })
    }

    fn is_at_toolset(&self) -> bool {
        match &self.inner.who {
            ClientIdentity::Connected(_) => false,
            ClientIdentity::Visitor { visitor, .. } => visitor.toolset().is_some(),
        }
    }

    async fn agent(&self, name: &str) -> Result<Arc<Agent>, ErrorData> {
        let hub = &self.inner.hub;
        let (visitor, key, session) = match &self.inner.who {
            ClientIdentity::Connected(agent) => return Ok(Arc::clone(agent)),
            ClientIdentity::Visitor {
                visitor,
                project,
                session,
            } => (visitor, project, session),
        };
        if let Some(present) = session.get() {
            // A session goes on with what it began with.
            return Ok(Arc::clone(&present.agent));
        }
        let refused = |error: packtrain_terminal::exit::CliError| {
            ErrorData::internal_error(error.explanation.message, None)
        };
        if visitor.session().is_none() {
            return hub.requester(visitor, name, key).await.map_err(refused);
        }
        let project = hub.project(key.clone(), key.state()).await;
        let project = project.map_err(refused)?;
        let present = session.get_or_try_init(async || hub.visit(visitor, &project));
        Ok(Arc::clone(&present.await.map_err(refused)?.agent))
    }

    /// Tells a session of what changes, as long as it lives.
    fn keep_told(&self, agent: &Agent, peer: Peer<RoleServer>) {
        let followed = self.inner.followed.subscribe();
        self.inner.telling.get_or_init(|| {
            AbortOnDropHandle::new(tokio::spawn(tell(peer, agent.updates(), followed)))
        });
    }
}

async fn tell(
    peer: Peer<RoleServer>,
    mut updates: broadcast::Receiver<Update>,
    followed: watch::Receiver<BTreeSet<String>>,
) {
    loop {
        let told = match updates.recv().await {
            // What was missed may have been that.
            Ok(Update::Tools) | Err(broadcast::error::RecvError::Lagged(_)) => {
                peer.notify_tool_list_changed().await
            }
            Ok(Update::Resource(uri)) => {
                if !followed.borrow().contains(&uri) {
                    continue;
                }
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                    .await
            }
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if told.is_err() {
            return;
        }
    }
}

/// Lists are returned whole, so no cursor was ever given out.
fn only_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        Some(_) => Err(ErrorData::invalid_params("unknown cursor", None)),
        None => Ok(()),
    }
}

impl Answers for AgentServer {
    fn connected(hub: &Arc<Hub>, agent: &Arc<Agent>) -> Self {
        Self::new(hub, ClientIdentity::Connected(Arc::clone(agent)))
    }

    fn visited(hub: &Arc<Hub>, visitor: &Visitor, project: ProjectKey) -> Self {
        let who = ClientIdentity::Visitor {
            visitor: visitor.clone(),
            project,
            session: OnceCell::new(),
        };
        Self::new(hub, who)
    }
}

impl ServerHandler for AgentServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tasks()
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
        let agent = self.agent(&request.client_info.name).await?;
        let version = negotiated.protocol_version.to_string();
        agent.introduce(&request.client_info.name, Some(version));
        self.keep_told(&agent, context.peer.clone());
        Ok(negotiated)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(page)?;
        let desk = self.desk(&context).await?;
        let tools = tokio::select! {
            biased;
            () = desk.agent.gone.cancelled() => Err(ErrorData::internal_error("this session has ended", None)),
            tools = desk.tools() => tools,
        }?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let desk = self.desk(&context).await?;
        let declared = context.client_capabilities();
        if declared.is_some_and(|declared| declared.supports_tasks())
            && let Some(task) = desk.as_task(&request)
        {
            return Ok(CallToolResponse::Task(task));
        }
        let reporter = Reporter::new(&context);
        let arguments = request.arguments.unwrap_or_default();
        let calling = desk.call(&request.name, arguments, &reporter);
        let answer = tokio::select! {
            biased;
            () = desk.agent.gone.cancelled() => failed("this session has ended"),
            () = context.ct.cancelled() => failed("cancelled"),
            answer = reporter.during(calling) => answer?,
        };
        Ok(answer.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.desk(&context).await?.task(&request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A run asks for nothing.
        let desk = self.desk(&context).await?;
        desk.known_task(&request.task_id).map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.desk(&context).await?.cancel_task(&request.task_id)
    }

    /// A server that answers this has to declare prompts.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        only_page(page)?;
        let resources = self.desk(&context).await?.resources();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let desk = self.desk(&context).await?;
        Ok(desk.read_resource(request.uri).await?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.desk(&context).await?.known_resource(&request.uri)?;
        let followed = self.inner.followed.send_if_modified(|followed| {
            let has_room = followed.len() < FOLLOWED;
            if has_room {
                followed.insert(request.uri);
            }
            has_room
        });
        match followed {
            true => Ok(()),
            false => Err(ErrorData::invalid_request("too many subscriptions", None)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner
            .followed
            .send_if_modified(|followed| followed.remove(&request.uri));
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(FOLLOWED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let desk = self.desk(context.request_context()).await?;
        let mut updates = desk.agent.updates();
        let sink = context.sink();
        loop {
            let update = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = desk.agent.gone.cancelled() => return Ok(()),
                update = updates.recv() => update,
            };
            // What was not asked for is refused by the sink.
            let _ = match update {
                Ok(Update::Resource(uri)) => sink.notify_resource_updated(uri).await,
                Ok(Update::Tools) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    sink.notify_tool_list_changed().await
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
        }
    }
}
