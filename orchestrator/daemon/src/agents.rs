//! Who drives devices by the Model Context Protocol: everybody who is connected, with what is theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_drivers::DeviceId;
use packtrain_terminal::exit::CliError;
use packtrain_toolsets::tools::EquippedToolset;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use super::held::HeldDevice;
use super::project::{Project, ProjectGuard};
use super::runs::AgentRun;
use super::wire::AgentSummary;

/// The most runs that are remembered of an agent, and that it has under way.
const RUNS: usize = 64;
const RUNS_AT_ONCE: usize = 8;
/// The most of a client's name.
const NAME_LETTERS: usize = 80;

/// The most of those who have no session, and of those with one token.
const REQUESTERS: usize = 256;
const REQUESTERS_OF_ONE: usize = 128;

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

/// Who comes by single requests: whose token, which endpoint, which client.
pub(crate) type Requester = (String, Option<String>, String);

/// A connected client. What it holds is its own and goes with it.
pub struct Agent {
    /// `a1`, `a2`, ...
    pub id: String,
    /// How it came.
    pub transport: Transport,
    /// What it works in.
    pub project: ProjectGuard,
    /// Cancelled when it is gone.
    pub gone: CancellationToken,
    /// Its session over HTTP.
    pub session: Option<String>,
    /// What identifies it when it has none.
    requester: Option<Requester>,
    /// Places of its runs.
    pub run_places: Arc<Semaphore>,
    /// What it asks for.
    pub activity: Arc<Activity>,
    updates: broadcast::Sender<Update>,
    state: Mutex<State>,
}

struct State {
    name: String,
    protocol: Option<String>,
    equipped: EquippedToolset,
    held: BTreeMap<String, Arc<HeldDevice>>,
    /// The devices that calls of it wait for.
    wanted: Vec<DeviceId>,
    runs: Vec<Arc<AgentRun>>,
}

impl Agent {
    /// Who it is, for people: `claude (a3)`.
    pub fn title(&self) -> String {
        format!("{} ({})", self.state.lock().name, self.id)
    }

    /// Whether such a title is its own, whatever it calls itself now.
    pub(crate) fn is_titled(&self, title: &str) -> bool {
        title.ends_with(&format!(" ({})", self.id))
    }

    /// Its lease of a device, while that is good.
    pub fn lease_of(&self, device: &DeviceId) -> Option<String> {
        let state = self.state.lock();
        let mut held = state.held.values();
        let held = held.find(|held| held.device.id == *device && !held.is_over())?;
        Some(held.handle.clone())
    }

