//! The supervisor: an actor that keeps the registry made of what all tool sources have; each source
//! has a task of its own. Its handlers change state and return.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use actix_rt::ArbiterHandle;
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::memory::Redactor;
use packtrain_tools::{Missing, Registry, SharedRegistry};
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

use crate::handle::Source;
use crate::invocation::Invocations;
use crate::log::LogListener;
use crate::reload::ReloadTools;
use crate::settings::SourceSettings;
use crate::start::StartError;
use crate::task::{Listed, Listing, SourceTask};
use crate::tool::tools_of;

/// What a supervisor works with.
pub struct SupervisorOptions {
    /// The sources.
    pub sources: Vec<SourceSettings>,
    /// The tools that need no source.
    pub base: Registry,
    /// The devices that sessions may run on.
    pub devices: Vec<DeviceInfo>,
    /// The session that comes first, and its device: the processes that are started to see what a
    /// source has are for it, unless they are for all.
    pub first: Option<(String, DeviceId)>,
    /// Where callbacks go: `http://127.0.0.1:41234`.
    pub base_url: String,
    /// How long a callback may take.
    pub callback_timeout: Duration,
    /// The folder of the run; `sources` in it takes the sources' logs.
    pub run_dir: Option<PathBuf>,
    /// Where programs are looked for.
    pub search_path: OsString,
    /// What must not stand in logs.
    pub redactor: Redactor,
    /// The receiver of sources' output while they write it.
    pub log_listener: Option<LogListener>,
    /// The session that processes are given when they have several.
    pub session_prefix: String,
}

/// The tool sources of a run. Cheap to clone.
#[derive(Clone)]
pub struct ToolSources {
    supervisor: Addr<Supervisor>,
    sources: Arc<[Arc<Source>]>,
    invocations: Invocations,
    registry: SharedRegistry,
    state: watch::Receiver<RegistryState>,
}

/// Where the registry stands.
#[derive(Debug, Clone, Default)]
struct RegistryState {
    /// Sources that have neither listed their tools nor failed.
    unheard: usize,
    failures: BTreeMap<String, StartError>,
    /// Why the tools that were listed last are not registered.
    collision: Option<String>,
}

/// Why a source has no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFailure {
    /// The source.
    pub source: String,
    /// One sentence.
    pub message: String,
    /// The end of what it wrote.
    pub tail: Vec<String>,
}

/// How a source is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// `starting`, `ready`, `backing off`, `down`, or `idle` when no process is needed now.
    pub state: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The version of the protocol that was agreed on.
    pub protocol: Option<String>,
    /// Its processes that answer.
    pub pids: Vec<u32>,
    /// How many tools it has.
    pub tools: usize,
    /// Calls so far.
    pub calls: u64,
    /// Calls under way.
    pub active: usize,
    /// Restarts so far.
    pub restarts: u32,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// What was noticed while it started.
    pub notes: Vec<String>,
}

/// What a reload brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Reloaded {
    /// Tools that are new.
    pub added: usize,
    /// Tools that are gone.
    pub removed: usize,
    /// Tools of all sources.
    pub total: usize,
}

impl ToolSources {
    /// Starts sources. Their tools are not registered before [`ToolSources::registered`] says so.
    pub fn start(mut options: SupervisorOptions, arbiter: &ArbiterHandle) -> Self {
        let invocations = Invocations::default();
        invocations.set_devices(options.devices.len());
        let sources = std::mem::take(&mut options.sources).into_iter();
        let base = std::mem::take(&mut options.base);
        let options = Arc::new(options);
        let sources = sources.map(|source| SourceTask::of(source, &options, &invocations));
        let (sources, tasks): (Vec<_>, Vec<_>) = sources.unzip();
        let sources: Arc<[_]> = sources.into();
        let (state_tx, state) = watch::channel(RegistryState {
            unheard: sources.len(),
            ..RegistryState::default()
        });
        let registry = SharedRegistry::new(base.clone());
        let supervisor = {
            let (sources, registry) = (Arc::clone(&sources), registry.clone());
            let arbiter_of_sources = arbiter.clone();
            Supervisor::start_in_arbiter(arbiter, move |ctx| {
                for task in tasks {
                    arbiter_of_sources.spawn(task.run(ctx.address().recipient()));
                }
                Supervisor {
                    sources,
                    base: base.with(Arc::new(ReloadTools::new(Reloading(ctx.address())))),
                    registry,
                    listings: BTreeMap::new(),
                    state: state_tx,
                }
            })
        };
        let reloading = Reloading(supervisor.clone());
        let registry = registry.renewed_by(move || {
            let reloading = reloading.clone();
            Box::pin(async move {
                reloading.reload().await;
            })
        });
        Self {
            supervisor,
            sources,
            invocations,
            registry,
            state,
        }
    }

