//! A virtual phone with the example shop, and a driver connected to it on one of four ways.

use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::{
    AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress, StartServer,
};
use packtrain_drivers::{AndroidCommand, Command, Key, Size};
use packtrain_testing::promises::{Bench, Phone};
use packtrain_testing::{
    AdbServer, Hand, NO_FAULTS, SNAPSHOT, TestDevice, VirtualPhone, fleet_options, run,
};
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions};
use tempfile::TempDir;

/// How long a phone is away that does not come back.
const FOR_GOOD: Duration = Duration::from_secs(24 * 3600);

/// How a driver gets to a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Through an adb server.
    Server,
    /// Straight to its adbd.
    Direct,
}

/// Who moves the finger on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// u2.jar's server.
    U2,
    /// Plain shell commands.
    Shell,
}

/// How a phone is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub wire: Wire,
    pub agent: Agent,
}

impl Way {
    pub const SERVER_AGENT: Self = Self::new(Wire::Server, Agent::U2);
    pub const SERVER_SHELL: Self = Self::new(Wire::Server, Agent::Shell);
    pub const DIRECT_AGENT: Self = Self::new(Wire::Direct, Agent::U2);
    pub const DIRECT_SHELL: Self = Self::new(Wire::Direct, Agent::Shell);
    pub const ALL: [Self; 4] = [
        Self::SERVER_AGENT,
        Self::SERVER_SHELL,
        Self::DIRECT_AGENT,
        Self::DIRECT_SHELL,
    ];

    const fn new(wire: Wire, agent: Agent) -> Self {
        Self { wire, agent }
    }

    /// Tells a story with a phone whose driver has begun a session.
    pub fn told(self, story: impl AsyncFnOnce(&mut Device)) {
        run(async {
            let mut device = Device::connect(self).await;
            story(&mut device).await;
            device.end().await;
        });
    }
}

/// Makes a test of each story on all four ways.
macro_rules! all_ways {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            server_by_agent: $crate::lab::Way::SERVER_AGENT,
            server_by_shell: $crate::lab::Way::SERVER_SHELL,
            direct_by_agent: $crate::lab::Way::DIRECT_AGENT,
            direct_by_shell: $crate::lab::Way::DIRECT_SHELL
            => $($story)*
        }
    };
}

/// Makes a test of each story on both wires with u2.jar's server.
macro_rules! by_agent {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            server_by_agent: $crate::lab::Way::SERVER_AGENT,
            direct_by_agent: $crate::lab::Way::DIRECT_AGENT
            => $($story)*
        }
    };
}

/// Makes a test of each story on both wires with plain shell commands.
macro_rules! by_shell {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            server_by_shell: $crate::lab::Way::SERVER_SHELL,
            direct_by_shell: $crate::lab::Way::DIRECT_SHELL
            => $($story)*
        }
    };
}

pub(crate) use {all_ways, by_agent, by_shell};

/// A phone and the driver of it.
pub struct Device {
    pub way: Way,
    pub fleet: Fleet,
    pub pool: Arc<AdbPool>,
    pub server: Option<AdbServer>,
    pub folder: TempDir,
    pub hand: Hand,
}

/// One phone that does not wait, on which these things go wrong.
pub fn options(faults: &str) -> FleetOptions {
    FleetOptions {
        android: 1,
        ..fleet_options(faults)
    }
}

/// Where a phone listens.
pub fn address(phone: &AndroidHandle) -> DirectAddress {
    DirectAddress::Tcp(phone.address())
}

/// The same for `adb connect`.
pub fn socket(phone: &AndroidHandle) -> SocketAddrV4 {
    phone.address().to_string().parse().unwrap()
}

/// What a driver needs to go one of the ways.
pub fn settings(way: Way, server: Option<&AdbServer>, folder: &TempDir) -> AdbOptions {
    let jar = folder.path().join("u2.jar");
    // Virtual phones have a server of their own for whatever jar they are given.
    std::fs::write(&jar, "stands for u2.jar").unwrap();
    AdbOptions {
        server: server.map(|server| server.address),
        start: StartServer::Never,
        key: Some(folder.path().join("adbkey")),
        agent: match way.agent {
            Agent::U2 => AgentChoice::U2,
            Agent::Shell => AgentChoice::Shell,
        },
        files: AgentFiles { u2_jar: Some(jar) },
        restore: Some(folder.path().join("restore")),
        ..AdbOptions::default()
    }
}

impl TestDevice for Device {
    fn hand(&mut self) -> &mut Hand {
        &mut self.hand
    }

    fn label(&self) -> String {
        format!("{:?}", self.way)
    }
}

impl VirtualPhone for Device {
    fn device(&self) -> &packtrain_virtual::device::Device {
        self.phone().device()
    }
}

impl Bench for Device {
    fn hang(&self) -> Command {
        let rule = match self.way.agent {
            Agent::U2 => "{ match: { route: .* }, do: no_answer }",
            Agent::Shell => "{ match: { command: ^uiautomator }, do: { delay: 60m } }",
        };
        self.inject(rule);
        SNAPSHOT
    }

