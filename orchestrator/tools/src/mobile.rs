//! What the tools for phones have in common: finding elements, waiting until they stand still,
//! touching, scrolling. Knows no tool by name and no platform's wire.

pub(crate) mod act;
pub(crate) mod element_query;
pub(crate) mod find;
pub(crate) mod gesture;
mod keyboard;
pub(crate) mod screen;
pub(crate) mod scroll;
pub(crate) mod sight;
pub(crate) mod watch;
pub(crate) mod words;

use std::time::Duration;

use packtrain_drivers::Platform;

/// Where these tools work.
pub(crate) const PHONES: &[Platform] = &[Platform::Android, Platform::Ios];

/// How long an element is waited for unless the call says otherwise.
pub(crate) const ELEMENT_TIMEOUT: Duration = Duration::from_secs(5);
