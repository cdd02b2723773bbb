//! The life of a source's processes: facts in, what to do out. No process, no clock, no I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use packtrain_config::Restart;
use packtrain_drivers::{DeviceId, DeviceInfo};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::pool::{Life, Pool, Replica, ScopeKey, Slot, SlotId, back_off};
use super::settings::SourceSettings;
use super::start::StartError;
use super::task::Listing;

/// Who waits until what was listed is registered; dropped when it is what was there before.
pub(super) type Registered = oneshot::Sender<()>;

/// Something that happened. `P` is a process that answers.
pub(super) enum Event<P> {
    /// What serves a scope is needed, by a device when somebody calls.
    Wanted(ScopeKey, Option<DeviceInfo>),
    /// A start has ended, well with what the process lists.
    Started(SlotId, Result<(P, Result<Listing, String>), StartError>),
    /// A process is gone, or answers nothing any more.
    Lost(SlotId, StartError),
    /// The wait before a start is over.
    Again(SlotId),
    /// What serves a scope is no longer needed.
    Retired(ScopeKey),
    /// Somebody wants the tools to be listed again.
    Relist(Registered),
    /// The tools were listed again.
    Listed(Result<Listing, String>, Option<Registered>),
    /// Something else went wrong.
    Failed(String),
    /// Nothing is needed any more.
    Ended,
}

/// Something to do.
pub(super) enum Effect<P> {
    Start(Start),
    /// End a process that no call finds any more.
    Stop(P),
    /// End what still runs, so that it holds no port, and say when the wait before the next start is over.
    Replace {
        running: Option<P>,
        again: Option<(SlotId, Duration)>,
    },
    /// Ask a process for its tools.
    List(P, Registered),
    /// Tell what the source has, or why it has nothing.
    Tell(Result<Listing, StartError>, Option<Registered>),
}

/// Start a process.
pub(super) struct Start {
    pub(super) key: ScopeKey,
    pub(super) replica: Replica,
    pub(super) slot: SlotId,
    /// Which start of this source it is, from 0.
    pub(super) number: u32,
    /// The device of the scope, as far as it is known.
    pub(super) device: Option<DeviceInfo>,
}

/// The state machine. Those who call the source's tools read in it which process serves them.
pub(super) struct SourceLifecycle<P> {
    replicas: usize,
    policy: Restart,
    /// As they were known at first, or as they are once they are connected.
    devices: Vec<DeviceInfo>,
    pools: BTreeMap<ScopeKey, Pool<P>>,
    /// What was listed last.
    listing: Option<Listing>,
    slots: u64,
    starts: u32,
    /// Restarts so far.
    pub(super) restarts: u32,
    /// What went wrong last.
    pub(super) last_error: Option<String>,
    is_ending: bool,
}

impl<P: Clone> SourceLifecycle<P> {
    pub(super) fn new(settings: &SourceSettings, devices: Vec<DeviceInfo>) -> Self {
        Self {
            replicas: settings
                .launch
                .as_ref()
                .map_or(1, |_| settings.server.replicas as usize),
            policy: settings.server.restart.clone(),
            devices,
            pools: BTreeMap::new(),
            listing: None,
            slots: 0,
            starts: 0,
            restarts: 0,
            last_error: None,
            is_ending: false,
        }
    }

    /// The process that serves a device in a scope, once it was wanted.
    pub(super) fn serving(&self, key: &ScopeKey, device: &DeviceId) -> Option<(&Slot<P>, Replica)> {
        let pool = self.pools.get(key)?;
        let replica = *pool.homes.get(device)?;
        Some((&pool.slots[replica], replica))
    }

