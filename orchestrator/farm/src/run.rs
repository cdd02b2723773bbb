//! The run's side: sessions are asked for, and what hosts say of them is what the engine's own sessions
//! would say.

mod files;
mod router;
mod session;
mod starts;
mod timeline;
mod turns;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use futures::StreamExt as _;
use packtrain_drivers::BoxFuture;
use packtrain_engine::{DeviceChange, SessionHost, SessionOrder, SessionOutput, SessionStop};
use packtrain_model::trail::Trail;
use packtrain_model::{Outcome, RunId};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

pub use self::files::Files;
use self::router::Router;
use self::starts::Starts;
use self::turns::Turns;
use crate::bundle::{self, Secrets};
use crate::follow::Followed;
use crate::link::{FarmError, Link, in_one_line};
use crate::live::{Alive, Liveness, Take};
use crate::names;
use crate::store::new_id;
use crate::wire::{
    Blob, Cancel, DeviceKey, HostAdvert, HostName, Manifest, QueuePosition, RunAdvert,
};

/// How many demands are written at a time.
const DEMANDS_IN_FLIGHT: usize = 64;

/// What a run on the farm is.
pub struct FarmRunOptions {
    /// The run.
    pub run: RunId,
    /// Who runs it: `ada@laptop`.
    pub owner: String,
    /// It waits until that many devices match; 1 at least.
    pub min_devices: u32,
    /// What must not be shown.
    pub secrets: Vec<(String, String)>,
    /// How long the run counts as alive without a message from it.
    pub ttl: Duration,
    /// Whether an earlier process of the run may have left sessions: it is waited for until the farm
    /// takes that for dead.
    pub resumed: bool,
}

/// Where a session was lost before.
#[derive(Debug, Clone, Default)]
struct Avoid {
    devices: Vec<DeviceKey>,
    hosts: Vec<HostName>,
}

/// A run on the farm: carries out sessions by asking for them. Cheap to clone.
#[derive(Clone)]
pub struct FarmHost(Arc<Inner>);

struct Inner {
    link: Link,
    run: RunId,
    files: Files,
    router: Router,
    /// What stands in orders for trails, which travel by themselves.
    placeholder: Arc<Trail>,
    demands: Semaphore,
    /// Held for moments only.
    shared: Mutex<Shared>,
    cancelled: AtomicBool,
    alive: watch::Receiver<Alive>,
    /// Whether an earlier process of the run may have left sessions.
    resumed: bool,
    standing: watch::Receiver<Option<QueuePosition>>,
    _tasks: Vec<AbortOnDropHandle<()>>,
}

/// What its sessions learn for each other.
struct Shared {
    turns: Turns,
    /// Trails that are stored, by the name of their files.
    trails: HashMap<String, (Arc<Trail>, Blob)>,
    /// Devices that lost a session, and hosts that did, by the session's place in the plan.
    avoid: HashMap<String, Avoid>,
    /// Where its tool sources start.
    starts: Starts,
    live: Option<Liveness>,
    advert: RunAdvert,
}

impl FarmHost {
    /// Begins a run on the farm: what hosts need of it is stored there.
    ///
    /// # Errors
    /// When the farm cannot be reached, does not allow it, or another process carries the run on.
    pub async fn begin(
        link: Link,
        options: FarmRunOptions,
        manifest: Manifest,
        files: Files,
    ) -> Result<Self, FarmError> {
        let run = options.run.clone();
        let advert = RunAdvert {
            incarnation: new_id(),
            owner: options.owner.clone(),
            min_devices: options.min_devices.max(1),
            done: false,
            stopping: false,
            given_up: Vec::new(),
            set_aside: Vec::new(),
        };
        if let Files::Collected(files) = &files {
            let uploaded = files.upload(&link).await;
            uploaded.map_err(|error| stored(&run, &error))?;
        }
        let manifest = serde_json::to_vec(&manifest).unwrap_or_default();
        let put = bundle::put(&link, manifest.into()).await;
        let manifest = put.map_err(|error| stored(&run, &error))?;
        let manifest = serde_json::to_vec(&manifest).unwrap_or_default();
        let key = names::encode(&run.0);
        link.put_key(names::MANIFESTS, &key, manifest.into())
            .await?;

        let (tell, standing) = watch::channel(None);
        let places = link.listen(names::place(&run)).await?;
        let mut tasks = vec![spawn(standings(places, tell))];
        if !options.secrets.is_empty() {
            let secrets = Secrets(options.secrets.clone());
            tasks.push(spawn(seal_to_hosts(link.clone(), run.clone(), secrets)));
        }
        let placeholder = Arc::new(placeholder());
        let router = Router::start(&link, &run);
        let live = take(&link, &run, &advert, &options).await?;
        Ok(Self(Arc::new(Inner {
            run,
            files,
            router,
            placeholder,
            demands: Semaphore::new(DEMANDS_IN_FLIGHT),
            cancelled: AtomicBool::new(false),
            alive: live.alive(),
            shared: Mutex::new(Shared {
                turns: Turns::default(),
                trails: HashMap::new(),
                avoid: HashMap::new(),
                starts: Starts::default(),
                live: Some(live),
                advert,
            }),
            resumed: options.resumed,
            standing,
            _tasks: tasks,
            link,
        })))
    }

