//! What `getprop` knows.

use std::collections::BTreeMap;

use crate::android::{Android, recorded};

impl Android {
    /// The value of a property, empty when there is none.
    pub(super) fn property(&self, name: &str) -> String {
        let mut all = recorded::table("properties").filter_map(|line| line.split_once(' '));
        let found = all.find(|(known, _)| *known == name);
        let value = self.fill(found.map_or("", |(_, value)| value));
        value.trim_end().to_owned()
    }

    /// All properties by name.
    pub(super) fn all_properties(&self) -> BTreeMap<String, String> {
        let all = recorded::table("properties").filter_map(|line| line.split_once(' '));
        all.map(|(name, value)| (name.to_owned(), self.fill(value).trim_end().to_owned()))
            .collect()
    }
}
