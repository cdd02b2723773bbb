//! What reached the devices of a fleet, written down as it arrives, for whoever has to know what really
//! came over the wire.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::Serialize;

use crate::faults::Event;

/// A file that gets a line of JSON for everything that reaches a device.
#[derive(Debug)]
pub struct Arrivals {
    file: Mutex<File>,
}

/// A line of it.
#[derive(Serialize)]
struct Line<'a> {
    /// When, in microseconds since 1970 by this computer's clock.
    at_us: u128,
    /// The device's name in its fleet.
    device: &'a str,
    /// What kind of event, as rules of faults name it.
    kind: &'a str,
    /// The command line, the route, the address ...
    what: &'a str,
}

impl Arrivals {
    /// Lines are appended to what the file has.
    ///
    /// # Errors
    /// When it cannot be opened or made.
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self {
            file: Mutex::new(file),
        })
    }

    /// Writes an event down before anything comes of it.
    pub(crate) fn note(&self, device: &str, event: Event<'_>) {
        let mut file = self.file.lock();
        // Under the lock, so that lines stand in the order of their times.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let (kind, what) = event.parts();
        let line = Line {
            at_us: now.unwrap_or_default().as_micros(),
            device,
            kind,
            what,
        };
        if let Ok(mut line) = serde_json::to_vec(&line) {
            line.push(b'\n');
            // A full disk must not break the devices; that lines are missing is seen by who counts.
            let _ = file.write_all(&line);
        }
    }
}