    /// Where the run stands; `None` until the broker has said so.
    pub fn standing(&self) -> watch::Receiver<Option<QueuePosition>> {
        self.0.standing.clone()
    }

    /// Waits until somebody carries the run on in this process's place, and says who. From then on no
    /// session of it ends here.
    pub async fn until_taken(&self) -> String {
        self.0.taken().await
    }

    /// Who carries the run on in this process's place, if somebody does: then nothing of the run is this
    /// process's any more.
    pub fn taken(&self) -> Option<String> {
        match &*self.0.alive.borrow() {
            Alive::Taken(by) => Some(by.clone()),
            Alive::Until(_) => None,
        }
    }

    /// Ends the run on the farm, once its journal is whole: what is stored of it may go.
    pub async fn done(&self) {
        let (advert, live) = {
            let mut shared = self.0.shared.lock();
            shared.advert.done = true;
            (shared.advert.clone(), shared.live.take())
        };
        let key = names::encode(&self.0.run.0);
        let manifest = names::key_subject(names::MANIFESTS, &key);
        let taken = async {
            if let Some(last) = self.0.link.last(&manifest).await? {
                self.0
                    .link
                    .take_key(names::MANIFESTS, &key, last.sequence)
                    .await?;
            }
            Ok::<_, FarmError>(())
        };
        if let Err(error) = taken.await {
            tracing::debug!(%error, "the run's manifest stays for a day");
        }
        // Nothing renews the key any more, so that this is its last value.
        drop(live);
        let value = serde_json::to_vec(&advert).unwrap_or_default();
        let key = names::key_subject(names::LIVE, &names::run_key(&self.0.run));
        let told = async {
            let last = self.0.link.last(&key).await?;
            let revision = last.map_or(0, |last| last.sequence);
            let ttl = Some(crate::live::TTL_ALONE);
            self.0.link.put_if(&key, revision, value.into(), ttl).await
        };
        if let Err(error) = told.await {
            tracing::debug!(%error, "what the run left on the farm stays for a day");
        }
    }
}

impl SessionHost for FarmHost {
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        let inner = Arc::clone(&self.0);
        // Sessions are asked for in the order in which they were ordered.
        let turn = inner.shared.lock().turns.take();
        Box::pin(async move { session::carry_out(&inner, order, output, stop, turn).await })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        // Which device is there is the farm's affair.
        mpsc::channel(1).1
    }

    fn before(&self) -> Duration {
        let first = (self.0.resumed).then(|| self.0.router.first()).flatten();
        let since = first.and_then(|first| (Utc::now() - first).to_std().ok());
        since.unwrap_or_default()
    }
}

impl Inner {
    /// Says, once, that nothing more is to be begun and that what is under way is to end.
    async fn cancel(&self) {
        if !self.cancelled.swap(true, Ordering::Relaxed) {
            self.shared.lock().say(|advert| advert.stopping = true);
            // Quicker, and not certain to arrive.
            let cancel = Cancel {
                run: self.run.clone(),
            };
            let cancel = serde_json::to_vec(&cancel).unwrap_or_default();
            self.link.tell(names::cancel(&self.run), cancel).await;
        }
    }

    /// Who carries the run on in our place, once somebody does.
    async fn taken(&self) -> String {
        let mut alive = self.alive.clone();
        let taken = alive.wait_for(|alive| matches!(alive, Alive::Taken(_)));
        let by = match taken.await.as_deref() {
            Ok(Alive::Taken(by)) => Some(by.clone()),
            Ok(Alive::Until(_)) | Err(_) => None,
        };
        match by {
            Some(by) => by,
            // The run has ended: it has no reader any more.
            None => std::future::pending().await,
        }
    }

    /// Waits until the run is certain to be this process's; for ever, when it is another's.
    async fn certain(&self) {
        let mut alive = self.alive.clone();
        let certain = alive.wait_for(|alive| match alive {
            Alive::Until(moment) => Instant::now() < *moment,
            Alive::Taken(_) => true,
        });
        let is_taken = matches!(certain.await.as_deref(), Ok(Alive::Taken(_)));
        if is_taken {
            std::future::pending::<()>().await;
        }
    }

