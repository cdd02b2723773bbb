//! What Packtrain serves over HTTP, on loopback only and behind one guarded door.

pub mod callbacks;
mod commands;
pub mod door;
pub mod front;
