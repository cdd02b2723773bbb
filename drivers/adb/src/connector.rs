//! The way to one device as it is kept: how to connect to it as often as need be.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    AxisRestore, BoxFuture, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Platform, RestoreFile,
};
use tokio::time::Instant;

use crate::agent::Jar;
use crate::axes::Restoring;
use crate::command_error::CommandError;
use crate::device::AndroidDevice;
use crate::driver::AdbDriver;
use crate::options::AdbOptions;
use crate::phone::Phone;
use crate::probe::Profile;
use crate::wire::{DirectAddress, KeyRing, Server};

/// How long a device that is away is waited for when it is connected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// What all devices of a pool share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: AdbOptions,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) jar: Option<Arc<Jar>>,
}

/// Where a device is.
#[derive(Debug, Clone)]
pub(crate) enum Endpoint {
    /// At the adb server, under this serial.
    Server(Server, String),
    /// At a socket of its own.
    Direct(DirectAddress),
}

impl Endpoint {
    /// The way there.
    pub(crate) fn phone(&self, shared: &Shared, events: Option<EventSink>) -> Phone {
        match self {
            Self::Server(server, serial) => Phone::behind(*server, serial.clone(), events),
            Self::Direct(address) => Phone::at(address.clone(), Arc::clone(&shared.keys), events),
        }
    }
}

/// Leads to one phone or tablet.
#[derive(Debug)]
pub(crate) struct AdbConnector {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    id: DeviceId,
    profile: Profile,
}

impl AdbConnector {
    pub(crate) fn new(
        shared: Arc<Shared>,
        endpoint: Endpoint,
        name: String,
        profile: Profile,
    ) -> Self {
        Self {
            shared,
            endpoint,
            id: DeviceId::new(Platform::Android, name),
            profile,
        }
    }

    async fn open(
        &self,
        events: EventSink,
        deadline: Instant,
    ) -> Result<Box<dyn Driver>, CommandError> {
        let phone = Arc::new(self.endpoint.phone(&self.shared, Some(events.clone())));
        let limit = deadline.min(Instant::now() + CONNECT_TIMEOUT);
        phone.await_ready(limit).await?;
        let folder = self.shared.options.restore.as_deref();
        let file =
            folder.map(|folder| RestoreFile::new(folder, &self.id, packtrain_program::started));
        let restore = AxisRestore::new(file);
        let phone_before = Restoring {
            phone: &phone,
            deadline,
        };
        restore.recover(&events, phone_before).await?;
        // Another device may have come under the same name.
        let (profile, _) = Profile::ask(&phone, deadline).await?;
        let choice = self.shared.options.agent;
        let device = AndroidDevice::new(phone, choice, self.shared.jar.as_ref(), profile.screen);
        let info = DeviceInfo {
            // Plans were made from these.
            classifiers: self.describe().classifiers,
            ..profile.info(self.id.clone())
        };
        Ok(Box::new(AdbDriver::new(info, device, events, restore)))
    }
}

impl Connector for AdbConnector {
    fn id(&self) -> &DeviceId {
        &self.id
    }

    fn describe(&self) -> DeviceInfo {
        self.profile.info(self.id.clone())
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let opening = async {
                let opened = self.open(events, ctx.deadline).await;
                opened.map_err(|error| error.into_driver_error("connect"))
            };
            // Whatever went wrong, there is no device.
            ctx.bound("connect", opening)
                .await
                .map_err(|error| match error {
                    DriverError::Timeout { .. } | DriverError::Unmet { .. } => DriverError::Lost {
                        cause: "the device does not answer".to_owned(),
                        hint: Some("unplug it and plug it in again, or reboot it".to_owned()),
                    },
                    error => error,
                })
        })
    }
}
