//! The one session WebDriverAgent has at a time, and the elements it has handed out.

use std::collections::HashMap;

use super::handle::uuid;
use super::tree::ElementKey;
use crate::device::Device;

/// How many elements a session remembers; the one used longest ago is forgotten first.
/// (`FBElementCache.m`)
const MAX_ELEMENTS: usize = 1_024;

/// A session's name, a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionId(pub(crate) String);

impl SessionId {
    /// A name by the dice of a device.
    pub(crate) fn rolled(device: &Device) -> Self {
        let [high, low] = [(); 2].map(|()| device.roll(u64::MAX));
        Self(uuid(high, low))
    }
}

/// The app a session was started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestedApp {
    pub(crate) bundle_id: String,
    /// Whether it not running means that it crashed.
    pub(crate) expected_to_run: bool,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) tested: Option<TestedApp>,
    /// Whether actions wait until the app has come to rest.
    pub(crate) waits: bool,
    /// Whether the tested app ends with its session.
    pub(crate) ends_app: bool,
    pub(crate) elements: ElementCache,
}

/// An element that was handed out: its app's process and its identity there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementHandle {
    pub(crate) pid: u32,
    pub(crate) key: ElementKey,
}

/// The elements a session has handed out, by their ids.
#[derive(Debug, Default)]
pub(crate) struct ElementCache {
    elements: HashMap<String, (ElementHandle, u64)>,
    uses: u64,
}

impl ElementCache {
    /// Remembers an element.
    pub(crate) fn store(&mut self, uid: &str, element: ElementHandle) {
        self.uses += 1;
        if self.elements.len() >= MAX_ELEMENTS && !self.elements.contains_key(uid) {
            let oldest = self.elements.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(uid, _)| uid.clone()) {
                self.elements.remove(&oldest);
            }
        }
        self.elements.insert(uid.to_owned(), (element, self.uses));
    }

    /// The element with that id, if it was handed out and is not forgotten.
    pub(crate) fn get(&mut self, uid: &str) -> Option<ElementHandle> {
        self.uses += 1;
        let (element, used) = self.elements.get_mut(uid)?;
        *used = self.uses;
        Some(*element)
    }

    /// Forgets an element that is gone.
    pub(crate) fn forget(&mut self, uid: &str) {
        self.elements.remove(uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_used_longest_ago_is_forgotten_first() {
        let mut cache = ElementCache::default();
        let element = ElementHandle {
            pid: 1,
            key: ElementKey(1),
        };
        for number in 0..MAX_ELEMENTS {
            cache.store(&number.to_string(), element);
        }
        assert!(cache.get("0").is_some());
        cache.store("new", element);
        assert!(cache.get("0").is_some());
        assert!(cache.get("1").is_none());
        assert!(cache.get("new").is_some());
    }
}
