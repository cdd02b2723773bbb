//! What is reported to the farm about a host's devices.

use futures::StreamExt as _;
use packtrain_drivers::DeviceId;

use super::{Adverts, Host};
use crate::link::{FarmError, Link};
use crate::names;

/// How many keys are written at a time.
const IN_FLIGHT: usize = 32;

impl Host {
    /// Tells the farm what has changed about the devices; with what they are then, once reported.
    pub(super) fn telling(
        &self,
    ) -> impl Future<Output = (Adverts, Result<(), FarmError>)> + Send + use<> {
        let now = self.devices.adverts();
        let mut work = Vec::new();
        for (device, advert) in &now {
            if self.told.get(device) != Some(advert) {
                let value = serde_json::to_vec(advert).unwrap_or_default();
                work.push((names::device_key(&self.key(device)), Some(value)));
            }
        }
        for device in self.told.keys() {
            if !now.contains_key(device) {
                work.push((names::device_key(&self.key(device)), None));
            }
        }
        let link = self.link.clone();
        async move {
            let told = tell(&link, work).await;
            (now, told)
        }
    }

    /// Takes back what an earlier process of this host said of devices that are not here any more.
    ///
    /// They are listed, not followed: a consumer of what a host writes itself could deliver that to
    /// subjects where the host may not write.
    pub(super) async fn forget_devices(&self) -> Result<(), FarmError> {
        let here = self.devices.adverts();
        let own = format!("{}.>", self.name);
        for subject in self.link.subjects(names::DEVICES, &own).await? {
            let token = subject.rsplit('.').next().unwrap_or_default();
            let device = names::decode(token).and_then(|name| name.parse::<DeviceId>().ok());
            if device.is_none_or(|device| !here.contains_key(&device)) {
                forget(&self.link, &format!("{}.{token}", self.name)).await?;
            }
        }
        Ok(())
    }
}

/// Writes what devices are under their keys, and takes the keys of those that are nothing any more.
async fn tell(link: &Link, work: Vec<(String, Option<Vec<u8>>)>) -> Result<(), FarmError> {
    let mut told = futures::stream::iter(work)
        .map(|(key, value)| async move {
            match value {
                Some(value) => link.put_key(names::DEVICES, &key, value.into()).await,
                None => forget(link, &key).await,
            }
        })
        .buffer_unordered(IN_FLIGHT);
    while let Some(told) = told.next().await {
        told?;
    }
    Ok(())
}

async fn forget(link: &Link, key: &str) -> Result<(), FarmError> {
    let subject = names::key_subject(names::DEVICES, key);
    // What was deleted has a marker.
    let last = link.last(&subject).await?;
    if let Some(last) = last.filter(|last| last.value.is_some()) {
        link.take_key(names::DEVICES, key, last.sequence).await?;
    }
    Ok(())
}
