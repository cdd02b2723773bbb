//! The ways to start a simulator's WebDriverAgent: the one that was configured; otherwise `simctl
//! launch` and `xcodebuild test-without-building`, of which the one that answered last comes first.

use std::error::Error;
use std::fmt;
use std::os::fd::AsFd as _;
use std::path::Path;
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
/// How often to check whether an app runs: there is no notification.
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

impl fmt::Display for StartWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "the command",
            Self::Launch => "simctl launch",
            Self::Xcodebuild => "xcodebuild test-without-building",
        })
    }
}

/// The start of one WebDriverAgent.
pub(super) struct Attempt<'a> {
    pub(super) order: &'a KeepOrder,
    pub(super) simctl: Simctl,
    pub(super) tasks: TaskTracker,
    /// What was started, and what ends it on the simulator.
    pub(super) running: Option<(Started, ExitHook)>,
}

/// What was started.
pub(super) enum Started {
    /// A command, and how its WebDriverAgent is known.
    Command(Running, u16, String),
    /// An app on a simulator; its process, where that is known.
    App(Option<u32>),
}

impl Attempt<'_> {
    /// Starts it, and waits for its end; tells what led to that.
    pub(super) async fn run(&mut self, record: &mut AgentRecord) -> Result<String> {
        self.start(record).await?;
        record.state = AgentState::Ready;
        self.order.place.write(record)?;
        Ok(self.ended().await)
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
                Err(error) if *way == StartWay::Command => return Err(error),
                Err(error) => why.push(format!("by {way}: {error}")),
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
        // What ends it has the lock: no other starts before it is done.
        let lock = Stdio::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        let end = ["simctl", "terminate", &order.udid, &order.id];
        let mut hook = ExitHook::prepare(&order.xcrun, &end, lock)?;
        match self.begin(way, port, &mark, variables).await {
            Ok(started) => {
                if let Started::App(pid) = started {
                    hook.tell(pid).await;
                }
                self.running = Some((started, hook));
            }
            Err(error) => {
                hook.cancel().await;
                return Err(error);
            }
        }
        let limit = match way {
            StartWay::Command => START_TIMEOUT,
            StartWay::Launch => order.answer_timeout,
            StartWay::Xcodebuild => 2 * order.answer_timeout,
        };
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
        let Ok(told) = told else {
            if way == StartWay::Launch {
                // A caller may stop waiting before the other way has answered; the next one begins with it.
                record.way = Some(StartWay::Xcodebuild);
                order.place.write(record)?;
            }
            let said = self.stop().await;
            return Err(format!("no answer within {} s{said}", limit.as_secs()).into());
        };
        (record.mark, record.port, record.way) = (told, port, Some(way));
        Ok(())
    }

    async fn begin(
        &self,
        way: StartWay,
        port: u16,
        mark: &str,
        variables: Variables,
    ) -> Result<Started> {
        let KeepOrder { udid, id, .. } = self.order;
        let mut command = match way {
            StartWay::Launch => {
                let pid = self.simctl.launch(udid, id, &variables).await?;
                // A number that is not a process of this computer says nothing.
                return Ok(Started::App(pid.filter(|pid| is_alive(*pid))));
            }
            StartWay::Command => prepared(&self.order.command, self.order.folder.as_deref(), port)?,
            StartWay::Xcodebuild => self.tests(&variables).await?,
        };
        // Xcode gives WebDriverAgent the first.
        for (name, value) in variables {
            command.env(format!("TEST_RUNNER_{name}"), &value);
            command.env(name, value);
        }
        let running = Running::spawn(command, &self.tasks)?;
        Ok(Started::Command(running, port, mark.to_owned()))
    }

    /// Has Xcode run the installed app as the test that it is, which never ends: from a copy, for Xcode
    /// reinstalls it. (`xcodebuild.xctestrun(5)`)
    async fn tests(&self, variables: &Variables) -> Result<Command> {
        let KeepOrder { udid, id, .. } = self.order;
        let copies = self.order.place.file("runner");
        // What was copied before may be of another version.
        let _ = std::fs::remove_dir_all(&copies);
        std::fs::create_dir(&copies)?;
        let app = self.simctl.copy(udid, id, &copies).await?;
        let bundles = std::fs::read_dir(app.join("PlugIns")).into_iter().flatten();
        let mut bundles = bundles.flatten().map(|bundle| bundle.file_name());
        let bundle = bundles.find(|name| Path::new(name).extension() == Some("xctest".as_ref()));
        let bundle = bundle.unwrap_or_else(|| "WebDriverAgentRunner.xctest".into());
        let file = copies.join("runner.xctestrun");
        let tested = plist!({
            "WebDriverAgentRunner": {
                "TestBundlePath": format!("__TESTHOST__/PlugIns/{}", bundle.to_string_lossy()),
                "TestHostPath": app.to_string_lossy().into_owned(),
                "TestHostBundleIdentifier": id.as_str(),
                "ProductModuleName": "WebDriverAgentRunner",
                "IsUITestBundle": true,
                "IsXCTRunnerHostedTestBundle": true,
                "UseUITargetAppProvidedByTests": true,
                "TestTimeoutsEnabled": false,
                "SystemAttachmentLifetime": "keepNever",
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
            Some((Started::Command(running, ..), _)) => running.why().await,
            Some((Started::App(Some(pid)), _)) => {
                while is_alive(*pid) {
                    sleep(APP_POLL).await;
                }
                "the app has ended".to_owned()
            }
            Some((Started::App(None), _)) | None => std::future::pending().await,
        }
    }

    /// Ends what was started and still runs; tells a command's last words.
    pub(super) async fn stop(&mut self) -> String {
        let Some((started, hook)) = self.running.take() else {
            return String::new();
        };
        let mut said = String::new();
        if let Started::Command(running, port, mark) = started {
            let was_running = running.is_running();
            said = format!("; {}", running.stop().await);
            // What it started on the simulator is not a child of it, and goes on where it was killed. What runs
            // there otherwise is another client's.
            if !was_running && who_answers(port).await != Answer::Agent(Some(mark)) {
                hook.cancel().await;
                return said;
            }
        }
        hook.run(APP_END_TIMEOUT).await;
        said
    }
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok())
}
