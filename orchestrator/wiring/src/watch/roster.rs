//! The devices reported before, compared with those there now. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use packtrain_driver_adb::{AdbDevice, Survey};
use packtrain_drivers::{DeviceId, DeviceInfo, Platform};
use tokio::time::Instant;

use super::Change;
use crate::android::id;

/// What was reported, and what was found last.
pub(crate) struct Roster {
    grace: Duration,
    told: BTreeMap<DeviceId, RosterEntry>,
    found: BTreeMap<Platform, Survey>,
    /// What has a name in the configuration, which stays once it was there.
    configured: BTreeSet<DeviceId>,
}

/// A device as it was reported.
enum RosterEntry {
    Usable {
        info: DeviceInfo,
        /// Since when it is away.
        away: Option<Instant>,
    },
    Unusable(AdbDevice),
}

impl Roster {
    /// Devices that are known already.
    pub(crate) fn new(
        grace: Duration,
        usable: impl Iterator<Item = DeviceInfo>,
        unusable: &[AdbDevice],
        configured: BTreeSet<DeviceId>,
    ) -> Self {
        let usable = usable.map(|info| {
            let away = None;
            (info.id.clone(), RosterEntry::Usable { info, away })
        });
        let unusable = unusable
            .iter()
            .map(|device| (id(device), RosterEntry::Unusable(device.clone())));
        Self {
            grace,
            told: usable.chain(unusable).collect(),
            found: BTreeMap::new(),
            configured,
        }
    }

    /// Takes in what there is of a platform.
    pub(crate) fn take(&mut self, platform: Platform, survey: Survey) {
        self.found.insert(platform, survey);
    }

    /// What has to be told now.
    pub(crate) fn settle(&mut self, now: Instant) -> Vec<Change> {
        let mut changes = Vec::new();
        let found = std::mem::take(&mut self.found);
        for (platform, survey) in &found {
            self.vanish(*platform, survey, now, &mut changes);
            self.appear(survey, &mut changes);
        }
        self.found = found;
        changes
    }

    /// When the next device that is away will have been so for too long.
    pub(crate) fn next_loss(&self) -> Option<Instant> {
        let away = self.told.values().filter_map(|told| match told {
            RosterEntry::Usable { away, .. } => *away,
            RosterEntry::Unusable(_) => None,
        });
        away.min().map(|since| since + self.grace)
    }

    fn vanish(
        &mut self,
        platform: Platform,
        survey: &Survey,
        now: Instant,
        changes: &mut Vec<Change>,
    ) {
        let (grace, configured) = (self.grace, &self.configured);
        self.told.retain(|known, told| {
            if known.platform() != platform {
                return true;
            }
            let stays = match told {
                RosterEntry::Usable { .. } if configured.contains(known) => true,
                RosterEntry::Usable { info, away } => {
                    let mut there = survey.connectors.iter();
                    match there.find(|there| there.id() == known) {
                        Some(there) => {
                            *away = None;
                            // Another one under the same name is another one.
                            there.describe() == *info
                        }
                        None => now < *away.get_or_insert(now) + grace,
                    }
                }
                RosterEntry::Unusable(_) => {
                    let mut usable = survey.connectors.iter().map(|there| there.id());
                    let mut unusable = survey.unusable.iter().map(id);
                    usable.any(|there| there == known) || unusable.any(|there| there == *known)
                }
            };
            if !stays {
                changes.push(Change::Vanished(known.clone()));
            }
            stays
        });
    }

