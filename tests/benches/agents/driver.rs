//! A virtual phone that is a process of its own, and its driver with nothing around it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use packtrain_driver_adb::{AdbOptions, AdbPool, AgentFiles, DirectAddress, StartServer, install};
use packtrain_driver_playwright::install::home;
use packtrain_drivers::{
    Command, CommandContext, Driver, Observation, SessionOptions, SnapshotDetail, event_channel,
};
use packtrain_tests::Lab;
use packtrain_tests::process::Process;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Anything that takes longer has hung.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// A phone as slow as a phone.
pub(super) struct Phone {
    address: SocketAddr,
    _process: Process,
    _lab: Lab,
}

impl Phone {
    pub(super) fn start(program: &str) -> Self {
        let lab = Lab::new(program);
        let (process, told) = phones(&lab, &["--android", "1"]);
        Self {
            address: told["android"][0]["adb"].as_str().unwrap().parse().unwrap(),
            _process: process,
            _lab: lab,
        }
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its driver, as the program has it, in this process and with a session begun.
    pub(super) fn driver(&self) -> Bare {
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
            let connector = pool.direct("bare", DirectAddress::Tcp(self.address)).await;
            let (sink, _) = event_channel();
            let mut driver = connector.unwrap().connect(sink, &ctx()).await.unwrap();
            let begin = Command::Begin(SessionOptions::default());
            driver.execute(begin, &ctx()).await.unwrap();
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
    CommandContext {
        deadline: Instant::now() + COMMAND_TIMEOUT,
        cancel: CancellationToken::new(),
    }
}
