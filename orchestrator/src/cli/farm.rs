//! `packtrain farm`.

pub(crate) mod address;
