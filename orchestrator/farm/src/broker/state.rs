//! What the broker knows, and what follows from it: a fact in, deeds out.
//!
//! Pure and synchronous. It does no I/O and does not know the time: that somebody is gone, and that this
//! is certain, are facts. Everything it decides is carried out by compare-and-set, so it may be wrong
//! about the present: the answer to a deed is the next fact.
//!
//! - A device holds one session: the one of its lease, until that has an end from the device's host.
//! - A session is granted once. One that was lost is never granted again; its run requests a new one.
//! - A free device goes to the run with the fewest sessions under way, of equals to the one whose turn
//!   was longest ago. Inside a run requeued sessions go first, then those that asked first.
//! - Nothing that could run waits, except for a device of its own ([`Demand::spread`]) and for enough
//!   devices ([`RunAdvert::min_devices`]).
//! - A session takes [`Demand::own`], unless that is away for longer than a [`Effect::Wait`], or avoided.
//! - What lost a session before is avoided, and one that is requested again prefers a device of its own:
//!   for as long as a [`Effect::Wait`] lasts. Then any device will do.

mod deeds;
mod device;
mod expression;
mod lease;
mod queue_position;
mod run;
mod serve;
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
use crate::wire::QueuePosition;
use crate::wire::{Demand, DeviceAdvert, DeviceKey, Grant, HostAdvert, HostName, Lease, RunAdvert};

/// A session of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    /// The run.
    pub run: RunId,
    /// The session.
    pub session: SessionId,
}

/// What stands as a device's lease.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseSeen {
    /// The device.
    pub device: DeviceKey,
    /// The revision of its key; 0 when it was never written.
    pub revision: u64,
    /// The lease; `None` when it was taken back.
    pub lease: Option<Lease>,
}

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
    /// What a host says; `None` when its key expired.
    Host(HostName, Option<HostAdvert>),
    /// What its host says of a device; `None` when it has it no more.
    Device(DeviceKey, Option<DeviceAdvert>),
    /// What a run says; `None` when its key expired.
    Run(RunId, Option<RunAdvert>),
    /// A run wants a session. The number is its place in the stream: who asked first.
    Demand(SessionKey, u64, Demand),
    /// A session was granted a device, by this broker or another.
    Grant(SessionKey, DeviceKey),
    /// A session ended on a host.
    End(SessionKey, HostName),
    /// A lease was read. Older revisions than the one that is known say nothing.
    Lease(LeaseSeen),
    /// Answers [`Effect::Grant`]: the lease stands.
    Granted {
        /// The session.
        session: SessionKey,
        /// The device of the lease.
        device: DeviceKey,
        /// The revision of the lease.
        revision: u64,
        /// The device of the grant: another, when the session was granted that before.
        granted: DeviceKey,
    },
    /// Answers [`Effect::Grant`]: the lease is another than was expected, and nothing was written.
    LeaseRefused(SessionKey, LeaseSeen),
    /// Answers [`Effect::Confirm`]: the grant of this device stands now.
    Confirmed(SessionKey, DeviceKey),
    /// Answers [`Effect::Lose`]: the session has an end from the host, that one or another.
    Lost(SessionKey, HostName),
    /// Answers [`Effect::Check`]: what stands there, read after the grant was seen. The session was lost
    /// when it is not its own.
    Checked(SessionKey, LeaseSeen),
    /// Answers [`Effect::Wait`]: the session has waited for a better device for long enough.
    Waited(SessionKey),
    /// Answers [`Effect::TakeBack`]: what stands there now, no lease as a rule.
    TakenBack(LeaseSeen),
    /// Answers [`Effect::Forget`].
    Forgotten(RunId),
}

/// Something to be carried out. Each is answered by a fact, and until then nothing else is done to what
/// it is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Write the lease, expecting the revision, and then the grant, expecting none.
    Grant {
        /// The session.
        session: SessionKey,
        /// What to write.
        grant: Grant,
        /// The incarnation of the device's host.
        incarnation: String,
        /// The revision of the device's key; 0 when it was never written.
        expected: u64,
    },
    /// Write the grant of a session whose lease stands, expecting none: somebody died in between.
    Confirm(SessionKey, Grant),
    /// Write that a session was lost, expecting no end.
    Lose {
        /// The session.
        session: SessionKey,
        /// The host that had it.
        host: HostName,
        /// What it was lost with.
        blame: Blame,
        /// Why, in one sentence.
        cause: String,
    },
    /// Read a device's lease: the grant of a session says that it was put, and it has not been seen.
    Check(SessionKey, DeviceKey),
    /// Let a while pass, in which a session takes only what it prefers. Nothing else waits for it.
    Wait(SessionKey, Duration),
    /// Purge a device's lease, expecting this revision.
    TakeBack(DeviceKey, u64),
    /// Purge everything of a run from the stream.
    Forget(RunId),
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
    deeds: Vec<Effect>,
    open: Open,
    told: HashMap<RunId, QueuePosition>,
}

impl State {
    /// Knows nothing, and does nothing until it is [`Leading`](Fact::Leading).
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a fact and returns what is to be done, in the order in which it was decided.
    #[must_use = "what is not carried out blocks its device or session for ever"]
    pub fn apply(&mut self, fact: Fact) -> Vec<Effect> {
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
            Fact::Host(host, advert) => self.set_host(host, advert),
            Fact::Device(device, advert) => self.set_device(&device, advert),
            Fact::Run(run, advert) => self.set_run(run, advert),
            Fact::Demand(session, sequence, demand) => self.set_demand(session, sequence, demand),
            Fact::Grant(session, device) => self.set_granted(session, &device),
            Fact::End(session, host) => self.set_end(session, host),
            Fact::Lease(seen) => self.set_lease(seen),
            Fact::Granted {
                session,
                device,
                revision,
                granted,
            } => self.answer_grant(session, device, revision, &granted),
            Fact::LeaseRefused(session, seen) => self.answer_lease_refused(&session, seen),
            Fact::Confirmed(session, granted) => self.answer_confirm(session, &granted),
            Fact::Lost(session, host) => {
                self.answer_deed(&session.run);
                self.set_end(session, host);
            }
            Fact::Checked(session, seen) => {
                self.set_lease(seen);
                self.judge_lease(&session);
                self.answer_deed(&session.run);
            }
            Fact::Waited(session) => self.answer_wait(&session),
            Fact::TakenBack(seen) => self.answer_take_back(seen),
            Fact::Forgotten(run) => self.forget(run),
        }
    }
}
