//! Who is here, what they hold, since when they idle, and which projects are open in which state of
//! their files. Pure: it takes in what happens, and what is to be done about it waits in `effects`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use packtrain_drivers::DeviceId;
use packtrain_toolsets::tools::EquippedToolset;
use tokio::time::Instant;

use super::activity::Activity;
use super::agents::UNKNOWN;
use super::wire::ProjectKey;

/// The most runs that are remembered of an agent.
const RUNS: usize = 64;
/// The most of those who have no session, and of those with one token.
const REQUESTERS: usize = 256;
const REQUESTERS_OF_ONE: usize = 128;
/// How long a client without a session may be silent.
const REQUESTER_IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How long a project that nobody uses stays open.
const PROJECT_IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// What is kept for others, and what is asked of it. None of it may change the state when it is dropped,
/// but for agents and projects, which leave the state in effects.
pub(crate) trait Handles {
    type Agent: Clone;
    type Device: Clone;
    type Run: Clone;
    type Project: Clone;

    /// Whether a device is of no use to its agent any more.
    fn is_forgotten(device: &Self::Device, now: Instant) -> bool;
    /// Whether a run has ended.
    fn is_over(run: &Self::Run) -> bool;
}

/// An agent's number: `a1`, `a2`, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentId(u64);

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

/// Who comes by single requests: whose token, which endpoint, which client.
pub(crate) type Requester = (String, Option<String>, String);

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect<H: Handles> {
    /// The agent is gone: what it waits for is given up.
    Dismiss(H::Agent),
    /// No agent has the device any more.
    GiveBack(H::Device),
    /// Nobody uses the project any more. That is a turn, too, which ends once it is closed.
    Close(H::Project),
}

/// What is known of an agent.
pub(crate) struct AgentState<H: Handles> {
    pub(crate) handle: H::Agent,
    pub(crate) name: String,
    /// The revision of the protocol it speaks.
    pub(crate) protocol: Option<String>,
    /// What identifies it when it has no session.
    requester: Option<Requester>,
    pub(crate) equipped: EquippedToolset,
    pub(crate) held: BTreeMap<String, H::Device>,
    /// The devices that calls of it wait for.
    pub(crate) wanted: Vec<DeviceId>,
    /// Oldest first.
    pub(crate) runs: Vec<H::Run>,
    /// What it asks for.
    pub(crate) activity: Activity,
    is_gone: bool,
}

impl<H: Handles> AgentState<H> {
    /// Gives it a device; whether it is still there to have it.
    pub(crate) fn give(&mut self, handle: &str, device: &H::Device) -> bool {
        if !self.is_gone {
            self.held.insert(handle.to_owned(), device.clone());
        }
        !self.is_gone
    }

    /// Remembers a run that it has started.
    pub(crate) fn started(&mut self, run: &H::Run) {
        let over = self.runs.iter().position(H::is_over);
        if let Some(over) = over.filter(|_| self.runs.len() >= RUNS) {
            // The oldest that is over makes room.
            self.runs.remove(over);
        }
        self.runs.push(run.clone());
    }

    /// Whether it has nothing that it would lose with its project.
    pub(crate) fn has_nothing(&self) -> bool {
        self.held.is_empty() && self.runs.iter().all(H::is_over)
    }

    /// Whether nothing is lost when it is forgotten now.
    pub(crate) fn may_be_forgotten(&self) -> bool {
        self.has_nothing() && !self.activity.is_under_way()
    }

    /// It is gone: what it has goes back.
    fn leave(&mut self, effects: &mut Vec<Effect<H>>) {
        self.is_gone = true;
        effects.push(Effect::Dismiss(self.handle.clone()));
        let held = std::mem::take(&mut self.held);
        effects.extend(held.into_values().map(Effect::GiveBack));
    }
}

/// A project in one state of its files.
struct OpenProject<P> {
    files: u64,
    project: P,
    users: usize,
    /// When that number was another one last.
    used: Instant,
}

/// Projects, agents, and what goes on.
pub(crate) struct State<H: Handles> {
    /// First come first.
    pub(crate) agents: BTreeMap<AgentId, AgentState<H>>,
    last: u64,
    open: BTreeMap<ProjectKey, OpenProject<H::Project>>,
    /// Projects that are being opened, looked at or closed: the next client waits until none of that goes
    /// on.
    busy: Vec<ProjectKey>,
    /// What shows that an agent has started a run.
    pub(crate) tickets: BTreeSet<String>,
    /// How many connections, sessions and runs go on.
    pub(crate) work: usize,
    /// How many connections ask for the daemon's end.
    pub(crate) retiring: usize,
    /// When somebody was seen to use the daemon last.
    used: Instant,
    /// What is to be done, in this order.
    pub(crate) effects: Vec<Effect<H>>,
}

