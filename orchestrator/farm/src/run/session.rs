//! One session on the farm, from asking for it to its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_engine::{
    ArtifactContent, DeviceRequirement, NewArtifact, SessionOrder, SessionOutput, SessionStop,
};
use packtrain_model::{Blame, Outcome, RunEvent, SessionId, StepIndex};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::Inner;
use super::router::Said;
use super::turns::Turn;
use crate::bundle;
use crate::link::in_one_line;
use crate::live::Alive;
use crate::names;
use crate::wire::{Blob, Demand, DeviceKey, End, Grant, HostName, Item, OrderedDemand, Pack};

/// How much longer than it may take a session may be under way.
const SILENT: Duration = Duration::from_secs(300);
/// The most of an order, of the server's 1 MB for a message with its headers.
const DEMAND_BYTES: usize = 1_000_000;
/// A file larger than this is not taken from a host.
const FILE_BYTES: u64 = 128 * 1024 * 1024;

/// Asks for a session and takes in what is said of it, until its end.
pub(super) async fn carry_out(
    inner: &Inner,
    order: SessionOrder,
    output: SessionOutput,
    stop: SessionStop,
    turn: Turn,
) -> Outcome {
    let mut said = inner.router.listen(&order.session);
    let mut session = Session {
        inner,
        order,
        output,
        grant: None,
        early: Vec::new(),
        taken: 0,
        damaged: None,
        passed: BTreeSet::new(),
        first: None,
        last: None,
        started: false,
    };
    let outcome = session.live(&mut said, &stop, turn).await;
    inner.router.leave(&session.order.session);
    // Neither the queue nor reading again counts.
    if let (Some(first), Some(last)) = (session.first, session.last) {
        session
            .output
            .took((last - first).to_std().unwrap_or_default());
    } else {
        session.output.took(Duration::ZERO);
    }
    if let (Outcome::Infrastructure { blame, .. }, Some(grant)) = (&outcome, &session.grant) {
        let is_host = *blame == Blame::Host;
        inner.avoid(&session.order.session, grant.device.clone(), is_host);
    }
    outcome
}

struct Session<'a> {
    inner: &'a Inner,
    order: SessionOrder,
    output: SessionOutput,
    grant: Option<Grant>,
    /// What hosts said before the grant was told: a host may be faster than its broker.
    early: Vec<Said>,
    /// How many items of its packs were taken in.
    taken: u64,
    /// Why not all of what happened is known, if so.
    damaged: Option<String>,
    /// The steps that were told to have passed.
    passed: BTreeSet<StepIndex>,
    /// When its first and its last event happened, by its host's clock.
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    /// Whether the journal has its start.
    started: bool,
}

