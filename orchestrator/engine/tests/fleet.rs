//! A fleet in memory: devices whose drivers do what a call tells them, and the tool that tells them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use packtrain_device_actors::Fleet;
use packtrain_drivers::{
    ActionReport, BoxFuture, Command, CommandContext, DeviceId, DeviceInfo, DriverError, EventSink,
    Located, Observation, Platform, Reach, Size, WebCommand,
};
use packtrain_engine::{
    Here, Journal, NewArtifact, RequestedTrail, Run, RunOptions, RunRequest, Shard, Stop,
    StopReason, Store, TrailLoader, resolve,
};
use packtrain_model::memory::Redactor;
use packtrain_model::template::Undefined;
use packtrain_model::trail::Trail;
use packtrain_model::yaml::{DecodeError, Value};
use packtrain_model::{Artifact, Entry, Outcome, RunEvent, RunId, Verdict};
use packtrain_testing::{Script, scripted};
use packtrain_tools::{
    Access, Answer, Call, Caller, Kind, Registry, SharedRegistry, Tool, ToolError, ToolRequest,
    ToolSpec,
};
use parking_lot::Mutex;

/// A device in memory.
pub(crate) struct Fake {
    info: DeviceInfo,
    /// Every command loses it.
    pub(crate) broken: AtomicBool,
    /// Sessions that were begun and ended on it.
    pub(crate) begun: AtomicU32,
    pub(crate) ended: AtomicU32,
    /// How far the session that was begun last reaches.
    pub(crate) reach: Mutex<Option<Reach>>,
}

impl Fake {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            info: DeviceInfo {
                id: DeviceId::new(Platform::Web, name),
                driver: "fake".into(),
                classifiers: vec!["web".into()],
                model: "fake".into(),
                system: "fake".into(),
                screen: Size::new(10.0, 10.0),
            },
            broken: AtomicBool::new(false),
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            reach: Mutex::default(),
        })
    }

    pub(crate) fn broken(name: &str) -> Arc<Self> {
        let fake = Self::new(name);
        fake.broken.store(true, Ordering::SeqCst);
        fake
    }
}

impl Script for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    async fn execute(
        &self,
        command: Command,
        ctx: &CommandContext,
        _: &EventSink,
    ) -> Result<Observation, DriverError> {
        let done = || Ok(Observation::Done(ActionReport::default()));
        match command {
            Command::End => {
                self.ended.fetch_add(1, Ordering::SeqCst);
                return done();
            }
            Command::Begin(ref options) => {
                self.reach.lock().clone_from(&options.reach);
                self.begun.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
        if self.broken.load(Ordering::SeqCst) {
            return Err(DriverError::lost("the cable was pulled"));
        }
        let Command::Web(WebCommand::Evaluate(order)) = command else {
            return done();
        };
        match order.as_str() {
            "fail" => Err(DriverError::unmet("the page says no")),
            "lose" => Err(DriverError::lost("the cable was pulled")),
            "ambiguous" => Ok(Observation::Done(ActionReport {
                located: Some(Located {
                    by: "text \"OK\"".into(),
                    matched: 3,
                }),
                notes: Vec::new(),
            })),
            "wait" => tokio::select! {
                () = ctx.cancel.cancelled() => Err(DriverError::Cancelled),
                () = tokio::time::sleep_until(ctx.deadline) => {
                    Err(DriverError::Timeout {
                        doing: "reading the screen".into(),
                        after: Duration::from_millis(13),
                        log: Vec::new(),
                    })
                }
            },
            _ => done(),
        }
    }
}

/// `act: { do: ... }`: what the driver does, or the tool itself.
struct Act(ToolSpec);

impl Act {
    fn named(name: &str, access: Access) -> Arc<dyn Tool> {
        Arc::new(Self(ToolSpec {
            access,
            arguments: serde_json::json!({}),
            ..ToolSpec::new(name, "", Kind::Action)
        }))
    }
}

impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn check(&self, _: &Value) -> Result<(), DecodeError> {
        Ok(())
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let order = arguments.to_json()["do"]
            .as_str()
            .unwrap_or("pass")
            .to_owned();
        Box::pin(async move {
            assert_ne!(order, "panic", "a tool with a bug");
            if self.0.name.starts_with("call_back") {
                // As a tool source does.
                let caller = Caller::Remote {
                    host_commands: self.0.name == "call_back",
                };
                let arguments =
                    Value::from(&serde_json::json!({ "do": "pass", "path": "t.trail.yaml" }));
                let request = ToolRequest {
                    tool: &order,
                    arguments: &arguments,
                    params: None,
                    undefined: Undefined::Error,
                    at: None,
                    depth: call.depth + 1,
                    caller,
                };
                return call.invoker.invoke(request).await;
            }
            if order == "stall" {
                // It knows neither deadline nor cancelling.
                std::future::pending::<()>().await;
            }
            if order == "dawdle" {
                // It answers well, and too late.
                let late = call.deadline + Duration::from_millis(10);
                tokio::time::sleep_until(late).await;
                return Ok(Answer::default());
            }
            call.act(Command::Web(WebCommand::Evaluate(order))).await
        })
    }
}

