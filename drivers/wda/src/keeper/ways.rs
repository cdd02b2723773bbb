//! The ways to start a simulator's WebDriverAgent: the one that was configured; otherwise `simctl
//! launch` and `xcodebuild test-without-building`, of which the one that answered last comes first.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::kill;
use nix::unistd::Pid;
use plist::{Dictionary, Value};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

use super::place::AgentRecord;
use super::{Answer, KeepOrder, who_answers};
use crate::exit_hook::ExitHook;
use crate::simctl::Simctl;
use crate::start::{Running, START_TIMEOUT, prepared};

/// How often it is asked whether it is there.
const START_POLL: Duration = Duration::from_millis(100);
/// How often it is looked whether an app runs: nobody tells.
const APP_POLL: Duration = Duration::from_millis(500);
/// How long an answer to that may take.
const STATUS_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a simulator may take to end an app.
const APP_END_TIMEOUT: Duration = Duration::from_secs(60);

/// A way to start WebDriverAgent on a simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StartWay {
    /// The command that is configured.
    Command,
    /// Its app alone, as iOS 17 and 18 let it be started.
    Launch,
    /// Its app by the tests that it is for Xcode.
    Xcodebuild,
}

/// Why it was not started, for people, and what they can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Refused {
    pub(crate) why: String,
    pub(crate) hint: Option<String>,
}

/// Where WebDriverAgent listens: for requests, and for those who watch its pictures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    agent: u16,
    pictures: u16,
}

impl Ports {
    /// The variables by which it knows, and by which it is known. (`FBConfiguration.m`)
    fn variables(self, mark: &str) -> [(&'static str, String); 4] {
        [
            ("USE_PORT", self.agent.to_string()),
            // A simulator is on this computer's network.
            ("USE_IP", "127.0.0.1".to_owned()),
            ("MJPEG_SERVER_PORT", self.pictures.to_string()),
            ("UPGRADE_TIMESTAMP", mark.to_owned()),
        ]
    }
}

/// The start of one WebDriverAgent.
pub(super) struct Attempt<'a> {
    order: &'a KeepOrder,
    simctl: &'a Simctl,
    tasks: &'a TaskTracker,
    running: Option<Started>,
}

/// What was started.
enum Started {
    Command(Running),
    /// An app on a simulator, and what ends it; its process, where that is known.
    App(ExitHook, Option<u32>),
}

impl<'a> Attempt<'a> {
    pub(super) const fn new(
        order: &'a KeepOrder,
        simctl: &'a Simctl,
        tasks: &'a TaskTracker,
    ) -> Self {
        Self {
            order,
            simctl,
            tasks,
            running: None,
        }
    }

    /// Starts it, and waits for its first answer.
    pub(super) async fn start(&mut self, record: &mut AgentRecord) -> Result<(), Refused> {
        let order = self.order;
        let refused = |why: String| Refused { why, hint: None };
        let booted = self.simctl.boot(&order.udid).await;
        booted.map_err(|error| refused(error.to_string()))?;
        let ways: &[StartWay] = match self.before() {
            _ if !order.command.is_empty() => &[StartWay::Command],
            Some(StartWay::Xcodebuild) => &[StartWay::Xcodebuild, StartWay::Launch],
            Some(StartWay::Launch | StartWay::Command) | None => {
                &[StartWay::Launch, StartWay::Xcodebuild]
            }
        };
        if order.command.is_empty() {
            self.installed().await?;
        }
        let mut why = Vec::new();
        for way in ways {
            record.way = Some(*way);
            match self.start_by(*way, record).await {
                Ok(()) => return Ok(()),
                Err(message) => why.push(format!("by {way}: {message}")),
            }
        }
        Err(refused(why.join("; ")))
    }

