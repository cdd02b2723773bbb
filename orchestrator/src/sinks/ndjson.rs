//! `--format json`: every event as a line of JSON on standard output.

use std::io::Write;

use packtrain_engine::Sink;
use packtrain_model::Entry;

/// Prints events for programs.
pub struct Ndjson;

impl Sink for Ndjson {
    fn name(&self) -> &'static str {
        "standard output"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        let mut line = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(&line)
            .and_then(|()| stdout.flush())
            .map_err(|error| error.to_string())
    }

    fn on_dropped(&mut self, _: u64) -> Result<(), String> {
        // Readers see the gap in `seq`.
        Ok(())
    }
}
