//! The words of a run: ids, trails, plans, events, outcomes. No I/O, no async.

pub mod discover;
pub mod event;
pub mod ids;
pub mod memory;
pub mod outcome;
pub mod schema;
pub mod screen;
pub mod template;
pub mod trail;

pub use packtrain_yaml::{self as yaml, diagnostic, source, suggest};

pub use diagnostic::{Diagnostic, Severity};
pub use event::{
    Artifact, ArtifactKind, Axis, Cell, Entry, Expected, MatrixSummary, PlannedSession, RecordAs,
    RunEvent, RunOptionsSummary, SCHEMA_VERSION, SourceCall, StepKind, StepSummary, TrailSummary,
    recorded,
};
pub use ids::{AttemptNumber, RunId, SessionId, SessionIndex, StepIndex};
pub use memory::{Memory, Redactor};
pub use outcome::{Blame, CancelCause, Exit, Failure, Outcome, Verdict};
pub use source::{Position, Source, Span};
pub use trail::{Config, Recorded, Step, ToolCall, Trail};
