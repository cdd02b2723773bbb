//! Where a run's events go.

pub mod calls;
pub mod lines;
pub mod live;
pub mod ndjson;
