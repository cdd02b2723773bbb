//! A host: devices of one computer, and the sessions of runs that are granted to them.

pub mod devices;
pub mod workplace;
