//! Axes: applied, read back, and put back whatever happens.

use std::path::PathBuf;

use packtrain_drivers::{
    AppliedAxis, Command, DeviceEvent, DriverError, Observation, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Theme;

use super::lab::{Agent, Device, Way, Wire, both_wires};

const WAY: Way = Way::new(Wire::Direct, Agent::Shell);

/// A session with these axes.
fn begin(axes: &[(&str, &str)]) -> Command {
    Command::Begin(SessionOptions {
        axes: axes
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
            .collect(),
        app: Some(SHOP.to_owned()),
        ..SessionOptions::default()
    })
}

/// What was read back of these axes.
async fn begun(device: &mut Device, axes: &[(&str, &str)]) -> Vec<AppliedAxis> {
    match device.ok(begin(axes)).await {
        Observation::Begun(applied) => applied,
        other => panic!("{other:?}"),
    }
}

fn got(applied: &[AppliedAxis]) -> Vec<(&str, &str)> {
    let axes = applied.iter();
    axes.map(|axis| (axis.axis.as_str(), axis.got.as_str()))
        .collect()
}

/// The files that tell what settings were.
fn files(device: &Device) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(device.folder.path().join("restore"));
    let entries = entries.into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn restored(device: &mut Device) -> Vec<Vec<String>> {
    let events = device.events().into_iter();
    events
        .filter_map(|event| match event {
            DeviceEvent::Restored { axes } => Some(axes),
            _ => None,
        })
        .collect()
}

fn theme(device: &Device) -> Theme {
    device.world(|world| world.theme())
}

#[tokio::test]
async fn what_was_there_is_written_down_before_it_is_changed_and_put_back_at_the_end() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        let applied = begun(device, &[("colorScheme", "dark")]).await;
        assert_eq!(got(&applied), [("colorScheme", "dark")]);
        assert_eq!(theme(device), Theme::Dark);
        let [file] = &files(device)[..] else {
            panic!("one file for one device");
        };
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("\"was\": \"no\""), "{text}");
        device.ok(Command::End).await;
        assert_eq!(theme(device), Theme::Light);
        assert_eq!(files(device), [PathBuf::new(); 0]);
        assert_eq!(restored(device), [["colorScheme"]]);
    })
    .await;
}
