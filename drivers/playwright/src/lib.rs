//! The driver for browsers, over Playwright's driver process.
//!
//! One Node process serves all web devices of a program; contexts with equal launch options share
//! a browser. This crate knows nothing of runs, trails or actors.

mod act;
mod address;
mod aria;
mod browser;
mod calls;
mod configuration;
mod connector;
mod context;
mod downloads;
mod driver;
mod executable;
mod expect;
mod expect_value;
mod find;
mod focus;
mod host;
pub mod install;
mod lane;
mod locate;
mod look;
mod navigate;
mod network;
mod observe;
mod read;
mod readback;
mod reading;
mod related;
mod session;
mod shown;
mod slot;
mod traffic;
mod upload;
mod wire;

pub use browser::BrowserLaunch;
pub use configuration::Engine;
pub use connector::{WebConnector, WebPool};
pub use host::HostError;
pub use slot::{ColorScheme, DialogAnswer, Geolocation, Isolation, ReducedMotion, WebSlot};
