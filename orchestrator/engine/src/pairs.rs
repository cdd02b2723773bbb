//! Each device of a farm that was planned for runs each trail in each configuration once. The farm finds
//! the devices; a session that passed in the place of another is a pass only when that could not be had.

use std::collections::HashSet;

use packtrain_drivers::DeviceId;
use packtrain_model::{Blame, Cell, Outcome};

use crate::dispatch::Assignment;
use crate::resolve::Plan;

/// Which devices passed what: a trail in a configuration.
#[derive(Debug, Default)]
pub(crate) struct Pairs(HashSet<(usize, Cell, Option<u32>, DeviceId)>);

impl Pairs {
    /// What an attempt is in its run that ended so on a device, and whether that took the place of the
    /// planned one. A pass on a planned device that had passed before is refused and not run again, unless
    /// the session's own could not be had.
    pub(crate) fn judge(
        &mut self,
        plan: &Plan,
        assignment: &mut Assignment,
        device: Option<&(DeviceId, bool)>,
        outcome: Outcome,
    ) -> Outcome {
        let planned = &plan.sessions[assignment.index.0];
        let (Some(_), [own], Some((device, replaces)), Outcome::Passed) =
            (&planned.on, planned.devices.as_slice(), device, &outcome)
        else {
            return outcome;
        };
        let (cell, on) = (planned.cell.clone(), device.clone());
        let is_new = self.0.insert((planned.trail, cell, planned.repeat, on));
        let is_planned = plan.device(device).is_some();
        // A broker of the last version gives sessions of one configuration any of its devices.
        if (is_new && is_planned) || device == own || *replaces || assignment.lost > 0 {
            return outcome;
        }
        assignment.is_refused = is_planned;
        let cause = format!(
            "it ran on {device} instead of the planned {own}: each device runs each \
             configuration once"
        );
        Outcome::broken(Blame::Host, cause)
    }
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::{DeviceInfo, Platform, Size};
    use packtrain_model::{AttemptNumber, RunId, SessionIndex};

    use super::*;
    use crate::request::{RunOptions, Shard};
    use crate::resolve::Planned;

    fn device(name: &str) -> DeviceInfo {
        DeviceInfo {
            id: DeviceId::new(Platform::Android, name),
            driver: String::new(),
            classifiers: Vec::new(),
            model: String::new(),
            system: String::new(),
            screen: Size::new(1.0, 1.0),
        }
    }

    /// Two configurations on each of the devices `a` and `b`.
    fn plan() -> Plan {
        let cell = |value: &str| Cell([("locale".to_owned(), value.to_owned())].into());
        let sessions = [("a", "de"), ("a", "fr"), ("b", "de"), ("b", "fr")];
        let sessions = sessions.map(|(own, value)| Planned {
            trail: 0,
            devices: vec![device(own).id],
            on: Some("android".to_owned()),
            skip: None,
            alike: false,
            cell: cell(value),
            repeat: None,
            place: None,
        });
        Plan {
            run: RunId("r".to_owned()),
            trails: Vec::new(),
            matrices: Vec::new(),
            devices: vec![device("a"), device("b")],
            sessions: sessions.to_vec(),
            shard: Shard::All,
            part: None,
            options: RunOptions::default(),
        }
    }

    /// What a session is that ended so on a device, and whether it may be tried again.
    #[derive(Debug, PartialEq)]
    enum Judged {
        Passed,
        Refused,
        TriedAgain,
    }

    fn judge(pairs: &mut Pairs, index: usize, on: &str, replaces: bool, lost: u32) -> Judged {
        let mut assignment = Assignment {
            index: SessionIndex(index),
            attempt: AttemptNumber(lost + 1),
            device: None,
            tried: 0,
            lost,
            is_refused: false,
        };
        let on = (device(on).id, replaces);
        let outcome = pairs.judge(&plan(), &mut assignment, Some(&on), Outcome::Passed);
        match (outcome, assignment.is_refused) {
            (Outcome::Passed, false) => Judged::Passed,
            (_, true) => Judged::Refused,
            (_, false) => Judged::TriedAgain,
        }
    }

    fn passes(pairs: &mut Pairs, index: usize, on: &str) -> Judged {
        judge(pairs, index, on, false, 0)
    }

    #[test]
    fn each_device_passes_each_configuration_once() {
        let mut pairs = Pairs::default();
        // A broker of the last version gives sessions of one configuration any of its devices.
        for (index, on) in [(0, "b"), (1, "a"), (2, "a"), (3, "b")] {
            assert_eq!(passes(&mut pairs, index, on), Judged::Passed);
        }
    }

    #[test]
    fn a_pair_that_ran_twice_in_the_place_of_another_is_no_pass_and_not_run_again() {
        let mut pairs = Pairs::default();
        assert_eq!(passes(&mut pairs, 0, "a"), Judged::Passed);
        assert_eq!(passes(&mut pairs, 2, "a"), Judged::Refused);
        // What came to the farm later was not planned: its pair has not run yet.
        assert_eq!(passes(&mut pairs, 1, "c"), Judged::TriedAgain);
        assert_eq!(passes(&mut pairs, 1, "a"), Judged::Passed);
    }

    #[test]
    fn a_session_whose_own_device_cannot_be_had_passes_on_another() {
        let mut pairs = Pairs::default();
        assert_eq!(passes(&mut pairs, 2, "b"), Judged::Passed);
        assert_eq!(judge(&mut pairs, 0, "b", true, 0), Judged::Passed);
        // Or was lost on its own, as far as a broker of the last version tells.
        assert_eq!(passes(&mut pairs, 3, "b"), Judged::Passed);
        assert_eq!(judge(&mut pairs, 1, "b", false, 1), Judged::Passed);
    }
}
