//! What Packtrain serves over HTTP, on loopback only.

pub mod callbacks;
mod commands;
