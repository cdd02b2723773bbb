//! What a daemon has: projects, and those who use their devices.

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_device_actors::SharedDevices;
use packtrain_door::front::Sessions;
use packtrain_terminal::exit::CliError;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::agents::{Agent, Update};
use super::held::{End, HeldDevice};
use super::project::{self, Checks, Project, ProjectGuard};
use super::runs::AgentRun;
use super::state::{AgentState, Effect, Handles, State};
use super::wire::{DeviceSummary, ProjectKey};

/// The most runs and checks of agents at once: each is a process.
const RUNS: usize = 64;
const CHECKS: usize = 2;

/// How soon agents are notified again that the tools have changed.
const TOOLS_CHANGED_DELAY: Duration = Duration::from_millis(250);
/// How long a client may take to leave after its answer.
const GIVE_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// Where agents reach it over HTTP.
pub(crate) struct Http {
    url: String,
    pub(crate) sessions: Sessions,
}

/// What the daemon's state keeps.
pub(crate) enum Live {}

impl Handles for Live {
    type Agent = Arc<Agent>;
    type Device = Arc<HeldDevice>;
    type Run = Arc<AgentRun>;
    type Project = Arc<Project>;

    fn is_forgotten(device: &Arc<HeldDevice>, now: Instant) -> bool {
        device.is_forgotten(now)
    }

    fn is_over(run: &Arc<AgentRun>) -> bool {
        run.is_over()
    }
}

/// Something that goes on until this is dropped.
pub struct UnderWay {
    hub: Arc<Hub>,
    end: Option<Change>,
}

type Change = Box<dyn FnOnce(&mut State<Live>) + Send + Sync>;

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.hub.change(end);
        }
    }
}

/// The daemon's state where everybody reaches it, and what carries out its effects.
pub struct Hub {
    state: watch::Sender<State<Live>>,
    /// The phones of all projects: the holder of one has it before all others.
    phones: SharedDevices,
    arbiter: ArbiterHandle,
    checks: Checks,
    pub(crate) http: OnceLock<Http>,
    /// Places of agents' runs.
    pub run_places: Arc<Semaphore>,
    /// Places of their checks.
    pub check_places: Semaphore,
    /// Cancelled when it shall end.
    pub ending: CancellationToken,
}

impl Hub {
    /// A hub whose actors live on these arbiters.
    pub fn new(arbiters: &[ArbiterHandle], ending: CancellationToken, checks: Checks) -> Arc<Self> {
        Arc::new(Self {
            state: watch::Sender::new(State::new(Instant::now())),
            phones: SharedDevices::new(arbiters),
            arbiter: arbiters[0].clone(),
            checks,
            http: OnceLock::new(),
            run_places: Arc::new(Semaphore::new(RUNS)),
            check_places: Semaphore::new(CHECKS),
            ending,
        })
    }

    /// Looks at the state. It is not to be looked at or changed meanwhile.
    pub(crate) fn read<T>(&self, what: impl FnOnce(&State<Live>) -> T) -> T {
        what(&self.state.borrow())
    }

    /// Changes the state, and does what that comes to.
    pub(crate) fn change<T>(self: &Arc<Self>, how: impl FnOnce(&mut State<Live>) -> T) -> T {
        let changed = self.attempt(|state| Some(how(state)));
        changed.expect("what is changed is always said")
    }

    /// As [`Hub::change`]; nothing has changed when there is no answer and nothing to do.
    pub(crate) fn attempt<T>(
        self: &Arc<Self>,
        how: impl FnOnce(&mut State<Live>) -> Option<T>,
    ) -> Option<T> {
        let (mut said, mut effects) = (None, Vec::new());
        self.state.send_if_modified(|state| {
            said = how(state);
            effects = std::mem::take(&mut state.effects);
            said.is_some() || !effects.is_empty()
        });
        effects
            .into_iter()
            .for_each(|effect| self.carry_out(effect));
        said
    }

    fn carry_out(self: &Arc<Self>, effect: Effect<Live>) {
        match effect {
            Effect::Dismiss(agent) => agent.gone.cancel(),
            Effect::GiveBack(device) => device.end(End::Abandoned),
            Effect::Close(project) => {
                let key = project.key.clone();
                let turn = self.ends(move |state| state.end_turn(&key));
                self.spawn(async move {
                    project.close().await;
                    drop(turn);
                });
            }
        }
    }

    /// Waits for an answer; it is asked for after every change.
    async fn until<T>(self: &Arc<Self>, mut how: impl FnMut(&mut State<Live>) -> Option<T>) -> T {
        let mut changes = self.state.subscribe();
        loop {
            if let Some(said) = self.attempt(&mut how) {
                return said;
            }
            // The sender is here.
            let _ = changes.changed().await;
        }
    }

    /// How what has begun ends.
    pub(crate) fn ends(
        self: &Arc<Self>,
        end: impl FnOnce(&mut State<Live>) + Send + Sync + 'static,
    ) -> UnderWay {
        UnderWay {
            hub: Arc::clone(self),
            end: Some(Box::new(end)),
        }
    }

