//! What a host does until it ends: it says that it is alive and what its devices are, carries out what
//! is granted to them, and stops what was taken back.

mod adverts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use packtrain_drivers::DeviceId;
use packtrain_engine::SessionStop;
use packtrain_model::{Blame, CancelCause, Outcome, RunId};
use serde::{Deserialize, Serialize};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::devices::{Adverts, HostDevices};
use super::limits::Limits;
use super::output::Address;
use super::runs::{Opener, Runs};
use super::session::{Granted, carry_out};
use super::workplace::Workplace;
use crate::bundle::SealKey;
use crate::fence::Fence;
use crate::follow::Followed;
use crate::link::{FarmError, Link};
use crate::live::{Alive, Liveness, Take, at};
use crate::store::{Stored, is_relayed, new_id};
use crate::wire::{Cancel, DeviceKey, End, HostAdvert, HostName, Lease, RunAdvert};
use crate::{names, query};

/// How long sessions may take to end when the host is asked to.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long they may take once they were cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(20);

/// Who a host is.
pub struct HostOptions {
    /// Its name in the farm.
    pub name: HostName,
    /// What bounds how much it takes at once.
    pub limits: Limits,
    /// Operating system and architecture.
    pub system: String,
    /// Version of packtrain.
    pub version: String,
    /// Folder for bundles.
    pub cache: PathBuf,
    /// How long the host counts as alive without a message from it.
    pub ttl: Duration,
}

/// How a host is ended.
#[derive(Debug, Clone, Default)]
pub struct HostStop {
    /// It takes nothing new, and ends when nothing runs, or half a minute later.
    pub drain: CancellationToken,
    /// It ends now.
    pub now: CancellationToken,
}

/// What a person asks of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Ask {
    /// To take nothing new, or to take sessions again.
    Drain {
        /// Which.
        drain: bool,
    },
    /// To take a device out of service, with the cause, or back into it.
    Quarantine {
        /// The device, by its name on the host.
        device: DeviceId,
        /// Why; back into service when `None`.
        cause: Option<String>,
    },
}

impl Ask {
    /// Whether a host that is ending refuses it: what it was given then would be cut off.
    const fn is_too_late(&self) -> bool {
        matches!(self, Self::Drain { drain: false })
    }
}

/// What a host answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What is wrong with what was asked, if anything.
    pub refused: Option<String>,
}

/// A session under way.
struct Running {
    run: RunId,
    /// The revision of its lease.
    token: u64,
    task: AbortHandle,
    stop: SessionStop,
}

struct Host {
    link: Link,
    name: HostName,
    advert: HostAdvert,
    limits: Limits,
    devices: HostDevices,
    fence: Fence,
    runs: Runs,
    /// What runs on each device.
    running: HashMap<DeviceId, Running>,
    /// The highest revision that was seen of each device's lease.
    tokens: HashMap<DeviceId, u64>,
    sessions: JoinSet<()>,
    /// Runs that are over, and whose last session here has not ended.
    over: Vec<RunId>,
    /// Runs that were stopped and are not over: what is granted to them ends at once.
    stopping: HashSet<RunId>,
    /// Cancelled when what is under way is not waited for any more.
    drained: CancellationToken,
    told: Adverts,
    /// What tells the farm of the devices, and of which.
    telling: Option<AbortOnDropHandle<(Adverts, Result<(), FarmError>)>>,
    /// What reads the leases again after a lapse.
    checking: Option<AbortOnDropHandle<Result<Vec<Held>, FarmError>>>,
    /// Until when the host is certain to be taken for alive.
    until: Instant,
}

/// A device with something under way, and the revision of its lease.
type Held = (DeviceId, u64);

/// Serves the farm until the host is ended.
///
/// # Errors
/// When the farm cannot be reached at the beginning, does not allow it, or another host of the same
/// name took over.
pub async fn run(
    link: Link,
    options: HostOptions,
    devices: HostDevices,
    fence: Fence,
    workplace: Arc<dyn Workplace>,
    stop: HostStop,
) -> Result<(), FarmError> {
    let seal = SealKey::generate();
    let advert = HostAdvert {
        incarnation: new_id(),
        version: options.version.clone(),
        protocol: crate::wire::Protocol::CURRENT,
        capacity: options.limits.capacity(&devices.adverts()),
        draining: false,
        seal: seal.public(),
        system: options.system.clone(),
    };
    let runs = Runs::new(Opener {
        link: link.clone(),
        host: options.name.clone(),
        seal,
        cache: options.cache,
        workplace,
    });
    let mut host = Host {
        link: link.clone(),
        name: options.name.clone(),
        advert,
        limits: options.limits,
        devices,
        fence,
        runs,
        running: HashMap::new(),
        tokens: HashMap::new(),
        sessions: JoinSet::new(),
        over: Vec::new(),
        stopping: HashSet::new(),
        drained: CancellationToken::new(),
        told: BTreeMap::new(),
        telling: None,
        checking: None,
        until: Instant::now(),
    };
    let served = host.serve(options.ttl, stop).await;
    host.fence.close();
    host.sessions.shutdown().await;
    served
}

