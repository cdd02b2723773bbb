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
    by_device: HashMap<(String, String, Cell), Mean>,
    by_platform: HashMap<(String, String, Cell), Mean>,
    by_trail: HashMap<String, Mean>,
}

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
        Ok(Self::of_report(file, report))
    }

    fn of_report(file: PathBuf, report: Report) -> Self {
        let mut times = Self {
            file,
            by_device: HashMap::new(),
            by_platform: HashMap::new(),
            by_trail: HashMap::new(),
        };
        for trail in report.trails {
            for session in trail.sessions {
                let Ok(took) = Duration::try_from_secs_f64(session.duration_ms / 1e3) else {
                    continue;
                };
                // One that never began says nothing.
                if took.is_zero() {
                    continue;
                }
                let path = plain(&trail.path);
                let device = session.device.unwrap_or_default();
                let platform = device.split('/').next().unwrap_or_default().to_owned();
                let cell = session.cell;
                let key = (path.clone(), device, cell.clone());
                times.by_device.entry(key).or_default().add(took);
                let key = (path.clone(), platform, cell);
                times.by_platform.entry(key).or_default().add(took);
                times.by_trail.entry(path).or_default().add(took);
            }
        }
        times
    }

    /// How long a session takes, when that is known.
    pub(super) fn of(&self, plan: &Plan, planned: &Planned) -> Option<Duration> {
        if planned.skip.is_some() {
            return Some(Duration::ZERO);
        }
        let path = plain(plan.trails[planned.trail].source.name());
        // How many devices stand beside the first is up to the machine.
        let device = planned.devices.first()?;
        let key = (path.clone(), device.to_string(), planned.cell.clone());
        let known = self.by_device.get(&key).or_else(|| {
            let platform = device.platform().as_str().to_owned();
            self.by_platform
                .get(&(path.clone(), platform, planned.cell.clone()))
        });
        known.or_else(|| self.by_trail.get(&path))?.get()
    }
}

fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
