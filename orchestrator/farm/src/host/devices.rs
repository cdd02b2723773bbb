//! The devices of a host as reported to the farm: there or not, in service or not. It decides and
//! does nothing.

use std::collections::BTreeMap;

use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::{Blame, Outcome};
use tokio::sync::watch;

use crate::wire::{DeviceAdvert, OutOfService};

/// A device that breaks so many sessions in a row gets no more of them.
pub const QUARANTINE_AFTER: u32 = 3;

/// What is reported to the farm, by the devices' names on this host.
pub type Adverts = BTreeMap<DeviceId, DeviceAdvert>;

/// The devices of a host. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct HostDevices(watch::Sender<Roster>);

/// What is known of the devices at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roster(BTreeMap<DeviceId, Device>);

#[derive(Debug, Clone, PartialEq)]
struct Device {
    advert: DeviceAdvert,
    is_up: bool,
    /// Sessions in a row that the device broke.
    broken: u32,
    quarantined: Option<String>,
}

impl Roster {
    /// What to report to the farm now.
    pub fn adverts(&self) -> Adverts {
        let devices = self.0.iter();
        devices
            .map(|(id, device)| (id.clone(), device.told()))
            .collect()
    }
}

impl Device {
    fn told(&self) -> DeviceAdvert {
        let out_of_service = match &self.quarantined {
            Some(cause) => Some(OutOfService::Quarantined(cause.clone())),
            None => (!self.is_up).then_some(OutOfService::Down),
        };
        DeviceAdvert {
            out_of_service,
            ..self.advert.clone()
        }
    }
}

impl HostDevices {
    /// What a device is, if it is here.
    pub fn info(&self, id: &DeviceId) -> Option<DeviceInfo> {
        let roster = self.0.borrow();
        roster.0.get(id).map(|device| device.advert.info.clone())
    }

    /// What to report to the farm now.
    pub fn adverts(&self) -> Adverts {
        self.0.borrow().adverts()
    }

    /// What is known from now on; it changes only when the farm is to be told something else.
    pub fn watch(&self) -> watch::Receiver<Roster> {
        self.0.subscribe()
    }

    /// A device was connected to this computer, for the first time or again: whatever was held against
    /// it is forgotten. It is down until it [answers](Self::up).
    pub fn join(&self, advert: DeviceAdvert) {
        self.0.send_modify(|roster| {
            let device = Device {
                is_up: false,
                broken: 0,
                quarantined: None,
                advert,
            };
            roster.0.insert(device.advert.info.id.clone(), device);
        });
    }

    /// A device is gone.
    pub fn leave(&self, id: &DeviceId) {
        self.0
            .send_if_modified(|roster| roster.0.remove(id).is_some());
    }

    /// A device answers, and says what it is.
    pub fn up(&self, info: &DeviceInfo) {
        self.change_one(&info.id, |device| {
            device.is_up = true;
            device.advert.info = info.clone();
        });
    }

    /// A device does not answer.
    pub fn down(&self, id: &DeviceId) {
        self.change_one(id, |device| device.is_up = false);
    }

    /// A session on a device came to its end.
    pub fn ended(&self, id: &DeviceId, outcome: &Outcome) {
        self.change_one(id, |device| match outcome {
            Outcome::Infrastructure {
                blame: Blame::Device,
                cause,
                ..
            } => {
                device.broken += 1;
                if device.broken >= QUARANTINE_AFTER && device.quarantined.is_none() {
                    let broken = device.broken;
                    let cause = format!("it broke {broken} sessions in a row, the last: {cause}");
                    device.quarantined = Some(cause);
                }
            }
            // They say nothing of the device.
            Outcome::Infrastructure { .. }
            | Outcome::Cancelled { .. }
            | Outcome::Skipped { .. } => {}
            Outcome::Passed | Outcome::Failed(_) | Outcome::NeedsAgent { .. } => device.broken = 0,
        });
    }

    /// Takes a device out of service, with the cause; answers whether there is such a device.
    pub fn quarantine(&self, id: &DeviceId, cause: &str) -> bool {
        self.change_one(id, |device| device.quarantined = Some(cause.to_owned()))
    }

