//! A host: devices of one computer, and the sessions of runs that are granted to them.

pub mod devices;
mod limits;
mod output;
mod runs;
mod serve;
mod session;
pub mod workplace;

pub use self::limits::Limits;
pub use self::serve::{Answer, Ask, HostOptions, HostStop, run};