impl Host {
    async fn serve(&mut self, ttl: Duration, stop: HostStop) -> Result<(), FarmError> {
        let own = format!("{}.>", self.name);
        let mut leases = self
            .link
            .follow_keys(names::LEASES, std::slice::from_ref(&own));
        let mut runs = self.link.follow_keys(names::LIVE, &["run.*".to_owned()]);
        let mut cancels = self.link.listen("cancel.*".to_owned()).await?;
        let mut asked = self.link.listen(names::ctl_host(&self.name)).await?;
        self.forget_devices().await?;
        let mut changes = self.devices.watch();
        let (now, told) = self.telling().await;
        told?;
        self.told = now;
        let key = names::host_key(&self.name);
        let taken = Liveness::take(&self.link, key, self.own_advert(), ttl, Take::Over, None);
        let Some(live) = taken.await? else {
            return Err(FarmError::Taken("the host's name is taken".to_owned()));
        };
        let mut alive = live.alive();
        if let Alive::Until(moment) = *alive.borrow_and_update() {
            self.fence.open_until(moment);
            self.until = moment;
        }
        let mut give_up: Option<Instant> = None;
        loop {
            if self.advert.draining && stop.drain.is_cancelled() && self.running.is_empty() {
                break;
            }
            tokio::select! {
                () = stop.now.cancelled() => break,
                () = stop.drain.cancelled(), if give_up.is_none() => {
                    self.say(&live, |advert| advert.draining = true);
                    give_up = Some(Instant::now() + DRAIN_TIMEOUT);
                }
                () = at(give_up) => {
                    if self.drained.is_cancelled() {
                        break;
                    }
                    self.drained.cancel();
                    give_up = Some(Instant::now() + CANCEL_TIMEOUT);
                    for running in self.running.values() {
                        running.stop.cancel(CancelCause::Interrupt);
                    }
                }
                changed = alive.changed() => {
                    let now = alive.borrow_and_update().clone();
                    match (changed, now) {
                        (Ok(()), Alive::Until(moment)) => self.alive_until(moment),
                        (Ok(()), Alive::Taken(by)) => return Err(FarmError::Taken(by)),
                        (Err(_), _) => return Err(FarmError::Taken("it ended".to_owned())),
                    }
                }
                lease = leases.next() => {
                    if let Followed::Message(lease) = lease? {
                        self.leased(&lease);
                    }
                }
                run = runs.next() => {
                    if let Followed::Message(run) = run? {
                        self.run_changed(&run);
                    }
                }
                Some(message) = cancels.next() => {
                    if let Some(run) = run_to_cancel(&message) {
                        self.cancel_run(&run);
                    }
                }
                Some(message) = asked.next() => {
                    if is_relayed(&message) {
                        continue;
                    }
                    let answer = self.answer(&message.payload, &live, stop.drain.is_cancelled());
                    if let Some(reply) = message.reply {
                        let answer = serde_json::to_vec(&answer).unwrap_or_default();
                        let link = self.link.clone();
                        tokio::spawn(async move { link.tell(reply.to_string(), answer).await });
                    }
                }
                Ok(()) = changes.changed(), if self.telling.is_none() => {
                    changes.mark_unchanged();
                    let telling = tokio::spawn(self.telling());
                    self.telling = Some(AbortOnDropHandle::new(telling));
                    // As much as the devices that are here now.
                    let capacity = self.limits.capacity(&self.devices.adverts());
                    self.say(&live, |advert| advert.capacity = capacity);
                }
                (now, told) = finished(&mut self.telling) => match told {
                    Ok(()) => self.told = now,
                    // Told once the server is back.
                    Err(FarmError::Silent { .. }) => changes.mark_changed(),
                    Err(error) => return Err(error),
                },
                gone = finished(&mut self.checking) => self.checked(gone)?,
                Some(ended) = self.sessions.join_next_with_id() => self.ended(ended),
            }
            self.close_runs();
        }
        live.release().await;
        Ok(())
    }

    fn own_advert(&self) -> Vec<u8> {
        serde_json::to_vec(&self.advert).unwrap_or_default()
    }

    /// Says something else of the host from now on.
    fn say(&mut self, live: &Liveness, change: impl FnOnce(&mut HostAdvert)) {
        let before = self.advert.clone();
        change(&mut self.advert);
        if self.advert != before {
            live.set(self.own_advert());
        }
    }

