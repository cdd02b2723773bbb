//! A device that another process connects.

use std::sync::Arc;

use packtrain_drivers::{
    BoxFuture, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError, EventSink,
};

/// What is known of it.
struct DescribedDevice(DeviceInfo);

/// A device that is only known here.
pub(crate) fn known(device: DeviceInfo) -> Arc<dyn Connector> {
    Arc::new(DescribedDevice(device))
}

impl Connector for DescribedDevice {
    fn id(&self) -> &DeviceId {
        &self.0.id
    }

    fn describe(&self) -> DeviceInfo {
        self.0.clone()
    }

    fn connect<'a>(
        &'a self,
        _: EventSink,
        _: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        let error = DriverError::lost("it is the daemon that connects this device");
        Box::pin(std::future::ready(Err(error)))
    }
}