    fn appear(&mut self, survey: &Survey, changes: &mut Vec<Change>) {
        for connector in &survey.connectors {
            let known = connector.id();
            if let Some(RosterEntry::Usable { .. }) = self.told.get(known) {
                continue;
            }
            let (info, away) = (connector.describe(), None);
            self.told
                .insert(known.clone(), RosterEntry::Usable { info, away });
            changes.push(Change::Appeared {
                connector: connector.clone(),
                api_level: survey.levels.get(known).copied(),
            });
        }
        for device in &survey.unusable {
            let is_news = match self.told.get(&id(device)) {
                // It may come back.
                Some(RosterEntry::Usable { .. }) => false,
                Some(RosterEntry::Unusable(told)) => told.problem != device.problem,
                None => true,
            };
            if is_news {
                self.told
                    .insert(id(device), RosterEntry::Unusable(device.clone()));
                changes.push(Change::Unusable(device.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use packtrain_driver_adb::{AdbOptions, AdbPool, DirectAddress, Form, Profile, StartServer};
    use packtrain_drivers::Size;

    use super::*;

    const GRACE: Duration = Duration::from_secs(10);
    const SECOND: Duration = Duration::from_secs(1);

    fn survey(phones: &[(&str, &str)]) -> Survey {
        let pool = AdbPool::new(AdbOptions {
            start: StartServer::Never,
            ..AdbOptions::default()
        });
        let nowhere = DirectAddress::Tcp(([127, 0, 0, 1], 1).into());
        let phones = phones.iter().map(|(name, model)| {
            let profile = Profile {
                model: (*model).to_owned(),
                version: "15".to_owned(),
                api: None,
                screen: Size::new(1080.0, 2424.0),
                form: Form::Phone,
            };
            pool.direct_known(*name, nowhere.clone(), profile)
        });
        Survey {
            connectors: phones.collect(),
            ..Survey::default()
        }
    }

    fn roster(configured: &[&str]) -> Roster {
        let configured = configured.iter().map(|name| phone(name)).collect();
        Roster::new(GRACE, std::iter::empty(), &[], configured)
    }

    fn phone(name: &str) -> DeviceId {
        DeviceId::new(Platform::Android, name)
    }

    /// What is reported when that is found: `+` and `-` before names.
    fn told(roster: &mut Roster, found: &[(&str, &str)], now: Instant) -> Vec<String> {
        roster.take(Platform::Android, survey(found));
        settled(roster, now)
    }

    fn settled(roster: &mut Roster, now: Instant) -> Vec<String> {
        let changes = roster.settle(now).into_iter();
        let words = changes.map(|change| match change {
            Change::Appeared { connector, .. } => format!("+{}", connector.id().name()),
            Change::Vanished(id) => format!("-{}", id.name()),
            Change::Unusable(device) => format!("?{}", device.serial),
        });
        words.collect()
    }

    #[test]
    fn a_device_that_is_away_for_long_has_vanished_and_one_that_is_back_has_not() {
        let (mut roster, begun) = (roster(&[]), Instant::now());
        let (a, b) = (("a", "Pixel 9"), ("b", "Pixel 9"));
        assert_eq!(told(&mut roster, &[a, b], begun), ["+a", "+b"]);
        assert_eq!(told(&mut roster, &[], begun), [""; 0]);
        assert_eq!(roster.next_loss(), Some(begun + GRACE));
        assert_eq!(told(&mut roster, &[b], begun + SECOND), [""; 0]);
        assert_eq!(settled(&mut roster, begun + GRACE), ["-a"]);
        assert_eq!(roster.next_loss(), None);
        assert_eq!(told(&mut roster, &[b], begun + 9 * GRACE), [""; 0]);
        assert_eq!(told(&mut roster, &[a, b], begun + 9 * GRACE), ["+a"]);
    }

    #[test]
    fn another_device_under_the_same_name_is_another_device() {
        let (mut roster, now) = (roster(&[]), Instant::now());
        assert_eq!(told(&mut roster, &[("a", "Pixel 9")], now), ["+a"]);
        assert_eq!(told(&mut roster, &[("a", "Pixel 8")], now), ["-a", "+a"]);
    }

    #[test]
    fn what_is_configured_stays_once_it_was_there() {
        let (mut roster, now) = (roster(&["a"]), Instant::now());
        assert_eq!(told(&mut roster, &[("a", "Pixel 9")], now), ["+a"]);
        assert_eq!(told(&mut roster, &[], now), [""; 0]);
        assert_eq!(roster.next_loss(), None);
        assert_eq!(settled(&mut roster, now + 9 * GRACE), [""; 0]);
    }

    #[test]
    fn what_one_platform_has_says_nothing_of_another() {
        let (mut roster, now) = (roster(&[]), Instant::now());
        assert_eq!(told(&mut roster, &[("a", "Pixel 9")], now), ["+a"]);
        roster.take(Platform::Ios, Survey::default());
        assert_eq!(settled(&mut roster, now + 9 * GRACE), [""; 0]);
        assert_eq!(roster.next_loss(), None);
    }
}
