//! A virtual iPhone with the example shop, and a driver connected to it on one of two ways.

use std::path::PathBuf;
use std::sync::Arc;

use packtrain_driver_wda::{MuxAddress, WdaEndpoint, WdaOptions, WdaPool, WdaTarget};
use packtrain_drivers::{Command, Key, Size};
use packtrain_testing::promises::{Bench, Phone};
use packtrain_testing::{Hand, NO_FAULTS, SNAPSHOT, TestDevice, VirtualPhone, fleet_options, run};
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use packtrain_virtual::ios::Iphone;
use packtrain_virtual::world::Rotation;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How a driver gets to its WebDriverAgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By its address, as to a simulator or a device on the network.
    Address,
    /// Through usbmuxd.
    Cable,
}

impl Way {
    /// Tells a story with a phone whose driver has begun a session.
    pub fn told(self, story: impl AsyncFnOnce(&mut Device)) {
        run(async {
            let mut device = Device::connect(self).await;
            story(&mut device).await;
            device.end().await;
        });
    }
}

/// Makes a test of each story on both ways.
macro_rules! both_ways {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            address: $crate::lab::Way::Address,
            cable: $crate::lab::Way::Cable
            => $($story)*
        }
    };
}

/// Makes a test of each story through usbmuxd.
macro_rules! by_cable {
    ($($story:ident)*) => {
        packtrain_testing::told! { cable: $crate::lab::Way::Cable => $($story)* }
    };
}

pub(crate) use {both_ways, by_cable};

/// A phone and the driver of it.
pub struct Device {
    pub way: Way,
    pub fleet: Fleet,
    pub pool: Arc<WdaPool>,
    pub folder: TempDir,
    pub hand: Hand,
}

/// A virtual iPhone on which these things go wrong.
pub async fn phones(count: usize, faults: &str) -> Fleet {
    let options = FleetOptions {
        ios: count,
        ..fleet_options(faults)
    };
    Fleet::start(options).await.unwrap()
}

/// The configuration of a phone of a fleet.
pub fn endpoint(fleet: &Fleet, way: Way) -> WdaEndpoint {
    let phone = &fleet.ios()[0];
    match way {
        Way::Address => WdaEndpoint::url("bench", url(phone)),
        Way::Cable => WdaEndpoint::new(
            "bench",
            WdaTarget::Device {
                udid: phone.udid().to_string(),
                usbmuxd: Some(muxer(fleet)),
            },
        ),
    }
}

/// Where a phone's WebDriverAgent answers.
pub fn url(phone: &Iphone) -> String {
    format!("http://{}", phone.wda_address())
}

/// Where the phones' usbmuxd listens.
pub fn muxer(fleet: &Fleet) -> MuxAddress {
    MuxAddress::Tcp(fleet.usbmuxd_address().unwrap())
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
        self.inject("{ match: { route: 'GET .*/source' }, do: no_answer }");
        SNAPSHOT
    }

    fn heal(&self) {
        self.phone().device().clear_faults();
    }

    async fn kill(&mut self) {
        match self.way {
            Way::Address => self.phone().stop_wda().await,
            Way::Cable => self.phone().unplug(),
        }
    }

    /// The session with WebDriverAgent, if there is one.
    async fn running(&mut self) -> Vec<String> {
        let address = self.phone().wda_address();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let ask = format!("GET /status HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let session = body["sessionId"].as_str();
        session.map(str::to_owned).into_iter().collect()
    }
}

impl Phone for Device {
    const UPRIGHT: Size = Size::new(393.0, 852.0);
    const SCALE: f64 = 3.0;
    const ZOOM_ERROR: f64 = 1e-9;
    const HOME: &str = "com.apple.springboard";
    const TYPING: &str = "type";
    const NEXT_FIELD: Key = Key::Enter;
    const HIDES_KEYBOARD: bool = false;
    const NOTIFICATIONS: &str = "notifications";
    const NOT_INSTALLED: &str = "launch com.example.none: no such app is installed";
    const NOT_STARTED: &str = "launch com.example.shop: ";
    const ANOTHER_AXIS: (&str, &str) = ("orientation", "landscape");
    const ANOTHER_WAS: &str = "portrait";
    const SETS_ANOTHER: &str = "route: POST .*orientation";
    const SETS_DARK: &str = "route: POST .*appearance";
    const SETS_LIGHT: &str = "route: POST .*appearance";
    const WAS_LIGHT: &str = "wda appearance was `light`";
    const NO_CONTRAST: &str = "no such device supports it";
    const TAKES_PICTURE: &str = "route: /screenshot$";

    fn reading(&self) -> &'static str {
        "route: 'GET .*/source'"
    }

    fn tree(&self) -> &'static str {
        "wda"
    }

    fn has_another(&self) -> bool {
        self.world(|world| world.rotation()) != Rotation::Upright
    }

    fn restore(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

impl Device {
    /// A phone whose driver has begun a session.
    pub async fn connect(way: Way) -> Self {
        let fleet = phones(1, NO_FAULTS).await;
        let endpoint = endpoint(&fleet, way);
        Self::of(fleet, way, endpoint).await
    }

    /// A phone of a fleet, reached as told, whose driver has begun a session.
    pub async fn of(fleet: Fleet, way: Way, endpoint: WdaEndpoint) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pool = WdaPool::new(WdaOptions {
            restore: Some(folder.path().to_owned()),
            ..WdaOptions::default()
        });
        let mut device = Self {
            way,
            fleet,
            hand: Hand::new(pool.connector(&endpoint).unwrap()),
            pool,
            folder,
        };
        device.reconnect().await.unwrap();
        device.begin().await;
        device
    }

    pub async fn end(mut self) {
        self.disconnect().await;
        self.pool.shutdown().await;
        self.fleet.shutdown().await;
    }

    pub fn phone(&self) -> &Arc<Iphone> {
        &self.fleet.ios()[0]
    }
}
