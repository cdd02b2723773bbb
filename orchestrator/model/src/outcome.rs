//! Every way a step, a session and a run can end.

use serde::{Deserialize, Serialize};

/// How a step or a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Everything came true.
    Passed,
    /// The trail says not to run it on this device.
    Skipped {
        /// The trail's reason.
        reason: String,
    },
    /// The app did not do what the trail says, or the trail asks for the impossible.
    Failed(Failure),
    /// Somebody has to find out what to do, and there is no agent: there is no recording for this
    /// device, or a tool needs a model.
    NeedsAgent {
        /// What is missing.
        why: String,
    },
    /// We could not find out: the device, a tool source or this computer broke.
    Infrastructure {
        /// Who is to blame. Without it, as in older journals, the device.
        #[serde(default)]
        blame: Blame,
        /// What happened.
        cause: String,
        /// What a person can do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// The tool sources that could not start on this computer, one of which may have the tool
        /// that was called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unstarted: Vec<String>,
    },
    /// Not run to the end because it was cancelled.
    Cancelled {
        /// Who called it off.
        by: CancelCause,
    },
}

/// Why a step failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// One sentence: what was expected and what was there instead.
    pub message: String,
    /// The tool that failed, when it was one.
    // The names in JSON stand beside those of events, so they must not be the same.
    #[serde(
        default,
        rename = "failed_tool",
        skip_serializing_if = "Option::is_none"
    )]
    pub tool: Option<String>,
    /// What was tried, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where in the trail file: `trails/login.trail.yaml:12:9`.
    #[serde(default, rename = "failed_at", skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whether a tool said not to retry.
    #[serde(default, rename = "failed_for_good", skip_serializing_if = "is_false")]
    pub fatal: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What broke when we could not find out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The device, or the way to it.
    #[default]
    Device,
    /// A tool source.
    Source,
    /// The computer that packtrain runs on, or packtrain itself.
    Host,
    /// The configuration: the device cannot have what its cell asks for.
    Configuration,
    /// Nobody: its host on the farm is gone, or was restarted.
    HostLost,
    /// Nobody: its host of the farm was drained and ended it.
    HostDrained,
    /// Nobody: its run was gone, or stopped, and is carried on.
    RunLost,
}

impl Blame {
    /// What reports call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Device => "device error",
            Self::Source => "tool source error",
            Self::Host => "host error",
            Self::Configuration => "not applicable",
            Self::HostLost => "host lost",
            Self::HostDrained => "host drained",
            Self::RunLost => "lost with its run",
        }
    }

    /// Whether the session was lost on its way, through no fault of what had it.
    pub const fn is_nobodys(self) -> bool {
        matches!(self, Self::HostLost | Self::HostDrained | Self::RunLost)
    }
}

/// Who called a session off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelCause {
    /// Ctrl-C or a termination signal.
    #[default]
    Interrupt,
    /// `--fail-fast`, after another session failed.
    FailFast,
    /// The run's time was over.
    TimeLimit,
}

impl Outcome {
    /// A failure that is one sentence.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(Failure {
            message: message.into(),
            ..Failure::default()
        })
    }

    /// Something broke, with nothing that anybody could be told to do.
    pub fn broken(blame: Blame, cause: impl Into<String>) -> Self {
        Self::Infrastructure {
            blame,
            cause: cause.into(),
            hint: None,
            unstarted: Vec::new(),
        }
    }

    /// Whether the trail may go on to its next step.
    pub const fn is_passed(&self) -> bool {
        matches!(self, Self::Passed)
    }

    /// What this contributes to the exit code.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Passed
            | Self::Skipped { .. }
            | Self::Cancelled {
                by: CancelCause::FailFast,
            } => Exit::Passed,
            Self::Failed(_)
            | Self::NeedsAgent { .. }
            | Self::Cancelled {
                by: CancelCause::TimeLimit,
            } => Exit::Failed,
            Self::Infrastructure { .. }
            | Self::Cancelled {
                by: CancelCause::Interrupt,
            } => Exit::Infrastructure,
        }
    }

    /// The sentence reports print behind the word; `None` for a pass.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Passed => None,
            Self::Skipped { reason } => Some(reason.clone()),
            Self::Failed(failure) => Some(failure.message.clone()),
            Self::NeedsAgent { why } => Some(why.clone()),
            Self::Infrastructure { cause, .. } => Some(cause.clone()),
            Self::Cancelled { by } => Some(
                match by {
                    CancelCause::Interrupt => "interrupted",
                    CancelCause::FailFast => "stopped after another session failed",
                    CancelCause::TimeLimit => "the run's time limit was reached",
                }
                .to_owned(),
            ),
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Failed(failure) => failure.hint.as_deref(),
            Self::Infrastructure { hint, .. } => hint.as_deref(),
            Self::NeedsAgent { .. } => {
                Some("record the step for this device, or add `[]` to say it needs no action")
            }
            Self::Passed | Self::Skipped { .. } | Self::Cancelled { .. } => None,
        }
    }
}

/// What a process says when it ends, in ascending precedence: a failure that was found out is not
/// hidden by something that was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// All passed: 0.
    #[default]
    Passed,
    /// We could not find out: 2.
    Infrastructure,
    /// Something failed, or needs an agent: 1.
    Failed,
    /// Usage error: 3. Found before anything runs, so no outcome competes with it.
    Misuse,
}

impl Exit {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Infrastructure => 2,
            Self::Misuse => 3,
        }
    }
}

/// The answer of a run: how many (trail, device) pairs ended how. Attempts of one pair count once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The outcome that takes precedence; the counts name all of them.
    pub exit: Exit,
    /// Passed, flaky ones included.
    pub passed: u32,
    /// Passed after an attempt that failed.
    pub flaky: u32,
    /// Failed.
    pub failed: u32,
    /// No recording for the device.
    pub needs_agent: u32,
    /// Could not be found out.
    pub infrastructure: u32,
    /// Skipped.
    pub skipped: u32,
    /// Cancelled.
    pub cancelled: u32,
}

impl Verdict {
    /// How many pairs were counted.
    pub const fn settled(&self) -> u32 {
        self.passed
            + self.failed
            + self.needs_agent
            + self.infrastructure
            + self.skipped
            + self.cancelled
    }

    /// Counts the final outcome of one (trail, device) pair.
    pub fn count(&mut self, outcome: &Outcome, flaky: bool) {
        match outcome {
            Outcome::Passed => {
                self.passed += 1;
                self.flaky += u32::from(flaky);
            }
            Outcome::Skipped { .. } => self.skipped += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::NeedsAgent { .. } => self.needs_agent += 1,
            Outcome::Infrastructure { .. } => self.infrastructure += 1,
            Outcome::Cancelled { .. } => self.cancelled += 1,
        }
        self.exit = self.exit.max(outcome.exit());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_takes_precedence_over_infrastructure() {
        let lost = Outcome::Infrastructure {
            blame: Blame::Device,
            cause: "gone".to_owned(),
            hint: None,
            unstarted: Vec::new(),
        };
        let mut verdict = Verdict::default();
        verdict.count(&lost, false);
        assert_eq!(verdict.exit.code(), 2);
        verdict.count(&Outcome::failed("no"), false);
        verdict.count(&lost, false);
        verdict.count(&Outcome::Passed, false);
        assert_eq!(verdict.exit.code(), 1);
        assert_eq!((verdict.failed, verdict.infrastructure), (1, 2));
    }
}
