//! The ways to start a simulator's WebDriverAgent: the one that was configured; otherwise `simctl
//! launch` and `xcodebuild test-without-building`, of which the one that answered last comes first.

use std::error::Error;
use std::os::fd::AsFd as _;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::kill;
use nix::unistd::Pid;
use plist::{Dictionary, plist};
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::place::{AgentRecord, AgentState};
use super::{Answer, KeepOrder, who_answers};
use crate::exit_hook::ExitHook;
use crate::simctl::Simctl;
use crate::start::{Running, START_TIMEOUT, prepared};

/// How often it is asked whether it is there.
const START_POLL: Duration = Duration::from_millis(100);
/// How often it is looked whether an app runs: nobody tells.
const APP_POLL: Duration = Duration::from_millis(500);
/// How long a simulator may take to end an app.
const APP_END_TIMEOUT: Duration = Duration::from_secs(60);

/// What went wrong, for people.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
/// The variables by which WebDriverAgent knows where to listen. (`FBConfiguration.m`)
type Variables = [(&'static str, String); 4];

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

/// The start of one WebDriverAgent.
pub(super) struct Attempt<'a> {
    pub(super) order: &'a KeepOrder,
    pub(super) simctl: Simctl,
    pub(super) tasks: TaskTracker,
    pub(super) running: Option<Started>,
}

/// What was started.
pub(super) enum Started {
    Command(Running),
    /// An app on a simulator, and what ends it; its process, where that is known.
    App(ExitHook, Option<u32>),
}

impl Attempt<'_> {
    /// Starts it, and waits for its end.
    pub(super) async fn run(&mut self, record: &mut AgentRecord) -> Result<()> {
        self.start(record).await?;
        record.state = AgentState::Ready;
        self.order.place.write(record)?;
        let why = self.ended().await;
        tracing::debug!(why, "WebDriverAgent");
        Ok(())
    }

    /// Starts it, and waits for its first answer.
    async fn start(&mut self, record: &mut AgentRecord) -> Result<()> {
        self.simctl.boot(&self.order.udid).await?;
        let ways: &[StartWay] = match record.way {
            _ if !self.order.command.is_empty() => &[StartWay::Command],
            Some(StartWay::Xcodebuild) => &[StartWay::Xcodebuild, StartWay::Launch],
            Some(StartWay::Launch | StartWay::Command) | None => {
                &[StartWay::Launch, StartWay::Xcodebuild]
            }
        };
        let mut why = Vec::new();
        for way in ways {
            match self.start_by(*way, record).await {
                Ok(()) => return Ok(()),
                Err(error) => why.push(format!("by {way:?}: {error}")),
            }
        }
        Err(why.join("; ").into())
    }

    async fn start_by(&mut self, way: StartWay, record: &mut AgentRecord) -> Result<()> {
        self.stop().await;
        let order = self.order;
        let (port, pictures) = order.place.free_ports()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        let mark = format!("packtrain-{}-{now}", order.udid);
        let variables = [
            ("USE_PORT", port.to_string()),
            // A simulator is on this computer's network.
            ("USE_IP", "127.0.0.1".to_owned()),
            ("MJPEG_SERVER_PORT", pictures.to_string()),
            ("UPGRADE_TIMESTAMP", mark.clone()),
        ];
        let mut limit = order.answer_timeout;
        match way {
            StartWay::Command => {
                limit = START_TIMEOUT;
                let command = prepared(&order.command, order.folder.as_deref(), port)?;
                self.spawn(command, variables)?;
            }
            StartWay::Launch => self.launch(variables).await?,
            StartWay::Xcodebuild => {
                let command = self.tests(&variables).await?;
                self.spawn(command, variables)?;
            }
        }
        let answered = async {
            loop {
                // Another program may be on the port by now; nothing is asked of it but this.
                match who_answers(port).await {
                    Answer::Agent(told) if told.as_ref().is_none_or(|told| *told == mark) => {
                        return told;
                    }
                    Answer::Agent(_) | Answer::Busy | Answer::Other => sleep(START_POLL).await,
                }
            }
        };
        let told = tokio::select! {
            told = timeout(limit, answered) => told,
            why = self.ended() => return Err(why.into()),
        };
        record.mark = told.map_err(|_| format!("no answer within {} s", limit.as_secs()))?;
        (record.port, record.way) = (port, Some(way));
        Ok(())
    }

    /// Starts a command with the variables that Xcode gives to WebDriverAgent.
    fn spawn(&mut self, mut command: Command, variables: Variables) -> Result<()> {
        for (name, value) in variables {
            command.env(format!("TEST_RUNNER_{name}"), &value);
            command.env(name, value);
        }
        self.running = Some(Started::Command(Running::spawn(command, &self.tasks)?));
        Ok(())
    }

    async fn launch(&mut self, variables: Variables) -> Result<()> {
        let KeepOrder { udid, id, .. } = self.order;
        // What ends it has the lock: nobody starts another before it is done.
        let lock = Stdio::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        let end = ["simctl", "terminate", udid, id];
        let mut hook = ExitHook::prepare(&self.order.xcrun, &end, lock)?;
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
                Err(error.into())
            }
        }
    }

    /// Has Xcode run the installed app as the test that it is, which never ends: from a copy, for Xcode
    /// installs it anew. (`xcodebuild.xctestrun(5)`)
    async fn tests(&self, variables: &Variables) -> Result<Command> {
        let KeepOrder { udid, id, .. } = self.order;
        let copies = self.order.place.file("runner");
        // What was copied before may be of another version.
        let _ = std::fs::remove_dir_all(&copies);
        std::fs::create_dir(&copies)?;
        let app = self.simctl.copy(udid, id, &copies).await?;
        let file = copies.join("runner.xctestrun");
        let tested = plist!({
            "WebDriverAgentRunner": {
                "TestBundlePath": "__TESTHOST__/PlugIns/WebDriverAgentRunner.xctest",
                "TestHostPath": app.to_string_lossy().into_owned(),
                "TestHostBundleIdentifier": id.as_str(),
                "ProductModuleName": "WebDriverAgentRunner",
                "IsUITestBundle": true,
                "IsXCTRunnerHostedTestBundle": true,
                "UseUITargetAppProvidedByTests": true,
                "TestTimeoutsEnabled": false,
                "EnvironmentVariables": Dictionary::from_iter(variables.clone()),
            },
            "__xctestrun_metadata__": { "FormatVersion": 1 },
        });
        tested.to_file_xml(&file)?;
        let mut command = Command::new(&self.order.xcrun);
        command
            .args(["xcodebuild", "test-without-building", "-xctestrun"])
            .arg(file)
            .args(["-destination", &format!("id={udid}"), "-derivedDataPath"])
            .arg(copies.join("derived"));
        Ok(command)
    }

    /// Waits for the end of what was started, and tells what led to it.
    async fn ended(&mut self) -> String {
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

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok())
}
