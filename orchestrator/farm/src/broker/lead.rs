//! Leading: facts in, deeds out, until somebody else leads or it is stopped.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::BrokerAdvert;
use super::carry::carry_out;
use super::read;
use super::request;
use super::state::{Effect, Fact, State};
use crate::follow::{Followed, Follower};
use crate::link::{FarmError, Link};
use crate::live::{Alive, Liveness, at};
use crate::names;

/// How many deeds are under way at once.
const WINDOW: usize = 64;
/// How often runs are told their queue position, when it changes.
const STANDING_INTERVAL: Duration = Duration::from_millis(200);
/// Messages that were read and wait to be looked at; when full, reading waits.
const READ_AHEAD: usize = 1_024;
/// After connecting again, what happened meanwhile has been read within this.
const READING_GRACE: Duration = Duration::from_secs(4);

/// What is read. Leases come last, and are read only once the others are: so a grant without its lease
/// is one that was taken back, or was put since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Alive,
    Devices,
    Runs,
    Leases,
}

struct Leading {
    link: Link,
    incarnation: String,
    state: State,
    /// Deeds that wait for a place in the window; at most a few for each device and session.
    waiting: VecDeque<Effect>,
    /// Answers `None` when another broker turned out to lead.
    doing: FuturesUnordered<BoxFuture<'static, Result<Option<Fact>, FarmError>>>,
    /// What only lets time pass, and takes no place in the window.
    pausing: FuturesUnordered<BoxFuture<'static, Result<Fact, FarmError>>>,
    reading: JoinSet<()>,
    read: mpsc::Sender<(Source, Result<Followed, FarmError>)>,
    /// What has not been read up to now.
    behind: Vec<Source>,
    /// When to notify runs, if there may be news.
    tell_at: Option<Instant>,
    /// Notes and answers on their way: while the server is away, sending one waits.
    telling: FuturesUnordered<BoxFuture<'static, ()>>,
    answering: FuturesUnordered<BoxFuture<'static, ()>>,
}

/// Leads until the key is lost, or it is stopped; says why, in a few words.
pub(super) async fn lead(
    link: &Link,
    liveness: &Liveness,
    incarnation: &str,
    ttl: Duration,
    stop: &CancellationToken,
) -> Result<String, FarmError> {
    let (read, mut messages) = mpsc::channel(READ_AHEAD);
    let mut leading = Leading {
        link: link.clone(),
        incarnation: incarnation.to_owned(),
        state: State::new(),
        waiting: VecDeque::new(),
        doing: FuturesUnordered::new(),
        pausing: FuturesUnordered::new(),
        reading: JoinSet::new(),
        read,
        behind: vec![Source::Alive, Source::Devices, Source::Runs, Source::Leases],
        tell_at: None,
        telling: FuturesUnordered::new(),
        answering: FuturesUnordered::new(),
    };
    for source in [Source::Alive, Source::Devices, Source::Runs] {
        leading.follow(source);
    }
    let mut requests = link.listen(names::CTL_BROKER.to_owned()).await?;
    let mut alive = liveness.alive();
    let mut connected = link.connected();
    connected.mark_unchanged();
    // It may have been elected because the server was away, and then others are still on their way back.
    let since = *connected.borrow();
    let mut certain_at = since.map(|since| (Instant::now() + ttl).max(since + READING_GRACE));
    loop {
        let until = match alive.borrow_and_update().clone() {
            Alive::Until(until) => until,
            Alive::Taken(cause) => return Ok(cause),
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok("it was stopped".to_owned()),
            changed = alive.changed() => {
                if changed.is_err() {
                    return Ok("its key is not renewed any more".to_owned());
                }
            }
            () = sleep_until(until) => {
                return Ok("its key was not renewed in time".to_owned());
            }
            changed = connected.changed() => {
                // While the server was away keys could neither be renewed nor seen to be.
                let is_connected = connected.borrow().is_some();
                certain_at = is_connected.then(|| Instant::now() + ttl.max(READING_GRACE));
                leading.learn(Fact::DeathsAreCertain(false));
                if changed.is_err() {
                    return Ok("its connection is closed".to_owned());
                }
            }
            () = at(certain_at) => {
                certain_at = None;
                leading.learn(Fact::DeathsAreCertain(true));
            }
            // One round after the other, so that a run's last note is its newest.
            () = at(leading.tell_at), if leading.telling.is_empty() => leading.tell(),
            Some(()) = leading.telling.next() => {}
            Some(()) = leading.answering.next() => {}
            Some(done) = leading.doing.next() => {
                let Some(answer) = done? else {
                    return Ok("another broker leads".to_owned());
                };
                leading.learn(answer);
            }
            Some(over) = leading.pausing.next() => leading.learn(over?),
            Some((source, followed)) = messages.recv() => leading.take(source, followed?),
            Some(asked) = requests.next() => {
                if let Some(reply) = asked.reply {
                    // Before everything was read there is no answer; the caller tries again.
                    if leading.behind.is_empty() {
                        let answer = request::answer(&leading.state, &asked.payload);
                        let answer = leading.send(vec![(reply.to_string(), answer)]);
                        leading.answering.push(answer);
                    }
                }
            }
        }
        leading.fill_window();
    }
}

