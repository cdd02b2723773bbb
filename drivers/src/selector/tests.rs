//! Promises of selectors.

mod explaining;
mod fields;
mod format;
mod generating;
mod patterns;
mod reference;
mod references;
mod resolving;
mod screen;
