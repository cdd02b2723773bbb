//! Somebody who sees everything that is written on a farm, and when the server wrote it.

use std::sync::Arc;
use std::thread::JoinHandle;

use chrono::{DateTime, TimeDelta, Utc};
use packtrain_farm::follow::{Followed, Follower};
use packtrain_farm::link::{Credentials, FarmAddress, Link, Trust};
use packtrain_farm::names;
use packtrain_farm::store::Stored;
use packtrain_farm::wire::{Grant, HostName, Lease};
use packtrain_model::{RunId, SessionId};
use packtrain_tests::farm_lab::FarmLab;
use packtrain_tests::until;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// What was written on a farm since somebody looks.
pub(super) struct Witness {
    seen: Arc<Mutex<Vec<Stored>>>,
    stop: CancellationToken,
    looking: Option<JoinHandle<()>>,
}

/// A session that was given a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) host: HostName,
    /// The device's key, as it was written.
    pub(super) device: String,
    pub(super) run: RunId,
    pub(super) session: SessionId,
    /// When it was given the device.
    pub(super) from: DateTime<Utc>,
    /// When the device was free again, as far as that was seen.
    pub(super) to: Option<DateTime<Utc>>,
}

impl Witness {
    /// Looks at a farm that is set up. What was there before is seen, too.
    pub(super) fn of(farm: &FarmLab) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = CancellationToken::new();
        let address = FarmAddress {
            servers: farm.url().split(',').map(str::to_owned).collect(),
            credentials: Credentials::None,
            trust: Trust::System,
        };
        let (told, stopped) = (Arc::clone(&seen), stop.clone());
        let looking = std::thread::spawn(move || {
            actix_rt::System::new().block_on(async {
                let looking = look(address, &told);
                stopped.run_until_cancelled(looking).await;
            });
        });
        let witness = Self {
            seen,
            stop,
            looking: Some(looking),
        };
        // The broker's key is there.
        until(|| !witness.all().is_empty());
        witness
    }

    fn all(&self) -> Vec<Stored> {
        self.seen.lock().clone()
    }

    /// Who was given which device, in order.
    pub(super) fn held(&self) -> Vec<Held> {
        let all = self.all();
        let mut held: Vec<Held> = Vec::new();
        for stored in &all {
            let [_, names::LEASES, host, device] = stored.tokens()[..] else {
                continue;
            };
            let open = held.iter_mut().rev().find(|held| held.device == device);
            if let Some(open) = open.filter(|held| held.to.is_none_or(|to| to > stored.at)) {
                open.to = Some(stored.at);
            }
            let Ok(lease) = stored.read::<Lease>() else {
                continue;
            };
            let host: HostName = host.parse().unwrap();
            // A session that has its end holds nothing, whatever its lease says.
            let end = names::end(&lease.run, &lease.session, &host);
            let end = all.iter().find(|stored| stored.subject == end);
            held.push(Held {
                host,
                device: device.to_owned(),
                run: lease.run,
                session: lease.session,
                from: stored.at,
                to: end.map(|end| end.at),
            });
        }
        held
    }

    /// What was held at a moment.
    pub(super) fn held_at(&self, moment: DateTime<Utc>) -> Vec<Held> {
        let was_held = |held: &Held| held.from <= moment && held.to.is_none_or(|to| to > moment);
        self.held().into_iter().filter(was_held).collect()
    }

    /// How long after a moment everything was free that these held then; waits for it.
    #[track_caller]
    pub(super) fn free_after(
        &self,
        moment: DateTime<Utc>,
        whose: impl Fn(&Held) -> bool,
    ) -> TimeDelta {
        let held = || self.held_at(moment).into_iter().filter(|held| whose(held));
        until(|| held().all(|held| held.to.is_some()));
        let last = held().filter_map(|held| held.to).max();
        last.map_or(TimeDelta::zero(), |last| last - moment)
    }

    /// How long after a run was killed the last of its devices was free; waits for it. Until the farm
    /// knows, it goes on giving the run devices.
    #[track_caller]
    pub(super) fn run_free_after(&self, killed: DateTime<Utc>, run: &str) -> TimeDelta {
        let run = RunId(run.to_owned());
        let key = names::key_subject(names::LIVE, &names::run_key(&run));
        let is_gone =
            |stored: &Stored| stored.subject == key && stored.value.is_none() && stored.at > killed;
        until(|| self.all().iter().any(is_gone));
        let of_run = || self.held().into_iter().filter(|held| held.run == run);
        until(|| of_run().all(|held| held.to.is_some()));
        let last = of_run().filter_map(|held| held.to).max();
        last.map_or(TimeDelta::zero(), |last| last - killed)
    }

    /// How long after a moment somebody else came to lead; waits for it.
    #[track_caller]
    pub(super) fn led_after(&self, moment: DateTime<Utc>) -> TimeDelta {
        let key = names::key_subject(names::LIVE, names::BROKER);
        let leaders = || {
            let all = self.all().into_iter();
            let keys = all.filter(|stored| stored.subject == key);
            let who = keys.filter_map(|stored| {
                let advert: serde_json::Value = stored.read().ok()?;
                Some((stored.at, advert["incarnation"].as_str()?.to_owned()))
            });
            who.collect::<Vec<_>>()
        };
        let mut led = None;
        until(|| {
            let leaders = leaders();
            let before = leaders.iter().rev().find(|(at, _)| *at <= moment);
            let mut after = leaders.iter().filter(|(at, _)| *at > moment);
            led = after
                .find(|(_, who)| before.is_none_or(|(_, before)| before != who))
                .map(|(at, _)| *at);
            led.is_some()
        });
        led.unwrap() - moment
    }

    /// The grants of a run, in the order in which they were written.
    pub(super) fn grants(&self, run: &str) -> Vec<(DateTime<Utc>, String, Grant)> {
        let of_run = |stored: &Stored| {
            let ["r", of, "grant", session] = stored.tokens()[..] else {
                return None;
            };
            let is_of_run = names::decode(of)? == run;
            is_of_run.then_some((stored.at, names::decode(session)?, stored.read().ok()?))
        };
        self.all().iter().filter_map(of_run).collect()
    }

    /// What was written more than once of what may be written once: grants and ends.
    pub(super) fn doubled(&self) -> Vec<String> {
        let mut known: Vec<(String, u64)> = Vec::new();
        let mut doubled = Vec::new();
        for stored in self.all() {
            let session = match stored.tokens()[..] {
                ["r", run, "grant", session] => format!("grant of {run} {session}"),
                ["r", run, "end", session, _] => format!("end of {run} {session}"),
                _ => continue,
            };
            // Read again after the server was away.
            if known.contains(&(session.clone(), stored.sequence)) {
                continue;
            }
            if known.iter().any(|(known, _)| *known == session) {
                doubled.push(session.clone());
            }
            known.push((session, stored.sequence));
        }
        doubled
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(looking) = self.looking.take() {
            let _ = looking.join();
        }
    }
}

async fn look(address: FarmAddress, seen: &Mutex<Vec<Stored>>) {
    let link = Link::connect(&address, "witness").await.unwrap();
    let all = |bucket: &str| link.follow_keys(bucket, &[">".to_owned()]);
    let subjects = ["r.*.grant.*", "r.*.end.*.*"];
    let runs = link.follow_runs(subjects.map(str::to_owned).to_vec());
    tokio::join!(
        read(all(names::LIVE), seen),
        read(all(names::LEASES), seen),
        read(runs, seen)
    );
}

async fn read(mut follower: Follower, seen: &Mutex<Vec<Stored>>) {
    loop {
        if let Followed::Message(stored) = follower.next().await.unwrap() {
            seen.lock().push(stored);
        }
    }
}
