//! A virtual iPhone with the example shop, and a driver connected to it on one of two ways.

use std::sync::Arc;

use packtrain_driver_wda::{MuxAddress, WdaEndpoint, WdaOptions, WdaPool, WdaTarget};
use packtrain_drivers::{
    Command, Connector, DeviceEvent, Driver, DriverError, EventStream, SessionOptions,
    event_channel,
};
use packtrain_testing::{TestDevice, VirtualPhone, context, fleet_options};
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use packtrain_virtual::ios::Iphone;
use tempfile::TempDir;

/// How a driver gets to its WebDriverAgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By its address, as to a simulator or a device on the network.
    Address,
    /// Through usbmuxd.
    Cable,
}

/// Tells a story twice, once for each way to a phone.
pub async fn both_ways(faults: &str, story: impl AsyncFn(&mut Device)) {
    for way in [Way::Address, Way::Cable] {
        let mut device = Device::connect(way, faults).await;
        story(&mut device).await;
        device.end().await;
    }
}

/// A phone and the driver of it.
pub struct Device {
    pub way: Way,
    pub fleet: Fleet,
    pub pool: Arc<WdaPool>,
    pub connector: Arc<dyn Connector>,
    pub folder: TempDir,
    driver: Option<Box<dyn Driver>>,
    events: EventStream,
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
        let fleet = phones(1, faults).await;
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
        let connector = pool.connector(&endpoint).unwrap();
        let (sink, events) = event_channel();
        let driver = connector.connect(sink, &context()).await.unwrap();
        let mut device = Self {
            way,
            fleet,
            pool,
            connector,
            folder,
            driver: Some(driver),
            events,
        };
        device.ok(Command::Begin(SessionOptions::default())).await;
        device
    }

    pub async fn end(mut self) {
        if let Some(driver) = self.driver.take() {
            driver.close().await;
        }
        self.pool.shutdown().await;
        self.fleet.shutdown().await;
    }

    pub fn phone(&self) -> &Arc<Iphone> {
        &self.fleet.ios()[0]
    }

    pub fn driver(&self) -> &dyn Driver {
        self.driver.as_deref().unwrap()
    }

    /// Signs in; the shop asks for a permission then.
    pub async fn sign_in(&mut self) {
        self.open_shop().await;
        self.fill("email", "ann@example.com").await;
        self.fill("password", "secret").await;
        self.tap("sign_in").await;
        self.until(|world| world.dialog().is_some()).await;
    }

    /// What was reported since the last time.
    pub fn events(&mut self) -> Vec<DeviceEvent> {
        self.events.drain()
    }

    /// Lets go of the driver.
    pub async fn disconnect(&mut self) {
        self.driver.take().unwrap().close().await;
    }

    /// The program that drives it is killed, as far as the phone can tell.
    pub fn forget(&mut self) {
        self.driver = None;
    }

    /// Connects anew.
    pub async fn reconnect(&mut self) -> Result<(), DriverError> {
        let (sink, events) = event_channel();
        self.driver = Some(self.connector.connect(sink, &context()).await?);
        self.events = events;
        Ok(())
    }
}
