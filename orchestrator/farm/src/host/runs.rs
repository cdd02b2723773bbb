//! The runs that sessions of this host belong to: each is opened once and closed when it is over.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use packtrain_engine::SessionHost;
use packtrain_model::RunId;
use packtrain_model::trail::Trail;
use tokio::sync::OnceCell;

use super::workplace::{OpenRun, Opening, Workplace};
use crate::bundle::{self, CacheLimits, SealKey, Secrets};
use crate::follow::Followed;
use crate::link::Link;
use crate::names;
use crate::wire::{Blob, HostName, Manifest};

/// A manifest or a trail larger than this is none.
const DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;
/// How long the secrets of a run may take to come.
const SECRETS_TIMEOUT: Duration = Duration::from_secs(15);

/// What the runs are opened with.
pub(super) struct Opener {
    pub(super) link: Link,
    pub(super) host: HostName,
    pub(super) seal: SealKey,
    pub(super) cache: PathBuf,
    pub(super) workplace: Arc<dyn Workplace>,
}

/// The open runs.
pub(super) struct Runs {
    opener: Opener,
    open: Mutex<HashMap<RunId, Arc<Opened>>>,
}

/// A run that is being opened, or was.
type Opened = OnceCell<Result<Arc<Place>, String>>;

/// A run, opened.
pub(super) struct Place {
    run: Box<dyn OpenRun>,
    pub(super) folder: PathBuf,
    pub(super) secrets: Secrets,
    trails: Mutex<HashMap<String, Arc<Trail>>>,
}

impl Runs {
    pub(super) fn new(opener: Opener) -> Self {
        Self {
            opener,
            open: Mutex::default(),
        }
    }

    /// The place of a run; opened by whoever asks first.
    pub(super) async fn place(&self, run: &RunId) -> Result<Arc<Place>, String> {
        let cell = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(open.entry(run.clone()).or_default())
        };
        cell.get_or_init(|| self.opener.open(run)).await.clone()
    }

    /// Closes a run whose sessions have all ended.
    pub(super) async fn close(&self, run: &RunId) {
        let cell = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.remove(run)
        };
        let place = cell.and_then(|cell| cell.get().cloned());
        if let Some(Ok(place)) = place
            && let Ok(place) = Arc::try_unwrap(place)
        {
            place.run.close().await;
        }
    }

    /// Closes all runs.
    pub(super) async fn close_all(&self) {
        let runs: Vec<RunId> = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.keys().cloned().collect()
        };
        for run in runs {
            self.close(&run).await;
        }
    }
}

impl Opener {
    async fn open(&self, run: &RunId) -> Result<Arc<Place>, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let subject = names::key_subject(names::MANIFESTS, &names::encode(&run.0));
        let blob = self.link.last(&subject).await.map_err(|e| text(&e))?;
        let blob = blob.ok_or("the farm has no manifest of this run, or no longer")?;
        let blob: Blob = blob.read()?;
        let manifest = bundle::get(&self.link, &blob, DOCUMENT_BYTES).await;
        let manifest: Manifest = serde_json::from_slice(&manifest.map_err(|e| text(&e))?)
            .map_err(|error| format!("the run's manifest: {error}"))?;
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
        Ok(Arc::new(Place {
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
            let next = coming.next().await.map_err(|error| error.to_string())?;
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

impl Place {
    /// What carries out the run's sessions.
    pub(super) fn host(&self) -> Arc<dyn SessionHost> {
        self.run.host()
    }

    /// A trail of the run, under its path on this host.
    pub(super) async fn trail(
        &self,
        link: &Link,
        blob: &Blob,
        path: &str,
    ) -> Result<Arc<Trail>, String> {
        let known = |trails: &Mutex<HashMap<String, Arc<Trail>>>| {
            let trails = trails.lock().unwrap_or_else(PoisonError::into_inner);
            trails.get(&blob.digest).cloned()
        };
        if let Some(trail) = known(&self.trails) {
            return Ok(trail);
        }
        let place = bundle::inside(&self.folder, path).map_err(|error| error.to_string())?;
        let document = bundle::get(link, blob, DOCUMENT_BYTES).await;
        let document = document.map_err(|error| error.to_string())?;
        let mut document: serde_json::Value =
            serde_json::from_slice(&document).map_err(|error| format!("the trail: {error}"))?;
        if let Some(document) = document.as_object_mut() {
            document.insert("name".to_owned(), place.display().to_string().into());
        }
        let trail: Trail =
            serde_json::from_value(document).map_err(|error| format!("the trail: {error}"))?;
        let trail = Arc::new(trail);
        let mut trails = self.trails.lock().unwrap_or_else(PoisonError::into_inner);
        trails.insert(blob.digest.clone(), Arc::clone(&trail));
        Ok(trail)
    }
}
