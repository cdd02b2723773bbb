//! What is kept of a step besides its outcome: pictures, readings of the screen, device events.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::{Command, DeviceEvent, Observation, SnapshotDetail};
use packtrain_model::{ArtifactKind, Outcome, RunEvent, StepIndex};
use tokio::time::Instant;

use crate::journal::{ArtifactContent, NewArtifact};
use crate::observe::ErrorCounts;
use crate::order::Screenshots;
use crate::session::SessionContext;

/// How long a reading of the screen for the report may take.
const EVIDENCE_TIMEOUT: Duration = Duration::from_secs(15);

impl SessionContext {
    /// Journals what happened on the device since the last time.
    pub(crate) async fn journal_device_events(&self, step: StepIndex) -> ErrorCounts {
        let mut troubles = ErrorCounts::default();
        for report in self.scope.lease.drain_events() {
            troubles.count(&report);
            let download = match &report {
                DeviceEvent::Downloaded { file, path, .. } => {
                    path.clone().map(|path| (self.redact(file), path))
                }
                _ => None,
            };
            let session = self.id.clone();
            let event = RunEvent::DeviceReported {
                session,
                step,
                report,
            };
            self.record(event).await;
            if let Some((name, path)) = download {
                let artifact = NewArtifact {
                    session: self.id.clone(),
                    step,
                    kind: ArtifactKind::Download,
                    name,
                    content: ArtifactContent::File(path.into()),
                };
                self.output.save(artifact).await;
            }
        }
        troubles
    }

    /// Keeps what the run's options ask for, and journals what happened on the device. Whatever goes
    /// wrong here is not a failure of the step.
    pub(crate) async fn keep_evidence(&self, step: StepIndex, outcome: &Outcome) {
        let failed = match outcome {
            Outcome::Passed | Outcome::Skipped { .. } => false,
            Outcome::Failed(_) | Outcome::NeedsAgent { .. } => true,
            // There is no screen to look at, or no need to.
            Outcome::Infrastructure { .. } | Outcome::Cancelled { .. } => {
                self.journal_device_events(step).await;
                return;
            }
        };
        let wanted = |when| match when {
            Screenshots::All => true,
            Screenshots::Failure => failed,
            Screenshots::None => false,
        };
        let picture = wanted(self.options.screenshots);
        let observed = match wanted(self.options.observe) {
            true => self.observe(picture).await,
            false => None,
        };
        let has_picture = observed.as_ref().is_some_and(|seen| seen.picture.is_some());
        if picture && !has_picture {
            self.keep_screenshot(step).await;
        }
        if failed {
            self.keep_snapshot(step).await;
        }
        let troubles = self.journal_device_events(step).await;
        if let Some(observed) = observed {
            self.keep_observation(step, observed, troubles).await;
        }
    }

    /// Keeps Playwright's trace, when it was wanted and is.
    pub(crate) async fn keep_trace(&self, step: StepIndex, passed: bool) {
        let Some(path) = &self.trace else { return };
        let is_wanted = self.options.trace == Screenshots::All || !passed;
        let artifact = NewArtifact {
            session: self.id.clone(),
            step,
            kind: ArtifactKind::Trace,
            name: "trace.zip".to_owned(),
            content: if is_wanted {
                ArtifactContent::File(path.clone())
            } else {
                ArtifactContent::Unwanted(path.clone())
            },
        };
        self.output.save(artifact).await;
    }

    /// Keeps what the device wrote to its log. Called when the session has let go of it.
    pub(crate) async fn keep_device_log(&self, step: StepIndex, path: PathBuf) {
        let hide = self.scope.memory().redactor().clone();
        let artifact = NewArtifact {
            session: self.id.clone(),
            step,
            kind: ArtifactKind::DeviceLog,
            name: "device.log".to_owned(),
            content: ArtifactContent::Log { path, hide },
        };
        self.output.save(artifact).await;
    }

    async fn keep_screenshot(&self, step: StepIndex) {
        match self.look(Command::Screenshot).await {
            Some(Observation::Screenshot(picture)) => {
                self.keep_picture(step, picture, &[]).await;
            }
            other => tracing::debug!(session = %self.id, %step, ?other, "no screenshot"),
        }
    }

    async fn keep_snapshot(&self, step: StepIndex) {
        let Some(Observation::Snapshot(snapshot)) = self
            .look(Command::Snapshot(SnapshotDetail::default()))
            .await
        else {
            return;
        };
        let head: Vec<_> = [snapshot.title.as_deref(), snapshot.location.as_deref()]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        let text = self.redact(&format!("{}\n\n{}\n", head.join("\n"), snapshot.text));
        self.save(
            step,
            ArtifactKind::Snapshot,
            "screen.txt",
            text.into_bytes(),
        )
        .await;
        if let Ok(tree) = serde_json::to_string(&snapshot.tree) {
            let tree = self.redact(&tree).into_bytes();
            self.save(step, ArtifactKind::Tree, "tree.json", tree).await;
        }
    }

    async fn look(&self, command: Command) -> Option<Observation> {
        let deadline = Instant::now() + EVIDENCE_TIMEOUT;
        self.scope.lease.execute(command, deadline).await.ok()
    }

    async fn save(&self, step: StepIndex, kind: ArtifactKind, name: &str, bytes: Vec<u8>) {
        let artifact = NewArtifact {
            session: self.id.clone(),
            step,
            kind,
            name: name.to_owned(),
            content: ArtifactContent::Bytes(bytes),
        };
        self.output.save(artifact).await;
    }
}
