//! Virtual phones that are a process of their own, and a driver with nothing around it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use packtrain_driver_adb::{AdbOptions, AdbPool, AgentFiles, DirectAddress, StartServer, install};
use packtrain_driver_playwright::install::home;
use packtrain_drivers::{
    AppCommand, Command, CommandContext, Driver, LaunchMode, Observation, SessionOptions,
    SnapshotDetail, event_channel,
};
use packtrain_tests::Lab;
use packtrain_tests::process::Process;
use serde_json::Value;
use tokio::runtime::Runtime;

/// Anything that takes longer has hung.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Two phones that are alike, as slow as phones: two drivers would take each other's agent on one.
pub(super) struct Pair {
    addresses: [SocketAddr; 2],
    _process: Process,
    _lab: Lab,
}

impl Pair {
    pub(super) fn start(program: &str) -> Self {
        let lab = Lab::new(program);
        let (process, told) = phones(&lab, &["--android", "2"]);
        let address = |number: usize| told["android"][number]["adb"].as_str().unwrap().parse();
        Self {
            addresses: [0, 1].map(|number| address(number).unwrap()),
            _process: process,
            _lab: lab,
        }
    }

    /// Where the first is.
    pub(super) const fn first(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// The driver of the second, as the program has it, in this process, with this app in front.
    pub(super) fn driver_of_second(&self, app: &str) -> Bare {
        let runtime = Runtime::new().unwrap();
        let variable = |name: &str| std::env::var_os(name);
        let options = AdbOptions {
            start: StartServer::Never,
            files: AgentFiles {
                u2_jar: home(variable).and_then(|home| install::find_u2(&home)),
            },
            ..AdbOptions::default()
        };
        let driver = runtime.block_on(async {
            let pool = AdbPool::new(options);
            let connector = pool
                .direct("bare", DirectAddress::Tcp(self.addresses[1]))
                .await;
            let (sink, _) = event_channel();
            let mut driver = connector.unwrap().connect(sink, &ctx()).await.unwrap();
            let launch = AppCommand::Launch {
                id: app.to_owned(),
                mode: LaunchMode::ForceRestart,
            };
            for command in [
                Command::Begin(SessionOptions::default()),
                Command::App(launch),
            ] {
                driver.execute(command, &ctx()).await.unwrap();
            }
            driver
        });
        Bare { driver, runtime }
    }
}

/// Starts virtual phones as a process of their own; answers what they say.
pub(super) fn phones(lab: &Lab, words: &[&str]) -> (Process, Value) {
    let all = [&["virtual", "up", "--ios", "0", "--format", "json"], words];
    let log = lab.folder().join("phones.log");
    let process = Process::start("phones", &mut lab.command(&all.concat()), Path::new(&log));
    process.until_said("\"adb_server\"");
    let told = serde_json::from_str(&process.stdout()).unwrap();
    (process, told)
}

pub(super) struct Bare {
    driver: Box<dyn Driver>,
    runtime: Runtime,
}

impl Bare {
    pub(super) fn snapshot(&mut self) -> String {
        let look = Command::Snapshot(SnapshotDetail::default());
        let looked = self.runtime.block_on(self.driver.execute(look, &ctx()));
        match looked.unwrap() {
            Observation::Snapshot(snapshot) => snapshot.text,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn close(self) {
        self.runtime.block_on(self.driver.close());
    }
}

fn ctx() -> CommandContext {
    CommandContext::within(COMMAND_TIMEOUT)
}