/// The tools of these tests: `act`; `act_on_host`, which runs commands of this computer;
/// `act_in_shell`, which runs commands on the device; `call_back`, which calls another one,
/// and `call_back_bound`, which may run no commands of this computer by that.
pub(crate) fn registry() -> Registry {
    Registry::default()
        .with(Act::named("act", Access::Session))
        .with(Act::named("act_on_host", Access::HostCommands))
        .with(Act::named("act_in_shell", Access::DeviceShell))
        .with(Act::named("call_back", Access::Session))
        .with(Act::named("call_back_bound", Access::Session))
}

/// Trails inside trails, by path.
#[derive(Default)]
pub(crate) struct Trails(pub(crate) BTreeMap<String, Arc<Trail>>);

impl TrailLoader for Trails {
    fn load(
        &self,
        path: &str,
        _: &[std::path::PathBuf],
        reach: Option<&Reach>,
    ) -> Result<Arc<Trail>, String> {
        if let Some(reach) = reach {
            return Err(format!("no trail {path} in {}", reach.folder.display()));
        }
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| format!("no trail {path}"))
    }
}

/// A trail whose steps each do one of these.
pub(crate) fn trail(name: &str, orders: &[&str]) -> Arc<Trail> {
    let steps: String = orders
        .iter()
        .map(|order| {
            format!(
                "  - step: {order}\n    recording:\n      web:\n        - {}\n",
                call(order)
            )
        })
        .collect();
    let text = format!("trail:\n{steps}");
    Arc::new(
        Trail::parse(&text, &format!("{name}.trail.yaml"))
            .unwrap()
            .trail,
    )
}

fn call(order: &str) -> String {
    match order.split_once(' ') {
        Some((tool, order)) => format!("{tool}: {{ do: {order} }}"),
        None => format!("act: {{ do: {order} }}"),
    }
}

/// A run on a fleet in memory.
pub(crate) struct Bench {
    pub(crate) devices: Vec<Arc<Fake>>,
    pub(crate) trails: Vec<Arc<Trail>>,
    pub(crate) shard: Shard,
    pub(crate) options: RunOptions,
    pub(crate) caller: Caller,
    pub(crate) registry: SharedRegistry,
    /// Asks the run to stop when its journal has so many entries.
    pub(crate) stops: Vec<(u64, StopReason)>,
}

impl Bench {
    pub(crate) fn new(devices: &[&Arc<Fake>], trails: &[Arc<Trail>]) -> Self {
        Self {
            devices: devices.iter().map(|&device| Arc::clone(device)).collect(),
            trails: trails.to_vec(),
            shard: Shard::All,
            options: RunOptions::default(),
            caller: Caller::Person,
            registry: SharedRegistry::new(registry()),
            stops: Vec::new(),
        }
    }

