//! What people see: errors with an exit code, and the one place that prints.

pub mod exit;
pub mod render;
