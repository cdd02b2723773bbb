//! A device's state, without actor and without I/O: who may have it, under which token.

use std::time::{Duration, Instant};

use packtrain_drivers::DeviceInfo;

use crate::lease::LeaseError;

/// A lease that nobody used for this long may be taken over.
pub(crate) const LEASE_IDLE: Duration = Duration::from_secs(15 * 60);

/// Tells leases of one device apart. Later leases have larger tokens, across re-creations too, so
/// that a holder that was thought dead cannot act on the device behind its successor's back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(pub(crate) u64);

/// Counts the re-creations of a device, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incarnation(pub u32);

impl Incarnation {
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Who has a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// Nobody.
    Free,
    /// A lease holder.
    Leased {
        /// Who, in words.
        holder: String,
        /// Under which token.
        token: FencingToken,
        /// Since when.
        since: Instant,
    },
}

/// What a device answers when asked how it is.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    /// What it is; refined once it was connected.
    pub info: DeviceInfo,
    /// Who has it.
    pub occupancy: Occupancy,
    /// How often it was re-created, from 1.
    pub incarnation: Incarnation,
    /// Why the incarnation before this one died.
    pub last_death: Option<String>,
}

/// The state machine of one device.
#[derive(Debug)]
pub(crate) struct DeviceState {
    info: DeviceInfo,
    incarnation: Incarnation,
    last_death: Option<String>,
    occupancy: Occupancy,
}

impl DeviceState {
    pub(crate) const fn new(
        info: DeviceInfo,
        incarnation: Incarnation,
        last_death: Option<String>,
    ) -> Self {
        Self {
            info,
            incarnation,
            last_death,
            occupancy: Occupancy::Free,
        }
    }

    /// Gives the device to `holder` under `token`, unless somebody has it and uses it.
    pub(crate) fn grant(
        &mut self,
        holder: &str,
        token: FencingToken,
        last_used: Instant,
        now: Instant,
    ) -> Result<(), LeaseError> {
        if let Occupancy::Leased { holder, .. } = &self.occupancy
            && now.duration_since(last_used) < LEASE_IDLE
        {
            return Err(LeaseError::Busy {
                device: self.info.id.clone(),
                holder: holder.clone(),
            });
        }
        self.occupancy = Occupancy::Leased {
            holder: holder.to_owned(),
            token,
            since: now,
        };
        Ok(())
    }

    /// Takes the device back; a release by anyone but the holder changes nothing.
    pub(crate) fn release(&mut self, by: FencingToken) -> bool {
        let held = matches!(self.occupancy, Occupancy::Leased { token, .. } if token == by);
        if held {
            self.occupancy = Occupancy::Free;
        }
        held
    }

    pub(crate) fn connected(&mut self, info: DeviceInfo) {
        self.info = info;
    }

    pub(crate) const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    pub(crate) fn status(&self) -> DeviceStatus {
        DeviceStatus {
            info: self.info.clone(),
            occupancy: self.occupancy.clone(),
            incarnation: self.incarnation,
            last_death: self.last_death.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::{DeviceId, Platform, Size};

    use super::*;

    fn device() -> DeviceState {
        let info = DeviceInfo {
            id: DeviceId::new(Platform::Web, "a"),
            driver: "script".into(),
            classifiers: vec!["web".into()],
            model: String::new(),
            system: String::new(),
            screen: Size::new(1.0, 1.0),
        };
        DeviceState::new(info, Incarnation::FIRST, None)
    }

    #[test]
    fn a_held_device_is_refused_and_names_its_holder() {
        let (mut device, now) = (device(), Instant::now());
        device.grant("s1", FencingToken(1), now, now).unwrap();
        let refused = device.grant("s2", FencingToken(2), now, now).unwrap_err();
        assert!(refused.to_string().contains("s1"), "{refused}");
    }

    #[test]
    fn a_lease_nobody_uses_is_taken_over() {
        let (mut device, then) = (device(), Instant::now());
        device.grant("s1", FencingToken(1), then, then).unwrap();
        let later = then + LEASE_IDLE;
        device.grant("s2", FencingToken(2), then, later).unwrap();
        assert!(
            !device.release(FencingToken(1)),
            "the old holder has nothing to give back"
        );
        assert!(device.release(FencingToken(2)));
    }
}
