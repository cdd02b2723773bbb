//! One session on the farm, from asking for it to its end.

use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use chrono::Utc;
use packtrain_engine::{
    ArtifactContent, DeviceRequirement, SessionOrder, SessionOutput, SessionStop,
};
use packtrain_model::{Blame, Failure, Outcome, PlannedSession, RunEvent, SessionId};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Inner;
use super::router::{Dated, HostUpdate, SessionUpdate};
use super::timeline::SessionTimeline;
use super::turns::Turn;
use crate::bundle;
use crate::link::in_one_line;
use crate::live::at;
use crate::names;
use crate::wire::{Blob, Demand, DeviceKey, End, Grant, HostName, Item, OrderedDemand, Pack};

/// How much longer than it may take a session may be under way.
const OVERDUE_GRACE: Duration = Duration::from_secs(300);
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
    let mut said = inner.router.listen(&order.session).await;
    let mut session = Session {
        inner,
        order,
        output,
        grant: None,
        early: Vec::new(),
        taken: 0,
        damaged: None,
        told: SessionTimeline::default(),
        is_given_up: false,
        started: false,
        was_aside: Vec::new(),
    };
    let mut outcome = session.live(&mut said, &stop, turn).await;
    if let Some(grant) = &session.grant {
        let host = &grant.device.host;
        inner.learn_of_sources(&session.order, host, &session.was_aside, &mut outcome);
    }
    // Who was asleep hears first what was said to another process of the run, and then of that process.
    tokio::select! {
        () = inner.certain() => {}
        () = stop.token().cancelled() => {}
    }
    inner.router.leave(&session.order.session).await;
    if session.is_given_up {
        session.output.took(session.told.waited());
        inner.give_up(&session.order.session);
    } else {
        session.output.took(session.told.took());
    }
    if let (Outcome::Infrastructure { blame, .. }, Some(grant)) = (&outcome, &session.grant)
        && !blame.is_nobodys()
    {
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
    /// What hosts said before the grant arrived: a host may be faster than its broker.
    early: Vec<(HostName, HostUpdate)>,
    /// How many items of its packs were taken in.
    taken: u64,
    /// Why not all of what happened is known, if so.
    damaged: Option<String>,
    told: SessionTimeline,
    /// Whether it has no end and is not waited for any more: its device is to be taken back.
    is_given_up: bool,
    /// Whether the journal has its start.
    started: bool,
    /// The hosts that the run did without, and had tried it on, when it was asked for.
    was_aside: Vec<HostName>,
}