    /// We are certain to count as alive until then. After a lapse it is unknown what became of the
    /// leases meanwhile: they are read again before anything reaches a device.
    fn alive_until(&mut self, moment: Instant) {
        let before = std::mem::replace(&mut self.until, moment);
        if self.fence.is_open() {
            self.fence.open_until(moment);
            return;
        }
        self.fence.close();
        if self.checking.is_some() && Instant::now() < before {
            // There was no lapse since they are being read.
            return;
        }
        let held: Vec<_> = (self.running.iter())
            .map(|(device, running)| {
                let key = names::device_key(&self.key(device));
                let subject = names::key_subject(names::LEASES, &key);
                (subject, (device.clone(), running.token))
            })
            .collect();
        let checking = tokio::spawn(taken_back(self.link.clone(), held));
        self.checking = Some(AbortOnDropHandle::new(checking));
    }

    /// The leases were read again.
    fn checked(&mut self, gone: Result<Vec<Held>, FarmError>) -> Result<(), FarmError> {
        let gone = match gone {
            // The fence stays closed; after the next sign of life it is tried again.
            Err(FarmError::Silent { .. }) => return Ok(()),
            gone => gone?,
        };
        for (device, token) in gone {
            if (self.running.get(&device)).is_some_and(|running| running.token == token) {
                self.abort(&device);
            }
        }
        if Instant::now() < self.until {
            self.fence.open_until(self.until);
        }
        Ok(())
    }

    fn key(&self, device: &DeviceId) -> DeviceKey {
        DeviceKey {
            host: self.name.clone(),
            device: device.clone(),
        }
    }

    /// A device was granted to a session, or taken back.
    fn leased(&mut self, message: &Stored) {
        let Some(DeviceKey { device, .. }) = query::device_of(message) else {
            return;
        };
        let highest = self.tokens.entry(device.clone()).or_default();
        if message.sequence <= *highest {
            return;
        }
        *highest = message.sequence;
        self.abort(&device);
        let Ok(lease) = message.read::<Lease>() else {
            return;
        };
        if lease.incarnation != self.advert.incarnation {
            return;
        }
        let Some(info) = self.devices.info(&device) else {
            tracing::warn!(%device, "a device was granted that is not here");
            let refusing = refuse(self.link.clone(), self.key(&device), lease);
            self.sessions.spawn(refusing);
            return;
        };
        let stop = SessionStop::default();
        if self.stopping.contains(&lease.run) {
            stop.cancel(CancelCause::Interrupt);
        }
        let granted = Granted {
            to: Address {
                run: lease.run.clone(),
                session: lease.session,
                device: self.key(&device),
            },
            info,
            stop: stop.clone(),
            drained: self.drained.clone(),
            devices: self.devices.clone(),
        };
        let (link, place) = (self.link.clone(), self.runs.place(&lease.run));
        let carrying = async move { carry_out(&link, place, granted).await };
        let running = Running {
            run: lease.run,
            token: message.sequence,
            task: self.sessions.spawn(carrying),
            stop,
        };
        self.running.insert(device, running);
    }

    /// Ends what runs on a device at once, without an end of its own.
    fn abort(&mut self, device: &DeviceId) {
        if let Some(running) = self.running.remove(device) {
            running.task.abort();
        }
    }

    fn ended(&mut self, ended: Result<(Id, ()), tokio::task::JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!(%error, "a session panicked");
                }
                error.id()
            }
        };
        // Another one may run on the device by now.
        self.running.retain(|_, running| running.task.id() != id);
    }

    /// A run came, ended, or is gone.
    fn run_changed(&mut self, message: &Stored) {
        let name = message
            .tokens()
            .last()
            .and_then(|token| names::decode(token));
        let Some(run) = name.map(RunId) else {
            return;
        };
        let advert = message.read::<RunAdvert>().ok();
        self.over.retain(|known| *known != run);
        match advert.filter(|advert| !advert.done) {
            None => {
                self.stopping.remove(&run);
                self.over.push(run);
            }
            Some(advert) if advert.stopping => {
                self.cancel_run(&run);
                self.stopping.insert(run);
            }
            Some(_) => {
                self.stopping.remove(&run);
            }
        }
    }

    /// Closes the runs that are over and have nothing under way here.
    fn close_runs(&mut self) {
        self.over.retain(|run| {
            let is_open = self.running.values().any(|running| running.run == *run);
            if !is_open {
                self.runs.close(run);
            }
            is_open
        });
    }

    fn cancel_run(&self, run: &RunId) {
        for running in self.running.values() {
            if running.run == *run {
                running.stop.cancel(CancelCause::Interrupt);
            }
        }
    }

    fn answer(&mut self, message: &[u8], live: &Liveness, is_ending: bool) -> Answer {
        let refused = match serde_json::from_slice::<Ask>(message) {
            Err(error) => Some(format!("invalid request: {error}")),
            Ok(ask) if is_ending && ask.is_too_late() => {
                Some(format!("{} is shutting down", self.name))
            }
            Ok(Ask::Drain { drain }) => {
                self.say(live, |advert| advert.draining = drain);
                None
            }
            Ok(Ask::Quarantine { device, cause }) => {
                let is_known = match cause {
                    Some(cause) => self.devices.quarantine(&device, &cause),
                    None => self.devices.release(&device),
                };
                (!is_known).then(|| format!("{} has no device {device}", self.name))
            }
        };
        Answer { refused }
    }
}

