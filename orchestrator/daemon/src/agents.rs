//! Who drives devices by the Model Context Protocol: everybody who is connected, with what is theirs.

use std::sync::Arc;

use packtrain_door::front::Visitor;
use packtrain_drivers::DeviceId;
use packtrain_terminal::exit::CliError;
use packtrain_toolsets::tools::{EquippedToolset, ToolsetTools};
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::held::{End, HeldDevice};
use super::hub::{Hub, Live, UnderWay};
use super::project::{Project, ProjectGuard};
use super::runs::AgentRun;
use super::state::{AgentId, AgentState, Requester, State};
use super::wire::{AgentSummary, ProjectKey};

/// The most runs that an agent has under way.
const RUNS_AT_ONCE: usize = 8;
/// What one is called that has not said its name.
pub(crate) const UNKNOWN: &str = "an agent";
/// The most of a client's name.
const NAME_LETTERS: usize = 80;
/// Changes that may wait to be sent.
const UPDATES: usize = 64;

/// Something that an agent may want to hear of.
#[derive(Debug, Clone)]
pub enum Update {
    /// The list of tools is another one.
    Tools,
    /// A resource is another one.
    Resource(String),
}

/// How an agent is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// By `packtrain mcp`: as long as the connection lives.
    Stdio,
    /// By a session over HTTP.
    Http,
    /// By single requests over HTTP, which have no end.
    Requests,
}

impl Transport {
    const fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Requests => "http, no session",
        }
    }
}

/// A connected client. What it holds is its own and goes with it.
pub struct Agent {
    /// `a1`, `a2`, ...
    pub id: AgentId,
    /// How it came.
    pub transport: Transport,
    /// What it works in.
    pub project: ProjectGuard,
    /// Cancelled when it is gone.
    pub gone: CancellationToken,
    /// Its session over HTTP.
    pub session: Option<String>,
    /// Places of its runs.
    pub run_places: Arc<Semaphore>,
    updates: broadcast::Sender<Update>,
    pub(crate) hub: Arc<Hub>,
}

impl Agent {
    /// What is known of it; `None` when it is forgotten.
    fn read<T>(&self, what: impl FnOnce(&AgentState<Live>) -> T) -> Option<T> {
        self.hub.read(|state| state.agents.get(&self.id).map(what))
    }

    fn change<T>(&self, how: impl FnOnce(&mut AgentState<Live>) -> T) -> Option<T> {
        self.hub
            .attempt(|state| state.agents.get_mut(&self.id).map(how))
    }

    /// How what it has begun ends.
    fn ends(&self, end: impl FnOnce(&mut AgentState<Live>) + Send + Sync + 'static) -> UnderWay {
        let id = self.id;
        self.hub.ends(move |state| {
            if let Some(agent) = state.agents.get_mut(&id) {
                end(agent);
            }
        })
    }

    /// Who it is, for people: `claude (a3)`.
    pub fn title(&self) -> String {
        let name = self.read(|state| state.name.clone());
        format!("{} ({})", name.as_deref().unwrap_or(UNKNOWN), self.id)
    }

    /// Whether such a title is its own, whatever it calls itself now.
    pub(crate) fn is_titled(&self, title: &str) -> bool {
        title.ends_with(&format!(" ({})", self.id))
    }

    /// Its lease of a device, while that is good.
    pub fn lease_of(&self, device: &DeviceId) -> Option<String> {
        let mut held = self.all_held().into_iter();
        let held = held.find(|held| held.device.id == *device && !held.is_over())?;
        Some(held.handle.clone())
    }

    /// A call of it wants a device, as long as this lives.
    pub(crate) fn acquires(&self, device: &DeviceId) -> UnderWay {
        self.change(|state| state.wanted.push(device.clone()));
        let device = device.clone();
        self.ends(move |state| {
            if let Some(at) = state.wanted.iter().position(|it| *it == device) {
                state.wanted.swap_remove(at);
            }
        })
    }

    /// Whether it has a device to keep: it has a lease of it, or another call of it is about to.
    pub(crate) fn keeps(&self, device: &DeviceId) -> bool {
        let wanted = self.read(|state| state.wanted.iter().filter(|it| *it == device).count());
        wanted > Some(1) || self.lease_of(device).is_some()
    }

    /// It asks for something, as long as this lives.
    pub fn asks(&self) -> UnderWay {
        self.change(|state| state.activity.begin());
        self.ends(|state| state.activity.end(Instant::now()))
    }

    /// Takes down what a client says about itself.
    pub fn introduce(&self, name: &str, protocol: Option<String>) {
        let shown = name.chars().filter(|letter| !letter.is_control());
        let name: String = shown.take(NAME_LETTERS).collect();
        self.change(|state| {
            if !name.trim().is_empty() {
                state.name = name;
            }
            if protocol.is_some() {
                state.protocol = protocol;
            }
        });
    }