    fn heal(&self) {
        self.phone().device().clear_faults();
    }

    async fn kill(&mut self) {
        self.phone().device().reboot(FOR_GOOD);
    }

    fn keeps_something_running(&self) -> bool {
        self.has_agent()
    }

    async fn running(&mut self) -> Vec<String> {
        let pool = AdbPool::new(settings(Way::DIRECT_SHELL, None, &self.folder));
        let phone = pool.direct("aside", address(self.phone())).await;
        let mut aside = Hand::new(phone.unwrap());
        aside.reconnect().await.unwrap();
        aside.begin().await;
        let running = agent_processes(&mut aside).await;
        aside.disconnect().await;
        running
    }
}

impl Phone for Device {
    const UPRIGHT: Size = Size::new(1080.0, 2424.0);
    const SCALE: f64 = 1.0;
    const ZOOM_ERROR: f64 = 0.03;
    const HOME: &str = "com.google.android.apps.nexuslauncher";
    const TYPING: &str = "input text";
    const NEXT_FIELD: Key = Key::Tab;
    const HIDES_KEYBOARD: bool = true;
    const NOTIFICATIONS: &str = "post_notifications";
    const NOT_INSTALLED: &str = "com.example.none is not installed; installed: com.example.shop";
    const NOT_STARTED: &str = "start com.example.shop: it did not come to the front; \
                               com.google.android.apps.nexuslauncher is in front";
    const ANOTHER_AXIS: (&str, &str) = ("fontScale", "2");
    const ANOTHER_WAS: &str = "1.0";
    const SETS_ANOTHER: &str = "command: put system font_scale";
    const SETS_DARK: &str = "command: uimode night yes";
    const SETS_LIGHT: &str = "command: uimode night no";
    const WAS_LIGHT: &str = "uimode night was `no`";
    const NO_CONTRAST: &str = "Android does not have it";
    const TAKES_PICTURE: &str = "command: screencap";

    fn reading(&self) -> &'static str {
        match self.way.agent {
            Agent::U2 => "route: dumpWindow",
            Agent::Shell => "command: ^uiautomator",
        }
    }

    fn tree(&self) -> &'static str {
        match self.way.agent {
            Agent::U2 => "u2",
            Agent::Shell => "uiautomator",
        }
    }

    fn has_another(&self) -> bool {
        self.world(|world| world.font_scale()) == 2.0
    }

    fn has_agent(&self) -> bool {
        self.way.agent == Agent::U2
    }

    fn restore(&self) -> PathBuf {
        self.folder.path().join("restore")
    }
}

/// The processes of u2.jar's server on a phone.
pub async fn agent_processes(device: &mut impl TestDevice) -> Vec<String> {
    let said = device.json(shell(&["pgrep", "-f", "[c]om.wetest.uia2.Main"]));
    let said = said.await;
    let pids = said["stdout"].as_str().unwrap().split_whitespace();
    pids.map(str::to_owned).collect()
}

/// A command of the phone's shell.
pub fn shell(argv: &[&str]) -> Command {
    Command::Android(AndroidCommand::Shell {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        run_as: None,
    })
}

impl Device {
    /// A phone whose driver has begun a session.
    pub async fn connect(way: Way) -> Self {
        let mut device = Self::found(way, options(NO_FAULTS)).await;
        device.reconnect().await.unwrap();
        device.begin().await;
        device
    }

    /// A phone of a fleet that is known to a pool.
    pub async fn found(way: Way, options: FleetOptions) -> Self {
        let fleet = Fleet::start(options).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let server = match way.wire {
            Wire::Server => Some(AdbServer::start().await),
            Wire::Direct => None,
        };
        let pool = AdbPool::new(settings(way, server.as_ref(), &folder));
        let phone = &fleet.android()[0];
        let connector = match way.wire {
            Wire::Server => {
                pool.connect(socket(phone)).await.unwrap();
                let mut found = pool.discover().await.unwrap();
                assert_eq!(found.len(), 1, "one device");
                found.remove(0)
            }
            Wire::Direct => pool.direct("bench", address(phone)).await.unwrap(),
        };
        Self {
            way,
            fleet,
            pool,
            server,
            folder,
            hand: Hand::new(connector),
        }
    }

    /// Makes the next connection use altered settings.
    pub async fn altered(&mut self, alter: impl FnOnce(&mut AdbOptions)) {
        let mut options = settings(self.way, self.server.as_ref(), &self.folder);
        alter(&mut options);
        self.pool = AdbPool::new(options);
        self.hand.connector = match self.way.wire {
            Wire::Server => self.pool.discover().await.unwrap().remove(0),
            Wire::Direct => {
                let address = address(self.phone());
                self.pool.direct("bench", address).await.unwrap()
            }
        };
    }

    /// Ends everything; nothing may have been asked that the phone does not know.
    pub async fn end(mut self) {
        self.disconnect().await;
        assert_eq!(self.phone().device().unhandled(), [], "{:?}", self.way);
        self.server = None;
        self.fleet.shutdown().await;
    }

    pub fn phone(&self) -> &AndroidHandle {
        &self.fleet.android()[0]
    }
}
