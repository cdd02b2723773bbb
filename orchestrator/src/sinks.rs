//! Where a run's events go.

pub mod disk;
pub mod lines;
pub mod live;
pub mod ndjson;