    /// What it has equipped.
    pub fn equipped(&self) -> EquippedToolset {
        let equipped = self.read(|state| state.equipped.clone());
        equipped.unwrap_or_default()
    }

    /// Equips the toolset of that name.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn equip_named(&self, name: &str) -> Result<(), CliError> {
        let tools = ToolsetTools::new(Arc::clone(&self.project.toolsets));
        let equipped = tools.equip(name);
        self.equip(equipped.map_err(|error| CliError::misuse(error.to_string()))?);
        Ok(())
    }

    /// Equips a toolset, or none.
    pub fn equip(&self, equipped: EquippedToolset) {
        self.change(|state| state.equipped = equipped);
    }

    /// Tells those who listen for it of a change.
    pub fn tell(&self, update: Update) {
        // Without listeners this is fine.
        let _ = self.updates.send(update);
    }

    /// Every change from now on.
    pub fn updates(&self) -> broadcast::Receiver<Update> {
        self.updates.subscribe()
    }

    /// Gives it a device; the device goes back at once when the agent has gone meanwhile.
    pub(crate) fn give(&self, held: &Arc<HeldDevice>) {
        if self.change(|state| state.give(&held.handle, held)) != Some(true) {
            held.end(End::Abandoned);
        }
    }

    /// A device of its own.
    pub fn held(&self, handle: &str) -> Option<Arc<HeldDevice>> {
        self.read(|state| state.held.get(handle).cloned())?
    }

    /// Everything it has.
    pub fn all_held(&self) -> Vec<Arc<HeldDevice>> {
        let held = self.read(|state| state.held.values().cloned().collect());
        held.unwrap_or_default()
    }

    /// Takes a device out of its hands.
    pub fn take(&self, handle: &str) -> Option<Arc<HeldDevice>> {
        self.change(|state| state.held.remove(handle))?
    }

    /// Remembers a run that it has started.
    pub(crate) fn started(&self, run: &Arc<AgentRun>) {
        self.change(|state| state.started(run));
    }

    /// Its runs, oldest first.
    pub fn runs(&self) -> Vec<Arc<AgentRun>> {
        let runs = self.read(|state| state.runs.clone());
        runs.unwrap_or_default()
    }

    /// A run of its own.
    pub fn run(&self, handle: &str) -> Option<Arc<AgentRun>> {
        let mut runs = self.runs().into_iter();
        runs.find(|run| run.handle == handle)
    }

    /// It is gone: what it has goes back.
    pub(crate) fn leave(&self) {
        self.hub.change(|state| state.leave(self.id));
    }
}

impl AgentSummary {
    fn of(state: &AgentState<Live>) -> Self {
        let (agent, now) = (&state.handle, Instant::now());
        let devices = state.held.values().map(|held| held.device.id.to_string());
        Self {
            id: agent.id.to_string(),
            name: state.name.clone(),
            transport: agent.transport.word().to_owned(),
            protocol: state.protocol.clone(),
            project: agent.project.root.clone(),
            toolset: state.equipped.name().map(str::to_owned),
            devices: devices.collect(),
            runs: state.runs.iter().map(|run| run.handle.clone()).collect(),
            connected_s: state.activity.age(now).as_secs(),
            idle_s: state.activity.idle(now).as_secs(),
        }
    }
}

/// Those who are here.
impl Hub {
    /// Everybody of whom this holds, first come first.
    pub(crate) fn all(&self, is_meant: impl Fn(&AgentState<Live>) -> bool) -> Vec<Arc<Agent>> {
        self.read(|state| {
            let meant = state.agents.values().filter(|agent| is_meant(agent));
            meant.map(|agent| Arc::clone(&agent.handle)).collect()
        })
    }

    /// Everybody, first come first.
    pub(crate) fn agents(&self) -> Vec<AgentSummary> {
        self.read(|state| state.agents.values().map(AgentSummary::of).collect())
    }

    /// Those who use a project.
    pub(crate) fn users_of(&self, project: &Arc<Project>) -> Vec<Arc<Agent>> {
        self.all(|agent| Arc::ptr_eq(&agent.handle.project, project))
    }

    /// Who else has a toolset of this name equipped in an agent's project.
    pub fn equipping(&self, but: &Agent, toolset: &str) -> Option<String> {
        let mut others = self.users_of(&but.project).into_iter();
        let other = others.find(|it| it.id != but.id && it.equipped().name() == Some(toolset));
        other.map(|agent| agent.title())
    }

