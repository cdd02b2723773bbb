//! Progress without a terminal: a line for each event worth one, on standard error.

use packtrain_engine::Sink;
use packtrain_model::Entry;
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps};

use crate::render::{self, Color};

/// Prints a line for each event.
pub struct Lines(EventLines);

impl Lines {
    /// A sink that says so much.
    pub fn new(color: Color, detail: Detail) -> Self {
        let layout = Layout {
            color: color.on_stderr(),
            ..Layout::default()
        };
        Self(EventLines::new(layout, detail, Timestamps::Elapsed))
    }
}

impl Sink for Lines {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        for line in self.0.lines(entry) {
            render::say(&line);
        }
        Ok(())
    }

    fn on_dropped(&mut self, count: u64) -> Result<(), String> {
        render::say(&not_shown(count));
        Ok(())
    }
}

/// What stands in place of events that were dropped.
pub(super) fn not_shown(count: u64) -> String {
    format!("... {count} events not shown: this terminal is too slow")
}