impl Leading {
    /// Reads a source from a task of its own: what it awaits must not be dropped halfway.
    fn follow(&mut self, source: Source) {
        let all = |bucket: &str| self.link.follow_keys(bucket, &[">".to_owned()]);
        let follower = match source {
            Source::Alive => {
                let keys = ["host.*".to_owned(), "run.*".to_owned()];
                self.link.follow_keys(names::LIVE, &keys)
            }
            Source::Devices => all(names::DEVICES),
            Source::Runs => {
                let subjects = ["r.*.demand.*", "r.*.grant.*", "r.*.end.*.*"];
                self.link.follow_runs(subjects.map(str::to_owned).to_vec())
            }
            Source::Leases => all(names::LEASES),
        };
        self.reading
            .spawn(read_on(source, follower, self.read.clone()));
    }

    fn take(&mut self, source: Source, followed: Followed) {
        match followed {
            Followed::Message(stored) => match read::fact(&stored) {
                Ok(Some(fact)) => self.learn(fact),
                Ok(None) => {}
                Err(error) => tracing::warn!(error, "left alone"),
            },
            Followed::CaughtUp => {
                self.behind.retain(|behind| *behind != source);
                match self.behind.as_slice() {
                    [Source::Leases] => self.follow(Source::Leases),
                    [] => self.learn(Fact::Leading),
                    _ => {}
                }
            }
        }
    }

    fn learn(&mut self, fact: Fact) {
        let deeds = self.state.apply(fact);
        let (pauses, deeds): (Vec<_>, Vec<_>) =
            (deeds.into_iter()).partition(|deed| matches!(deed, Effect::Wait(..)));
        for pause in pauses {
            self.pausing
                .push(Box::pin(carry_out(self.link.clone(), pause)));
        }
        self.waiting.extend(deeds);
        if self.behind.is_empty() && self.tell_at.is_none() {
            self.tell_at = Some(Instant::now() + STANDING_INTERVAL);
        }
    }

    fn fill_window(&mut self) {
        while self.doing.len() < WINDOW
            && let Some(deed) = self.waiting.pop_front()
        {
            let (link, incarnation) = (self.link.clone(), self.incarnation.clone());
            self.doing.push(Box::pin(async move {
                let answer = carry_out(link.clone(), deed).await?;
                let leads = !is_unexpected(&answer) || still_leads(&link, &incarnation).await?;
                Ok(leads.then_some(answer))
            }));
        }
    }

    /// Tells runs where they stand, if that changed.
    fn tell(&mut self) {
        self.tell_at = None;
        let notes = self.state.tell().into_iter().map(|standing| {
            let note = serde_json::to_vec(&standing).unwrap_or_default();
            (names::place(&standing.run), note)
        });
        let notes = self.send(notes.collect());
        self.telling.push(notes);
    }

    fn send(&self, messages: Vec<(String, Vec<u8>)>) -> BoxFuture<'static, ()> {
        let link = self.link.clone();
        Box::pin(async move {
            for (subject, message) in messages {
                link.tell(subject, message).await;
            }
        })
    }
}

async fn read_on(
    source: Source,
    mut follower: Follower,
    read: mpsc::Sender<(Source, Result<Followed, FarmError>)>,
) {
    loop {
        let followed = follower.next().await;
        let is_over = followed.is_err();
        // There is no receiver any more when the term is over.
        if read.send((source, followed)).await.is_err() || is_over {
            return;
        }
    }
}

/// Whether something else stood there than was expected: another broker may lead.
fn is_unexpected(answer: &Fact) -> bool {
    matches!(answer, Fact::Granted { device, granted, .. } if device != granted)
        || matches!(answer, Fact::LeaseRefused(..))
        || matches!(answer, Fact::TakenBack(seen) if seen.lease.is_some())
}

/// Whether the broker's key still is this one's.
async fn still_leads(link: &Link, incarnation: &str) -> Result<bool, FarmError> {
    let subject = names::key_subject(names::LIVE, names::BROKER);
    let last = link.last(&subject).await?;
    let leader = last.and_then(|stored| stored.read::<BrokerAdvert>().ok());
    Ok(leader.is_some_and(|leader| leader.incarnation == incarnation))
}
