//! Secrets out of events: every text that people or devices had a say in. Names that others are
//! looked up by stay: sessions, tools, devices, paths of files.

use super::{RunEvent, TrailSummary};
use crate::memory::Redactor;
use crate::outcome::Outcome;

impl RunEvent {
    /// Takes secrets out of everything that is shown of the event.
    pub fn redact(&mut self, redactor: &Redactor) {
        if redactor.is_empty() {
            return;
        }
        match self {
            Self::RunStarted {
                trails,
                sessions,
                options,
                ..
            } => {
                trails.iter_mut().for_each(|trail| trail.redact(redactor));
                redactor.redact_all(
                    sessions
                        .iter_mut()
                        .chain(&mut options.elsewhere)
                        .flat_map(|session| session.cell.0.values_mut()),
                );
            }
            Self::SessionStarted { planned, .. } => {
                redactor.redact_all(planned.cell.0.values_mut())
            }
            Self::ToolStarted { arguments, .. } => *arguments = redactor.redact_json(arguments),
            Self::ToolFinished {
                outcome,
                report,
                answer,
                ..
            } => {
                outcome.redact(redactor);
                redactor.redact_all(report.texts_mut().chain(answer));
            }
            Self::StepFinished { outcome, .. }
            | Self::SessionWillRetry { outcome, .. }
            | Self::SessionFinished { outcome, .. } => outcome.redact(redactor),
            Self::DeviceReported { report, .. } => redactor.redact_all(report.texts_mut()),
            Self::SinkFailed { message, .. } => redactor.redact_all([message]),
            Self::StepObserved { observed, .. } => {
                for defect in &mut observed.defects {
                    let texts = [&mut defect.element].into_iter().chain(&mut defect.other);
                    redactor.redact_all(texts);
                }
            }
            Self::SessionConfigured { axes, memory, .. } => {
                redactor.redact_all(memory.values_mut());
                let texts = axes
                    .iter_mut()
                    .flat_map(|axis| [&mut axis.want, &mut axis.got]);
                redactor.redact_all(texts);
            }
            Self::StepStarted { .. }
            | Self::ArtifactSaved { .. }
            | Self::StopRequested { .. }
            | Self::RunFinished { .. } => {}
        }
    }
}

impl TrailSummary {
    fn redact(&mut self, redactor: &Redactor) {
        let steps = self.steps.iter_mut().map(|step| &mut step.text);
        let texts = [&mut self.name, &mut self.title];
        redactor.redact_all(texts.into_iter().chain(&mut self.tags).chain(steps));
    }
}

impl Outcome {
    /// Takes secrets out of what it tells.
    pub fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::Passed | Self::Cancelled { .. } => {}
            Self::Skipped { reason } => redactor.redact_all([reason]),
            Self::NeedsAgent { why } => redactor.redact_all([why]),
            Self::Infrastructure { cause, hint, .. } => {
                redactor.redact_all([cause].into_iter().chain(hint));
            }
            Self::Failed(failure) => {
                let texts = [&mut failure.message].into_iter().chain(&mut failure.log);
                redactor.redact_all(texts.chain(&mut failure.hint));
            }
        }
    }
}
