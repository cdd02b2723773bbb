//! What a daemon has: projects, and those who use their devices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_device_actors::SharedDevices;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agents::{Agent, Agents, Present, Transport, Update};
use super::project::{self, Project};
use super::wire::{DeviceNews, ProjectKey};
use crate::exit::CliError;
use crate::http::front::{Sessions, Visitor};
use crate::mcp::toolset_tools::ToolsetTools;

/// How long whoever has no session may be silent, and how long a device may lie unused.
const LONGEST_SILENCE: Duration = Duration::from_secs(15 * 60);
/// The most of those who have no session.
const REQUESTERS: usize = 256;

/// A project, once it is open.
type Opened = Arc<OnceCell<Arc<Project>>>;

/// Who comes by single requests.
type Requester = (String, Option<String>, String);

/// Where agents reach it over HTTP.
struct Http {
    url: String,
    sessions: Sessions,
}

/// What shows that an agent has started a run.
#[derive(Clone, Default)]
pub(super) struct Tickets(Arc<Mutex<BTreeSet<String>>>);

/// A ticket, good as long as this lives.
pub(super) struct Ticket(pub(super) String, Tickets);

impl Tickets {
    fn all(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new one.
    pub(super) fn issue(&self) -> Ticket {
        let ticket = uuid::Uuid::new_v4().simple().to_string();
        self.all().insert(ticket.clone());
        Ticket(ticket, self.clone())
    }

    /// Whether one is good.
    pub(super) fn is_good(&self, ticket: &str) -> bool {
        self.all().contains(ticket)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.1.all().remove(&self.0);
    }
}

/// Projects, agents, and what goes on.
pub(crate) struct Hub {
    pub(crate) agents: Agents,
    projects: tokio::sync::Mutex<BTreeMap<ProjectKey, (u64, Opened)>>,
    /// The phones of all projects: whoever has one has it before all others.
    phones: SharedDevices,
    arbiter: ArbiterHandle,
    /// Those who come by single requests: whose token, which endpoint, which client.
    requesters: Mutex<BTreeMap<Requester, Present>>,
    /// The agents of sessions over HTTP.
    visits: Mutex<BTreeMap<String, Weak<Agent>>>,
    http: OnceLock<Http>,
    pub(super) tickets: Tickets,
    /// Connections, sessions and runs that go on.
    pub(crate) work: TaskTracker,
    /// Cancelled when it shall end.
    pub(crate) ending: CancellationToken,
}

impl Hub {
    /// A hub whose actors live on these arbiters.
    pub(crate) fn new(arbiters: &[ArbiterHandle], ending: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            agents: Agents::default(),
            projects: tokio::sync::Mutex::default(),
            phones: SharedDevices::new(arbiters),
            arbiter: arbiters[0].clone(),
            requesters: Mutex::default(),
            visits: Mutex::default(),
            http: OnceLock::new(),
            tickets: Tickets::default(),
            work: TaskTracker::new(),
            ending,
        })
    }

    /// A project, opened when nobody has yet. `files` is what its files hold: when that is not what they
    /// held, it is opened anew.
    ///
    /// # Errors
    /// As [`Project::open`], and the next one who asks tries again; or when what it was is in use.
    pub(crate) async fn project(
        self: &Arc<Self>,
        key: ProjectKey,
        files: u64,
    ) -> Result<Arc<Project>, CliError> {
        let cell = {
            let mut projects = self.projects.lock().await;
            let (known, cell) = projects
                .entry(key.clone())
                .or_insert_with(|| (files, Arc::default()));
            if *known != files {
                if let Some(old) = cell.get() {
                    self.forget_requesters(|agent| {
                        Arc::ptr_eq(&agent.project, old) && agent.has_nothing()
                    });
                    if old.is_in_use() {
                        return Err(self.changed(old));
                    }
                    old.close().await;
                }
                (*known, *cell) = (files, Arc::default());
            }
            Arc::clone(cell)
        };
        let opened = cell.get_or_try_init(async || {
            let project = Arc::new(Project::open(key, &self.phones, self.arbiter.clone()).await?);
            self.look_after(&project);
            Ok::<_, CliError>(project)
        });
        opened.await.map(Arc::clone)
    }

    /// A project that is open.
    async fn opened(&self, key: &ProjectKey) -> Option<Arc<Project>> {
        let projects = self.projects.lock().await;
        projects.get(key)?.1.get().map(Arc::clone)
    }

    /// The devices of a project that is open; of others the phones that projects have. With who has
    /// them.
    pub(super) async fn devices(&self, key: &ProjectKey) -> Vec<DeviceNews> {
        match self.opened(key).await {
            Some(project) => project.devices().await,
            None => {
                let phones = self.phones.status().await;
                phones.into_iter().map(project::news).collect()
            }
        }
    }

    /// That a project is not what it was, and who holds on to that.
    fn changed(&self, old: &Arc<Project>) -> CliError {
        let agents = self.agents.of(old);
        let names: Vec<_> = agents.iter().map(|agent| agent.title()).collect();
        let by = match names.is_empty() {
            true => "a run".to_owned(),
            false => names.join(", "),
        };
        CliError::infrastructure(format!(
            "the configuration has changed since the daemon read it, and what it was is in use by {by}"
        ))
        .hint("`packtrain agents` lists agents and ends them; `packtrain daemon stop` ends everything")
    }

    /// Forgets those of single requests for whom this holds; they are known again when they ask again.
    fn forget_requesters(&self, is_meant: impl Fn(&Agent) -> bool) {
        let mut all = self
            .requesters
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, present| !is_meant(present.agent()));
    }

    /// Follows what becomes of a project, until the end.
    fn look_after(self: &Arc<Self>, project: &Arc<Project>) {
        let (devices, until) = (Arc::clone(project), project.closing.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = devices.follow_devices() => {}
                () = until.cancelled() => {}
            }
        });
        if project.config.mcp_servers.is_empty() {
            return;
        }
        let (hub, project) = (Arc::downgrade(self), Arc::clone(project));
        let until = project.closing.clone();
        tokio::spawn(async move {
            let mut known = Arc::default();
            loop {
                known = tokio::select! {
                    now = project.tools_changed(&known) => now,
                    () = until.cancelled() => return,
                };
                let Some(hub) = hub.upgrade() else {
                    return;
                };
                hub.agents.tell(&project, &Update::Tools);
            }
        });
    }

    /// Says where agents reach it over HTTP.
    pub(super) fn serves_http(&self, url: String, sessions: Sessions) {
        // There is one door.
        let _ = self.http.set(Http { url, sessions });
    }

    /// Where agents reach it over HTTP.
    pub(crate) fn url(&self) -> &str {
        self.http.get().map_or("", |http| http.url.as_str())
    }

    /// Takes in an agent at the other end of a connection.
    pub(crate) fn join(&self, transport: Transport, project: Arc<Project>) -> Present {
        self.agents.join(transport, project, None)
    }

    /// Takes in the agent of a session over HTTP.
    ///
    /// # Errors
    /// When the session has ended, or its toolset is not there any more.
    pub(crate) fn visit(
        &self,
        visitor: &Visitor,
        project: Arc<Project>,
    ) -> Result<Present, CliError> {
        let id = visitor.session().unwrap_or_default().to_owned();
        let present = self.agents.join(Transport::Http, project, Some(id.clone()));
        equip(visitor, present.agent())?;
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        visits.retain(|_, agent| agent.strong_count() > 0);
        visits.insert(id, Arc::downgrade(present.agent()));
        Ok(present)
    }

    /// A session over HTTP has ended.
    pub(super) fn left(&self, session: &str) {
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = visits.remove(session).and_then(|agent| agent.upgrade()) {
            agent.leave();
        }
    }

    /// The agent of whoever comes by single requests, when it has a device or a run.
    pub(crate) fn busy_requester(&self, visitor: &Visitor, client: &str) -> Option<Arc<Agent>> {
        let all = self.requesters.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        let agent = all.get(&requester(visitor, client))?.agent();
        let is_busy = !agent.gone.is_cancelled() && !agent.has_nothing();
        is_busy.then(|| Arc::clone(agent))
    }

    /// The agent of whoever comes by single requests.
    ///
    /// # Errors
    /// When there are too many, or the endpoint's toolset is not there any more.
    pub(crate) fn requester(
        &self,
        visitor: &Visitor,
        client: &str,
        project: Arc<Project>,
    ) -> Result<Arc<Agent>, CliError> {
        let who = requester(visitor, client);
        let mut all = self
            .requesters
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all
            .get(&who)
            .filter(|known| !known.agent().gone.is_cancelled())
        {
            let agent = Arc::clone(known.agent());
            // Its endpoint's toolset is what it is now.
            equip(visitor, &agent)?;
            return Ok(agent);
        }
        if all.len() >= REQUESTERS {
            return Err(CliError::infrastructure(
                "there are too many agents without a session",
            ));
        }
        let present = self.agents.join(Transport::Requests, project, None);
        equip(visitor, present.agent())?;
        let agent = Arc::clone(present.agent());
        all.insert(who, present);
        Ok(agent)
    }

    /// Ends an agent; whether it was there.
    pub(super) async fn end(&self, id: &str) -> bool {
        let Some(agent) = self.agents.get(id) else {
            return false;
        };
        agent.leave();
        if let (Some(http), Some(session)) = (self.http.get(), &agent.session) {
            http.sessions.close(session).await;
        }
        self.forget_requesters(|agent| agent.id == id);
        true
    }

    /// Lets go of what nobody has used for long.
    pub(super) fn reap(&self) {
        self.agents.reap(LONGEST_SILENCE);
        self.forget_requesters(|agent| {
            agent.idle() >= LONGEST_SILENCE && agent.all_held().is_empty()
        });
    }

    /// Whether nobody uses it.
    pub(crate) fn is_idle(&self) -> bool {
        self.agents.is_empty() && self.work.is_empty()
    }

    /// Ends all projects.
    pub(crate) async fn close(&self) {
        let projects = std::mem::take(&mut *self.projects.lock().await);
        let open = projects.values().filter_map(|(_, cell)| cell.get());
        futures::future::join_all(open.map(|project| project.close())).await;
    }
}

/// What those who come by single requests are told apart by.
fn requester(visitor: &Visitor, client: &str) -> Requester {
    (
        visitor.principal().as_str().to_owned(),
        visitor.toolset().map(str::to_owned),
        client.chars().take(80).collect(),
    )
}

/// Equips the toolset of the endpoint that an agent came to.
fn equip(visitor: &Visitor, agent: &Agent) -> Result<(), CliError> {
    let Some(name) = visitor.toolset() else {
        return Ok(());
    };
    let tools = ToolsetTools::new(Arc::clone(&agent.project.toolsets));
    let equipped = tools
        .equip(name)
        .map_err(|error| CliError::misuse(error.to_string()))?;
    agent.equip(equipped);
    Ok(())
}
