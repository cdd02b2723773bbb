//! The attempts of a journal: where each ran, when, how far it came.

use std::collections::BTreeMap;

use packtrain_model::{Blame, Entry, Outcome, RunEvent};

use super::{DateTime, DeviceId, SessionId, StepIndex, Utc};

/// One attempt of a session, as a journal tells of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its name in its run.
    pub session: SessionId,
    /// Where it ran, as runs call it: `android/emulator-5554@mac-1`.
    pub device: DeviceId,
    /// When it began.
    pub started: DateTime<Utc>,
    /// The last that happened on the device, as far as reported.
    pub last: DateTime<Utc>,
    /// When its end was reported.
    pub ended: Option<DateTime<Utc>>,
    /// How it ended, when that was reported.
    pub outcome: Option<Outcome>,
    /// The steps that began, in order.
    pub steps: Vec<StepIndex>,
    /// The steps that passed, in order.
    pub passed: Vec<StepIndex>,
}

impl Attempt {
    /// Whether its events may break off: its host is gone, or its run, or it was cancelled.
    pub fn is_torn(&self) -> bool {
        match &self.outcome {
            None | Some(Outcome::Infrastructure { .. } | Outcome::Cancelled { .. }) => true,
            Some(
                Outcome::Passed
                | Outcome::Skipped { .. }
                | Outcome::Failed(_)
                | Outcome::NeedsAgent { .. },
            ) => false,
        }
    }

    /// Whether it was lost with its host or its run.
    pub fn is_lost(&self) -> bool {
        let Some(Outcome::Infrastructure { blame, .. }) = &self.outcome else {
            return false;
        };
        *blame == Blame::Host || blame.is_nobodys()
    }

    /// Whether it was lost before anything was heard of it: when it began is not known then, nor whether.
    pub fn is_unheard(&self) -> bool {
        self.is_lost() && self.steps.is_empty()
    }

    /// The name of the host that its device is connected to; empty here, without a farm.
    pub fn host(&self) -> &str {
        let name = self.device.name();
        name.rsplit_once('@').map_or("", |(_, host)| host)
    }
}

/// All attempts that began, in the order in which they did.
pub fn attempts(entries: &[Entry]) -> Vec<Attempt> {
    let mut found: Vec<Attempt> = Vec::new();
    let mut places: BTreeMap<SessionId, usize> = BTreeMap::new();
    for entry in entries {
        if let RunEvent::SessionStarted {
            session, device, ..
        } = &entry.event
        {
            places.insert(session.clone(), found.len());
            found.push(Attempt {
                session: session.clone(),
                device: device.id.clone(),
                started: entry.at,
                last: entry.at,
                ended: None,
                outcome: None,
                steps: Vec::new(),
                passed: Vec::new(),
            });
            continue;
        }
        let Some(place) = entry.event.session().and_then(|id| places.get(id)) else {
            continue;
        };
        found[*place].take(entry);
    }
    found
}

impl Attempt {
    fn take(&mut self, entry: &Entry) {
        match &entry.event {
            RunEvent::SessionWillRetry { outcome, .. }
            | RunEvent::SessionFinished { outcome, .. } => {
                self.ended = Some(entry.at);
                self.outcome = Some(outcome.clone());
                return;
            }
            // Files are saved where the run is, when they have arrived there.
            RunEvent::ArtifactSaved { .. } => return,
            RunEvent::StepStarted { step, .. } => self.steps.push(*step),
            RunEvent::StepFinished { step, outcome, .. } if outcome.is_passed() => {
                self.passed.push(*step);
            }
            _ => {}
        }
        self.last = self.last.max(entry.at);
    }
}
