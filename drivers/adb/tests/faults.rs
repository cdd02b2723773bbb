//! Everything that can go wrong on a virtual phone, met by the driver: what the reader is told,
//! and that a device that is well again is driven on.

mod agent;
mod device;
mod effect;
mod every;
mod hostile;
mod screen;
mod wire;

use packtrain_drivers::{DeviceEvent, DriverError, Fault};

/// What a reader is told of a device that broke: never a failed step.
#[track_caller]
fn lost(error: &DriverError) -> (&str, &str) {
    assert_eq!(error.fault(), Fault::Device, "{error:?}");
    match error {
        DriverError::Lost { cause, hint } => (cause, hint.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// How often the connection was repaired.
fn mended(events: &[DeviceEvent]) -> usize {
    let is = |event: &&DeviceEvent| matches!(event, DeviceEvent::Reconnected { .. });
    events.iter().filter(is).count()
}
