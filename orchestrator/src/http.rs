//! What Packtrain serves over HTTP, on loopback only.

pub(crate) mod callbacks;
