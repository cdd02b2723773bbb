//! What a tool is given: the session it works in and the bounds it has to keep to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use packtrain_device_actors::{CommandError, Lease};
use packtrain_drivers::{ActionReport, BoxFuture, Command, Observation, Platform};
use packtrain_model::memory::Memory;
use packtrain_model::template::Undefined;
use packtrain_model::yaml::Value;
use packtrain_model::{RunId, SessionId, SourceCall};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::mobile::screen::{Asked, ScreenMemory};
use crate::tool::{Answer, ToolError, ToolSpec};

/// The app under test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in the configuration.
    pub name: Option<String>,
    /// Package names and bundle ids by platform; the first is the default.
    pub app_ids: BTreeMap<Platform, Vec<String>>,
    /// Where relative addresses lead.
    pub base_url: Option<String>,
}

/// The apps that trails may be about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Targets {
    /// By the names that trails use.
    pub named: BTreeMap<String, Target>,
    /// For trails that name none.
    pub default: Target,
    /// For every trail, whatever it says.
    pub given: Option<Target>,
    /// Where relative addresses lead, whatever the target says.
    pub base_url: Option<String>,
}

impl Targets {
    /// The app under test of a trail that says this.
    pub fn of(&self, said: Option<&str>) -> Target {
        let mut target = match (&self.given, said) {
            (Some(given), _) => given.clone(),
            (None, Some(word)) => self.called(word),
            (None, None) => self.default.clone(),
        };
        if self.base_url.is_some() {
            target.base_url.clone_from(&self.base_url);
        }
        target
    }

    /// What a word in a trail or in a configuration means: a target's name, an address, or, with a
    /// dot in it, an app's id. An unknown name has neither ids nor address.
    pub fn called(&self, word: &str) -> Target {
        if let Some(known) = self.named.get(word) {
            return known.clone();
        }
        let mut target = Target {
            name: Some(word.to_owned()),
            ..Target::default()
        };
        if word.contains("://") {
            target.base_url = Some(word.to_owned());
        } else if word.contains('.') {
            for platform in [Platform::Android, Platform::Ios] {
                target.app_ids.insert(platform, vec![word.to_owned()]);
            }
        }
        target
    }
}

/// A session as tools see it: its device, its memory, its place.
pub struct SessionScope {
    /// Its name, unique among all sessions.
    pub id: String,
    /// The device; it is given back once no call of the session is under way on it.
    pub lease: Arc<Lease>,
    /// The app under test.
    pub target: Target,
    /// Folders that relative paths are looked up in: the trail's, then the working directory.
    pub folders: Vec<PathBuf>,
    /// Variables of the commands that it runs; without any, those of this process.
    pub environment: Option<Arc<BTreeMap<String, String>>>,
    /// Ends everything the session does.
    pub cancel: CancellationToken,
    state: Mutex<SessionState>,
}

/// What the calls of a session change; held for moments only.
struct SessionState {
    memory: Memory,
    /// What is known of the screen.
    screen: ScreenMemory,
    /// What is dropped when the session ends.
    at_end: Vec<Box<dyn Send>>,
}

/// Calls tools by name in a session: the only way to them, for every caller.
pub trait Invoke: Send + Sync {
    /// Calls a tool.
    ///
    /// # Errors
    /// [`ToolError`] of the tool, or of what kept it from being called.
    fn invoke<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

    /// Whether there is a tool of this name.
    fn knows(&self, tool: &str) -> bool;

    /// Runs the trail at `path` in the call's session.
    ///
    /// # Errors
    /// [`ToolError`] of the first step that did not pass.
    fn run_trail<'a>(
        &'a self,
        path: &'a str,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>>;
}

/// A call that somebody wants made.
#[derive(Debug, Clone)]
pub struct ToolRequest<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments; templates in them are filled in.
    pub arguments: &'a Value,
    /// What `{{params.name}}` is, when the call stands in the definition of a tool.
    pub params: Option<&'a BTreeMap<String, serde_json::Value>>,
    /// What becomes of a template that is not defined.
    pub undefined: Undefined,
    /// Where the call stands in its file: `trails/login.trail.yaml:12:9`.
    pub at: Option<String>,
    /// 0 for a call of the trail, 1 for a call made by that ...
    pub depth: u32,
    /// Who asks.
    pub caller: Caller,
}

/// One call of a tool.
pub struct Call<'a> {
    /// The session it belongs to.
    pub session: &'a SessionScope,
    /// The latest moment for an answer.
    pub deadline: Instant,
    /// 0 for a call of the trail, 1 for a call made by that ...
    pub depth: u32,
    /// Who asked.
    pub caller: Caller,
    /// For tools that call tools or run trails.
    pub invoker: &'a dyn Invoke,
    /// What the journal shall tell besides.
    pub trace: &'a CallTrace,
}

/// What is reported of a call besides its answer, whether it has one or not.
#[derive(Debug, Default)]
pub struct CallTrace {
    source: OnceLock<SourceCall>,
    delegated: AtomicBool,
}

