//! How much a host takes at once, by what it has. Pure.

use packtrain_drivers::Platform;

use super::devices::Adverts;
use crate::wire::Capacity;

/// What bounds a host's sessions. Phones take nothing of their computer that is worth a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sessions of any kind, when they are limited.
    pub sessions: Option<u32>,
    /// Sessions in browsers.
    pub browsers: u32,
}

impl Limits {
    /// What a host with these devices takes at once.
    pub fn capacity(self, devices: &Adverts) -> Capacity {
        let is_web = |platform| platform == Platform::Web;
        let web = devices.keys().filter(|id| is_web(id.platform())).count();
        let count = |devices: usize| u32::try_from(devices).unwrap_or(u32::MAX);
        let browsers = self.browsers.min(count(web));
        let all = count(devices.len() - web).saturating_add(browsers);
        let sessions = self.sessions.unwrap_or(all);
        Capacity {
            sessions,
            browsers: browsers.min(sessions),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use packtrain_drivers::{DeviceId, DeviceInfo, Size};

    use super::*;
    use crate::wire::DeviceAdvert;

    fn devices(phones: u32, browsers: u32) -> Adverts {
        let phones = (0..phones).map(|at| DeviceId::new(Platform::Android, format!("{at}")));
        let browsers = (0..browsers).map(|at| DeviceId::new(Platform::Web, format!("{at}")));
        let advert = |id: DeviceId| {
            let info = DeviceInfo {
                id: id.clone(),
                driver: String::new(),
                classifiers: Vec::new(),
                model: String::new(),
                system: String::new(),
                screen: Size::new(1.0, 1.0),
            };
            let advert = DeviceAdvert {
                info,
                api: None,
                labels: BTreeMap::new(),
                tools: Vec::new(),
                has: Vec::new(),
                out_of_service: None,
            };
            (id, advert)
        };
        phones.chain(browsers).map(advert).collect()
    }

    #[test]
    fn browsers_are_limited_and_phones_are_not() {
        let takes = |sessions, devices| {
            let browsers = 4;
            let capacity = Limits { sessions, browsers }.capacity(&devices);
            (capacity.sessions, capacity.browsers)
        };
        assert_eq!(takes(None, devices(250, 9)), (254, 4));
        assert_eq!(takes(None, devices(1, 2)), (3, 2));
        assert_eq!(takes(None, devices(0, 0)), (0, 0));
        assert_eq!(takes(Some(2), devices(250, 9)), (2, 2));
    }
}
