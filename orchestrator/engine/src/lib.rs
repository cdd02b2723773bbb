//! From a request to a verdict: plan, schedule, walk the steps, judge, journal.
//!
//! Knows no files, no HTTP and no concrete driver: trails come in parsed, events go out to sinks.

mod evidence;
mod invoke;
mod journal;
mod judge;
mod loader;
mod pins;
mod request;
mod resolve;
mod run;
mod schedule;
mod session;
mod stop;

pub use journal::{ArtifactContent, BrokenSink, Journal, JournalThread, NewArtifact, Sink};
pub use loader::TrailLoader;
pub use pins::{check_driver, check_pins};
pub use request::{RequestedTrail, RunOptions, RunRequest, Screenshots, Shard};
pub use resolve::{Plan, Planned, resolve};
pub use run::Run;
pub use stop::Stop;
