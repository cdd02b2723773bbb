//! Where sessions of a run are carried out on a host. The farm knows neither configuration nor tools;
//! the program does, and makes places of them.

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
    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<Box<dyn OpenRun>, String>>;
}

/// An open run. Dropped, it is closed anyway, without waiting.
pub trait OpenRun: Send + Sync {
    /// What carries out its sessions, on the devices as this host names them.
    fn host(&self) -> Arc<dyn SessionHost>;

    /// Ends what was started for it and removes what was written. No session is under way.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}