    /// All places of processes.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot<P>> {
        self.pools.values().flat_map(|pool| &pool.slots)
    }

    /// Takes in what happened and says what to do about it.
    #[must_use = "an effect that is not carried out leaves a caller waiting"]
    pub(super) fn handle(&mut self, event: Event<P>, now: Instant) -> Vec<Effect<P>> {
        let mut todo = Vec::new();
        match event {
            Event::Wanted(key, device) => self.wanted(key, device, &mut todo),
            Event::Started(slot, Ok((process, listing))) => match self.place(slot) {
                // Its caller is gone.
                None => todo.push(Effect::Stop(process)),
                Some((_, _, place)) => {
                    place.life = Life::Ready(process);
                    if self.listing.is_none() {
                        // Others that did not start may start now: this one did.
                        for (slot, error) in self.down() {
                            self.lost(slot, error, now, &mut todo);
                        }
                    }
                    self.listed(listing, None, &mut todo);
                }
            },
            // It has answered before, so it may again.
            Event::Started(slot, Err(error)) if self.listing.is_some() => {
                self.lost(slot, error, now, &mut todo);
            }
            Event::Started(slot, Err(error)) => {
                self.last_error = Some(error.message.clone());
                if let Some((_, _, place)) = self.place(slot) {
                    place.life = Life::Down(error.clone());
                }
                self.pools.values_mut().for_each(Pool::rehome);
                if self.down().len() == self.slots().count() {
                    todo.push(Effect::Tell(Err(error), None));
                }
            }
            Event::Lost(slot, error) => {
                let place = self.place(slot);
                if place.is_some_and(|(_, _, place)| place.process().is_some()) {
                    self.lost(slot, error, now, &mut todo);
                }
            }
            Event::Again(slot) => {
                if let Some((key, replica, place)) = self.place(slot) {
                    place.life = Life::Starting;
                    let key = key.clone();
                    self.restarts += 1;
                    self.start(key, replica, slot, &mut todo);
                }
            }
            Event::Retired(key) => {
                todo.extend(self.pools.remove(&key).into_iter().flat_map(stopped))
            }
            Event::Relist(registered) => {
                // Without a process there is nothing new: the sender is dropped.
                let process = self.slots().find_map(Slot::process).cloned();
                todo.extend(process.map(|process| Effect::List(process, registered)));
            }
            Event::Listed(listing, registered) => self.listed(listing, registered, &mut todo),
            Event::Failed(message) => self.last_error = Some(message),
            Event::Ended => {
                self.is_ending = true;
                let pools = std::mem::take(&mut self.pools).into_values();
                todo.extend(pools.flat_map(stopped));
            }
        }
        todo
    }

    fn wanted(&mut self, key: ScopeKey, device: Option<DeviceInfo>, todo: &mut Vec<Effect<P>>) {
        if self.is_ending {
            return;
        }
        if let Some(device) = &device {
            self.devices.retain(|known| known.id != device.id);
            self.devices.push(device.clone());
        }
        if !self.pools.contains_key(&key) {
            let ids = self.slots..;
            self.slots += self.replicas as u64;
            let slots: Vec<_> = ids.take(self.replicas).map(SlotId).collect();
            let pool = Pool {
                slots: slots.iter().copied().map(Slot::new).collect(),
                homes: BTreeMap::new(),
            };
            self.pools.insert(key.clone(), pool);
            for (replica, slot) in slots.into_iter().enumerate() {
                self.start(key.clone(), replica, slot, todo);
            }
        }
        if let (Some(pool), Some(device)) = (self.pools.get_mut(&key), device) {
            pool.home(&device.id);
        }
    }

    fn start(&mut self, key: ScopeKey, replica: Replica, slot: SlotId, todo: &mut Vec<Effect<P>>) {
        let of_scope = |device: &&DeviceInfo| Some(&device.id) == key.device();
        let device = self.devices.iter().find(of_scope).cloned();
        let number = self.starts;
        self.starts += 1;
        todo.push(Effect::Start(Start {
            key,
            replica,
            slot,
            number,
            device,
        }));
    }

    /// A process is of no use any more: it is started again after a while, or stays down.
    fn lost(&mut self, slot: SlotId, error: StartError, now: Instant, todo: &mut Vec<Effect<P>>) {
        self.last_error = Some(error.message.clone());
        let policy = self.policy.clone();
        let next = SlotId(self.slots);
        self.slots += 1;
        let Some((_, _, place)) = self.place(slot) else {
            return;
        };
        let wait = back_off(&mut place.restarts, &policy, now);
        let life = match wait {
            Some(_) => Life::BackOff,
            None => Life::Down(StartError {
                message: format!("{} {}", error.message, given_up(&policy)),
                tail: error.tail,
            }),
        };
        let running = place.process().cloned();
        place.life = life;
        place.id = next;
        self.pools.values_mut().for_each(Pool::rehome);
        let again = wait.map(|wait| (next, wait));
        todo.push(Effect::Replace { running, again });
    }

    /// Takes what the source has, and tells it on when it is new.
    fn listed(
        &mut self,
        listing: Result<Listing, String>,
        registered: Option<Registered>,
        todo: &mut Vec<Effect<P>>,
    ) {
        match listing {
            Ok(listing) if self.listing.as_ref() == Some(&listing) => {}
            Ok(listing) => {
                self.listing = Some(listing.clone());
                todo.push(Effect::Tell(Ok(listing), registered));
            }
            Err(why) => {
                if self.listing.is_none() {
                    let failure = StartError {
                        message: format!("it does not list its tools: {why}"),
                        tail: Vec::new(),
                    };
                    todo.push(Effect::Tell(Err(failure), registered));
                }
                self.last_error = Some(why);
            }
        }
    }

    /// The places of processes that stay down, with the reason.
    fn down(&self) -> Vec<(SlotId, StartError)> {
        let down = |slot: &Slot<P>| match &slot.life {
            Life::Down(error) => Some((slot.id, error.clone())),
            Life::Starting | Life::Ready(_) | Life::BackOff => None,
        };
        self.slots().filter_map(down).collect()
    }

    fn place(&mut self, id: SlotId) -> Option<(&ScopeKey, Replica, &mut Slot<P>)> {
        let mut places = self.pools.iter_mut().flat_map(|(key, pool)| {
            let slots = pool.slots.iter_mut().enumerate();
            slots.map(move |(replica, slot)| (key, replica, slot))
        });
        places.find(|(_, _, slot)| slot.id == id)
    }
}

/// What becomes of processes that no call finds any more.
fn stopped<P: Clone>(pool: Pool<P>) -> Vec<Effect<P>> {
    let processes = pool.slots.iter().filter_map(Slot::process);
    processes.cloned().map(Effect::Stop).collect()
}

/// Why a process is not started again.
fn given_up(policy: &Restart) -> String {
    let window = policy.window.get().as_secs_f64();
    match policy.max {
        0 => "and is not started again: `restart.max` is 0".to_owned(),
        1 => format!("and stays down: it was started again once within {window:.0} s"),
        max => format!("and stays down: it was started again {max} times within {window:.0} s"),
    }
}

#[cfg(test)]
mod tests;
