//! The marks of a report: one sign, one word and one rank for every way something can stand.
//! Colour comes on top and never carries the meaning alone.

use packtrain_model::Outcome;

use crate::view::{SessionView, Status};

/// What a report shows for a step, a session or a run; worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// The app did not do what the trail says.
    Failed,
    /// We could not find out.
    Infrastructure,
    /// No recording for the device.
    NeedsAgent,
    /// Begun, and no end is known.
    Unfinished,
    /// Cancelled.
    Cancelled,
    /// Passed after an attempt that failed.
    Flaky,
    /// Never begun.
    NotRun,
    /// The trail says not to.
    Skipped,
    /// Came true.
    Passed,
}

impl Mark {
    /// All marks, worst first.
    pub const ALL: [Self; 9] = [
        Self::Failed,
        Self::Infrastructure,
        Self::NeedsAgent,
        Self::Unfinished,
        Self::Cancelled,
        Self::Flaky,
        Self::NotRun,
        Self::Skipped,
        Self::Passed,
    ];

    /// The mark of a status.
    pub const fn of(status: &Status) -> Self {
        match status {
            Status::NotRun => Self::NotRun,
            Status::Unfinished => Self::Unfinished,
            Status::Ended(Outcome::Passed) => Self::Passed,
            Status::Ended(Outcome::Skipped { .. }) => Self::Skipped,
            Status::Ended(Outcome::Failed(_)) => Self::Failed,
            Status::Ended(Outcome::NeedsAgent { .. }) => Self::NeedsAgent,
            Status::Ended(Outcome::Infrastructure { .. }) => Self::Infrastructure,
            Status::Ended(Outcome::Cancelled { .. }) => Self::Cancelled,
        }
    }

    /// How many of some sessions stand how, in the order of these marks, without those that do not occur.
    pub(crate) fn counts<'v>(
        marks: impl IntoIterator<Item = Self>,
        sessions: impl IntoIterator<Item = &'v SessionView>,
    ) -> impl Iterator<Item = (Self, usize)> {
        let standing: Vec<Self> = sessions.into_iter().map(SessionView::mark).collect();
        let marks = marks.into_iter();
        marks
            .map(move |mark| (mark, standing.iter().filter(|one| **one == mark).count()))
            .filter(|(_, count)| *count > 0)
    }

    /// Its sign, its word, and its key.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Failed => ["✗", "failed", "failed"],
            Self::Infrastructure => ["⊘", "infrastructure error", "infrastructure"],
            Self::NeedsAgent => ["?", "not recorded", "needs_agent"],
            Self::Unfinished => ["…", "unfinished", "unfinished"],
            Self::Cancelled => ["■", "cancelled", "cancelled"],
            Self::Flaky => ["↻", "flaky", "flaky"],
            Self::NotRun => ["·", "not run", "not_run"],
            Self::Skipped => ["–", "skipped", "skipped"],
            Self::Passed => ["✓", "passed", "passed"],
        }
    }

    /// One character, one column wide.
    pub const fn sign(self) -> &'static str {
        self.names()[0]
    }

    /// The word people read and search for.
    pub const fn word(self) -> &'static str {
        self.names()[1]
    }

    /// The word behind a count: `failed`, `infrastructure errors`.
    pub(crate) const fn word_for(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Infrastructure, 0 | 2..) => "infrastructure errors",
            _ => self.word(),
        }
    }

    /// How many: `3 failed`, `2 infrastructure errors`.
    pub fn counted(self, count: usize) -> String {
        format!("{count} {}", self.word_for(count))
    }

    /// The word machines read: JSON values and CSS classes.
    pub const fn key(self) -> &'static str {
        self.names()[2]
    }
}