impl<H: Handles> State<H> {
    /// Of a daemon that begins.
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            agents: BTreeMap::new(),
            last: 0,
            open: BTreeMap::new(),
            busy: Vec::new(),
            tickets: BTreeSet::new(),
            work: 0,
            retiring: 0,
            used: now,
            effects: Vec::new(),
        }
    }

    /// A number that no other agent has.
    pub(crate) const fn number(&mut self) -> AgentId {
        self.last += 1;
        AgentId(self.last)
    }

    /// A client is here. The agent that it is: this one, or the one that made such requests before; `None`
    /// when too many make single requests.
    pub(crate) fn join(
        &mut self,
        id: AgentId,
        handle: &H::Agent,
        requester: Option<Requester>,
        now: Instant,
    ) -> Option<H::Agent> {
        if let Some(who) = &requester {
            if let Some(known) = self.requester(who) {
                return Some(known.handle.clone());
            }
            let all = self.agents.values().filter_map(|it| it.requester.as_ref());
            let own = all.clone().filter(|known| known.0 == who.0);
            if all.count() >= REQUESTERS || own.count() >= REQUESTERS_OF_ONE {
                return None;
            }
        }
        let agent = AgentState {
            handle: handle.clone(),
            name: UNKNOWN.to_owned(),
            protocol: None,
            requester,
            equipped: EquippedToolset::default(),
            held: BTreeMap::new(),
            wanted: Vec::new(),
            runs: Vec::new(),
            activity: Activity::new(now),
            is_gone: false,
        };
        self.agents.insert(id, agent);
        Some(handle.clone())
    }

    /// The agent of a client of single requests, unless it has ended.
    pub(crate) fn requester(&self, who: &Requester) -> Option<&AgentState<H>> {
        let mut agents = self.agents.values();
        agents.find(|agent| agent.requester.as_ref() == Some(who) && !agent.is_gone)
    }

    /// An agent has gone; it is listed until it is forgotten.
    pub(crate) fn leave(&mut self, id: AgentId) {
        if let Some(agent) = self.agents.get_mut(&id) {
            agent.leave(&mut self.effects);
        }
    }

    /// Those for whom this holds are gone and forgotten.
    pub(crate) fn forget(&mut self, is_meant: impl Fn(&AgentState<H>) -> bool) {
        for (_, mut agent) in self.agents.extract_if(.., |_, agent| is_meant(agent)) {
            agent.leave(&mut self.effects);
        }
    }

    /// As [`State::forget`], of those of single requests; they are known again when they ask again.
    pub(crate) fn forget_requesters(&mut self, is_meant: impl Fn(&AgentState<H>) -> bool) {
        self.forget(|agent| agent.requester.is_some() && is_meant(agent));
    }

    /// Whether nobody uses the daemon, but for as many connections.
    pub(crate) fn is_idle(&self, but: usize) -> bool {
        self.agents.is_empty() && self.work <= but
    }

    /// Whether nobody has used it for so long.
    pub(crate) fn is_disused(&self, limit: Duration, now: Instant) -> bool {
        now.duration_since(self.used) >= limit
    }

    /// Takes the turn to open a project or to look at its files, with what is open and the state of its
    /// files; `None` while it is another's turn.
    pub(crate) fn take_turn(&mut self, key: &ProjectKey) -> Option<Option<(u64, H::Project)>> {
        if self.busy.contains(key) {
            return None;
        }
        self.busy.push(key.clone());
        let open = self.open.get(key);
        Some(open.map(|open| (open.files, open.project.clone())))
    }

    /// A turn is over.
    pub(crate) fn end_turn(&mut self, key: &ProjectKey) {
        if let Some(at) = self.busy.iter().position(|busy| busy == key) {
            self.busy.swap_remove(at);
        }
    }

    /// A project was opened by the one whose turn it is.
    pub(crate) fn opened(&mut self, key: &ProjectKey, files: u64, it: &H::Project, now: Instant) {
        let open = OpenProject {
            files,
            project: it.clone(),
            users: 0,
            used: now,
        };
        self.open.insert(key.clone(), open);
    }

    /// A project that is open.
    pub(crate) fn open(&self, key: &ProjectKey) -> Option<H::Project> {
        Some(self.open.get(key)?.project.clone())
    }

    /// Somebody more uses a project, or somebody less.
    pub(crate) fn use_project(&mut self, key: &ProjectKey, is_begun: bool, now: Instant) {
        if let Some(open) = self.open.get_mut(key) {
            open.used = now;
            open.users = match is_begun {
                true => open.users + 1,
                false => open.users.saturating_sub(1),
            };
        }
    }

    /// Closes the project of the one whose turn it is, unless somebody uses it; whether nobody does.
    pub(crate) fn close(&mut self, key: &ProjectKey) -> bool {
        self.close_those(|it, open| it == key && open.users == 0);
        !self.open.contains_key(key)
    }

    /// Closes all projects but those whose turn it is; whether none is left.
    pub(crate) fn close_all(&mut self) -> bool {
        let busy = self.busy.clone();
        self.close_those(|key, _| !busy.contains(key));
        self.open.is_empty() && self.busy.is_empty()
    }

    fn close_those(&mut self, is_meant: impl Fn(&ProjectKey, &OpenProject<H::Project>) -> bool) {
        let closing = self.open.extract_if(.., |key, open| is_meant(key, open));
        for (key, open) in closing {
            self.busy.push(key);
            self.effects.push(Effect::Close(open.project));
        }
    }

    /// The projects that nobody uses.
    pub(crate) fn unused(&self) -> Vec<ProjectKey> {
        let unused = self.open.iter().filter(|(_, open)| open.users == 0);
        unused.map(|(key, _)| key.clone()).collect()
    }

    /// Lets go of what nobody has used for long, and of unused projects whose folders are gone.
    pub(crate) fn reap(&mut self, folders_gone: &[ProjectKey], now: Instant) {
        for agent in self.agents.values_mut() {
            let forgotten = |_: &String, device: &mut H::Device| H::is_forgotten(device, now);
            let forgotten = agent.held.extract_if(.., forgotten);
            self.effects
                .extend(forgotten.map(|(_, device)| Effect::GiveBack(device)));
        }
        self.forget_requesters(|agent| {
            agent.activity.idle(now) >= REQUESTER_IDLE_TIMEOUT && agent.has_nothing()
        });
        let busy = self.busy.clone();
        self.close_those(|key, open| {
            let is_old = now.duration_since(open.used) >= PROJECT_IDLE_TIMEOUT;
            open.users == 0 && !busy.contains(key) && (is_old || folders_gone.contains(key))
        });
        if !self.is_idle(0) {
            self.used = now;
        }
    }
}