    /// The way in which it answered the last time.
    fn before(&self) -> Option<StartWay> {
        let text = std::fs::read(self.order.place.file("way.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Sees to it that the runner is on the simulator.
    async fn installed(&self) -> Result<(), Refused> {
        let KeepOrder { udid, id, app, .. } = self.order;
        if let Some(app) = app {
            let installed = self.simctl.install(udid, app).await;
            return installed.map_err(|error| Refused {
                why: error.to_string(),
                hint: None,
            });
        }
        let there = self.simctl.container(udid, id).await;
        there.map(drop).map_err(|error| Refused {
            why: format!("{id} is not installed on this simulator: {error}"),
            hint: Some(format!(
                "`xcrun simctl install {udid} WebDriverAgentRunner-Runner.app` installs it; \
                 docs/devices.md says where to get it"
            )),
        })
    }

    async fn start_by(&mut self, way: StartWay, record: &mut AgentRecord) -> Result<(), String> {
        self.stop().await;
        let order = self.order;
        let [agent, pictures] = order
            .place
            .free_ports()
            .map_err(|error| error.to_string())?;
        let ports = Ports { agent, pictures };
        record.port = agent;
        let limit = match way {
            StartWay::Command => START_TIMEOUT,
            StartWay::Launch | StartWay::Xcodebuild => order.answer_timeout,
        };
        match way {
            StartWay::Command => self.run(&order.command, ports)?,
            StartWay::Launch => self.launch(ports).await?,
            StartWay::Xcodebuild => {
                let command = self.tests(ports).await?;
                self.run(&command, ports)?;
            }
        }
        let end = Instant::now() + limit;
        while Instant::now() < end {
            // Another program may be on the port by now; nothing is asked of it but this.
            if let Answer::Agent { tells_mark } =
                who_answers(agent, &order.mark, STATUS_TIMEOUT).await
            {
                record.tells_mark = tells_mark;
                let text = serde_json::to_vec(&way).unwrap_or_default();
                let _ = std::fs::write(order.place.file("way.json"), text);
                return Ok(());
            }
            tokio::select! {
                why = self.ended() => return Err(why),
                () = sleep(START_POLL) => {}
            }
        }
        Err(format!("no answer within {} s", limit.as_secs()))
    }

    /// Starts a command with the variables that WebDriverAgent is given by Xcode.
    fn run(&mut self, words: &[String], ports: Ports) -> Result<(), String> {
        let order = self.order;
        let mut command = prepared(words, order.folder.as_deref(), ports.agent)
            .map_err(|error| error.to_string())?;
        for (name, value) in ports.variables(&order.mark) {
            command.env(format!("TEST_RUNNER_{name}"), &value);
            command.env(name, value);
        }
        let running = Running::spawn(command, self.tasks).map_err(|error| error.to_string())?;
        self.running = Some(Started::Command(running));
        Ok(())
    }

    async fn launch(&mut self, ports: Ports) -> Result<(), String> {
        let KeepOrder { udid, id, mark, .. } = self.order;
        // Whoever runs it has the lock: nobody starts another before it is done.
        let lock = std::io::stdout().as_fd().try_clone_to_owned();
        let lock = lock.map_err(|error| error.to_string())?;
        let mut hook = (self.simctl)
            .terminate_afterwards(udid, id, Stdio::from(lock))
            .map_err(|error| error.to_string())?;
        let variables = ports.variables(mark);
        match self.simctl.launch(udid, id, &variables).await {
            Ok(pid) => {
                // A number that is no process of this computer says nothing.
                let pid = pid.filter(|pid| is_alive(*pid));
                hook.tell(pid).await;
                self.running = Some(Started::App(hook, pid));
                Ok(())
            }
            Err(error) => {
                hook.cancel().await;
                Err(error.to_string())
            }
        }
    }

    /// The command that runs the installed app as the test that it is: from a copy, for Xcode installs
    /// it anew.
    async fn tests(&self, ports: Ports) -> Result<Vec<String>, String> {
        let KeepOrder {
            udid, id, place, ..
        } = self.order;
        let copies = place.file("runner");
        // What was copied before may be of another version.
        let _ = std::fs::remove_dir_all(&copies);
        std::fs::create_dir(&copies).map_err(|error| error.to_string())?;
        let app = self.simctl.copy(udid, id, &copies).await;
        let app = app.map_err(|error| error.to_string())?;
        let file = place.file("runner.xctestrun");
        let variables = ports.variables(&self.order.mark);
        let written = test_run(&app, id, &variables).to_file_xml(&file);
        written.map_err(|error| error.to_string())?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(vec![
            text(&self.order.xcrun),
            "xcodebuild".to_owned(),
            "test-without-building".to_owned(),
            "-xctestrun".to_owned(),
            text(&file),
            "-destination".to_owned(),
            format!("id={udid}"),
            "-derivedDataPath".to_owned(),
            text(&copies.join("derived")),
        ])
    }

    /// Waits for the end of what was started, and tells what led to it.
    pub(super) async fn ended(&mut self) -> String {
        match &mut self.running {
            Some(Started::Command(running)) => running.why().await,
            Some(Started::App(_, Some(pid))) => {
                while is_alive(*pid) {
                    sleep(APP_POLL).await;
                }
                "the app has ended".to_owned()
            }
            Some(Started::App(_, None)) | None => std::future::pending().await,
        }
    }

    /// Ends what was started and still runs.
    pub(super) async fn stop(&mut self) {
        match self.running.take() {
            None => {}
            Some(Started::App(hook, _)) => hook.run(APP_END_TIMEOUT).await,
            Some(Started::Command(running)) => {
                let was_running = running.is_running();
                running.stop().await;
                if was_running {
                    // What it started on the simulator is no child of it.
                    let KeepOrder { udid, id, .. } = self.order;
                    let ended = self.simctl.terminate(udid, id).await;
                    tracing::debug!(?ended, "the runner on the simulator");
                }
            }
        }
    }
}

impl std::fmt::Display for StartWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Command => "`start`",
            Self::Launch => "`simctl launch`",
            Self::Xcodebuild => "`xcodebuild test-without-building`",
        })
    }
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok())
}

/// What Xcode is to test: an app that is installed, whose test never ends. (`xcodebuild.xctestrun(5)`)
fn test_run(app: &Path, id: &str, variables: &[(&str, String)]) -> Value {
    let text = |text: &str| Value::String(text.to_owned());
    let path = |path: PathBuf| Value::String(path.to_string_lossy().into_owned());
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), text(value)));
    let tested = [
        (
            "TestBundlePath",
            text("__TESTHOST__/PlugIns/WebDriverAgentRunner.xctest"),
        ),
        ("TestHostPath", path(app.to_owned())),
        ("TestHostBundleIdentifier", text(id)),
        ("ProductModuleName", text("WebDriverAgentRunner")),
        ("IsUITestBundle", Value::Boolean(true)),
        ("IsXCTRunnerHostedTestBundle", Value::Boolean(true)),
        ("UseUITargetAppProvidedByTests", Value::Boolean(true)),
        ("TestTimeoutsEnabled", Value::Boolean(false)),
        (
            "EnvironmentVariables",
            Value::Dictionary(variables.collect()),
        ),
    ];
    let tested = tested.map(|(key, value)| (key.to_owned(), value));
    let format = [("FormatVersion".to_owned(), Value::Integer(1.into()))];
    let dictionary = |entries: Vec<(String, Value)>| {
        Value::Dictionary(entries.into_iter().collect::<Dictionary>())
    };
    dictionary(vec![
        ("WebDriverAgentRunner".to_owned(), dictionary(tested.into())),
        (
            "__xctestrun_metadata__".to_owned(),
            dictionary(format.into()),
        ),
    ])
}
