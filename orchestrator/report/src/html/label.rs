//! What a device is called in the page: by its model, as people do, and by more where that is not
//! enough.

use std::collections::HashMap;

use packtrain_drivers::DeviceInfo;

use crate::view::{SessionView, TrailView, named};

/// A short name for the device of each of a trail's sessions: the model; the model and the system
/// where two have the model in common; the id where they have both.
pub(super) fn labels(trail: &TrailView) -> Vec<String> {
    let by_model = trail
        .sessions
        .iter()
        .map(|s| labelled(s, |info| info.model.clone()));
    let by_system = trail
        .sessions
        .iter()
        .map(|s| labelled(s, |info| format!("{}, {}", info.model, info.system)));
    let (by_model, by_system) = (unique(by_model), unique(by_system));
    trail
        .sessions
        .iter()
        .zip(by_model.into_iter().zip(by_system))
        .map(|(session, (model, system))| model.or(system).unwrap_or_else(|| session.name()))
        .collect()
}

fn labelled(session: &SessionView, name: impl Fn(&DeviceInfo) -> String) -> String {
    let device = session
        .info
        .as_ref()
        .map_or_else(|| session.device_name(), name);
    named(&device, &session.cell)
}

/// Keeps the names that occur once.
fn unique(names: impl Iterator<Item = String>) -> Vec<Option<String>> {
    let names: Vec<String> = names.collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    names
        .iter()
        .map(|name| (counts[name.as_str()] == 1).then(|| name.clone()))
        .collect()
}
