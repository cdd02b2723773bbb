//! A virtual phone with the example shop, and a driver connected to it on one of four ways.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::{
    AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress, StartServer,
};
use packtrain_drivers::{
    AndroidCommand, Command, CommandContext, Connector, DeviceEvent, Driver, DriverError,
    EventStream, InputCommand, SessionOptions, event_channel,
};
use packtrain_testing::{AdbServer, TestDevice, VirtualPhone, context, fleet_options};
use packtrain_virtual::android::Address;
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions};
use tempfile::TempDir;

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
    pub const ALL: [Self; 4] = [
        Self::new(Wire::Server, Agent::U2),
        Self::new(Wire::Server, Agent::Shell),
        Self::new(Wire::Direct, Agent::U2),
        Self::new(Wire::Direct, Agent::Shell),
    ];

    pub const fn new(wire: Wire, agent: Agent) -> Self {
        Self { wire, agent }
    }
}

/// Tells a story four times, once for each way to drive a phone.
pub async fn all_ways(faults: &str, story: impl AsyncFn(&mut Device)) {
    for way in Way::ALL {
        one_way(way, faults, &story).await;
    }
}

/// Tells a story twice: the wire makes a difference, or the agent has none to make.
pub async fn both_wires(agent: Agent, faults: &str, story: impl AsyncFn(&mut Device)) {
    for wire in [Wire::Server, Wire::Direct] {
        one_way(Way::new(wire, agent), faults, &story).await;
    }
}

/// Tells a story once.
pub async fn one_way(way: Way, faults: &str, story: impl AsyncFn(&mut Device)) {
    let mut device = Device::connect(way, faults).await;
    story(&mut device).await;
    device.end().await;
}

/// A phone and the driver of it.
pub struct Device {
    pub way: Way,
    pub fleet: Fleet,
    pub pool: Arc<AdbPool>,
    pub connector: Arc<dyn Connector>,
    pub server: Option<AdbServer>,
    pub folder: TempDir,
    driver: Option<Box<dyn Driver>>,
    events: EventStream,
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
    match phone.address() {
        Address::Tcp(address) => DirectAddress::Tcp(*address),
        Address::Unix(path) => DirectAddress::Unix(path.clone()),
    }
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
    fn driver_mut(&mut self) -> &mut dyn Driver {
        self.driver.as_deref_mut().unwrap()
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

impl Device {
    /// A phone whose driver has begun a session.
    pub async fn connect(way: Way, faults: &str) -> Self {
        let mut device = Self::found(way, options(faults)).await;
        device.reconnect().await.unwrap();
        device.ok(Command::Begin(SessionOptions::default())).await;
        device
    }

    /// A phone of a fleet that is known to a pool. Nothing has gone wrong yet.
    pub async fn found(way: Way, mut options: FleetOptions) -> Self {
        // What goes wrong begins when the phone is known.
        let faults = std::mem::take(&mut options.faults);
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
        for rule in &faults.rules {
            phone.inject((**rule).clone());
        }
        let (_, events) = event_channel();
        Self {
            way,
            fleet,
            pool,
            connector,
            server,
            folder,
            driver: None,
            events,
        }
    }

    /// Has whoever connects next choose an agent so.
    pub async fn choose(&mut self, agent: AgentChoice) {
        let options = AdbOptions {
            agent,
            ..settings(self.way, self.server.as_ref(), &self.folder)
        };
        self.pool = AdbPool::new(options);
        self.connector = match self.way.wire {
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
        assert_eq!(self.phone().unhandled(), [], "{:?}", self.way);
        self.server = None;
        self.fleet.shutdown().await;
    }

    /// Lets go of the driver.
    pub async fn disconnect(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.close().await;
        }
    }

    /// Has nobody write down what settings were, from the next connection on.
    pub async fn restore_nowhere(&mut self) {
        let options = AdbOptions {
            restore: None,
            ..settings(self.way, self.server.as_ref(), &self.folder)
        };
        self.pool = AdbPool::new(options);
        let address = address(self.phone());
        self.connector = self.pool.direct("bench", address).await.unwrap();
    }

    /// The program that drives it is killed, as far as the phone can tell.
    pub fn forget(&mut self) {
        self.driver = None;
    }

    /// Connects anew.
    pub async fn reconnect(&mut self) -> Result<(), DriverError> {
        self.reconnect_in(&context()).await
    }

    pub async fn reconnect_in(&mut self, ctx: &CommandContext) -> Result<(), DriverError> {
        let (sink, events) = event_channel();
        self.events = events;
        self.driver = Some(self.connector.connect(sink, ctx).await?);
        Ok(())
    }

    pub fn phone(&self) -> &AndroidHandle {
        &self.fleet.android()[0]
    }

    pub fn driver(&self) -> &dyn Driver {
        self.driver.as_deref().unwrap()
    }

    /// The processes of u2.jar's server on the phone.
    pub async fn agent_processes(&mut self) -> Vec<String> {
        let ps = Command::Android(AndroidCommand::Shell {
            argv: ["pgrep", "-f", "[c]om.wetest.uia2.Main"]
                .map(String::from)
                .into(),
            run_as: None,
        });
        let said = self.json(ps).await;
        let pids = said["stdout"].as_str().unwrap().split_whitespace();
        pids.map(str::to_owned).collect()
    }

    /// Signs in; the shop asks for a permission then.
    pub async fn sign_in(&mut self) {
        self.open_shop().await;
        self.fill("email", "ann@example.com").await;
        self.fill("password", "secret").await;
        self.input(InputCommand::HideKeyboard).await;
        self.tap("sign_in").await;
        self.until(|world| world.dialog().is_some()).await;
    }

    /// The next thing that is reported and is so.
    pub async fn event_where(&mut self, is: impl Fn(&DeviceEvent) -> bool) -> DeviceEvent {
        let found = async {
            loop {
                let event = self.events.next().await.expect("the driver lives");
                if is(&event) {
                    return event;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), found)
            .await
            .expect("such an event comes")
    }

    /// What was reported since the last time.
    pub fn events(&mut self) -> Vec<DeviceEvent> {
        self.events.drain()
    }
}
