//! The runs that sessions of this host belong to: each is opened once and closed when it is over.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use packtrain_model::RunId;
use packtrain_model::trail::Trail;
use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::workplace::{OpenRun, Opening, Workplace};
use crate::bundle::{self, CacheLimits, SealKey, Secrets};
use crate::follow::Followed;
use crate::link::{Link, in_one_line};
use crate::wire::{Blob, HostName, Protocol};
use crate::{names, query};

/// A trail larger than this is none.
const DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;
/// How long the secrets of a run may take to come.
const SECRETS_TIMEOUT: Duration = Duration::from_secs(15);

/// The open runs.
pub(super) struct Runs {
    opener: Arc<Opener>,
    open: HashMap<RunId, Opened>,
}

/// What runs are opened with.
pub(super) struct Opener {
    pub(super) link: Link,
    pub(super) host: HostName,
    pub(super) seal: SealKey,
    pub(super) cache: PathBuf,
    pub(super) workplace: Arc<dyn Workplace>,
}

/// A run that is opened by the first who waits for it. What goes wrong is shared, too.
pub(super) type Opened = Shared<BoxFuture<'static, Result<Arc<OpenedRun>, String>>>;

/// A run, opened.
pub(super) struct OpenedRun {
    pub(super) run: OpenRun,
    pub(super) folder: PathBuf,
    pub(super) secrets: Secrets,
    trails: Mutex<HashMap<String, Arc<Trail>>>,
}

impl Runs {
    pub(super) fn new(opener: Opener) -> Self {
        Self {
            opener: Arc::new(opener),
            open: HashMap::new(),
        }
    }

    /// The place of a run. One that could not be opened is opened again: most of what goes wrong passes.
    pub(super) fn place(&mut self, run: &RunId) -> Opened {
        let known = self.open.get(run);
        // Asked, and not only looked at: who waited for it may have gone before it failed.
        let has_failed = |known: &Opened| matches!(known.clone().now_or_never(), Some(Err(_)));
        if let Some(known) = known.filter(|known| !has_failed(known)) {
            return known.clone();
        }
        let (opener, id) = (Arc::clone(&self.opener), run.clone());
        // A task of its own goes on, and may panic, whoever waits for it.
        let opening = tokio::spawn(async move { opener.open(&id).await });
        let opening = AbortOnDropHandle::new(opening);
        let opened = opening.map(|opened| opened.unwrap_or_else(|error| Err(in_one_line(&error))));
        let opened = opened.boxed().shared();
        self.open.insert(run.clone(), opened.clone());
        opened
    }

    /// Closes a run whose sessions have all ended. A session that is just being left holds its place for
    /// a moment longer, and then it is closed as the last of them lets it go.
    pub(super) fn close(&mut self, run: &RunId) {
        self.open.remove(run);
    }
}

impl Opener {
    async fn open(&self, run: &RunId) -> Result<Arc<OpenedRun>, String> {
        let text = |error: &dyn std::error::Error| in_one_line(error);
        let manifest = query::manifest(&self.link, run).await;
        let manifest = manifest.map_err(|error| text(&error))?;
        let manifest =
            manifest.ok_or("the farm has no manifest of this run, or no longer has it")?;
        if !Protocol::CURRENT.works_with(manifest.protocol) {
            return Err(format!(
                "the run has version {} of the farm's protocol and this host {}: update the older one",
                manifest.protocol,
                Protocol::CURRENT
            ));
        }
        let limits = CacheLimits::default();
        let bundle = bundle::materialise(&manifest, &self.link, &self.cache, limits).await;
        let bundle = bundle.map_err(|error| text(&error))?;
        let secrets = if manifest.secrets.is_empty() {
            Secrets::default()
        } else {
            let coming = tokio::time::timeout(SECRETS_TIMEOUT, self.secrets(run)).await;
            coming.map_err(|_| "the run's secrets did not come to this host in time")??
        };
        let folder = bundle.path().to_owned();
        let opening = Opening {
            run: run.clone(),
            manifest,
            bundle,
            secrets: secrets.clone(),
        };
        let run = self.workplace.open(opening).await?;
        Ok(Arc::new(OpenedRun {
            run,
            folder,
            secrets,
            trails: Mutex::default(),
        }))
    }

    /// The run's secrets, which it seals to this host once it knows that there is one.
    async fn secrets(&self, run: &RunId) -> Result<Secrets, String> {
        let key = names::secrets_key(run, &self.host);
        let mut coming = self.link.follow_keys(names::MANIFESTS, &[key]);
        loop {
            let next = coming.next().await.map_err(|error| in_one_line(&error))?;
            let Followed::Message(message) = next else {
                continue;
            };
            let Some(sealed) = message.value else {
                continue;
            };
            // What was sealed to an earlier process of this host cannot be opened: another comes.
            match self.seal.open(run, &sealed) {
                Ok(secrets) => return Ok(secrets),
                Err(error) => tracing::debug!(%error, "secrets"),
            }
        }
    }
}

