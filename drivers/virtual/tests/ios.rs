//! The promises of the virtual iPhones.

mod alerts;
mod bench;
mod elements;
mod facebook_wda;
mod faults;
mod http;
mod judges;
mod lockdown;
mod sessions;
mod touches;
mod usbmux;
mod wire;