    /// A call of it wants a device, as long as this lives.
    pub(crate) fn acquires(&self, device: &DeviceId) -> Acquiring<'_> {
        self.state.lock().wanted.push(device.clone());
        Acquiring {
            agent: self,
            device: device.clone(),
        }
    }

    /// Whether it has a device to keep: it has a lease of it, or another call of it is about to.
    pub(crate) fn keeps(&self, device: &DeviceId) -> bool {
        let wanted = self
            .state
            .lock()
            .wanted
            .iter()
            .filter(|it| *it == device)
            .count();
        wanted > 1 || self.lease_of(device).is_some()
    }

    /// Whether it has nothing that it would lose with its project.
    pub fn has_nothing(&self) -> bool {
        let state = self.state.lock();
        state.held.is_empty() && state.runs.iter().all(|run| run.is_over())
    }

    /// Whether nothing is lost when it is forgotten now.
    pub(crate) fn may_be_forgotten(&self) -> bool {
        self.has_nothing() && !self.activity.is_under_way()
    }

    /// Takes down what a client says about itself.
    pub fn introduce(&self, name: &str, protocol: Option<String>) {
        let shown = name.chars().filter(|letter| !letter.is_control());
        let name: String = shown.take(NAME_LETTERS).collect();
        let mut state = self.state.lock();
        if !name.trim().is_empty() {
            state.name = name;
        }
        if protocol.is_some() {
            state.protocol = protocol;
        }
    }

    /// What it has equipped.
    pub fn equipped(&self) -> EquippedToolset {
        self.state.lock().equipped.clone()
    }

    /// Equips a toolset, or none.
    pub fn equip(&self, equipped: EquippedToolset) {
        self.state.lock().equipped = equipped;
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
    pub(crate) fn give(&self, held: Arc<HeldDevice>) {
        let mut state = self.state.lock();
        if self.gone.is_cancelled() {
            held.abandon();
        } else {
            state.held.insert(held.handle.clone(), held);
        }
    }

    /// A device of its own.
    pub fn held(&self, handle: &str) -> Option<Arc<HeldDevice>> {
        self.state.lock().held.get(handle).cloned()
    }

    /// Everything it has.
    pub fn all_held(&self) -> Vec<Arc<HeldDevice>> {
        self.state.lock().held.values().cloned().collect()
    }

    /// Takes a device out of its hands.
    pub fn take(&self, handle: &str) -> Option<Arc<HeldDevice>> {
        self.state.lock().held.remove(handle)
    }

    /// Remembers a run that it has started.
    pub fn started(&self, run: Arc<AgentRun>) {
        let mut state = self.state.lock();
        if state.runs.len() >= RUNS {
            // The oldest that is over makes room.
            if let Some(over) = state.runs.iter().position(|run| run.is_over()) {
                state.runs.remove(over);
            }
        }
        state.runs.push(run);
    }

    /// Its runs, oldest first.
    pub fn runs(&self) -> Vec<Arc<AgentRun>> {
        self.state.lock().runs.clone()
    }

    /// A run of its own.
    pub fn run(&self, handle: &str) -> Option<Arc<AgentRun>> {
        let state = self.state.lock();
        state.runs.iter().find(|run| run.handle == handle).cloned()
    }

    fn news(&self) -> AgentSummary {
        let state = self.state.lock();
        AgentSummary {
            id: self.id.clone(),
            name: state.name.clone(),
            transport: self.transport.word().to_owned(),
            protocol: state.protocol.clone(),
            project: self.project.root.clone(),
            toolset: state.equipped.name().map(str::to_owned),
            devices: state
                .held
                .values()
                .map(|held| held.device.id.to_string())
                .collect(),
            runs: state.runs.iter().map(|run| run.handle.clone()).collect(),
            connected_s: self.activity.age().as_secs(),
            idle_s: self.activity.idle().as_secs(),
        }
    }

    /// It is gone: what it has goes back.
    pub fn leave(&self) {
        let held = {
            let mut state = self.state.lock();
            self.gone.cancel();
            std::mem::take(&mut state.held)
        };
        for held in held.into_values() {
            held.abandon();
        }
    }
}

/// That a call of an agent wants a device.
pub(crate) struct Acquiring<'a> {
    agent: &'a Agent,
    device: DeviceId,
}

impl Drop for Acquiring<'_> {
    fn drop(&mut self) {
        let mut state = self.agent.state.lock();
        let wanted = &mut state.wanted;
        if let Some(at) = wanted.iter().position(|it| *it == self.device) {
            wanted.swap_remove(at);
        }
    }
}

/// Everybody who is connected. Cheap to clone.
#[derive(Clone, Default)]
pub struct Agents(Arc<Mutex<AgentTable>>);

#[derive(Default)]
struct AgentTable {
    /// By number, so first come first.
    agents: BTreeMap<u64, Arc<Agent>>,
    last: u64,
}

impl AgentTable {
    fn add(
        &mut self,
        transport: Transport,
        project: Arc<Project>,
        session: Option<String>,
        requester: Option<Requester>,
    ) -> Arc<Agent> {
        self.last += 1;
        let agent = Arc::new(Agent {
            id: format!("a{}", self.last),
            transport,
            project: ProjectGuard::of(project),
            gone: CancellationToken::new(),
            session,
            requester,
            run_places: Arc::new(Semaphore::new(RUNS_AT_ONCE)),
            updates: broadcast::Sender::new(UPDATES),
            activity: Activity::new(),
            state: Mutex::new(State {
                name: "an agent".to_owned(),
                protocol: None,
                equipped: EquippedToolset::default(),
                held: BTreeMap::new(),
                wanted: Vec::new(),
                runs: Vec::new(),
            }),
        });
        self.agents.insert(self.last, Arc::clone(&agent));
        agent
    }

    /// The agent of a requester, unless it has ended.
    fn requester(&self, who: &Requester) -> Option<Arc<Agent>> {
        let mut agents = self.agents.values();
        let is_it = |agent: &&Arc<Agent>| {
            agent.requester.as_ref() == Some(who) && !agent.gone.is_cancelled()
        };
        agents.find(is_it).cloned()
    }
}

impl Agents {
    /// Everybody, first come first.
    fn all(&self) -> Vec<Arc<Agent>> {
        self.0.lock().agents.values().cloned().collect()
    }

    /// Who else has a toolset of this name equipped in an agent's project.
    pub fn equipping(&self, but: &Agent, toolset: &str) -> Option<String> {
        let all = self.all();
        let mut others = all.iter().filter(|agent| {
            agent.id != but.id
                && Arc::ptr_eq(&agent.project, &but.project)
                && agent.equipped().name() == Some(toolset)
        });
        others.next().map(|agent| agent.title())
    }