    /// Does what the daemon's end waits for.
    pub(crate) fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        self.change(|state| state.work += 1);
        let working = self.ends(|state| state.work -= 1);
        tokio::spawn(async move {
            let _working = working;
            work.await;
        });
    }

    /// What shows that an agent has started a run, and how long it is good.
    pub(crate) fn ticket(self: &Arc<Self>) -> (String, UnderWay) {
        let ticket = uuid::Uuid::new_v4().simple().to_string();
        self.change(|state| state.tickets.insert(ticket.clone()));
        let ended = ticket.clone();
        let good = self.ends(move |state| drop(state.tickets.take(&ended)));
        (ticket, good)
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
        loop {
            let open = self.until(|state| state.take_turn(&key)).await;
            let of = key.clone();
            let _turn = self.ends(move |state| state.end_turn(&of));
            let Some((were, old)) = open else {
                let key = key.clone();
                let opening = Project::open(key, self.checks, &self.phones, self.arbiter.clone());
                let project = Arc::new(opening.await?);
                self.look_after(&project);
                let (key, now) = (&project.key, Instant::now());
                self.change(|state| state.opened(key, files, &project, now));
                return Ok(self.guard(&project));
            };
            if were == files && is_current(&old).await {
                return Ok(self.guard(&old));
            }
            // A client may take a moment to leave after its answer.
            let given_up = self.until(|state| {
                state.forget_requesters(|agent| {
                    Arc::ptr_eq(&agent.handle.project, &old) && agent.may_be_forgotten()
                });
                state.close(&key).then_some(())
            });
            if timeout(GIVE_UP_TIMEOUT, given_up).await.is_err() {
                return Err(self.changed(&old));
            }
        }
    }

    /// Keeps a project open.
    pub(crate) fn guard(self: &Arc<Self>, project: &Arc<Project>) -> ProjectGuard {
        let (project, key) = (Arc::clone(project), project.key.clone());
        self.change(|state| state.use_project(&key, true, Instant::now()));
        let using = self.ends(move |state| state.use_project(&key, false, Instant::now()));
        ProjectGuard {
            project,
            _using: using,
        }
    }

    /// The devices of a project that is open; of others the phones that projects have. With who has
    /// them.
    pub(crate) async fn devices(&self, key: &ProjectKey) -> Vec<DeviceSummary> {
        let statuses = match self.read(|state| state.open(key)) {
            Some(project) => project.fleet.status().await,
            None => self.phones.status().await,
        };
        statuses.into_iter().map(project::news).collect()
    }

    /// That a project is not what it was, and who holds on to that.
    fn changed(&self, old: &Arc<Project>) -> CliError {
        let agents = self.users_of(old);
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
        let (devices, closing) = (Arc::clone(project), project.closing.clone());
        let following = async move { devices.follow_devices().await };
        tokio::spawn(closing.clone().run_until_cancelled_owned(following));
        if project.config.mcp_servers.is_empty() {
            return;
        }
        let (hub, project) = (Arc::clone(self), Arc::clone(project));
        tokio::spawn(closing.run_until_cancelled_owned(async move {
            let mut known = Arc::default();
            loop {
                known = project.tools_changed(&known).await;
                for agent in hub.users_of(&project) {
                    agent.tell(Update::Tools);
                }
                // Sources that are asked again answer one after another.
                tokio::time::sleep(TOOLS_CHANGED_DELAY).await;
            }
        }));
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

    /// Lets go of what nobody has used for long; whether nobody has used the daemon for `idle`.
    pub(crate) fn reap(self: &Arc<Self>, idle: Option<Duration>) -> bool {
        let mut gone = self.read(State::unused);
        // A disk may be slow.
        gone.retain(|key| !key.folder.is_dir());
        let now = Instant::now();
        self.change(|state| {
            state.reap(&gone, now);
            idle.is_some_and(|idle| state.is_disused(idle, now))
        })
    }

    /// Ends the daemon for one of another build, unless it is in use; by whom.
    pub(crate) async fn retire(self: &Arc<Self>) -> Vec<String> {
        self.change(|state| state.retiring += 1);
        let _asking = self.ends(|state| state.retiring -= 1);
        let given_up = self.until(|state| {
            state.forget_requesters(AgentState::may_be_forgotten);
            // Those who ask for its end are connected, too.
            state.is_idle(state.retiring).then_some(())
        });
        if timeout(GIVE_UP_TIMEOUT, given_up).await.is_ok() {
            self.ending.cancel();
            return Vec::new();
        }
        self.users()
    }

    /// Who uses it, in words.
    pub(crate) fn users(&self) -> Vec<String> {
        let agents = self.all(|_| true);
        let names: Vec<_> = agents.iter().map(|agent| agent.title()).collect();
        match names.is_empty() {
            true => vec!["a run or another command".to_owned()],
            false => names,
        }
    }

    /// Ends everybody.
    pub(crate) fn dismiss_all(self: &Arc<Self>) {
        self.change(|state| state.forget(|_| true));
    }

    /// Waits until connections, sessions and runs have ended.
    pub(crate) async fn is_done(self: &Arc<Self>) {
        self.until(|state| (state.work == 0).then_some(())).await;
    }

    /// Ends all projects, those that are being opened, too.
    pub(crate) async fn close(self: &Arc<Self>) {
        self.until(|state| state.close_all().then_some(())).await;
    }
}

/// Whether what a project was opened with is what there is now.
async fn is_current(project: &Arc<Project>) -> bool {
    let project = Arc::clone(project);
    let looking = tokio::task::spawn_blocking(move || project.is_current());
    looking.await.unwrap_or(false)
}