impl Session<'_> {
    async fn live(
        &mut self,
        said: &mut mpsc::Receiver<Dated>,
        stop: &SessionStop,
        turn: Turn,
    ) -> Outcome {
        if stop.token().is_cancelled() {
            return cancelled(stop);
        }
        let taken = self.inner.taken();
        let mut taken = std::pin::pin!(taken);
        let asked = tokio::select! {
            biased;
            _ = &mut taken => std::future::pending().await,
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
        let mut is_stopping = false;
        let options = &self.order.options;
        let longest = options.connect_timeout + options.timeout + OVERDUE_GRACE;
        let mut given_up = None;
        loop {
            if self.grant.is_some() && given_up.is_none() {
                given_up = Instant::now().checked_add(longest);
            }
            tokio::select! {
                biased;
                next = said.recv() => {
                    let Some((at, next)) = next else {
                        let why = self.inner.router.broken();
                        let why = why.unwrap_or_else(|| "this run cannot keep up with the farm".to_owned());
                        return self.give_up(why).await;
                    };
                    if let Some(at) = at {
                        self.told.said(at);
                    }
                    match self.take_in(next).await {
                        // The host knows that it was cancelled, and not why.
                        Some(Outcome::Cancelled { .. }) if stop.token().is_cancelled() => {
                            return cancelled(stop);
                        }
                        Some(Outcome::Cancelled { .. }) => {
                            let cause = "its run was stopped".to_owned();
                            return self.lost(Blame::RunLost, cause).await;
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
                    let cause = "its host did not report its end";
                    return self.give_up(cause.to_owned()).await;
                }
                by = &mut taken => {
                    // It is the other process's session now: this one has nothing to say of how it ends.
                    tracing::warn!(by, "the run was continued elsewhere");
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    /// Puts the demand where the broker finds it, once: an earlier process of the run may have.
    async fn ask(&mut self, mut turn: Turn) -> Result<(), Outcome> {
        turn.come().await;
        self.was_aside = self.inner.tried_aside(&self.order.session);
        let order = &self.order;
        let stored = self.inner.trail(&order.trail).await;
        let (trail, path) = stored.map_err(|cause| Outcome::broken(Blame::Host, cause))?;
        let value = self.demand(trail, path).map_err(|invalid| *invalid)?;
        let subject = names::demand(&order.run, &order.session);
        let permit = self.inner.demands.acquire().await;
        let put = self.inner.link.put_if(&subject, 0, value.into(), None);
        let mut put = std::pin::pin!(put);
        // It is on its way once it was polled: others follow, and no answer is awaited.
        let put = match futures::poll!(put.as_mut()) {
            Poll::Ready(put) => put,
            Poll::Pending => {
                drop(turn);
                put.await
            }
        };
        drop(permit);
        put.map(|_| ())
            .map_err(|error| Outcome::broken(Blame::Host, in_one_line(&error)))
    }

    /// The demand as it is written.
    ///
    /// # Errors
    /// When the order is none for a farm: asking again would not change that.
    fn demand(&self, trail: Blob, path: String) -> Result<Vec<u8>, Box<Outcome>> {
        let order = &self.order;
        let DeviceRequirement::Matching(on) = &order.requires else {
            let cause = "a session of the farm says what its device has to be";
            return Err(invalid(cause.to_owned(), None));
        };
        let mut bare = order.clone();
        // The trail travels by itself, once; secrets are sealed.
        bare.trail = Arc::clone(&self.inner.placeholder);
        bare.values.secrets.clear();
        if let Some(app) = &mut bare.cell.app_file {
            let place = self.inner.files.map(app);
            let stays = || format!("{} cannot be sent to hosts", app.display());
            *app = place.ok_or_else(|| invalid(stays(), None))?.into();
        }
        let base = base(&order.session);
        let avoid = self.inner.shared.lock().avoid.get(base).cloned();
        let avoid = avoid.unwrap_or_default();
        let demand = OrderedDemand {
            demand: Demand {
                on: on.clone(),
                spread: spread(&order.planned),
                own: order.planned.device.as_ref().and_then(DeviceKey::named),
                requeued: order.attempt.0 > 1,
                avoid: avoid.devices,
                avoid_hosts: avoid.hosts,
                at: Utc::now(),
            },
            order: bare,
            trail,
            path,
        };
        let value = serde_json::to_vec(&demand);
        let value = value.map_err(|error| invalid(error.to_string(), None))?;
        fits(value)
    }

    /// The outcome, when it is the end.
    async fn take_in(&mut self, said: SessionUpdate) -> Option<Outcome> {
        match said {
            SessionUpdate::Granted(grant) => {
                if !grant.replaces {
                    self.order.planned.device = Some(grant.device.public());
                }
                self.grant = Some(grant);
                self.told.granted();
                for (host, said) in std::mem::take(&mut self.early) {
                    if let Some(outcome) = self.hear(&host, said).await {
                        return Some(outcome);
                    }
                }
                None
            }
            SessionUpdate::Broken(why) => Some(self.give_up(why).await),
            SessionUpdate::Host(host, said) if self.grant.is_none() => {
                self.early.push((host, said));
                None
            }
            SessionUpdate::Host(host, said) => self.hear(&host, said).await,
        }
    }

    async fn hear(&mut self, host: &HostName, said: HostUpdate) -> Option<Outcome> {
        // Another than the session was granted to has no say: the grant comes first.
        if self.grant.as_ref()?.device.host != *host {
            return None;
        }
        match said {
            HostUpdate::Happened(pack) => {
                self.happened(pack).await;
                None
            }
            HostUpdate::Ended(end) => Some(self.ended(host, end).await),
            HostUpdate::Unreadable(why) => {
                let cause = format!("invalid message from {host} about the session: {why}");
                Some(self.give_up(cause).await)
            }
        }
    }

    /// How a session went that its host has ended.
    async fn ended(&mut self, host: &HostName, end: End) -> Outcome {
        let end = match end {
            End::Large(blob) => self.large(&blob).await,
            end => Ok(end),
        };
        let end = end.unwrap_or_else(|why| End::Lost {
            blame: Blame::Host,
            cause: format!("its end cannot be read: {why}"),
        });
        match end {
            End::Large(_) => {
                let cause = "malformed end record".to_owned();
                self.lost(Blame::Host, cause).await
            }
            End::Lost { blame, cause } => self.lost(blame, cause).await,
            End::Settled { mut outcome, items } => {
                self.name(&mut outcome);
                if let Some(damage) = self.damaged.take() {
                    return self.lost(Blame::Host, damage).await;
                }
                let (taken, missing) = (self.taken, items.saturating_sub(self.taken));
                let cause = match self.told.judge(outcome, &self.order.trail) {
                    Ok(outcome) if taken == items => {
                        self.start_if_not().await;
                        return outcome;
                    }
                    Ok(_) => {
                        format!("{missing} of {items} events of {host} are missing after {taken}")
                    }
                    Err(why) => format!("{host} {why}"),
                };
                self.lost(Blame::Host, cause).await
            }
        }
    }

    /// What a blob has in it.
    async fn large<T: DeserializeOwned>(&self, blob: &Blob) -> Result<T, String> {
        let content = bundle::get(&self.inner.link, blob, FILE_BYTES).await;
        let content = content.map_err(|error| in_one_line(&error))?;
        serde_json::from_slice(&content).map_err(|error| error.to_string())
    }

    async fn happened(&mut self, pack: Pack) {
        let Some(known) = self.taken.checked_sub(pack.first) else {
            // Told at the end, by the count.
            return;
        };
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        for item in pack.items.into_iter().skip(known) {
            self.taken += 1;
            let item = match item {
                Item::Large(blob) => self.large(&blob).await,
                item => Ok(item),
            };
            let item = match item {
                Ok(item) => item,
                Err(why) => {
                    self.damaged = Some(format!("an event of it cannot be read: {why}"));
                    continue;
                }
            };
            match item {
                Item::Event(packtrain_wire::Dated { at, mut event }) => {
                    if let RunEvent::StepFinished { outcome, .. }
                    | RunEvent::ToolFinished { outcome, .. } = &mut *event
                    {
                        self.name(outcome);
                    }
                    // How a session ended the run alone says.
                    let is_hosts = !matches!(
                        *event,
                        RunEvent::SessionFinished { .. } | RunEvent::SessionWillRetry { .. }
                    );
                    let starts = matches!(*event, RunEvent::SessionStarted { .. });
                    self.as_planned(&mut event);
                    if is_hosts
                        && starts != self.started
                        && event.session() == Some(&self.order.session)
                    {
                        self.started |= starts;
                        self.told.happened(&event, at);
                        self.output.record_at(*event, at).await;
                    }
                }
                Item::File(file) => {
                    match bundle::get(&self.inner.link, &file.content, FILE_BYTES).await {
                        Ok(bytes) => {
                            let content = match file.shared {
                                Some(true) => ArtifactContent::Shared(bytes.to_vec()),
                                Some(false) | None => ArtifactContent::Bytes(bytes.to_vec()),
                            };
                            let artifact = file.artifact(&self.order.session, content);
                            self.output.save(artifact).await;
                        }
                        Err(error) => self.not_kept(&file.name, &error),
                    }
                }
                Item::Lost(what) => self.not_kept("a file", &what),
                Item::Large(_) | Item::Waits(_) | Item::Ended(_) => {
                    self.damaged = Some("a malformed event".to_owned());
                }
            }
        }
    }

    /// Says of a failure where it is in the run's own files, not in the host's copy of them.
    fn name(&self, outcome: &mut Outcome) {
        let trail = Path::new(self.order.trail.source.name());
        if let Outcome::Failed(Failure { at: Some(at), .. }) = outcome
            && let Some(name) = self.inner.files.name(at, trail)
        {
            *at = name;
        }
    }

    fn not_kept(&self, what: &str, why: &dyn std::fmt::Display) {
        let session = &self.order.session;
        tracing::warn!(%session, what, %why, "a host could not hand this over");
    }

    /// The session was lost, so that another may take its place.
    async fn lost(&mut self, blame: Blame, cause: String) -> Outcome {
        self.start_if_not().await;
        Outcome::broken(blame, cause)
    }

    /// The session has no end and is not waited for any more.
    async fn give_up(&mut self, cause: String) -> Outcome {
        self.is_given_up = true;
        self.lost(Blame::Host, cause).await
    }

    /// A session that was granted a device and never said so has a start all the same.
    async fn start_if_not(&mut self) {
        let Some(grant) = self.grant.as_ref().filter(|_| !self.started) else {
            return;
        };
        let mut device = grant.info.clone();
        device.id = grant.device.public();
        self.started = true;
        let mut started = self.order.started(device);
        self.as_planned(&mut started);
        self.output.record(started).await;
    }

    /// Says of a start what the run itself has planned, not what its host knows of that.
    fn as_planned(&self, event: &mut RunEvent) {
        if let RunEvent::SessionStarted { planned, .. } = event {
            planned.clone_from(&self.order.planned);
        }
    }
}

impl Inner {
    fn avoid(&self, session: &SessionId, device: DeviceKey, is_host: bool) {
        let mut shared = self.shared.lock();
        let avoid = shared.avoid.entry(base(session).to_owned()).or_default();
        if is_host {
            avoid.hosts.push(device.host.clone());
        }
        avoid.devices.push(device);
    }

    /// Learns where tool sources start. One that does not start on a host is the host's fault: it is tried
    /// on another, unless it starts nowhere, or there is no other.
    fn learn_of_sources(
        &self,
        order: &SessionOrder,
        host: &HostName,
        was_aside: &[HostName],
        outcome: &mut Outcome,
    ) {
        let mut shared = self.shared.lock();
        let starts = &mut shared.starts;
        match outcome {
            Outcome::Passed | Outcome::Failed(_) => starts.worked(order.planned.trail, host),
            Outcome::Infrastructure {
                blame, unstarted, ..
            } if *blame == Blame::Source && !unstarted.is_empty() => {
                let is_hosts = starts.failed(order.planned.trail, host, unstarted);
                if is_hosts && !was_aside.contains(host) {
                    *blame = Blame::Host;
                }
            }
            Outcome::Infrastructure { .. }
            | Outcome::Cancelled { .. }
            | Outcome::Skipped { .. }
            | Outcome::NeedsAgent { .. } => return,
        }
        let aside = starts.set_aside();
        if shared.advert.set_aside != aside {
            shared.say(|advert| advert.set_aside = aside);
        }
    }

    /// The hosts that the run does without, of those that lost the session before.
    fn tried_aside(&self, session: &SessionId) -> Vec<HostName> {
        let shared = self.shared.lock();
        let tried = shared.avoid.get(base(session)).into_iter();
        tried
            .flat_map(|avoid| &avoid.hosts)
            .filter(|host| shared.advert.set_aside.contains(host))
            .cloned()
            .collect()
    }

    /// Says that a session is not waited for any more, whatever its host still does.
    fn give_up(&self, session: &SessionId) {
        self.shared
            .lock()
            .say(|advert| advert.given_up.push(session.clone()));
    }
}

/// The word of sessions that each want a device of their own: of one trail in one configuration.
fn spread(planned: &PlannedSession) -> String {
    let kind = (planned.trail, &planned.cell, planned.repeat);
    serde_json::to_string(&kind).unwrap_or_default()
}

/// A demand, if the server takes one of its size.
fn fits(demand: Vec<u8>) -> Result<Vec<u8>, Box<Outcome>> {
    let bytes = demand.len();
    if bytes <= DEMAND_BYTES {
        return Ok(demand);
    }
    let cause = format!("order too large: {bytes} bytes, and the farm takes {DEMAND_BYTES}");
    let hint = "move the values of `--memory` and `--arg` into a file of the project";
    Err(invalid(cause, Some(hint.to_owned())))
}

/// A session's name without its attempt.
fn base(session: &SessionId) -> &str {
    session.0.split('.').next().unwrap_or(&session.0)
}

fn cancelled(stop: &SessionStop) -> Outcome {
    Outcome::Cancelled { by: stop.cause() }
}

/// The end of what no host could carry out, and why.
fn invalid(cause: String, hint: Option<String>) -> Box<Outcome> {
    Box::new(Outcome::Infrastructure {
        blame: Blame::Configuration,
        cause,
        hint,
        unstarted: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use packtrain_model::Cell;

    use super::*;

    #[test]
    fn sessions_of_a_trail_are_spread_by_their_configuration() {
        let planned = |value: &str, repeat| PlannedSession {
            trail: 1,
            cell: Cell([("locale".to_owned(), value.to_owned())].into()),
            repeat,
            ..PlannedSession::default()
        };
        let words = [
            PlannedSession::default(),
            planned("de", None),
            planned("fr", None),
            planned("fr", Some(1)),
            planned("fr", Some(2)),
        ]
        .map(|planned| spread(&planned));
        let different: BTreeSet<&String> = words.iter().collect();
        assert_eq!(different.len(), words.len(), "{words:?}");
        assert_eq!(spread(&planned("de", None)), words[1]);
    }

    #[test]
    fn an_order_that_is_too_large_is_told_by_its_size_and_with_what_to_do() {
        assert!(fits(vec![0; DEMAND_BYTES]).is_ok());
        let unfit = fits(vec![0; 1_200_000]).unwrap_err();
        let Outcome::Infrastructure { cause, hint, .. } = *unfit else {
            panic!("{unfit:?}")
        };
        assert_eq!(
            cause,
            "order too large: 1200000 bytes, and the farm takes 1000000"
        );
        assert!(hint.unwrap().contains("`--memory`"));
    }
}