    /// Runs it to its end.
    pub(crate) async fn run(self) -> Ran {
        let connectors = self
            .devices
            .iter()
            .map(|device| scripted(Arc::clone(device)));
        let fleet = Fleet::start(connectors.collect(), &[]).unwrap();
        let plan = resolve(RunRequest {
            run: RunId("r".into()),
            trails: self
                .trails
                .iter()
                .map(|trail| RequestedTrail {
                    trail: Arc::clone(trail),
                    only: None,
                    matrix: None,
                })
                .collect(),
            devices: self
                .devices
                .iter()
                .map(|device| device.info().clone())
                .collect(),
            only_declared: false,
            alike: Vec::new(),
            anywhere: None,
            driver: None,
            tags: Vec::new(),
            shard: self.shard,
            options: self.options,
        });
        let planned = plan.sessions.len();
        let entries = Arc::new(Mutex::new(Vec::new()));
        let stop = Stop::default();
        let keeping = Keeping {
            entries: Arc::clone(&entries),
            stop: stop.clone(),
            stops: self.stops,
        };
        let (journal, thread) =
            Journal::start(Box::new(keeping), Vec::new(), Redactor::default()).unwrap();
        let inner = self
            .trails
            .iter()
            .map(|trail| (trail.source.name().to_owned(), Arc::clone(trail)));
        let here = Here {
            fleet: fleet.clone(),
            registry: self.registry,
            loader: Arc::new(Trails(inner.collect())),
            caller: self.caller,
            working_directory: "/".into(),
            environment: None,
            scratch: None,
        };
        let run = Run {
            plan,
            host: Arc::new(here),
            journal,
            stop,
        };
        let verdict = run.execute().await;
        thread.finish().await;
        fleet.shutdown(Duration::from_secs(5)).await;
        let entries = std::mem::take(&mut *entries.lock());
        Ran {
            verdict,
            planned,
            entries,
        }
    }
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) verdict: Verdict,
    pub(crate) planned: usize,
    pub(crate) entries: Vec<Entry>,
}

impl Ran {
    /// The final outcomes, in order of their sessions.
    pub(crate) fn outcomes(&self) -> Vec<(String, Outcome)> {
        let mut outcomes: Vec<_> = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.event {
                RunEvent::SessionFinished {
                    session, outcome, ..
                } => Some((session.0.clone(), outcome.clone())),
                _ => None,
            })
            .collect();
        outcomes.sort_by(|one, other| one.0.cmp(&other.0));
        outcomes
    }

    /// The devices that attempts were started on: `s1 on a`.
    pub(crate) fn started(&self) -> Vec<String> {
        let events = self.entries.iter().filter_map(|entry| match &entry.event {
            RunEvent::SessionStarted {
                session, device, ..
            } => Some(format!("{session} on {}", device.id.name())),
            _ => None,
        });
        events.collect()
    }

    /// Whether every planned session was settled once, and the journal is whole.
    pub(crate) fn assert_whole(&self) {
        assert_eq!(self.verdict.settled() as usize, self.planned);
        assert_eq!(self.outcomes().len(), self.planned);
        let last = self.entries.last().map(|entry| &entry.event);
        assert!(
            matches!(last, Some(RunEvent::RunFinished { verdict, .. }) if *verdict == self.verdict)
        );
    }
}

struct Keeping {
    entries: Arc<Mutex<Vec<Entry>>>,
    stop: Stop,
    stops: Vec<(u64, StopReason)>,
}

impl Store for Keeping {
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), String> {
        for entry in entries {
            for (seq, reason) in &self.stops {
                if entry.seq == *seq {
                    self.stop.request(*reason);
                }
            }
            self.entries.lock().push(Entry::clone(entry));
        }
        Ok(())
    }

    fn save(&mut self, _: &NewArtifact) -> Result<Option<Artifact>, String> {
        Ok(None)
    }
}
