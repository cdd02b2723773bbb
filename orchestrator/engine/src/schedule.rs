//! What runs next on a device that has become free. Pure: state in, decision out.

use std::collections::VecDeque;

use packtrain_drivers::DeviceId;
use packtrain_model::AttemptNumber;

/// One attempt of one planned session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Index into the plan's sessions.
    pub place: usize,
    /// Which try.
    pub attempt: AttemptNumber,
}

/// What happens after an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The session is over.
    Final,
    /// It is tried again, on the same device.
    Retry(AttemptNumber),
}

/// The queues of a run.
#[derive(Debug)]
pub struct Schedule {
    /// Sessions bound to a device, in planning order, and retries before all others.
    bound: Vec<(DeviceId, VecDeque<Assignment>)>,
    /// Sessions that any of their devices may take, with those that may.
    free: VecDeque<(Assignment, Vec<DeviceId>)>,
    retries: u32,
    stopped: bool,
}

impl Schedule {
    /// A schedule that tries a failed session up to `retries` times again.
    pub fn new(devices: &[DeviceId], retries: u32) -> Self {
        Self {
            bound: devices
                .iter()
                .map(|device| (device.clone(), VecDeque::new()))
                .collect(),
            free: VecDeque::new(),
            retries,
            stopped: false,
        }
    }

    /// Adds a planned session: for one device, or for whichever of several is free first.
    pub fn add(&mut self, place: usize, devices: &[DeviceId]) {
        let assignment = Assignment {
            place,
            attempt: AttemptNumber(1),
        };
        match devices {
            [device] => self.queue(device).push_back(assignment),
            several => self.free.push_back((assignment, several.to_vec())),
        }
    }

    /// What `device` shall do now; `None` when there is nothing left for it.
    pub fn next(&mut self, device: &DeviceId) -> Option<Assignment> {
        if self.stopped {
            return None;
        }
        if let Some(assignment) = self.queue(device).pop_front() {
            return Some(assignment);
        }
        let place = self
            .free
            .iter()
            .position(|(_, devices)| devices.contains(device))?;
        self.free.remove(place).map(|(assignment, _)| assignment)
    }

    /// Says what follows on an attempt that did not pass.
    #[must_use]
    pub fn failed(&mut self, device: &DeviceId, assignment: &Assignment) -> Next {
        if self.stopped || assignment.attempt.0 > self.retries {
            return Next::Final;
        }
        let attempt = AttemptNumber(assignment.attempt.0 + 1);
        self.queue(device).push_front(Assignment {
            place: assignment.place,
            attempt,
        });
        Next::Retry(attempt)
    }

    /// Hands out nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// What was never handed out, in planning order; empties the queues.
    pub fn drain(&mut self) -> Vec<Assignment> {
        let mut rest: Vec<_> = self
            .bound
            .iter_mut()
            .flat_map(|(_, queue)| queue.drain(..))
            .chain(self.free.drain(..).map(|(assignment, _)| assignment))
            .collect();
        rest.sort_by_key(|assignment| assignment.place);
        rest
    }

    fn queue(&mut self, device: &DeviceId) -> &mut VecDeque<Assignment> {
        let place = match self.bound.iter().position(|(known, _)| known == device) {
            Some(place) => place,
            None => {
                self.bound.push((device.clone(), VecDeque::new()));
                self.bound.len() - 1
            }
        };
        &mut self.bound[place].1
    }
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::Platform;
    use proptest::prelude::*;

    use super::*;

    fn device(n: u8) -> DeviceId {
        DeviceId::new(Platform::Web, format!("d{n}"))
    }

    #[test]
    fn a_retry_comes_before_the_next_trail() {
        let mut schedule = Schedule::new(&[device(0)], 1);
        schedule.add(0, &[device(0)]);
        schedule.add(1, &[device(0)]);
        let first = schedule.next(&device(0)).unwrap();
        assert_eq!(
            schedule.failed(&device(0), &first),
            Next::Retry(AttemptNumber(2))
        );
        let again = schedule.next(&device(0)).unwrap();
        assert_eq!((again.place, again.attempt), (0, AttemptNumber(2)));
        assert_eq!(schedule.failed(&device(0), &again), Next::Final);
        assert_eq!(schedule.next(&device(0)).unwrap().place, 1);
    }

    #[test]
    fn a_stopped_schedule_hands_out_nothing_and_says_what_was_left() {
        let mut schedule = Schedule::new(&[device(0)], 3);
        schedule.add(0, &[device(0)]);
        schedule.add(1, &[device(0)]);
        let first = schedule.next(&device(0)).unwrap();
        schedule.stop();
        assert_eq!(schedule.failed(&device(0), &first), Next::Final);
        assert_eq!(schedule.next(&device(0)), None);
        assert_eq!(schedule.drain().len(), 1);
    }

    proptest! {
        /// Whatever the devices' speeds, every session is run once by a device that may run it.
        #[test]
        fn every_session_is_handed_out_exactly_once(
            sessions in prop::collection::vec(prop::collection::btree_set(0u8..4, 1..4), 0..30),
            turns in prop::collection::vec(0u8..4, 0..200),
        ) {
            let devices: Vec<_> = (0..4).map(device).collect();
            let mut schedule = Schedule::new(&devices, 0);
            for (place, may) in sessions.iter().enumerate() {
                let may: Vec<_> = may.iter().copied().map(device).collect();
                schedule.add(place, &may);
            }
            let mut ran = Vec::new();
            for turn in turns.into_iter().chain((0..4).cycle().take(sessions.len() * 4)) {
                if let Some(assignment) = schedule.next(&device(turn)) {
                    prop_assert!(sessions[assignment.place].contains(&turn));
                    ran.push(assignment.place);
                }
            }
            ran.sort_unstable();
            prop_assert_eq!(ran, (0..sessions.len()).collect::<Vec<_>>());
        }
    }
}
