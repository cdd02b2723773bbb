//! The shop on virtual phones: Android's with either agent and with or without an adb server, an
//! iPhone by the address of its WebDriverAgent and through usbmuxd.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::{AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress};
use packtrain_driver_wda::{MuxAddress, WdaEndpoint, WdaOptions, WdaPool, WdaTarget};
use packtrain_drivers::{
    AndroidCommand, AppCommand, BoxFuture, Command, Connector, LaunchMode, Observation,
    SessionOptions, event_channel,
};
use packtrain_testing::{NO_FAULTS, SHOP, SNAPSHOT, context, fleet_options, inject};
use packtrain_virtual::android::Address;
use packtrain_virtual::device::Device;
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use packtrain_virtual::ios::Iphone;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::rig::Rig;
use crate::adb_server::AdbServer;

/// How long a phone is away that does not come back.
const FOR_GOOD: Duration = Duration::from_secs(24 * 3600);

/// How an Android phone is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Server,
    Direct,
}

/// Who moves the finger on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    U2,
    Shell,
}

/// How an iPhone is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cable {
    Address,
    Usbmuxd,
}

async fn fleet(android: usize, ios: usize) -> Fleet {
    let options = FleetOptions {
        android,
        ios,
        ..fleet_options(NO_FAULTS)
    };
    Fleet::start(options).await.unwrap()
}

fn launch() -> Command {
    Command::App(AppCommand::Launch {
        id: SHOP.into(),
        mode: LaunchMode::ForceRestart,
    })
}

struct Android {
    fleet: Fleet,
    agent: Agent,
    connector: Arc<dyn Connector>,
    /// Leads to the same phone without the agent.
    aside: Arc<dyn Connector>,
    server: Option<AdbServer>,
    _folder: TempDir,
}

pub(super) async fn android(wire: Wire, agent: Agent) -> Box<dyn Rig> {
    let fleet = fleet(1, 0).await;
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join("u2.jar");
    std::fs::write(&jar, "what runs is the virtual phone's own").unwrap();
    let address = match fleet.android()[0].address() {
        Address::Tcp(address) => *address,
        Address::Unix(path) => panic!("{}", path.display()),
    };
    let server = (wire == Wire::Server).then(|| AdbServer::new(folder.path()));
    let options = |agent| AdbOptions {
        server: None,
        agent,
        files: AgentFiles {
            u2_jar: Some(jar.clone()),
        },
        ..AdbOptions::default()
    };
    let choice = match agent {
        Agent::U2 => AgentChoice::U2,
        Agent::Shell => AgentChoice::Shell,
    };
    let aside = AdbPool::new(options(AgentChoice::Shell));
    let aside = aside.direct("aside", DirectAddress::Tcp(address)).await;
    let connector = match &server {
        None => {
            let pool = AdbPool::new(options(choice));
            pool.direct("bench", DirectAddress::Tcp(address))
                .await
                .unwrap()
        }
        Some(server) => {
            let pool = AdbPool::new(AdbOptions {
                server: Some(server.address),
                path: server.path.clone(),
                environment: server.environment.clone(),
                ..options(choice)
            });
            let SocketAddr::V4(address) = address else {
                panic!("{address}");
            };
            pool.connect(address).await.unwrap();
            let found = pool.discover().await.unwrap();
            let [one] = &found[..] else {
                panic!("{} devices", found.len());
            };
            Arc::clone(one)
        }
    };
    Box::new(Android {
        fleet,
        agent,
        connector,
        aside: aside.unwrap(),
        server,
        _folder: folder,
    })
}

impl Android {
    fn device(&self) -> &Device {
        self.fleet.android()[0].device()
    }
}

impl Rig for Android {
    fn connector(&self) -> Arc<dyn Connector> {
        Arc::clone(&self.connector)
    }

    fn open(&self) -> Command {
        launch()
    }

    fn hang(&self) -> Command {
        let rule = match self.agent {
            Agent::U2 => "{ match: { route: .* }, do: no_answer }",
            Agent::Shell => "{ match: { command: ^uiautomator }, do: { delay: 60m } }",
        };
        inject(self.device(), rule);
        SNAPSHOT
    }

    fn heal(&self) {
        self.device().clear_faults();
    }

    fn kill(&mut self) -> BoxFuture<'_, ()> {
        self.device().reboot(FOR_GOOD);
        Box::pin(async {})
    }

    fn keeps_something_running(&self) -> bool {
        self.agent == Agent::U2
    }

    fn running(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async {
            let (sink, _events) = event_channel();
            let ctx = context();
            let mut driver = self.aside.connect(sink, &ctx).await.unwrap();
            let begin = Command::Begin(SessionOptions::default());
            driver.execute(begin, &ctx).await.unwrap();
            let ps = Command::Android(AndroidCommand::Shell {
                argv: ["ps", "-A", "-o", "ARGS"].map(str::to_owned).to_vec(),
                run_as: None,
            });
            let answer = driver.execute(ps, &ctx).await.unwrap();
            driver.close().await;
            let Observation::Json(answer) = answer else {
                panic!("{answer:?}");
            };
            let listed = answer["stdout"].as_str().unwrap();
            assert!(listed.contains("zygote"), "{answer}");
            let lines = listed.lines().filter(|line| line.contains("app_process"));
            lines.map(str::to_owned).collect()
        })
    }

    fn end(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            drop(self.server);
            self.fleet.shutdown().await;
        })
    }
}

struct IPhone {
    fleet: Fleet,
    cable: Cable,
    pool: Arc<WdaPool>,
    connector: Arc<dyn Connector>,
}

pub(super) async fn iphone(cable: Cable) -> Box<dyn Rig> {
    let fleet = fleet(0, 1).await;
    let phone = &fleet.ios()[0];
    let target = match cable {
        Cable::Address => WdaTarget::Url(format!("http://{}", phone.wda_address())),
        Cable::Usbmuxd => WdaTarget::Device {
            udid: phone.udid().to_string(),
            usbmuxd: fleet.usbmuxd_address().map(MuxAddress::Tcp),
        },
    };
    let pool = WdaPool::new(WdaOptions::default());
    let connector = pool.connector(&WdaEndpoint::new("bench", target)).unwrap();
    Box::new(IPhone {
        fleet,
        cable,
        pool,
        connector,
    })
}

impl IPhone {
    fn phone(&self) -> &Arc<Iphone> {
        &self.fleet.ios()[0]
    }
}

impl Rig for IPhone {
    fn connector(&self) -> Arc<dyn Connector> {
        Arc::clone(&self.connector)
    }

    fn open(&self) -> Command {
        launch()
    }

    fn hang(&self) -> Command {
        let rule = "{ match: { route: 'GET .*/source' }, do: no_answer }";
        inject(self.phone().device(), rule);
        SNAPSHOT
    }

    fn heal(&self) {
        self.phone().device().clear_faults();
    }

    fn kill(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            match self.cable {
                Cable::Address => self.phone().stop_wda().await,
                Cable::Usbmuxd => self.phone().unplug(),
            }
        })
    }

    /// The session with WebDriverAgent, if there is one.
    fn running(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async {
            let address = self.phone().wda_address();
            let mut stream = TcpStream::connect(address).await.unwrap();
            let ask =
                format!("GET /status HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            stream.write_all(ask.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            let session = body["sessionId"].as_str();
            session.map(str::to_owned).into_iter().collect()
        })
    }

    fn end(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.pool.shutdown().await;
            self.fleet.shutdown().await;
        })
    }
}
