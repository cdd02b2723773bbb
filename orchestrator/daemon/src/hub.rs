//! What a daemon has: projects, and those who use their devices.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_device_actors::SharedDevices;
use packtrain_door::front::{Sessions, Visitor};
use packtrain_terminal::exit::CliError;
use packtrain_toolsets::tools::ToolsetTools;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agents::{Agent, AgentGuard, Agents, Requester, Transport, Update};
use super::project::{self, Checks, Project, ProjectGuard};
use super::wire::{DeviceSummary, ProjectKey};

/// How long a client without a session may be silent.
const REQUESTER_IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// The most runs and checks of agents at once: each is a process.
const RUNS: usize = 64;
const CHECKS: usize = 2;

/// How soon agents are notified again that the tools have changed.
const TOOLS_CHANGED_DELAY: Duration = Duration::from_millis(250);
/// How long a project that nobody uses stays open.
const PROJECT_IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// How long a client may take to leave after its answer, and how often that is checked.
const GIVE_UP_TIMEOUT: Duration = Duration::from_millis(500);
const GIVE_UP_POLL: Duration = Duration::from_millis(10);

/// What there is of one project. Opening or closing it takes the lock.
#[derive(Default)]
struct ProjectSlot {
    open: Option<Open>,
    /// Cancelled when what it was before is closed.
    closing: Option<CancellationToken>,
}

/// A project in one state of its files.
struct Open {
    files: u64,
    project: Arc<Project>,
    /// Since when it has been unused.
    unused: Option<Instant>,
}

/// Where agents reach it over HTTP.
struct Http {
    url: String,
    sessions: Sessions,
}

/// What shows that an agent has started a run.
#[derive(Clone, Default)]
pub(crate) struct Tickets(Arc<Mutex<BTreeSet<String>>>);

/// A ticket, good as long as this lives.
pub(crate) struct Ticket(pub(super) String, Tickets);

impl Tickets {
    /// A new one.
    pub(crate) fn issue(&self) -> Ticket {
        let ticket = uuid::Uuid::new_v4().simple().to_string();
        self.0.lock().insert(ticket.clone());
        Ticket(ticket, self.clone())
    }

    /// Whether one is good.
    pub(crate) fn is_good(&self, ticket: &str) -> bool {
        self.0.lock().contains(ticket)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.1.0.lock().remove(&self.0);
    }
}

/// Projects, agents, and what goes on.
pub struct Hub {
    /// Those who are there.
    pub agents: Agents,
    /// Held for moments only.
    projects: Mutex<BTreeMap<ProjectKey, Arc<tokio::sync::Mutex<ProjectSlot>>>>,
    /// The phones of all projects: the holder of one has it before all others.
    phones: SharedDevices,
    arbiter: ArbiterHandle,
    checks: Checks,
    http: OnceLock<Http>,
    pub(crate) tickets: Tickets,
    /// Places of agents' runs.
    pub run_places: Arc<Semaphore>,
    /// Places of their checks.
    pub check_places: Semaphore,
    /// Connections, sessions and runs that go on.
    pub work: TaskTracker,
    /// Cancelled when it shall end.
    pub ending: CancellationToken,
    /// Connections that ask for its end.
    retiring: AtomicUsize,
}

impl Hub {
    /// A hub whose actors live on these arbiters.
    pub fn new(arbiters: &[ArbiterHandle], ending: CancellationToken, checks: Checks) -> Arc<Self> {
        Arc::new(Self {
            agents: Agents::default(),
            projects: Mutex::default(),
            phones: SharedDevices::new(arbiters),
            arbiter: arbiters[0].clone(),
            checks,
            http: OnceLock::new(),
            tickets: Tickets::default(),
            run_places: Arc::new(Semaphore::new(RUNS)),
            check_places: Semaphore::new(CHECKS),
            work: TaskTracker::new(),
            ending,
            retiring: AtomicUsize::new(0),
        })
    }

