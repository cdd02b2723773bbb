//! What the broker knows, and what follows from it: a fact in, deeds out.
//!
//! Pure and synchronous. It does no I/O and does not know the time: that somebody is gone, and that this
//! is certain, are facts. Everything it decides is carried out by compare-and-set, so it may be wrong
//! about the present: the answer to a deed is the next fact.
//!
//! - A device holds one session: the one of its lease, until that has an end from the device's host.
//! - A session is granted once. One that was lost is never granted again; its run asks anew.
//! - A free device goes to the run with the fewest sessions under way, of equals to the one whose turn
//!   was longest ago. Inside a run requeued sessions go first, then those that asked first.
//! - Nothing that could run waits, except for a device of its own ([`Demand::spread`]) and for enough
//!   devices ([`RunAdvert::min_devices`]).
//! - A session takes [`Demand::own`], unless that is away for longer than a [`Deed::Wait`], or avoided.
//! - What lost a session before is avoided, and one that is asked for anew prefers a device of its own:
//!   for as long as a [`Deed::Wait`] lasts. Then any device will do.

mod deeds;
mod device;
mod expression;
mod lease;
mod run;
mod serve;
mod standing;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use packtrain_model::{Blame, RunId, SessionId};

use self::device::{Device, Host};
use self::expression::Expression;
use self::run::Run;
use self::serve::Open;
use self::table::{DeviceAt, ExpressionAt, HostAt, RunAt, Table};
use crate::wire::Standing;
use crate::wire::{Demand, DeviceAdvert, DeviceKey, Grant, HostAdvert, HostName, Lease, RunAdvert};

/// Something that is so, read from the server or answered by it.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Everything that was stored has been told, and this broker leads. Nothing is done before. Leases
    /// have to be read after what happened to runs, so that a grant without its lease is one that was
    /// taken back, or was put since: it is looked at again.
    Leading,
    /// Whether a missing key means a death. It does not until one time to live after connecting and
    /// after being elected.
    DeathsAreCertain(bool),
    /// A host is alive.
    Host {
        /// Its name.
        host: HostName,
        /// What it says.
        advert: HostAdvert,
    },
    /// A host's key expired.
    HostGone {
        /// Its name.
        host: HostName,
    },
    /// What a device is.
    Device {
        /// The device.
        device: DeviceKey,
        /// What its host says.
        advert: DeviceAdvert,
    },
    /// A host has a device no more.
    DeviceGone {
        /// The device.
        device: DeviceKey,
    },
    /// A run is alive, or done.
    Run {
        /// Its id.
        run: RunId,
        /// What it says.
        advert: RunAdvert,
    },
    /// A run's key expired.
    RunGone {
        /// Its id.
        run: RunId,
    },
    /// A run wants a session.
    Demand {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// Its place in the stream: who asked first.
        sequence: u64,
        /// What it wants.
        demand: Demand,
    },
    /// A session was granted a device, by this broker or another.
    Grant {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device.
        device: DeviceKey,
    },
    /// A session ended on a host.
    End {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The host that it ended on.
        host: HostName,
    },
    /// What stands as a device's lease. Older revisions than the one that is known say nothing.
    Lease {
        /// The device.
        device: DeviceKey,
        /// The revision of its key; 0 when it was never written.
        revision: u64,
        /// The lease; `None` when it was taken back.
        lease: Option<Lease>,
    },
    /// Answers [`Deed::Grant`]: lease and grant stand.
    Granted {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device.
        device: DeviceKey,
        /// The revision of the lease.
        revision: u64,
    },
    /// Answers [`Deed::Grant`]: the lease is another than was expected, and nothing was written.
    LeaseRefused {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device.
        device: DeviceKey,
        /// The revision of what stands there.
        revision: u64,
        /// What stands there.
        lease: Option<Lease>,
    },
    /// Answers [`Deed::Grant`]: the lease stands, but the session was granted another device before.
    GrantRefused {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device of the lease.
        device: DeviceKey,
        /// The revision of the lease.
        revision: u64,
        /// The device of the grant.
        granted: DeviceKey,
    },
    /// Answers [`Deed::Confirm`]: this grant stands now.
    Confirmed {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device of the grant.
        granted: DeviceKey,
    },
    /// Answers [`Deed::Lose`]: the session has an end from the host, that one or another.
    Lost {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The host.
        host: HostName,
    },
    /// Answers [`Deed::Check`]: what stands there, read after the grant was seen.
    Checked {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device.
        device: DeviceKey,
        /// The revision.
        revision: u64,
        /// The lease that stands there; the session was lost when it is not its own.
        lease: Option<Lease>,
    },
    /// Answers [`Deed::Wait`]: the session has waited for a better device for long enough.
    Waited {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
    },
    /// Answers [`Deed::TakeBack`]: what stands there now.
    TakenBack {
        /// The device.
        device: DeviceKey,
        /// The revision.
        revision: u64,
        /// The lease that stands there; `None` as a rule.
        lease: Option<Lease>,
    },
    /// Answers [`Deed::Forget`].
    Forgotten {
        /// The run.
        run: RunId,
    },
}