    /// The registry, which changes when the sources' tools do.
    pub const fn registry(&self) -> &SharedRegistry {
        &self.registry
    }

    /// The calls under way.
    pub const fn invocations(&self) -> &Invocations {
        &self.invocations
    }

    /// Waits until every source has listed its tools or failed. Answers those that failed.
    ///
    /// # Errors
    /// The collisions of names, told in full; then no tool of a source is registered.
    pub async fn registered(&self) -> Result<Vec<SourceFailure>, String> {
        let mut state = self.state.clone();
        let heard = state.wait_for(|state| state.unheard == 0).await;
        let state = heard.map(|state| state.clone()).unwrap_or_default();
        if let Some(collision) = state.collision {
            return Err(collision);
        }
        let failures = state.failures.into_iter();
        Ok(failures
            .map(|(source, failure)| SourceFailure {
                source,
                message: failure.message,
                tail: failure.tail,
            })
            .collect())
    }

    /// Tells each collision of names that appears from now on, for as long as it is polled.
    pub async fn each_collision(&self, tell: impl Fn(&str)) {
        let mut state = self.state.clone();
        let mut last = None;
        loop {
            let now = state.borrow_and_update().collision.clone();
            if let Some(collision) = now.as_deref().filter(|_| now != last) {
                tell(collision);
            }
            last = now;
            if state.changed().await.is_err() {
                return;
            }
        }
    }

    /// How every source is, by name.
    pub fn status(&self) -> Vec<SourceStatus> {
        let registry = self.registry.snapshot();
        let tools = |name: &str| {
            let of = |tool: &&Arc<dyn packtrain_tools::Tool>| match &tool.spec().origin {
                packtrain_tools::Origin::Source(source) => source == name,
                _ => false,
            };
            registry.all().filter(of).count()
        };
        self.sources
            .iter()
            .map(|source| source.status(tools(&source.settings().name)))
            .collect()
    }

    /// Ends all sources; answers when they have ended.
    pub async fn shutdown(&self) {
        let (answer, ended) = oneshot::channel();
        self.supervisor.do_send(EndAll(answer));
        // A supervisor that is gone has nothing to end.
        let _ = ended.await;
    }
}

/// Asks all sources for their tools again. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Reloading(Addr<Supervisor>);

impl Reloading {
    /// Resolved once what is new is registered.
    pub(crate) async fn reload(&self) -> Reloaded {
        let (answer, reloaded) = oneshot::channel();
        self.0.do_send(Reload(answer));
        // A supervisor that is gone has nothing new.
        reloaded.await.unwrap_or_default()
    }
}

/// Asks sources for their tools again.
struct Reload(oneshot::Sender<Reloaded>);

impl Message for Reload {
    type Result = ();
}

/// Ends all sources.
struct EndAll(oneshot::Sender<()>);

impl Message for EndAll {
    type Result = ();
}

/// The actor.
pub(crate) struct Supervisor {
    sources: Arc<[Arc<Source>]>,
    base: Registry,
    registry: SharedRegistry,
    listings: BTreeMap<String, Listing>,
    state: watch::Sender<RegistryState>,
}

impl Actor for Supervisor {
    type Context = Context<Self>;
}