    /// A project, opened when nobody has yet. `files` is what its files hold: when that is not what they
    /// held, it is reopened.
    ///
    /// # Errors
    /// As [`Project::open`], and the next one who asks tries again; or when what it was is in use.
    pub async fn project(
        self: &Arc<Self>,
        key: ProjectKey,
        files: u64,
    ) -> Result<ProjectGuard, CliError> {
        let place = Arc::clone(self.projects.lock().entry(key.clone()).or_default());
        let mut place = place.lock().await;
        let is_old = match &place.open {
            Some(open) if open.files == files => !is_current(&open.project).await,
            Some(_) => true,
            None => false,
        };
        if let Some(old) = place.open.as_ref().filter(|_| is_old) {
            self.is_given_up(&old.project).await?;
            place.closing = Some(self.end_project(&old.project));
            place.open = None;
        }
        if let Some(closing) = &place.closing {
            closing.cancelled().await;
            place.closing = None;
        }
        let open = match &mut place.open {
            Some(open) => open,
            none => {
                let opened = Project::open(key, self.checks, &self.phones, self.arbiter.clone());
                let project = Arc::new(opened.await?);
                self.look_after(&project);
                none.insert(Open {
                    files,
                    project,
                    unused: None,
                })
            }
        };
        open.unused = None;
        Ok(ProjectGuard::of(Arc::clone(&open.project)))
    }

    /// Waits until nobody uses a project, for the moment that a client takes to leave after its answer.
    ///
    /// # Errors
    /// When it is still in use.
    async fn is_given_up(&self, old: &Arc<Project>) -> Result<(), CliError> {
        let given_up = async {
            loop {
                self.agents.forget_requesters(|agent| {
                    Arc::ptr_eq(&agent.project, old) && agent.may_be_forgotten()
                });
                tokio::select! {
                    () = old.is_given_up() => return,
                    // What a requester does ends without a word.
                    () = tokio::time::sleep(GIVE_UP_POLL) => {}
                }
            }
        };
        let given_up = tokio::time::timeout(GIVE_UP_TIMEOUT, given_up).await;
        given_up.map_err(|_| self.changed(old))
    }

    /// Closes a project; waiting for the token waits for that.
    fn end_project(&self, project: &Arc<Project>) -> CancellationToken {
        let closed = CancellationToken::new();
        let (project, told) = (Arc::clone(project), closed.clone());
        self.work.spawn(async move {
            project.close().await;
            told.cancel();
        });
        closed
    }

    /// Closes projects that nobody has used for long, or whose folder is gone.
    fn reap_projects(&self) {
        self.projects.lock().retain(|key, place| {
            let is_wanted = Arc::strong_count(place) > 1;
            let Ok(mut place) = place.try_lock() else {
                return true;
            };
            if let Some(open) = &mut place.open {
                if is_wanted || open.project.is_in_use() {
                    open.unused = None;
                    return true;
                }
                let unused = open.unused.get_or_insert_with(Instant::now).elapsed();
                if unused >= PROJECT_IDLE_TIMEOUT || !key.folder.is_dir() {
                    place.closing = Some(self.end_project(&open.project));
                    place.open = None;
                }
                return true;
            }
            let is_closing = |closing: &CancellationToken| !closing.is_cancelled();
            is_wanted || place.closing.as_ref().is_some_and(is_closing)
        });
    }

    /// A project that is open.
    fn opened(&self, key: &ProjectKey) -> Option<Arc<Project>> {
        let place = Arc::clone(self.projects.lock().get(key)?);
        let place = place.try_lock().ok()?;
        place.open.as_ref().map(|open| Arc::clone(&open.project))
    }