    /// Tells those of a project who have a toolset equipped of a change.
    pub fn tell_equipped(&self, project: &Arc<Project>, toolset: &str, update: &Update) {
        for agent in self.users_of(project) {
            if agent.equipped().name() == Some(toolset) {
                agent.tell(update.clone());
            }
        }
    }

    /// Takes in the agent of a session over HTTP.
    ///
    /// # Errors
    /// When the session has ended, or its toolset is not there any more.
    pub fn visit(
        self: &Arc<Self>,
        visitor: &Visitor,
        project: &Arc<Project>,
    ) -> Result<AgentGuard, CliError> {
        let id = visitor.session().unwrap_or_default().to_owned();
        let present = self.join(Transport::Http, project, Some(id));
        equip(visitor, &present.agent)?;
        Ok(present)
    }

    /// Takes in an agent, until the guard is dropped.
    pub(crate) fn join(
        self: &Arc<Self>,
        transport: Transport,
        project: &Arc<Project>,
        session: Option<String>,
    ) -> AgentGuard {
        let agent = self.agent(transport, project, session);
        self.change(|state| state.join(agent.id, &agent, None, Instant::now()));
        let id = agent.id;
        AgentGuard {
            agent,
            _here: self.ends(move |state| state.forget(|agent| agent.handle.id == id)),
        }
    }

    fn agent(
        self: &Arc<Self>,
        transport: Transport,
        project: &Arc<Project>,
        session: Option<String>,
    ) -> Arc<Agent> {
        Arc::new(Agent {
            id: self.change(State::number),
            transport,
            project: self.guard(project),
            gone: CancellationToken::new(),
            session,
            run_places: Arc::new(Semaphore::new(RUNS_AT_ONCE)),
            updates: broadcast::Sender::new(UPDATES),
            hub: Arc::clone(self),
        })
    }

    /// The agent of a client of single requests. One that has a device or a run goes on with the project
    /// that it began with.
    ///
    /// # Errors
    /// As [`Hub::project`]; when there are too many, or the endpoint's toolset is not there any more.
    pub async fn requester(
        self: &Arc<Self>,
        visitor: &Visitor,
        client: &str,
        key: &ProjectKey,
    ) -> Result<Arc<Agent>, CliError> {
        let who = requester(visitor, client);
        let busy = self.read(|state| {
            let known = state.requester(&who).filter(|known| !known.has_nothing());
            known.map(|known| Arc::clone(&known.handle))
        });
        let agent = match busy {
            Some(agent) => agent,
            None => {
                let project = self.project(key.clone(), key.state()).await?;
                self.join_requester(who, &project)?
            }
        };
        // Its endpoint's toolset is what it is now. Read without the lock: a slow disk delays no other client.
        equip(visitor, &agent)?;
        Ok(agent)
    }

    pub(crate) fn join_requester(
        self: &Arc<Self>,
        who: Requester,
        project: &Arc<Project>,
    ) -> Result<Arc<Agent>, CliError> {
        let known = |state: &State<Live>| Some(Arc::clone(&state.requester(&who)?.handle));
        if let Some(known) = self.read(known) {
            return Ok(known);
        }
        let agent = self.agent(Transport::Requests, project, None);
        let joined = self.change(|state| state.join(agent.id, &agent, Some(who), Instant::now()));
        joined
            .ok_or_else(|| CliError::infrastructure("there are too many agents without a session"))
    }

    /// A session over HTTP has ended.
    pub(crate) fn left(&self, session: &str) {
        let is_its = |agent: &AgentState<Live>| agent.handle.session.as_deref() == Some(session);
        self.all(is_its).iter().for_each(|agent| agent.leave());
    }

    /// Ends an agent; whether it was there.
    pub(crate) async fn end(self: &Arc<Self>, id: &str) -> bool {
        let Some(agent) = self.all(|agent| agent.handle.id.to_string() == id).pop() else {
            return false;
        };
        agent.leave();
        if let (Some(http), Some(session)) = (self.http.get(), &agent.session) {
            http.sessions.close(session).await;
        }
        self.change(|state| state.forget_requesters(|known| known.handle.id == agent.id));
        true
    }
}

/// A client is connected as long as this lives.
pub struct AgentGuard {
    /// The agent.
    pub agent: Arc<Agent>,
    _here: UnderWay,
}

/// What identifies clients of single requests.
fn requester(visitor: &Visitor, client: &str) -> Requester {
    (
        visitor.principal().as_str().to_owned(),
        visitor.toolset().map(str::to_owned),
        client.chars().take(NAME_LETTERS).collect(),
    )
}

/// Equips the toolset of the endpoint that an agent came to.
pub(crate) fn equip(visitor: &Visitor, agent: &Agent) -> Result<(), CliError> {
    if let Some(name) = visitor.toolset() {
        agent.equip_named(name)?;
    }
    Ok(())
}
