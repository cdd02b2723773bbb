//! What a trail must say after a recording was written.

use super::{Recording, words};
use crate::ids::StepIndex;
use crate::yaml::{Entry, Key, Mapping, Node, Value};

/// The tree with just this recording in its place; `None` when there is no such place.
pub(super) fn with_recording(tree: &Value, recording: &Recording<'_>) -> Option<Value> {
    let mut tree = tree.clone();
    let root = mapping(&mut tree)?;
    let step = match recording.step {
        StepIndex::TRAILHEAD => value(root, "trailhead")?,
        StepIndex(place) => match &mut value(root, "trail")?.node {
            Node::Sequence(steps) => {
                let place = usize::try_from(place).ok()?.checked_sub(1)?;
                steps.items.get_mut(place)?
            }
            Node::Scalar(_) | Node::Mapping(_) => return None,
        },
    };
    let step = mapping(step)?;
    if step.get("recording").is_none() {
        let behind_words = words(step)? + 1;
        step.entries
            .insert(behind_words, entry("recording", Value::mapping([])));
    }
    let recordings = mapping(value(step, "recording")?)?;
    match value(recordings, recording.classifier) {
        Some(slot) => *slot = recording.value.clone(),
        None => recordings
            .entries
            .push(entry(recording.classifier, recording.value.clone())),
    }
    Some(tree)
}

fn mapping(value: &mut Value) -> Option<&mut Mapping> {
    match &mut value.node {
        Node::Mapping(mapping) => Some(mapping),
        Node::Scalar(_) | Node::Sequence(_) => None,
    }
}

fn value<'m>(mapping: &'m mut Mapping, key: &str) -> Option<&'m mut Value> {
    mapping
        .entries
        .iter_mut()
        .find(|entry| entry.key.text == key)
        .map(|entry| &mut entry.value)
}

fn entry(key: &str, value: Value) -> Entry {
    Entry {
        key: Key {
            text: key.to_owned(),
            span: None,
        },
        value,
    }
}
