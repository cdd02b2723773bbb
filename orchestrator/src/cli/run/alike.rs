//! Devices that are alike, so that the configurations of a matrix run side by side: further contexts of
//! a web device, and virtual phones of a kind.

use std::num::NonZero;

use packtrain_config::Config;
use packtrain_drivers::{DeviceId, DeviceInfo, Platform};
use packtrain_engine::RequestedTrail;

use crate::wiring::Wiring;

/// Most contexts of all web devices together, unless the configuration says otherwise.
const MOST_CONTEXTS: usize = 8;

/// The devices with further ones like them, and which are alike. Without a matrix nothing changes.
pub(super) fn side_by_side(
    wiring: &mut Wiring,
    config: &Config,
    devices: Vec<DeviceInfo>,
    trails: &mut [RequestedTrail],
) -> (Vec<DeviceInfo>, Vec<Vec<DeviceId>>) {
    let matrices = || trails.iter().filter_map(|trail| trail.matrix.as_ref());
    if matrices().next().is_none() {
        return (devices, Vec::new());
    }
    let cells = matrices()
        .map(|matrix| matrix.cells_on(Platform::Web).len())
        .sum::<usize>();
    let slots = devices
        .iter()
        .filter(|device| device.id.platform() == Platform::Web)
        .count();
    let contexts = match config.run.parallel {
        Some(parallel) => parallel as usize,
        None => std::thread::available_parallelism()
            .map_or(2, |cores| 2 * NonZero::get(cores))
            .min(MOST_CONTEXTS),
    };
    let each = (contexts / slots.max(1)).clamp(1, cells.max(1));
    let mut all = Vec::new();
    let mut alike: Vec<Vec<DeviceId>> = Vec::new();
    for device in devices {
        let id = device.id.clone();
        if id.platform() == Platform::Web {
            let each = u32::try_from(each).unwrap_or(1);
            let copies = wiring.add_copies(config, &id, each);
            let ids = copies.iter().map(|copy| copy.id.clone());
            let group: Vec<_> = [id.clone()].into_iter().chain(ids).collect();
            for only in trails.iter_mut().filter_map(|trail| trail.only.as_mut()) {
                if only.contains(&id) {
                    only.extend(group[1..].iter().cloned());
                }
            }
            alike.push(group);
            all.push(device);
            all.extend(copies);
        } else {
            let group = alike.iter_mut().find(|group| {
                let first = all.iter().find(|known: &&DeviceInfo| known.id == group[0]);
                first.is_some_and(|first| is_like(first, &device))
            });
            match group {
                Some(group) => group.push(id),
                None => alike.push(vec![id]),
            }
            all.push(device);
        }
    }
    (all, alike)
}

/// Whether two virtual phones are of a kind.
fn is_like(one: &DeviceInfo, other: &DeviceInfo) -> bool {
    one.id.is_virtual()
        && other.id.is_virtual()
        && one.id.platform() == other.id.platform()
        && (&one.classifiers, &one.system, one.screen)
            == (&other.classifiers, &other.system, other.screen)
}