/// The run whose sessions are asked to end; `None` when there is none.
fn run_to_cancel(message: &async_nats::Message) -> Option<RunId> {
    if is_relayed(message) {
        return None;
    }
    let run = names::decode(message.subject.strip_prefix("cancel.")?)?;
    let asked: Cancel = serde_json::from_slice(&message.payload).ok()?;
    (asked.run.0 == run).then_some(asked.run)
}

/// Says that a session cannot be carried out here, so that another place is found for it.
async fn refuse(link: Link, device: DeviceKey, lease: Lease) {
    let cause = format!("{} is no longer there", device.device);
    let end = End::Settled {
        outcome: Outcome::broken(Blame::Device, cause),
        items: 0,
    };
    let subject = names::end(&lease.run, &lease.session, &device.host);
    let end = serde_json::to_vec(&end).unwrap_or_default();
    if let Err(error) = link.put_if(&subject, 0, end.into(), None).await {
        tracing::warn!(%error, "a session that cannot be carried out here waits");
    }
}

/// Those of some leases that are not there any more.
async fn taken_back(link: Link, held: Vec<(String, Held)>) -> Result<Vec<Held>, FarmError> {
    let mut gone = Vec::new();
    for (subject, (device, token)) in held {
        let last = link.last(&subject).await?;
        if last.is_none_or(|last| last.sequence != token) {
            gone.push((device, token));
        }
    }
    Ok(gone)
}

/// What a task came to; never without one. One that panicked has panicked here.
async fn finished<T>(task: &mut Option<AbortOnDropHandle<T>>) -> T {
    let Some(running) = task else {
        return std::future::pending().await;
    };
    let ended = running.await;
    *task = None;
    match ended {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // It is aborted only by dropping it.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use async_nats::{HeaderMap, Message};

    use super::*;

    fn message(payload: &str) -> Message {
        Message {
            subject: names::cancel(&RunId("r1".to_owned())).into(),
            reply: None,
            payload: payload.to_owned().into(),
            headers: None,
            status: None,
            description: None,
            length: 0,
        }
    }

    #[test]
    fn only_who_names_the_run_cancels_it() {
        let asked = message("{\"run\":\"r1\"}");
        assert_eq!(run_to_cancel(&asked), Some(RunId("r1".to_owned())));
        let lease = "{\"run\":\"r1\",\"session\":\"s1\",\"incarnation\":\"x\"}";
        let answer = "{\"type\":\"io.nats.jetstream.api.v1.stream_info_response\"}";
        for other in ["", "{}", "{\"run\":\"r2\"}", lease, answer] {
            assert_eq!(run_to_cancel(&message(other)), None, "{other}");
        }
    }

    #[test]
    fn a_host_that_is_ending_takes_no_sessions_again_and_all_else_that_is_asked() {
        let is_too_late = |text: &str| serde_json::from_str::<Ask>(text).unwrap().is_too_late();
        assert!(is_too_late(r#"{"ask":"drain","drain":false}"#));
        for other in [
            r#"{"ask":"drain","drain":true}"#,
            r#"{"ask":"quarantine","device":"web/1","cause":"flaky"}"#,
            r#"{"ask":"quarantine","device":"web/1","cause":null}"#,
        ] {
            assert!(!is_too_late(other), "{other}");
        }
    }

    #[test]
    fn what_the_server_was_made_to_send_cancels_nothing() {
        let mut copied = message("{\"run\":\"r1\"}");
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Stream", "BLOBS");
        copied.headers = Some(headers);
        assert_eq!(run_to_cancel(&copied), None);
        let mut delivered = message("{\"run\":\"r1\"}");
        delivered.reply = Some("$JS.ACK.KV_live.c.1.1.1.1.0".into());
        assert_eq!(run_to_cancel(&delivered), None);
    }
}
