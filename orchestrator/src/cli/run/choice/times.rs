//! How long sessions took in an earlier run, by its report.json. What is answered depends on that file
//! and the plan alone, never on the machine: parts of a plan must fit together.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use packtrain_engine::{Plan, Planned};
use packtrain_model::Cell;
use serde::Deserialize;

use crate::exit::CliError;

#[derive(Deserialize)]
struct Report {
    trails: Vec<ReportedTrail>,
}

#[derive(Deserialize)]
struct ReportedTrail {
    path: String,
    sessions: Vec<ReportedSession>,
}

#[derive(Deserialize)]
struct ReportedSession {
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    cell: Cell,
    duration_ms: f64,
}

/// Recorded times.
pub(super) struct Times {
    pub(super) file: PathBuf,
    means: HashMap<Key, Mean>,
}

/// Trail, device or platform, and configuration; or a trail alone.
type Key = (String, Option<String>, Cell);

#[derive(Default, Clone, Copy)]
struct Mean {
    total: Duration,
    count: u32,
}

impl Mean {
    fn add(&mut self, time: Duration) {
        self.total = self.total.saturating_add(time);
        self.count += 1;
    }

    fn get(self) -> Option<Duration> {
        self.total.checked_div(self.count)
    }
}

impl Times {
    /// Reads a report.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub(super) fn read(file: PathBuf) -> Result<Self, CliError> {
        let refused = |error: &dyn std::error::Error| {
            CliError::misuse(format!("cannot read the times in {}", file.display()))
                .because(error)
                .hint(
                    "`--times` takes the report.json of an earlier run; without it sessions are \
                     divided by their number",
                )
        };
        let text = std::fs::read_to_string(&file).map_err(|error| refused(&error))?;
        let report: Report = serde_json::from_str(&text).map_err(|error| refused(&error))?;
        let mut means: HashMap<Key, Mean> = HashMap::new();
        for trail in report.trails {
            for session in trail.sessions {
                let Ok(took) = Duration::try_from_secs_f64(session.duration_ms / 1e3) else {
                    continue;
                };
                // One that never began says nothing.
                if took.is_zero() {
                    continue;
                }
                let device = session.device.unwrap_or_default();
                let platform = device.split('/').next().unwrap_or_default().to_owned();
                for key in keys(plain(&trail.path), device, platform, session.cell) {
                    means.entry(key).or_default().add(took);
                }
            }
        }
        Ok(Self { file, means })
    }

    /// How long a session takes, when that is known.
    pub(super) fn of(&self, plan: &Plan, planned: &Planned) -> Option<Duration> {
        if planned.skip.is_some() {
            return Some(Duration::ZERO);
        }
        let path = plain(plan.trails[planned.trail].source.name());
        // How many devices stand beside the first is up to the machine.
        let device = planned.devices.first()?;
        let platform = device.platform().to_string();
        let keys = keys(path, device.to_string(), platform, planned.cell.clone());
        keys.iter().find_map(|key| self.means.get(key))?.get()
    }
}

/// By what times are known, the closest first.
fn keys(path: String, device: String, platform: String, cell: Cell) -> [Key; 3] {
    [
        (path.clone(), Some(device), cell.clone()),
        (path.clone(), Some(platform), cell),
        (path, None, Cell::default()),
    ]
}

pub(super) fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
