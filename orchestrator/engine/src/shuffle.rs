//! The order in which planned sessions start. Pure.
//!
//! Cells that ran one after another share the computer's load, so in the planned order, sorted by axes,
//! load would look like an axis. They start shuffled; everything reported about them keeps the planned order.

use std::collections::BTreeMap;

use packtrain_drivers::{DeviceId, Platform};
use packtrain_model::SessionIndex;
use sha2::{Digest, Sha256};

use crate::resolve::{Plan, Planned};

impl Plan {
    /// The seed of the order in which cells start. It follows from the run's id, so a run that is
    /// resumed has the one that its journal tells.
    pub fn order_seed(&self) -> u32 {
        let hash = Sha256::digest(&self.run.0);
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// All sessions as they start: the cells of a trail on one kind of browser or virtual phone shuffled
    /// in their places, the reference first; everything else as planned.
    pub(crate) fn starting_order(&self) -> Vec<SessionIndex> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, planned) in self.sessions.iter().enumerate() {
            if self.may_shuffle(planned) {
                let of = (planned.trail, &planned.devices, &planned.on);
                groups.entry(of).or_default().push(index);
            }
        }
        let seed = self.order_seed();
        let mut order: Vec<_> = (0..self.sessions.len()).map(SessionIndex).collect();
        for places in groups.into_values() {
            let mut shuffled = places.clone();
            shuffled.sort_by_key(|&index| {
                let is_reference = self.is_reference(&self.sessions[index]);
                (!is_reference, mixed(seed, index))
            });
            for (place, index) in places.into_iter().zip(shuffled) {
                order[place] = SessionIndex(index);
            }
        }
        order
    }

    /// Whether changing from one cell to another costs the session's devices nothing.
    fn may_shuffle(&self, planned: &Planned) -> bool {
        let is_cheap = |id: &DeviceId| id.platform() == Platform::Web || id.is_virtual();
        let has_cells = self
            .matrices
            .get(planned.trail)
            .is_some_and(Option::is_some);
        let is_run = planned.skip.is_none() && !planned.devices.is_empty();
        has_cells && is_run && planned.devices.iter().all(is_cheap)
    }

    fn is_reference(&self, planned: &Planned) -> bool {
        let matrix = self.matrices.get(planned.trail).and_then(Option::as_ref);
        let device = planned.devices.first();
        matrix
            .zip(device)
            .is_some_and(|(matrix, device)| matrix.reference_on(device.platform()) == planned.cell)
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014) of a seed and a place.
fn mixed(seed: u32, place: usize) -> u64 {
    let step = (place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut mixed = u64::from(seed).wrapping_add(step);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use packtrain_model::trail::Trail;
    use packtrain_model::{Axis, Cell, MatrixSummary, RunEvent, RunId};

    use super::*;
    use crate::dispatch::{Action, Dispatcher, Event};
    use crate::matrix::Matrix;
    use crate::request::{RequestedTrail, RunOptions, RunRequest, Shard};
    use crate::resolve::{resolve, tests::device};

    const LOCALES: [&str; 4] = ["en-US", "de-DE", "ar-EG", "ja-JP"];

    /// Eight cells on each device; the reference is dark, which is not the first on a phone.
    fn plan(run: &str, devices: &[(Platform, &str)], repeat: u32) -> Plan {
        let cell = |scheme: &str, locale: &str| {
            let values = [("colorScheme", scheme), ("locale", locale)];
            let values = values.map(|(axis, value)| (axis.to_owned(), value.to_owned()));
            Cell(values.into())
        };
        let axis = |name: &str, values: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
            ordered: false,
        };
        let both = LOCALES.iter();
        let cells = both.flat_map(|locale| ["light", "dark"].map(|scheme| cell(scheme, locale)));
        let summary = MatrixSummary {
            axes: vec![
                axis("colorScheme", &["light", "dark"]),
                axis("locale", &LOCALES),
            ],
            cells: cells.collect(),
            reference: cell("dark", "ar-EG"),
            ..MatrixSummary::default()
        };
        let matrix = Matrix {
            summary,
            ..Matrix::default()
        };
        let mut plan = resolve(RunRequest {
            run: RunId(run.into()),
            trails: vec![RequestedTrail {
                trail: Arc::new(Trail::empty("t")),
                only: None,
                matrix: Some(Arc::new(matrix)),
            }],
            devices: devices.iter().map(|(on, name)| device(*on, name)).collect(),
            tags: Vec::new(),
            only_declared: false,
            alike: Vec::new(),
            anywhere: None,
            driver: None,
            shard: Shard::All,
            options: RunOptions::default(),
        });
        plan.repeat(repeat);
        plan
    }

    fn order(plan: &Plan) -> Vec<usize> {
        plan.starting_order().iter().map(|index| index.0).collect()
    }

    #[test]
    fn browsers_and_virtual_phones_start_shuffled_with_the_reference_first() {
        for (platform, name) in [
            (Platform::Web, "desk"),
            (Platform::Android, "virtual-1"),
            (Platform::Ios, "virtual-2@a-host"),
        ] {
            let plan = plan("r", &[(platform, name)], 2);
            let order = order(&plan);
            let planned: Vec<_> = (0..16).collect();
            assert_ne!(order, planned, "{name}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, planned, "each starts once");
            let begun = Dispatcher::new(&plan).handle(Event::Begin).0.pop_front();
            assert!(matches!(begun, Some(Action::Start(one)) if one.index.0 == order[0]));
            for first in &order[..2] {
                let cell = &plan.sessions[*first].cell;
                assert_eq!(cell.to_string(), "colorScheme=dark, locale=ar-EG", "{name}");
            }
        }
    }

    #[test]
    fn a_real_phone_keeps_its_order_beside_a_browser_that_does_not() {
        let devices = [(Platform::Android, "R58N"), (Platform::Web, "desk")];
        let order = order(&plan("r", &devices, 1));
        assert_eq!(order[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_ne!(order[8..], [8, 9, 10, 11, 12, 13, 14, 15]);
        assert!(order[8..].iter().all(|index| *index >= 8));
    }

    #[test]
    fn a_run_that_is_resumed_starts_its_cells_in_the_order_that_its_journal_tells() {
        let devices = [(Platform::Web, "desk")];
        let (first, resumed) = (plan("a", &devices, 1), plan("a", &devices, 1));
        assert_eq!(order(&first), order(&resumed));
        let RunEvent::RunStarted { options, .. } = first.started() else {
            panic!("a journal starts with its run");
        };
        assert_eq!(options.order_seed, Some(resumed.order_seed()));
        assert_ne!(order(&first), order(&plan("b", &devices, 1)), "another run");
    }
}
