//! Keeps what happened for the live report.

use std::sync::Arc;

use packtrain_engine::Sink;
use packtrain_model::Entry;

use super::Followed;

/// Tells the live report of each event.
pub(super) struct Follow(Arc<Followed>);

impl Follow {
    pub(super) const fn new(run: Arc<Followed>) -> Self {
        Self(run)
    }
}

impl Sink for Follow {
    fn name(&self) -> &'static str {
        "live report"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        let line = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
        self.0.keep(entry, line.len());
        Ok(())
    }

    fn on_dropped(&mut self, _: u64) -> Result<(), String> {
        self.0.lean_on_journal();
        Ok(())
    }
}