impl CallTrace {
    /// Tells what a tool source did.
    pub fn set(&self, call: SourceCall) {
        // A call is of one tool, which tells once.
        let _ = self.source.set(call);
    }

    /// What the tool source did.
    pub fn source(&self) -> Option<&SourceCall> {
        self.source.get()
    }

    /// Other calls stand for this one.
    pub fn delegate(&self) {
        self.delegated.store(true, Ordering::Relaxed);
    }

    /// Whether other calls stand for this one.
    pub fn has_delegated(&self) -> bool {
        self.delegated.load(Ordering::Relaxed)
    }
}

impl SessionScope {
    /// The name of a session that is unique among all runs.
    pub fn name_of(run: &RunId, session: &SessionId) -> String {
        format!("{run}_{session}")
    }

    /// A session's scope.
    pub fn new(
        id: String,
        lease: Lease,
        memory: Memory,
        target: Target,
        folders: Vec<PathBuf>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            id,
            lease: Arc::new(lease),
            target,
            folders,
            environment: None,
            cancel,
            state: Mutex::new(SessionState {
                memory,
                screen: ScreenMemory::new(),
                at_end: Vec::new(),
            }),
        }
    }

    /// With variables of its own for the commands that it runs.
    #[must_use]
    pub fn with_environment(mut self, environment: Option<Arc<BTreeMap<String, String>>>) -> Self {
        self.environment = environment;
        self
    }

    /// Drops something when the session ends.
    pub fn at_end(&self, what: impl Send + 'static) {
        self.state.lock().at_end.push(Box::new(what));
    }

    /// The session's memory. While it is held nothing else of the session can be asked for.
    pub fn memory(&self) -> MappedMutexGuard<'_, Memory> {
        MutexGuard::map(self.state.lock(), |state| &mut state.memory)
    }

    /// Sends a command to the device, and remembers what the answer says of the screen.
    ///
    /// # Errors
    /// As [`Lease::execute`].
    pub async fn execute(
        &self,
        command: Command,
        deadline: Instant,
    ) -> Result<Observation, CommandError> {
        let asked = Asked::now(&command);
        let answer = self.lease.execute(command, deadline).await;
        self.screen().answered(asked, answer.as_ref().ok());
        answer
    }

    /// What is known of the screen.
    pub(crate) fn screen(&self) -> MappedMutexGuard<'_, ScreenMemory> {
        MutexGuard::map(self.state.lock(), |state| &mut state.screen)
    }

    /// The ids of the app under test on this platform.
    pub fn app_ids(&self) -> &[String] {
        self.target
            .app_ids
            .get(&self.platform())
            .map_or(&[], Vec::as_slice)
    }

    /// Sees to it that what must not be seen of a call's arguments is seen nowhere from now on.
    pub fn hide(&self, spec: &ToolSpec, arguments: &Value) {
        for name in &spec.secrets {
            if let Some(value) = arguments.as_mapping().and_then(|map| map.get(name)) {
                let text = value.as_scalar().map_or("", |scalar| scalar.text.as_str());
                self.memory().hide(name, text);
            }
        }
    }

    /// The device's platform.
    pub fn platform(&self) -> Platform {
        self.lease.device().id.platform()
    }
}

impl Call<'_> {
    /// Sends a command to the session's device.
    ///
    /// # Errors
    /// [`ToolError::Command`], or [`ToolError::Cancelled`] once the session was cancelled.
    pub async fn device(&self, command: Command) -> Result<Observation, ToolError> {
        let answer = self.session.execute(command, self.deadline).await;
        answer.map_err(|error| {
            if self.session.cancel.is_cancelled() {
                ToolError::Cancelled
            } else {
                error.into()
            }
        })
    }

    /// Sends a command whose answer is that it was carried out.
    ///
    /// # Errors
    /// As [`Call::device`].
    pub async fn act(&self, command: Command) -> Result<Answer, ToolError> {
        Ok(match self.device(command).await? {
            Observation::Done(report) => report.into(),
            Observation::Text(text) => Answer::text(text),
            Observation::Json(value) => Answer::text(value.to_string()),
            Observation::Snapshot(snapshot) => {
                self.session.screen().handed_out(&snapshot.refs);
                Answer::text(snapshot.text)
            }
            Observation::Begun(_)
            | Observation::Observed(_)
            | Observation::Screenshot(_)
            | Observation::Unchanged => ActionReport::default().into(),
        })
    }

    /// Time until the deadline.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// [`ToolError::Cancelled`] when the session is cancelled meanwhile, and a failure when the
    /// deadline comes first.
    pub async fn pause(&self, time: Duration) -> Result<(), ToolError> {
        if time > self.remaining() {
            return Err(ToolError::failed(format!(
                "waiting {:.1} s exceeds the {:.1} s left of the step",
                time.as_secs_f64(),
                self.remaining().as_secs_f64()
            )));
        }
        tokio::select! {
            () = self.session.cancel.cancelled() => Err(ToolError::Cancelled),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }
}