    /// Registers a client; it leaves when the returned guard is dropped.
    pub fn join(
        &self,
        transport: Transport,
        project: Arc<Project>,
        session: Option<String>,
    ) -> AgentGuard {
        let agent = self.0.lock().add(transport, project, session, None);
        AgentGuard {
            agents: self.clone(),
            agent,
        }
    }

    /// The agent of a client of single requests, registered when unknown.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn requester(
        &self,
        who: Requester,
        project: Arc<Project>,
    ) -> Result<Arc<Agent>, CliError> {
        let mut everybody = self.0.lock();
        if let Some(agent) = everybody.requester(&who) {
            return Ok(agent);
        }
        let agents = everybody.agents.values();
        let known: Vec<_> = agents
            .filter_map(|agent| agent.requester.as_ref())
            .collect();
        let own = known.iter().filter(|known| known.0 == who.0);
        if known.len() >= REQUESTERS || own.count() >= REQUESTERS_OF_ONE {
            return Err(CliError::infrastructure(
                "there are too many agents without a session",
            ));
        }
        Ok(everybody.add(Transport::Requests, project, None, Some(who)))
    }

    /// The agent of a client of single requests, when known.
    pub(crate) fn known_requester(&self, who: &Requester) -> Option<Arc<Agent>> {
        self.0.lock().requester(who)
    }

    /// Forgets those of single requests for whom this holds; they are known again when they ask again.
    pub(crate) fn forget_requesters(&self, is_meant: impl Fn(&Agent) -> bool) {
        let is_meant = |agent: &Agent| agent.requester.is_some() && is_meant(agent);
        let mut everybody = self.0.lock();
        let gone = everybody.agents.extract_if(.., |_, agent| is_meant(agent));
        let gone: Vec<_> = gone.collect();
        drop(everybody);
        for (_, agent) in gone {
            agent.leave();
        }
    }

    /// A session over HTTP has ended.
    pub(crate) fn left(&self, session: &str) {
        let is_its = |agent: &&Arc<Agent>| agent.session.as_deref() == Some(session);
        if let Some(agent) = self.all().iter().find(is_its) {
            agent.leave();
        }
    }

    fn forget(&self, agent: &Arc<Agent>) {
        let mut everybody = self.0.lock();
        everybody.agents.retain(|_, one| !Arc::ptr_eq(one, agent));
        drop(everybody);
        agent.leave();
    }

    /// Everybody, first come first.
    pub fn news(&self) -> Vec<AgentSummary> {
        self.all().iter().map(|agent| agent.news()).collect()
    }

    /// The agent of that id.
    pub fn get(&self, id: &str) -> Option<Arc<Agent>> {
        self.all().into_iter().find(|agent| agent.id == id)
    }

    /// Those who use a project.
    pub fn of(&self, project: &Arc<Project>) -> Vec<Arc<Agent>> {
        let mut using = self.all();
        using.retain(|agent| Arc::ptr_eq(&agent.project, project));
        using
    }

    /// Tells everybody of a project of a change.
    pub fn tell(&self, project: &Arc<Project>, update: &Update) {
        for agent in self.of(project) {
            agent.tell(update.clone());
        }
    }

    /// Tells those of a project who have a toolset equipped of a change.
    pub fn tell_equipped(&self, project: &Arc<Project>, toolset: &str, update: &Update) {
        for agent in self.of(project) {
            if agent.equipped().name() == Some(toolset) {
                agent.tell(update.clone());
            }
        }
    }

    /// Lets go of devices that nobody has used for long.
    pub fn reap(&self) {
        for agent in self.all() {
            for held in agent.all_held() {
                if held.is_forgotten() && agent.take(&held.handle).is_some() {
                    // No agent released it.
                    held.abandon();
                }
            }
        }
    }

    /// Ends everybody.
    pub fn end_all(&self) {
        for agent in self.all() {
            agent.leave();
        }
    }

    /// Whether nobody is there.
    pub fn is_empty(&self) -> bool {
        self.0.lock().agents.is_empty()
    }
}

/// A client is connected as long as this lives.
pub struct AgentGuard {
    agents: Agents,
    agent: Arc<Agent>,
}

impl AgentGuard {
    /// The agent.
    pub const fn agent(&self) -> &Arc<Agent> {
        &self.agent
    }
}

impl Drop for AgentGuard {
    fn drop(&mut self) {
        self.agents.forget(&self.agent);
    }
}
