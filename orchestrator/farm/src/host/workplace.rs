//! Where sessions of a run are carried out on a host. The farm knows neither configuration nor tools;
//! the program does, and makes places of them.

use std::any::Any;
use std::sync::Arc;

use packtrain_drivers::BoxFuture;
use packtrain_engine::SessionHost;
use packtrain_model::RunId;

use crate::bundle::{Bundle, Secrets};
use crate::wire::Manifest;

/// What a place is made of.
#[derive(Debug)]
pub struct Opening {
    /// The run.
    pub run: RunId,
    /// What it needs.
    pub manifest: Manifest,
    /// Its files; they stay there for as long as the place has this.
    pub bundle: Bundle,
    /// What must not be shown, nor written down.
    pub secrets: Secrets,
}

/// Makes a place to work in for the sessions of one run.
pub trait Workplace: Send + Sync {
    /// Opens it. Called once per run and host; sessions of the run wait for it.
    ///
    /// # Errors
    /// A sentence; the run's sessions on this host end as infrastructure with it.
    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<OpenRun, String>>;
}

/// An open run.
pub struct OpenRun {
    /// What carries out its sessions, on the devices as this host names them.
    pub host: Arc<dyn SessionHost>,
    /// What is there for it. Dropped, it ends what was started and removes what was written, without
    /// waiting. No session is under way then.
    pub resources: Box<dyn Any + Send + Sync>,
}