impl Supervisor {
    /// Makes the registry of what all sources have. When names collide it stays as it is.
    fn register(&self, failures: &BTreeMap<String, StartError>) -> Option<String> {
        let tools = self.sources.iter().flat_map(|source| {
            let listing = self.listings.get(&source.settings().name);
            listing
                .into_iter()
                .flat_map(|listing| tools_of(source, listing))
        });
        match self.base.clone().joined(tools) {
            Ok(registry) => {
                let missing = failures.iter().map(|(source, failure)| Missing {
                    unstarted: Some(source.clone()),
                    why: failure.why(source),
                });
                self.registry.replace(registry.without(missing));
                None
            }
            Err(collisions) => Some(collisions.to_string()),
        }
    }
}

impl Handler<Listed> for Supervisor {
    type Result = ();

    fn handle(&mut self, listed: Listed, _: &mut Self::Context) {
        let mut state = self.state.borrow().clone();
        let is_new = !self.listings.contains_key(&listed.source)
            && !state.failures.contains_key(&listed.source);
        match listed.tools {
            Ok(listing) => {
                state.failures.remove(&listed.source);
                self.listings.insert(listed.source.clone(), listing);
            }
            Err(failure) => {
                state.failures.insert(listed.source.clone(), failure);
            }
        }
        state.unheard -= usize::from(is_new);
        // Nothing is registered before all that may collide is known.
        let is_registered = state.unheard == 0 && !is_new;
        if state.unheard == 0 {
            state.collision = self.register(&state.failures);
        }
        // Who waits for the first registration tells of its collisions.
        if let Some(collision) = &state.collision
            && is_registered
        {
            let told = format!(
                "the tools that tool source `{}` lists now are not registered: {}",
                listed.source,
                collision.replace('\n', "; ")
            );
            let is_its = |source: &&Arc<Source>| source.settings().name == listed.source;
            if let Some(source) = self.sources.iter().find(is_its) {
                source.fail(&told);
            }
            state.collision = Some(told.clone());
            let kept = Registry::clone(&self.registry.snapshot());
            let missing = Missing {
                unstarted: None,
                why: told,
            };
            if !kept.missing().contains(&missing) {
                self.registry.replace(kept.without([missing]));
            }
        }
        self.state.send_replace(state);
        if let Some(registered) = listed.registered {
            // Who does not wait any more is not told.
            let _ = registered.send(());
        }
    }
}

impl Handler<Reload> for Supervisor {
    type Result = ();

    fn handle(&mut self, Reload(answer): Reload, _: &mut Self::Context) {
        let names = |registry: &Registry| -> Vec<String> {
            let tools = registry.all().map(|tool| tool.spec());
            let of_sources =
                tools.filter(|spec| matches!(spec.origin, packtrain_tools::Origin::Source(_)));
            of_sources.map(|spec| spec.name.clone()).collect()
        };
        let before = names(&self.registry.snapshot());
        let asked: Vec<_> = self
            .sources
            .iter()
            .map(|source| source.relisted())
            .collect();
        let registry = self.registry.clone();
        tokio::spawn(async move {
            for relisted in asked {
                // A source that is gone has nothing new.
                let _ = relisted.await;
            }
            let after = names(&registry.snapshot());
            let reloaded = Reloaded {
                added: after.iter().filter(|name| !before.contains(name)).count(),
                removed: before.iter().filter(|name| !after.contains(name)).count(),
                total: after.len(),
            };
            // Who does not wait any more is not told.
            let _ = answer.send(reloaded);
        });
    }
}

impl Handler<EndAll> for Supervisor {
    type Result = ();

    fn handle(&mut self, EndAll(answer): EndAll, _: &mut Self::Context) {
        let ends: Vec<_> = self.sources.iter().map(|source| source.end()).collect();
        tokio::spawn(async move {
            for ended in ends {
                // An actor that is gone has let go of its processes.
                let _ = ended.await;
            }
            // Who does not wait any more is not told.
            let _ = answer.send(());
        });
    }
}
