//! From a request to a verdict: plan, dispatch, walk the steps, judge, journal.
//!
//! Knows no files, no HTTP and no concrete driver: trails come in parsed, events go out to a store
//! and to sinks.

mod by_hand;
mod changes;
mod dispatch;
mod evidence;
mod host;
mod invoke;
mod journal;
mod judge;
mod loader;
mod matrix;
mod narrow;
mod observe;
mod order;
mod pairs;
mod part;
mod pins;
mod request;
mod resolve;
mod run;
mod session;
mod shuffle;
mod stop;

pub use by_hand::RunByHand;
pub use host::{DeviceChange, DeviceChangeKind, SessionHost, SessionMessage, SessionOutput};
pub use journal::{
    ArtifactContent, Journal, JournalEnd, JournalThread, NewArtifact, NoStore, OpenSinks, STORE,
    Sink, Store, UnreadSink,
};
pub use loader::TrailLoader;
pub use matrix::{CellSettings, Matrix};
pub use order::{
    Ambiguity, DeviceRequirement, Mask, Screenshots, SessionOptions, SessionOrder, SessionValues,
};
pub use part::{Part, TakenPart, divide};
pub use pins::{Skip, SkippedBy, check_driver, check_pins};
pub use request::{Anywhere, RequestedTrail, RunOptions, RunRequest, Shard};
pub use resolve::{Plan, Planned, resolve};
pub use run::Run;
pub use session::{Here, SessionContext};
pub use stop::{SessionStop, Stop, StopReason};