/// Something to be carried out. Each is answered by a fact, and until then nothing else is done to what
/// it is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Write the lease, expecting the revision, and then the grant, expecting none.
    Grant {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// What to write.
        grant: Grant,
        /// The incarnation of the device's host.
        incarnation: String,
        /// The revision of the device's key; 0 when it was never written.
        expected: u64,
    },
    /// Write the grant of a session whose lease stands, expecting none: somebody died in between.
    Confirm {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// What to write.
        grant: Grant,
    },
    /// Write that a session was lost, expecting no end.
    Lose {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The host that had it.
        host: HostName,
        /// What it was lost with.
        blame: Blame,
        /// Why, in one sentence.
        cause: String,
    },
    /// Read a device's lease: the grant of a session says that it was put, and it has not been seen.
    Check {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// The device.
        device: DeviceKey,
    },
    /// Let a while pass, in which a session takes only what it prefers. Nothing else waits for it.
    Wait {
        /// The run.
        run: RunId,
        /// The session.
        session: SessionId,
        /// How long.
        time: Duration,
    },
    /// Purge a device's lease, expecting the revision.
    TakeBack {
        /// The device.
        device: DeviceKey,
        /// The revision of its key.
        expected: u64,
    },
    /// Purge everything of a run from the stream.
    Forget {
        /// The run.
        run: RunId,
    },
}

/// What the broker knows.
#[derive(Debug, Default)]
pub struct State {
    is_leading: bool,
    deaths_are_certain: bool,
    hosts: Table<HostAt, HostName, Host>,
    devices: Table<DeviceAt, DeviceKey, Device>,
    expressions: Table<ExpressionAt, String, Expression>,
    runs: Table<RunAt, RunId, Run>,
    /// Runs that were forgotten of late: what still comes of them says nothing.
    forgotten: VecDeque<RunId>,
    /// How many turns were given so far.
    turns: u64,
    deeds: Vec<Deed>,
    open: Open,
    told: HashMap<RunId, Standing>,
}

impl State {
    /// Knows nothing, and does nothing until it is [`Leading`](Fact::Leading).
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a fact and returns what is to be done, in the order in which it was decided.
    #[must_use = "what is not carried out blocks its device or session for ever"]
    pub fn apply(&mut self, fact: Fact) -> Vec<Deed> {
        self.learn(fact);
        if self.is_leading {
            self.serve_open();
        }
        std::mem::take(&mut self.deeds)
    }

    fn learn(&mut self, fact: Fact) {
        match fact {
            Fact::Leading => self.lead(),
            Fact::DeathsAreCertain(are_certain) => {
                self.deaths_are_certain = are_certain;
                self.review_everything();
            }
            Fact::Host { host, advert } => self.set_host(host, Some(advert)),
            Fact::HostGone { host } => self.set_host(host, None),
            Fact::Device { device, advert } => self.set_device(&device, Some(advert)),
            Fact::DeviceGone { device } => self.set_device(&device, None),
            Fact::Run { run, advert } => self.set_run(run, advert),
            Fact::RunGone { run } => self.lose_run(&run),
            Fact::Demand {
                run,
                session,
                sequence,
                demand,
            } => self.set_demand(run, session, sequence, demand),
            Fact::Grant {
                run,
                session,
                device,
            } => self.set_granted(run, session, &device),
            Fact::End { run, session, host } => self.set_end(run, session, host),
            Fact::Lease {
                device,
                revision,
                lease,
            } => {
                let at = self.device_at(&device);
                self.set_lease(at, revision, lease);
            }
            Fact::Granted {
                run,
                session,
                device,
                revision,
            } => {
                self.answer_lease_put(&run, &session, &device, revision);
                self.answer_grant(run, session, &device);
            }
            Fact::LeaseRefused {
                run,
                session,
                device,
                revision,
                lease,
            } => self.answer_lease_refused(&run, &session, &device, revision, lease),
            Fact::GrantRefused {
                run,
                session,
                device,
                revision,
                granted,
            } => {
                self.answer_lease_put(&run, &session, &device, revision);
                self.set_granted(run.clone(), session, &granted);
                let at = self.device_at(&device);
                self.review_device(at);
                self.answer_deed(&run);
            }
            Fact::Confirmed {
                run,
                session,
                granted,
            } => {
                self.answer_confirm(&run, &session);
                self.set_granted(run, session, &granted);
            }
            Fact::Lost { run, session, host } => {
                self.answer_deed(&run);
                self.set_end(run, session, host);
            }
            Fact::Checked {
                run,
                session,
                device,
                revision,
                lease,
            } => self.answer_check(&run, &session, &device, revision, lease),
            Fact::Waited { run, session } => self.answer_wait(&run, &session),
            Fact::TakenBack {
                device,
                revision,
                lease,
            } => self.answer_take_back(&device, revision, lease),
            Fact::Forgotten { run } => self.forget(run),
        }
    }
}
