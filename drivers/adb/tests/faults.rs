//! Everything that can go wrong on a virtual phone, met by the driver: what the reader is told,
//! and that a device that is well again is driven on.

mod agent;
mod device;
mod effect;
mod every;
mod hostile;
mod screen;
mod wire;
