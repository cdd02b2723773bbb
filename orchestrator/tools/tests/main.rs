//! Promises of the tools for phones, on a phone that answers from a screen in memory, through a
//! real fleet and a real lease.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod android;
mod apps;
mod arguments;
mod expecting;
mod gestures;
mod lab;
mod maestro;
mod phone;
mod references;
mod screen;
mod scrolling;
mod touching;
mod typing;