    /// A trail, stored: by its content, and its path within the bundle.
    async fn trail(&self, trail: &Arc<Trail>) -> Result<(Blob, String), String> {
        let name = trail.source.name().to_owned();
        let path = self.files.map(Path::new(&name));
        let path = path.ok_or_else(|| format!("{name} cannot be sent to hosts"))?;
        let known = self.shared.lock().trails.get(&name).cloned();
        if let Some((_, blob)) = known.filter(|(known, _)| Arc::ptr_eq(known, trail)) {
            return Ok((blob, path));
        }
        let document = serde_json::to_vec(trail.as_ref()).map_err(|error| error.to_string())?;
        let put = bundle::put(&self.link, Bytes::from(document)).await;
        let blob = put.map_err(|error| in_one_line(&error))?;
        let stored = (Arc::clone(trail), blob.clone());
        self.shared.lock().trails.insert(name, stored);
        Ok((blob, path))
    }
}

impl Shared {
    /// Changes what is said of the run while it is alive.
    fn say(&mut self, change: impl FnOnce(&mut RunAdvert)) {
        change(&mut self.advert);
        if let Some(live) = &self.live {
            live.set(serde_json::to_vec(&self.advert).unwrap_or_default());
        }
    }
}

/// A trail that stands for another one.
fn placeholder() -> Trail {
    let parsed = Trail::parse("trail:\n- step: elsewhere\n", "elsewhere.trail.yaml");
    parsed.map_or_else(|_| Trail::empty(""), |parsed| parsed.trail)
}

fn stored(run: &RunId, error: &dyn std::error::Error) -> FarmError {
    FarmError::server(format!("store what run {run} needs"), &in_one_line(error))
}

/// Takes the run's key, or says who has it.
async fn take(
    link: &Link,
    run: &RunId,
    advert: &RunAdvert,
    options: &FarmRunOptions,
) -> Result<Liveness, FarmError> {
    let key = names::run_key(run);
    let subject = names::key_subject(names::LIVE, &key);
    let value = serde_json::to_vec(advert).unwrap_or_default();
    let begun = Instant::now();
    let mut changes = link.follow_keys(names::LIVE, std::slice::from_ref(&key));
    loop {
        let manifest = names::key_subject(names::MANIFESTS, &names::encode(&run.0));
        let (value, ttl) = (value.clone(), options.ttl);
        let live = Liveness::take(link, key.clone(), value, ttl, Take::Free, Some(manifest));
        if let Some(live) = live.await? {
            return Ok(live);
        }
        let holder = link.last(&subject).await?;
        let holder = holder.and_then(|last| last.read::<RunAdvert>().ok());
        let patience = options.ttl + Duration::from_secs(2);
        if !options.resumed || begun.elapsed() > patience {
            let owner = holder.map_or_else(|| "another process".to_owned(), |advert| advert.owner);
            return Err(FarmError::Taken(format!(
                "run {run} is being continued by {owner}"
            )));
        }
        // Until the key expires.
        let _ = tokio::time::timeout(patience, async {
            while let Ok(next) = changes.next().await {
                if matches!(next, Followed::Message(message) if message.value.is_none()) {
                    return;
                }
            }
        })
        .await;
    }
}

/// Seals the run's secrets to each host there is, and to each that comes.
async fn seal_to_hosts(link: Link, run: RunId, secrets: Secrets) {
    let mut hosts = link.follow_keys(names::LIVE, &["host.*".to_owned()]);
    let mut sealed = BTreeSet::new();
    loop {
        let message = match hosts.next().await {
            Ok(Followed::Message(message)) => message,
            Ok(Followed::CaughtUp) => continue,
            Err(error) => {
                tracing::warn!(%error, "secrets do not reach the farm's hosts");
                return;
            }
        };
        let tokens = message.tokens();
        let host = tokens.last().and_then(|name| name.parse::<HostName>().ok());
        let (Some(host), Ok(advert)) = (host, message.read::<HostAdvert>()) else {
            continue;
        };
        if !sealed.insert(advert.seal.clone()) {
            continue;
        }
        let written = match bundle::seal(&run, &secrets, &advert.seal) {
            Ok(letter) => {
                let key = names::secrets_key(&run, &host);
                let put = link.put_key(names::MANIFESTS, &key, letter.into()).await;
                put.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = written {
            tracing::warn!(%error, %host, "secrets do not reach a host");
        }
    }
}

async fn standings(mut places: async_nats::Subscriber, tell: watch::Sender<Option<QueuePosition>>) {
    while let Some(message) = places.next().await {
        if let Ok(standing) = serde_json::from_slice(&message.payload) {
            tell.send_replace(Some(standing));
        }
    }
}

fn spawn(work: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_trail_can_be_written_and_read() {
        let written = serde_json::to_vec(&placeholder()).unwrap();
        let read: Trail = serde_json::from_slice(&written).unwrap();
        assert_eq!(read.steps.len(), 1);
    }
}