    /// Puts a device into service again; answers whether there is such a device.
    pub fn release(&self, id: &DeviceId) -> bool {
        self.change_one(id, |device| {
            device.quarantined = None;
            device.broken = 0;
        })
    }

    fn change_one(&self, id: &DeviceId, change: impl FnOnce(&mut Device)) -> bool {
        let mut is_known = false;
        self.0.send_if_modified(|roster| {
            let Some(device) = roster.0.get_mut(id) else {
                return false;
            };
            is_known = true;
            let before = device.told();
            change(device);
            device.told() != before
        });
        is_known
    }
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::{Platform, Size};

    use super::*;

    fn advert(name: &str) -> DeviceAdvert {
        DeviceAdvert {
            info: DeviceInfo {
                id: DeviceId::new(Platform::Android, name),
                driver: "android-ondevice-accessibility".to_owned(),
                classifiers: vec!["android".into()],
                model: "Pixel 9".to_owned(),
                system: "Android 15".to_owned(),
                screen: Size::new(1080.0, 2424.0),
            },
            api: Some(35),
            labels: BTreeMap::new(),
            tools: Vec::new(),
            has: Vec::new(),
            out_of_service: None,
        }
    }

    /// A host with one device that answers.
    fn host() -> (HostDevices, DeviceId) {
        let devices = HostDevices::default();
        let advert = advert("a");
        devices.join(advert.clone());
        assert_eq!(state(&devices), Some(OutOfService::Down));
        devices.up(&advert.info);
        (devices, advert.info.id)
    }

    fn state(devices: &HostDevices) -> Option<OutOfService> {
        let (_, advert) = devices.adverts().pop_first().unwrap();
        advert.out_of_service
    }

    fn broke(blame: Blame) -> Outcome {
        Outcome::Infrastructure {
            blame,
            cause: "the cable was pulled".to_owned(),
            hint: None,
            unstarted: Vec::new(),
        }
    }

    #[test]
    fn three_sessions_in_a_row_that_it_breaks_put_a_device_into_quarantine() {
        let (devices, id) = host();
        let blamed = broke(Blame::Device);
        for outcome in [&blamed, &blamed, &Outcome::Passed, &blamed, &blamed] {
            devices.ended(&id, outcome);
            assert_eq!(state(&devices), None);
        }
        devices.ended(&id, &broke(Blame::Source));
        assert_eq!(state(&devices), None);
        devices.ended(&id, &blamed);
        let cause = "it broke 3 sessions in a row, the last: the cable was pulled".to_owned();
        assert_eq!(state(&devices), Some(OutOfService::Quarantined(cause)));
        // That it answers changes nothing.
        devices.down(&id);
        devices.up(&advert("a").info);
        assert!(matches!(
            state(&devices),
            Some(OutOfService::Quarantined(_))
        ));
    }

    #[test]
    fn quarantine_is_lifted_by_hand_or_by_connecting_the_device_anew() {
        let (devices, id) = host();
        assert!(devices.quarantine(&id, "the screen is cracked"));
        let cause = "the screen is cracked".to_owned();
        assert_eq!(state(&devices), Some(OutOfService::Quarantined(cause)));
        assert!(devices.release(&id));
        assert_eq!(state(&devices), None);

        devices.quarantine(&id, "x");
        devices.leave(&id);
        assert!(devices.adverts().is_empty());
        assert!(!devices.quarantine(&id, "x") && !devices.release(&id));
        devices.join(advert("a"));
        devices.up(&advert("a").info);
        assert_eq!(state(&devices), None);
    }

    #[test]
    fn the_farm_is_told_of_changes_only() {
        let (devices, id) = host();
        let mut told = devices.watch();
        devices.up(&advert("a").info);
        devices.ended(&id, &Outcome::Passed);
        devices.ended(&id, &broke(Blame::Device));
        devices.down(&DeviceId::new(Platform::Web, "nobody"));
        assert!(!told.has_changed().unwrap());
        devices.down(&id);
        assert!(told.has_changed().unwrap());
        let adverts = told.borrow_and_update().adverts();
        assert_eq!(adverts[&id].out_of_service, Some(OutOfService::Down));
        devices.down(&id);
        assert!(!told.has_changed().unwrap());
    }
}
