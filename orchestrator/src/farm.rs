//! This computer as a host of a farm: its devices as reported to the farm, and the places in which
//! sessions of other people's runs are carried out.

pub(crate) mod arrivals;
pub(crate) mod capacity;
pub(crate) mod devices;
pub(crate) mod nats;
pub(crate) mod scratch;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod workplace;