impl OpenedRun {
    /// A trail of the run, under its path on this host.
    pub(super) async fn trail(
        &self,
        link: &Link,
        blob: &Blob,
        path: &str,
    ) -> Result<Arc<Trail>, String> {
        let trails = || self.trails.lock();
        if let Some(trail) = trails().get(&blob.digest) {
            return Ok(Arc::clone(trail));
        }
        let place = bundle::inside(&self.folder, path).map_err(|error| in_one_line(&error))?;
        let document = bundle::get(link, blob, DOCUMENT_BYTES).await;
        let document = document.map_err(|error| in_one_line(&error))?;
        let mut document: serde_json::Value =
            serde_json::from_slice(&document).map_err(|error| format!("the trail: {error}"))?;
        if let Some(document) = document.as_object_mut() {
            document.insert("name".to_owned(), place.display().to_string().into());
        }
        let trail: Trail =
            serde_json::from_value(document).map_err(|error| format!("the trail: {error}"))?;
        let trail = Arc::new(trail);
        trails().insert(blob.digest.clone(), Arc::clone(&trail));
        Ok(trail)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use packtrain_engine::{DeviceChange, SessionHost, SessionOrder, SessionOutput, SessionStop};
    use packtrain_model::Outcome;
    use tokio::sync::mpsc;

    use super::*;
    use crate::server::Role;
    use crate::server::tests::Farm;
    use crate::wire::Manifest;

    /// Counts what is open.
    #[derive(Clone, Default)]
    struct Places(Arc<AtomicUsize>);

    struct Open(Arc<AtomicUsize>);

    impl Workplace for Places {
        fn open(&self, _: Opening) -> BoxFuture<'static, Result<OpenRun, String>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let (host, resources) = (Arc::new(Nothing), Box::new(Open(Arc::clone(&self.0))));
            Box::pin(async move { Ok(OpenRun { host, resources }) })
        }
    }

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    struct Nothing;

    impl SessionHost for Nothing {
        fn run(
            &self,
            _: SessionOrder,
            _: SessionOutput,
            _: SessionStop,
        ) -> BoxFuture<'static, Outcome> {
            Box::pin(async { Outcome::Passed })
        }

        fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
            mpsc::channel(1).1
        }
    }

    async fn publish(link: &Link, manifest: &Manifest) {
        let manifest = serde_json::to_vec(manifest).unwrap();
        let blob = bundle::put(link, manifest.into()).await.unwrap();
        let blob = serde_json::to_vec(&blob).unwrap();
        let put = link.put_key(names::MANIFESTS, "r1", blob.into()).await;
        put.unwrap();
    }

    #[tokio::test]
    async fn a_run_that_could_not_be_opened_is_opened_for_its_next_session_and_closed_with_its_last()
     {
        let farm = Farm::up().await;
        let link = farm.connect(Role::Broker, "farm").await;
        link.set_up(1).await.unwrap();
        let cache = tempfile::tempdir().unwrap();
        let places = Places::default();
        let mut runs = Runs::new(Opener {
            link: link.clone(),
            host: "mac-1".parse().unwrap(),
            seal: SealKey::generate(),
            cache: cache.path().to_owned(),
            workplace: Arc::new(places.clone()),
        });
        let open = || places.0.load(Ordering::Relaxed);
        let run = RunId("r1".to_owned());
        let refused = runs.place(&run).await.err().unwrap();
        assert!(refused.contains("no manifest"), "{refused}");

        let mut manifest = Manifest {
            run: run.clone(),
            protocol: Protocol(Protocol::CURRENT.0 + 2),
            files: std::collections::BTreeMap::new(),
            root: String::new(),
            config: None,
            sources: false,
            secrets: Vec::new(),
            resume: None,
        };
        publish(&link, &manifest).await;
        let refused = runs.place(&run).await.err().unwrap();
        assert!(refused.contains("update the older one"), "{refused}");

        manifest.protocol = Protocol(Protocol::CURRENT.0 - 1);
        publish(&link, &manifest).await;
        let place = runs.place(&run).await.unwrap();
        assert!(Arc::ptr_eq(&place, &runs.place(&run).await.unwrap()));
        assert_eq!(open(), 1);

        // A session that is just ending has it still.
        runs.close(&run);
        assert_eq!(open(), 1);
        drop(place);
        assert_eq!(open(), 0);
    }
}
