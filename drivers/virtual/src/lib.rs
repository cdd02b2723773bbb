//! Virtual Android phones and iPhones: servers that speak the real wires of adbd and
//! WebDriverAgent, so that unmodified clients take them for devices.
//!
//! One app file ([`app::App`]) tells what the devices show; a [`world::World`] is one device's
//! state; the platforms serialise it in their own form. Nothing here knows the rest of Packtrain:
//! a codec shared with its drivers would hide a mistake made on both sides.

mod adb_server;
pub mod android;
pub mod app;
pub mod arrivals;
pub mod device;
pub mod document;
pub mod faults;
pub mod fleet;
pub mod ios;
pub mod latency;
mod listener;
mod lockdown;
pub mod paint;
mod plist;
pub mod shape;
mod usbmux;
mod wda;
pub mod world;

pub use packtrain_canvas::geometry;