    /// The devices of a project that is open; of others the phones that projects have. With who has
    /// them.
    pub(crate) async fn devices(&self, key: &ProjectKey) -> Vec<DeviceSummary> {
        match self.opened(key) {
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
            "the configuration has changed since the daemon read it, and the previous one is still in use by {by}"
        ))
        .hint("`packtrain agents` lists agents, `packtrain agents end` disconnects one; `packtrain daemon stop` ends everything")
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
                drop(hub);
                // Sources that are asked again answer one after another.
                tokio::time::sleep(TOOLS_CHANGED_DELAY).await;
            }
        });
    }

    /// Says where agents reach it over HTTP.
    pub(crate) fn serves_http(&self, url: String, sessions: Sessions) {
        // There is one door.
        let _ = self.http.set(Http { url, sessions });
    }

    /// Where agents reach it over HTTP.
    pub fn url(&self) -> &str {
        self.http.get().map_or("", |http| http.url.as_str())
    }

    /// Takes in an agent at the other end of a connection.
    pub fn join(&self, transport: Transport, project: Arc<Project>) -> AgentGuard {
        self.agents.join(transport, project, None)
    }

    /// Takes in the agent of a session over HTTP.
    ///
    /// # Errors
    /// When the session has ended, or its toolset is not there any more.
    pub fn visit(&self, visitor: &Visitor, project: Arc<Project>) -> Result<AgentGuard, CliError> {
        let id = visitor.session().unwrap_or_default().to_owned();
        let present = self.agents.join(Transport::Http, project, Some(id));
        equip(visitor, present.agent())?;
        Ok(present)
    }

    /// A session over HTTP has ended.
    pub(crate) fn left(&self, session: &str) {
        self.agents.left(session);
    }

    /// The agent of a client of single requests, when it has a device or a run.
    ///
    /// # Errors
    /// When the endpoint's toolset is not there any more.
    pub fn busy_requester(
        &self,
        visitor: &Visitor,
        client: &str,
    ) -> Result<Option<Arc<Agent>>, CliError> {
        let known = self.agents.known_requester(&requester(visitor, client));
        let Some(agent) = known.filter(|agent| !agent.has_nothing()) else {
            return Ok(None);
        };
        // Its endpoint's toolset is what it is now.
        equip(visitor, &agent)?;
        Ok(Some(agent))
    }

    /// The agent of a client of single requests.
    ///
    /// # Errors
    /// When there are too many, or the endpoint's toolset is not there any more.
    pub fn requester(
        &self,
        visitor: &Visitor,
        client: &str,
        project: Arc<Project>,
    ) -> Result<Arc<Agent>, CliError> {
        let who = requester(visitor, client);
        let agent = self.agents.requester(who, project)?;
        // Its endpoint's toolset is what it is now. Read without the lock: a slow disk delays no other client.
        equip(visitor, &agent)?;
        Ok(agent)
    }

    /// Ends an agent; whether it was there.
    pub(crate) async fn end(&self, id: &str) -> bool {
        let Some(agent) = self.agents.get(id) else {
            return false;
        };
        agent.leave();
        if let (Some(http), Some(session)) = (self.http.get(), &agent.session) {
            http.sessions.close(session).await;
        }
        self.agents.forget_requesters(|agent| agent.id == id);
        true
    }

    /// Lets go of what nobody has used for long.
    pub(crate) fn reap(&self) {
        self.reap_projects();
        self.agents.reap();
        self.agents.forget_requesters(|agent| {
            agent.activity.idle() >= REQUESTER_IDLE_TIMEOUT && agent.has_nothing()
        });
    }

    /// Ends the daemon for one of another build, unless it is in use; by whom.
    pub(crate) async fn retire(&self) -> Vec<String> {
        self.retiring.fetch_add(1, Ordering::Relaxed);
        let mut every = tokio::time::interval(GIVE_UP_POLL);
        let begun = Instant::now();
        loop {
            every.tick().await;
            self.agents.forget_requesters(Agent::may_be_forgotten);
            // Those who ask for its end are connected, too.
            let asking = self.retiring.load(Ordering::Relaxed);
            if self.agents.is_empty() && self.work.len() <= asking {
                self.ending.cancel();
                return Vec::new();
            }
            if begun.elapsed() >= GIVE_UP_TIMEOUT {
                self.retiring.fetch_sub(1, Ordering::Relaxed);
                return self.users();
            }
        }
    }

    /// Who uses it, in words.
    pub(crate) fn users(&self) -> Vec<String> {
        let agents = self.agents.news().into_iter();
        let names: Vec<_> = agents
            .map(|it| format!("{} ({})", it.name, it.id))
            .collect();
        match names.is_empty() {
            true => vec!["a run or another command".to_owned()],
            false => names,
        }
    }

    /// Whether nobody uses it.
    pub fn is_idle(&self) -> bool {
        self.agents.is_empty() && self.work.is_empty()
    }

    /// Ends all projects.
    pub async fn close(&self) {
        let places = std::mem::take(&mut *self.projects.lock());
        let closing = places.into_values().map(async |place| {
            let place = place.lock().await;
            if let Some(open) = &place.open {
                open.project.close().await;
            }
            if let Some(closing) = &place.closing {
                closing.cancelled().await;
            }
        });
        futures::future::join_all(closing).await;
    }
}

/// Whether what a project was opened with is what there is now.
async fn is_current(project: &Arc<Project>) -> bool {
    let project = Arc::clone(project);
    let looking = tokio::task::spawn_blocking(move || project.is_current());
    looking.await.unwrap_or(false)
}

/// What identifies clients of single requests.
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
