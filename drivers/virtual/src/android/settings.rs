//! The three tables of `settings`: system, secure, global.

use std::collections::BTreeMap;

use crate::android::recorded;

/// The most settings a client can put.
const MAX_PUT: usize = 1024;

/// What differs from a fresh phone. `None` is a deleted one.
#[derive(Debug, Default)]
pub struct Settings {
    put: BTreeMap<(String, String), Option<String>>,
}

/// The settings of a fresh phone: table, key and value.
fn fresh() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    recorded::table("settings").filter_map(|line| {
        let (table, rest) = line.split_once(' ')?;
        let (key, value) = rest.split_once(' ')?;
        Some((table, key, value))
    })
}

impl Settings {
    /// The value in `table`; `None` when there is none.
    pub fn get(&self, table: &str, key: &str) -> Option<String> {
        match self.put.get(&(table.to_owned(), key.to_owned())) {
            Some(put) => put.clone(),
            None => fresh()
                .find(|(t, k, _)| *t == table && *k == key)
                .map(|(_, _, value)| value.to_owned()),
        }
    }

    /// Puts a value; nothing when there are too many already.
    pub fn put(&mut self, table: &str, key: &str, value: Option<String>) {
        let at = (table.to_owned(), key.to_owned());
        if self.put.len() < MAX_PUT || self.put.contains_key(&at) {
            self.put.insert(at, value);
        }
    }
}
