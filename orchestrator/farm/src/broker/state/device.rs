//! Hosts and their devices.

use packtrain_drivers::Platform;

use super::State;
use super::expression::Pool;
use super::table::{DeviceAt, ExpressionAt, HostAt};
use crate::requirement::Subject;
use crate::wire::{DeviceAdvert, DeviceKey, HostAdvert, HostName, Lease};

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: HostName,
    /// What it says; `None` when it is not alive.
    pub(super) advert: Option<HostAdvert>,
    pub(super) devices: Vec<DeviceAt>,
    /// Devices that are busy.
    pub(super) busy: u32,
    /// Of these, browsers.
    pub(super) busy_browsers: u32,
}

impl Host {
    /// Whether it takes one more session.
    pub(super) fn has_room(&self, is_browser: bool) -> bool {
        self.advert.as_ref().is_some_and(|advert| {
            self.busy < advert.capacity.sessions
                && (!is_browser || self.busy_browsers < advert.capacity.browsers)
        })
    }

    /// Whether it ever takes one.
    pub(super) fn takes(&self, is_browser: bool) -> bool {
        self.advert.as_ref().is_some_and(|advert| {
            advert.capacity.sessions > 0 && (!is_browser || advert.capacity.browsers > 0)
        })
    }

    /// How full it is, in thousandths.
    pub(super) fn load(&self) -> u32 {
        self.advert.as_ref().map_or(u32::MAX, |advert| {
            self.busy.saturating_mul(1_000) / advert.capacity.sessions.max(1)
        })
    }
}

/// A device.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) key: DeviceKey,
    pub(super) host: HostAt,
    /// What it is; `None` when its host does not have it.
    pub(super) advert: Option<DeviceAdvert>,
    /// The same, as requirements see it.
    pub(super) subject: Option<Subject>,
    /// The revision of its lease's key.
    pub(super) revision: u64,
    /// What stands there.
    pub(super) lease: Option<Lease>,
    /// A deed about it that was not answered yet.
    pub(super) has_deed: bool,
    /// The lease that is being put.
    pub(super) putting: Option<Lease>,
    /// The expressions that it matches.
    pub(super) expressions: Vec<ExpressionAt>,
    /// Whether it could take sessions: its host is alive and takes new ones, and it is well itself.
    pub(super) is_in_service: bool,
    /// Whether its session has no end yet, or a deed no answer.
    pub(super) is_busy: bool,
}

impl Device {
    pub(super) fn is_browser(&self) -> bool {
        self.key.device.platform() == Platform::Web
    }

    pub(super) fn pool(&self) -> Pool {
        Pool {
            host: self.host,
            is_browsers: self.is_browser(),
        }
    }
}

impl State {
    pub(super) fn host_at(&mut self, name: &HostName) -> HostAt {
        self.hosts.place(name).unwrap_or_else(|| {
            let host = Host {
                name: name.clone(),
                advert: None,
                devices: Vec::new(),
                busy: 0,
                busy_browsers: 0,
            };
            self.hosts.insert(name.clone(), host)
        })
    }

    pub(super) fn device_at(&mut self, key: &DeviceKey) -> DeviceAt {
        if let Some(at) = self.devices.place(key) {
            return at;
        }
        let host = self.host_at(&key.host);
        let device = Device {
            key: key.clone(),
            host,
            advert: None,
            subject: None,
            revision: 0,
            lease: None,
            has_deed: false,
            putting: None,
            expressions: Vec::new(),
            is_in_service: false,
            is_busy: false,
        };
        let at = self.devices.insert(key.clone(), device);
        self.hosts[host].devices.push(at);
        at
    }

    pub(super) fn set_host(&mut self, name: HostName, advert: Option<HostAdvert>) {
        let at = self.host_at(&name);
        if self.hosts[at].advert == advert {
            return;
        }
        self.hosts[at].advert = advert;
        // Its capacity may have grown.
        self.open.hosts.insert(at);
        for device in self.hosts[at].devices.clone() {
            self.refresh_device(device);
            self.review_device(device);
        }
    }

    pub(super) fn set_device(&mut self, key: &DeviceKey, advert: Option<DeviceAdvert>) {
        let at = self.device_at(key);
        if self.devices[at].advert == advert {
            return;
        }
        self.devices[at].subject = (advert.as_ref()).map(|advert| Subject::new(key, advert));
        self.devices[at].advert = advert;
        self.match_device(at);
        self.refresh_device(at);
        if !self.devices[at].is_busy {
            // It may match what it did not.
            self.open.devices.insert(at);
        }
        self.open.everything = true;
        self.review_device(at);
    }

    /// Works out whether a device is in service and busy, and keeps what depends on it.
    pub(super) fn refresh_device(&mut self, at: DeviceAt) {
        let device = &self.devices[at];
        let is_in_service = (device.advert.as_ref())
            .is_some_and(|advert| advert.out_of_service.is_none())
            && (self.hosts[device.host].advert.as_ref()).is_some_and(|advert| !advert.draining);
        let is_busy = device.has_deed || self.is_leased(device);
        let was_in_service = device.is_in_service;
        let was_busy = device.is_busy;
        if (is_in_service, is_busy) == (was_in_service, was_busy) {
            return;
        }
        let is_browser = device.is_browser();
        let host = device.host;
        let expressions = device.expressions.clone();
        for expression in &expressions {
            self.unlink(*expression, at);
        }
        let device = &mut self.devices[at];
        device.is_in_service = is_in_service;
        device.is_busy = is_busy;
        for expression in expressions {
            self.link(expression, at);
        }
        if is_busy != was_busy {
            let was_full = !self.hosts[host].has_room(is_browser);
            let host_row = &mut self.hosts[host];
            let counted = |count: u32| {
                if is_busy {
                    count + 1
                } else {
                    count.saturating_sub(1)
                }
            };
            host_row.busy = counted(host_row.busy);
            if is_browser {
                host_row.busy_browsers = counted(host_row.busy_browsers);
            }
            if was_full && !is_busy {
                self.open.hosts.insert(host);
            }
        }
        if is_in_service && !is_busy {
            self.open.devices.insert(at);
        }
        if was_in_service && !is_in_service {
            self.wait_for(at);
        }
        if is_in_service != was_in_service {
            // Who waited for a device of its own may wait no more, and who waits for enough of them.
            self.open.everything = true;
        }
    }

    /// Whether the session of the device's lease may still be under way on it.
    fn is_leased(&self, device: &Device) -> bool {
        let Some(lease) = &device.lease else {
            return false;
        };
        let Some(run) = self.runs.place(&lease.run) else {
            // Of a run that was forgotten, nothing is under way.
            return false;
        };
        let run = &self.runs[run];
        (run.session_place(&lease.session))
            .is_none_or(|session| !run.sessions[session].ends.contains(&device.host))
    }
}
