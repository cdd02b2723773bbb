//! A virtual phone with the example shop, and a driver connected to it on one of four ways.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::{Duration, Instant};

use packtrain_driver_adb::{
    AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress, StartServer,
};
use packtrain_drivers::tree::AndroidNode;
use packtrain_drivers::{
    AppCommand, Command, CommandContext, Connector, DeviceEvent, Driver, DriverError, EventStream,
    InputCommand, LaunchMode, NodeDetail, Observation, Point, SessionOptions, Snapshot,
    SnapshotDetail, event_channel,
};
use packtrain_virtual::android::Address;
use packtrain_virtual::app::{App, AppId};
use packtrain_virtual::faults::Faults;
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions};
use packtrain_virtual::latency::Latency;
use packtrain_virtual::world::World;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::server::AdbServer;

/// The package of the example shop.
pub const SHOP: &str = "com.example.shop";
/// Nothing goes wrong.
pub const WELL: &str = "rules: []";
/// How long anything may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

const APP: &str = include_str!("../../../examples/shop/app.yaml");

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
        apps: vec![App::parse(APP, "app.yaml").unwrap()],
        android: 1,
        latency: Latency::fast(),
        faults: Faults::parse(faults, "faults.yaml").unwrap_or_else(|error| panic!("{error}")),
        seed: 7,
        ..FleetOptions::default()
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

/// A context with all the time a test has.
pub fn patience() -> CommandContext {
    within(PATIENCE)
}

/// A context with so much time.
pub fn within(time: Duration) -> CommandContext {
    CommandContext {
        deadline: Instant::now() + time,
        cancel: CancellationToken::new(),
    }
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
        ..AdbOptions::default()
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
        self.let_go().await;
        assert_eq!(self.phone().unhandled(), [], "{:?}", self.way);
        self.server = None;
        self.fleet.shutdown().await;
    }

    /// Lets go of the driver.
    pub async fn let_go(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.close().await;
        }
    }

    /// Connects anew.
    pub async fn reconnect(&mut self) -> Result<(), DriverError> {
        self.reconnect_in(&patience()).await
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

    /// Looks at what the phone really shows or holds.
    pub fn world<R>(&self, look: impl FnOnce(&mut World) -> R) -> R {
        self.phone().device().world(|world, _| look(world))
    }

    /// A variable of the shop.
    pub fn variable(&self, name: &str) -> String {
        let found = self.world(|world| world.variable(&AppId::from(SHOP), name).cloned());
        found.map(|value| value.to_string()).unwrap_or_default()
    }

    /// One more thing that goes wrong from now on.
    pub fn inject(&self, rule: &str) {
        let rules = format!("rules: [{rule}]");
        for rule in Faults::parse(&rules, "injected.yaml")
            .unwrap_or_else(|error| panic!("{error}"))
            .rules
        {
            self.phone().inject((*rule).clone());
        }
    }

    pub async fn execute(&mut self, command: Command) -> Result<Observation, DriverError> {
        self.execute_in(command, &patience()).await
    }

    pub async fn execute_in(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        self.driver.as_mut().unwrap().execute(command, ctx).await
    }

    pub async fn ok(&mut self, command: Command) -> Observation {
        let name = command.name();
        let way = self.way;
        self.execute(command).await.unwrap_or_else(|error| {
            panic!("{way:?} {name}: {error}\n{:#?}", error.log());
        })
    }

    pub async fn err(&mut self, command: Command) -> DriverError {
        let (name, way) = (command.name(), self.way);
        match self.execute(command).await {
            Ok(answer) => panic!("{way:?} {name} succeeded: {answer:?}"),
            Err(error) => error,
        }
    }

    /// The notes of a command that was carried out.
    pub async fn notes(&mut self, command: Command) -> Vec<String> {
        match self.ok(command).await {
            Observation::Done(report) => report.notes,
            other => panic!("{other:?}"),
        }
    }

    pub async fn input(&mut self, command: InputCommand) {
        self.ok(Command::Input(command)).await;
    }

    pub async fn app(&mut self, command: AppCommand) -> Observation {
        self.ok(Command::App(command)).await
    }

    pub async fn json(&mut self, command: Command) -> serde_json::Value {
        match self.ok(command).await {
            Observation::Json(value) => value,
            other => panic!("{other:?}"),
        }
    }

    pub async fn snapshot(&mut self) -> Box<Snapshot> {
        match self.ok(SNAPSHOT).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    /// Brings the shop to the front as it is after a fresh start.
    pub async fn open_shop(&mut self) {
        let (id, mode) = (SHOP.to_owned(), LaunchMode::ForceRestart);
        self.app(AppCommand::Launch { id, mode }).await;
    }

    /// The middle of an element.
    pub async fn place(&mut self, name: &str) -> Point {
        let snapshot = self.snapshot().await;
        let found = snapshot.tree.nodes().iter().find_map(|node| {
            let NodeDetail::Android(android) = &node.detail else {
                return None;
            };
            is_named(android, name).then_some(node.bounds?)
        });
        let way = self.way;
        found
            .unwrap_or_else(|| panic!("{way:?}: no {name} in\n{}", snapshot.text))
            .center()
    }

    pub async fn tap(&mut self, name: &str) {
        let at = self.place(name).await;
        self.input(InputCommand::Tap { at }).await;
    }

    pub async fn fill(&mut self, name: &str, text: &str) {
        self.tap(name).await;
        self.input(InputCommand::Text(text.to_owned())).await;
    }

    /// Whether an element of that id, text or description is on the screen.
    pub async fn shows(&mut self, name: &str) -> bool {
        let snapshot = self.snapshot().await;
        snapshot.tree.nodes().iter().any(|node| match &node.detail {
            NodeDetail::Android(node) => is_named(node, name),
            _ => false,
        })
    }

    /// Waits until the phone is so.
    pub async fn until(&self, mut is: impl FnMut(&mut World) -> bool) {
        let device = self.phone().device();
        let deadline = device.now() + PATIENCE;
        let seen = device
            .wait_for(deadline, |world, _| is(world).then_some(()))
            .await;
        assert!(seen.is_some(), "{:?}: it did not become so", self.way);
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

/// What is on the screen.
pub const SNAPSHOT: Command = Command::Snapshot(SnapshotDetail {
    bounds: false,
    css_selectors: false,
    offscreen: false,
});

fn is_named(node: &AndroidNode, name: &str) -> bool {
    let id = node
        .resource_id
        .as_deref()
        .and_then(|id| id.split_once(":id/"));
    id.is_some_and(|(_, id)| id == name)
        || [&node.text, &node.content_description]
            .into_iter()
            .flatten()
            .any(|text| text == name)
}
