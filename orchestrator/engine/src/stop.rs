//! How a run is called off, and by whom.

use std::sync::{Arc, OnceLock};

use packtrain_model::CancelCause;
use tokio_util::sync::CancellationToken;

/// Stops a run, and knows who did. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    token: CancellationToken,
    cause: Arc<OnceLock<CancelCause>>,
}

impl Stop {
    /// Asks the run to stop: what is under way is cancelled, devices are released.
    pub fn request(&self, cause: CancelCause) {
        let _ = self.cause.set(cause);
        self.token.cancel();
    }

    /// Cancelled once somebody asked to stop.
    pub const fn token(&self) -> &CancellationToken {
        &self.token
    }

    pub(crate) fn cause(&self) -> CancelCause {
        self.cause.get().copied().unwrap_or(CancelCause::Interrupt)
    }
}
