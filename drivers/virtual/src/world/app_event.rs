//! What happens to apps that a system writes to its log.

use crate::app::AppId;
use crate::world::World;

/// Something that happened to an app, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppEvent {
    /// It died.
    Crashed {
        /// Which.
        app: AppId,
        /// Its process.
        pid: u32,
    },
    /// It was found not to answer.
    Hung {
        /// Which.
        app: AppId,
    },
}

impl World {
    /// What happened since this was last asked.
    pub fn take_app_events(&mut self) -> Vec<AppEvent> {
        std::mem::take(&mut self.app_events)
    }
}
