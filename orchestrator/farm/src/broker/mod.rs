//! The broker: who gets which device, and who lost one.
//!
//! [`state`] decides, purely; nothing there does I/O or knows the time.

pub mod state;