impl Session<'_> {
    async fn live(
        &mut self,
        said: &mut mpsc::Receiver<Said>,
        stop: &SessionStop,
        turn: Turn,
    ) -> Outcome {
        if stop.token().is_cancelled() {
            return cancelled(stop);
        }
        if matches!(*self.inner.alive.borrow(), Alive::Taken(_)) {
            return cancelled(stop);
        }
        let asked = tokio::select! {
            asked = self.ask(turn) => asked,
            () = stop.token().cancelled() => {
                // It may have been asked for already.
                self.inner.cancel().await;
                return cancelled(stop);
            }
        };
        if let Err(outcome) = asked {
            return outcome;
        }
        let mut alive = self.inner.alive.clone();
        let mut is_stopping = false;
        let options = &self.order.options;
        let longest = options.connect_timeout + options.timeout + SILENT;
        let mut given_up = None;
        loop {
            if self.grant.is_some() && given_up.is_none() {
                given_up = Instant::now().checked_add(longest);
            }
            tokio::select! {
                biased;
                next = said.recv() => {
                    let Some(next) = next else {
                        return self.lost("the farm's messages ended".to_owned()).await;
                    };
                    match self.take_in(next).await {
                        // The host knows that it was cancelled, and not why.
                        Some(Outcome::Cancelled { .. }) if stop.token().is_cancelled() => {
                            return cancelled(stop);
                        }
                        Some(Outcome::Cancelled { .. }) => {
                            return self.lost("its host stopped it".to_owned()).await;
                        }
                        Some(outcome) => return outcome,
                        None => {}
                    }
                }
                () = stop.token().cancelled(), if !is_stopping => {
                    is_stopping = true;
                    self.inner.cancel().await;
                    if self.grant.is_none() {
                        return cancelled(stop);
                    }
                }
                () = at(given_up) => {
                    let cause = "its host did not say how it ended";
                    return self.lost(cause.to_owned()).await;
                }
                by = taken(&mut alive) => {
                    // It is the other process's session now, and not to be tried again by this one.
                    tracing::warn!(by, "the run is carried on elsewhere");
                    return cancelled(stop);
                }
            }
        }
    }

    /// Puts the demand where the broker finds it, once: an earlier process of the run may have.
    async fn ask(&self, mut turn: Turn) -> Result<(), Outcome> {
        turn.come().await;
        let order = &self.order;
        let stored = self.inner.trail(&order.trail).await;
        let (trail, path) = stored.map_err(host_failed)?;
        let value = self.demand(trail, path).map_err(unfit)?;
        let subject = names::demand(&order.run, &order.session);
        let permit = self.inner.demands.acquire().await;
        let put = self.inner.link.put_if(&subject, 0, value.into(), None);
        let mut put = std::pin::pin!(put);
        // It is on its way once it was polled: others follow, and nobody waits for an answer.
        let put = match futures::poll!(put.as_mut()) {
            Poll::Ready(put) => put,
            Poll::Pending => {
                drop(turn);
                put.await
            }
        };
        drop(permit);
        put.map(|_| ())
            .map_err(|error| host_failed(in_one_line(&error)))
    }

    /// The demand as it is written.
    ///
    /// # Errors
    /// A sentence when the order is none for a farm: asking again would not change that.
    fn demand(&self, trail: Blob, path: String) -> Result<Vec<u8>, String> {
        let order = &self.order;
        let DeviceRequirement::Matching(on) = &order.requires else {
            return Err("a session of the farm says what its device has to be".to_owned());
        };
        let mut bare = order.clone();
        // The trail travels by itself, once; secrets are sealed.
        bare.trail = Arc::clone(&self.inner.placeholder);
        bare.values.secrets.clear();
        if let Some(app) = &mut bare.cell.app_file {
            let place = self.inner.files.map(app);
            *app = place
                .ok_or_else(|| format!("{} does not travel to hosts", app.display()))?
                .into();
        }
        let base = base(&order.session);
        let avoid = {
            let avoid = self.inner.avoid.lock();
            let avoid = avoid.unwrap_or_else(std::sync::PoisonError::into_inner);
            avoid.get(base).cloned().unwrap_or_default()
        };
        let demand = OrderedDemand {
            demand: Demand {
                on: on.clone(),
                spread: format!("{}", order.planned.trail),
                requeued: order.attempt.0 > 1,
                avoid: avoid.devices,
                avoid_hosts: avoid.hosts,
                at: Utc::now(),
            },
            order: bare,
            trail,
            path,
        };
        let value = serde_json::to_vec(&demand).map_err(|error| error.to_string())?;
        if value.len() > DEMAND_BYTES {
            let bytes = value.len();
            return Err(format!(
                "its order is {bytes} bytes, and the farm takes {DEMAND_BYTES}: give its trail less memory or fewer arguments"
            ));
        }
        Ok(value)
    }

    /// The outcome, when it is the end.
    async fn take_in(&mut self, said: Said) -> Option<Outcome> {
        match said {
            Said::Granted(grant) => {
                self.grant = Some(grant);
                for said in std::mem::take(&mut self.early) {
                    if let Some(outcome) = self.hear(said).await {
                        return Some(outcome);
                    }
                }
                None
            }
            Said::Happened(..) | Said::Ended(..) | Said::Unreadable(..) if self.grant.is_none() => {
                self.early.push(said);
                None
            }
            other => self.hear(other).await,
        }
    }

    async fn hear(&mut self, said: Said) -> Option<Outcome> {
        match said {
            Said::Granted(_) => None,
            Said::Happened(host, pack) => {
                if self.is_ours(&host) {
                    self.happened(pack).await;
                }
                None
            }
            Said::Ended(host, _) if !self.is_ours(&host) => None,
            Said::Ended(host, end) => Some(self.ended(&host, end).await),
            Said::Unreadable(host, _) if !self.is_ours(&host) => None,
            Said::Unreadable(host, why) => {
                let cause = format!("what {host} said of the session cannot be read: {why}");
                Some(self.lost(cause).await)
            }
            Said::Broken(why) => Some(self.lost(why).await),
        }
    }

    /// How a session went that its host has ended.
    async fn ended(&mut self, host: &HostName, end: End) -> Outcome {
        let end = match end {
            End::Large(blob) => match self.large(&blob).await {
                Ok(end) => end,
                Err(why) => return self.lost(format!("its end cannot be read: {why}")).await,
            },
            end => end,
        };
        match end {
            End::Large(_) => self.lost("its end is none".to_owned()).await,
            End::Lost { cause } => self.lost(cause).await,
            End::Settled { outcome, items } => {
                if let Some(damage) = self.damaged.take() {
                    return self.lost(damage).await;
                }
                // A pass is one of every step, each told.
                let steps = self.order.trail.all_steps();
                let untold = steps
                    .filter(|step| !self.passed.contains(&step.index))
                    .count();
                if outcome.is_passed() && untold > 0 {
                    let cause =
                        format!("{host} calls it passed and told nothing of {untold} steps");
                    return self.lost(cause).await;
                }
                if self.taken == items {
                    self.start_if_not().await;
                    return outcome;
                }
                let (taken, missing) = (self.taken, items.saturating_sub(self.taken));
                let cause =
                    format!("{missing} of {items} events of {host} are missing after {taken}");
                self.lost(cause).await
            }
        }
    }

    /// What a blob has in it.
    async fn large<T: DeserializeOwned>(&self, blob: &Blob) -> Result<T, String> {
        let content = bundle::get(&self.inner.link, blob, FILE_BYTES).await;
        let content = content.map_err(|error| in_one_line(&error))?;
        serde_json::from_slice(&content).map_err(|error| error.to_string())
    }

    /// Whether that is the host that the session was granted to: the grant comes first.
    fn is_ours(&self, host: &HostName) -> bool {
        self.grant
            .as_ref()
            .is_some_and(|grant| grant.device.host == *host)
    }

    async fn happened(&mut self, pack: Pack) {
        let known = self.taken.saturating_sub(pack.first);
        if pack.first > self.taken {
            // Told at the end, by the count.
            return;
        }
        for item in pack
            .items
            .into_iter()
            .skip(usize::try_from(known).unwrap_or(usize::MAX))
        {
            self.taken += 1;
            let item = match item {
                Item::Large(blob) => match self.large(&blob).await {
                    Ok(item) => item,
                    Err(why) => {
                        self.damaged = Some(format!("an event of it cannot be read: {why}"));
                        continue;
                    }
                },
                item => item,
            };
            match item {
                Item::Event { at, event } => {
                    // How a session ended the run alone says.
                    let is_hosts = !matches!(
                        event,
                        RunEvent::SessionFinished { .. } | RunEvent::SessionWillRetry { .. }
                    );
                    let starts = matches!(event, RunEvent::SessionStarted { .. });
                    if is_hosts
                        && starts != self.started
                        && event.session() == Some(&self.order.session)
                    {
                        self.started |= matches!(event, RunEvent::SessionStarted { .. });
                        if let RunEvent::StepFinished { step, outcome, .. } = &event
                            && outcome.is_passed()
                        {
                            self.passed.insert(*step);
                        }
                        self.first.get_or_insert(at);
                        self.last = Some(at);
                        self.output.record_at(event, at).await;
                    }
                }
                Item::File {
                    step,
                    kind,
                    name,
                    shared,
                    content,
                } => match bundle::get(&self.inner.link, &content, FILE_BYTES).await {
                    Ok(bytes) => {
                        let bytes = bytes.to_vec();
                        let artifact = NewArtifact {
                            session: self.order.session.clone(),
                            step,
                            kind,
                            name,
                            content: if shared {
                                ArtifactContent::Shared(bytes)
                            } else {
                                ArtifactContent::Bytes(bytes)
                            },
                        };
                        self.output.save(artifact).await;
                    }
                    Err(error) => self.not_kept(&name, &error),
                },
                Item::Lost(what) => self.not_kept("a file", &what),
                Item::Large(_) => self.damaged = Some("an event of it is none".to_owned()),
            }
        }
    }

    fn not_kept(&self, what: &str, why: &dyn std::fmt::Display) {
        let session = &self.order.session;
        tracing::warn!(%session, what, %why, "a host could not hand this over");
    }

    /// The session was lost, so that another may take its place.
    async fn lost(&mut self, cause: String) -> Outcome {
        self.start_if_not().await;
        host_failed(cause)
    }

    /// A session that was granted a device and never said so has a start all the same.
    async fn start_if_not(&mut self) {
        let Some(grant) = self.grant.as_ref().filter(|_| !self.started) else {
            return;
        };
        let mut device = grant.info.clone();
        device.id = grant.device.public();
        let mut planned = self.order.planned.clone();
        planned.device = Some(device.id.clone());
        self.started = true;
        self.output
            .record(RunEvent::SessionStarted {
                session: self.order.session.clone(),
                planned,
                attempt: self.order.attempt,
                device,
            })
            .await;
    }
}

