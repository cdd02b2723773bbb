//! When two devices went alike: the same end at the same step with the same words, once what
//! differs by nature - the device's name, times, ports, references - is taken out of them.

use packtrain_compare::signature::{without_name, without_variances};
use packtrain_model::{Blame, Outcome, StepIndex};

use crate::mark::Mark;
use crate::view::{SessionView, Status};

/// How a session went, as far as grouping is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signature {
    /// All came true, except for these steps, which were skipped.
    Passed { skipped: Vec<StepIndex> },
    /// The whole trail was skipped.
    Skipped { reason: String },
    /// It left the way.
    CameOff {
        mark: Mark,
        /// Whom an infrastructure error blames.
        blame: Option<Blame>,
        /// Where; `None` when no step was reached.
        step: Option<StepIndex>,
        message: String,
    },
    /// It did not get to an end of its own: never begun, under way, called off.
    Open { mark: Mark },
}

impl Signature {
    pub(super) const fn is_pass(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }

    pub(super) fn of(session: &SessionView) -> Self {
        let open = Self::Open {
            mark: Mark::of(&session.status),
        };
        match session.status.outcome() {
            None | Some(Outcome::Cancelled { .. }) => open,
            Some(Outcome::Passed) => Self::Passed {
                skipped: skipped(session),
            },
            Some(Outcome::Skipped { reason }) => Self::Skipped {
                reason: reason.clone(),
            },
            Some(
                Outcome::Failed(_) | Outcome::NeedsAgent { .. } | Outcome::Infrastructure { .. },
            ) => {
                let bad = session.last().and_then(|attempt| attempt.first_bad_step());
                let said = bad.map_or(&session.status, |step| &step.status);
                Self::CameOff {
                    mark: Mark::of(said),
                    blame: said.blame(),
                    step: bad.map(|step| step.step),
                    message: comparable(said.message().unwrap_or_default(), session),
                }
            }
        }
    }
}

/// The steps a session was told to skip.
pub(super) fn skipped(session: &SessionView) -> Vec<StepIndex> {
    session
        .last()
        .into_iter()
        .flat_map(|attempt| &attempt.steps)
        .filter(|step| step.mark() == Mark::Skipped)
        .map(|step| step.step)
        .collect()
}

/// A message without what differs by nature.
fn comparable(mut text: String, session: &SessionView) -> String {
    if let Some(device) = &session.device {
        text = text.replace(&device.to_string(), "<device>");
        text = without_name(&text, device.name());
    }
    if let Some(info) = &session.info {
        text = without_name(&text, &info.model);
        // A phone without a recording names its classifiers; each is missing its own.
        if matches!(session.status, Status::Ended(Outcome::NeedsAgent { .. })) {
            text = "<classifiers>".to_owned();
        }
    }
    without_variances(text)
}
