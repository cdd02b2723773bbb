//! Where a run's events go.

pub mod calls;
pub mod disk;
pub(crate) mod follow;
pub mod lines;
pub mod live;
pub mod ndjson;