impl Inner {
    fn avoid(&self, session: &SessionId, device: DeviceKey, is_host: bool) {
        let avoid = self.avoid.lock();
        let mut avoid = avoid.unwrap_or_else(std::sync::PoisonError::into_inner);
        let avoid = avoid.entry(base(session).to_owned()).or_default();
        if is_host {
            avoid.hosts.push(device.host.clone());
        }
        avoid.devices.push(device);
    }
}

/// Who carries the run on in our place, once somebody does.
async fn taken(alive: &mut watch::Receiver<Alive>) -> String {
    match alive
        .wait_for(|alive| matches!(alive, Alive::Taken(_)))
        .await
        .as_deref()
    {
        Ok(Alive::Taken(by)) => by.clone(),
        Ok(Alive::Until(_)) | Err(_) => "the run has ended".to_owned(),
    }
}

/// Ends at a moment; never without one.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A session's name without its attempt.
fn base(session: &SessionId) -> &str {
    session.0.split('.').next().unwrap_or(&session.0)
}

fn cancelled(stop: &SessionStop) -> Outcome {
    Outcome::Cancelled { by: stop.cause() }
}

/// What no host could carry out.
const fn unfit(cause: String) -> Outcome {
    Outcome::Infrastructure {
        blame: Blame::Configuration,
        cause,
        hint: None,
    }
}

fn host_failed(cause: String) -> Outcome {
    Outcome::Infrastructure {
        blame: Blame::Host,
        cause,
        hint: None,
    }
}
