//! Rows with names, held by small places instead of by long names.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Index, IndexMut};

/// A row's place in a [`Table`].
pub(super) trait RowIndex: Copy {
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(usize);

        impl RowIndex for $name {
            fn of(index: usize) -> Self {
                Self(index)
            }

            fn index(self) -> usize {
                self.0
            }
        }
    )*};
}

places! {
    /// A host's place.
    HostAt;
    /// A device's place.
    DeviceAt;
    /// An expression's place.
    ExpressionAt;
    /// A run's place.
    RunAt;
    /// A session's place in its run.
    SessionAt;
    /// The place of a word for [`spread`](crate::wire::Demand::spread) in its run.
    WordAt;
}

/// Rows by name and by place. A place is never used again.
#[derive(Debug)]
pub(super) struct Table<P, K, V> {
    places: HashMap<K, P>,
    rows: Vec<Option<V>>,
}

impl<P, K, V> Default for Table<P, K, V> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            rows: Vec::new(),
        }
    }
}

impl<P: RowIndex, K: Eq + Hash + Clone, V> Table<P, K, V> {
    pub(super) fn place(&self, key: &K) -> Option<P> {
        self.places.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: K, row: V) -> P {
        let place = P::of(self.rows.len());
        self.rows.push(Some(row));
        self.places.insert(key, place);
        place
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.places.remove(key)?;
        self.rows[place.index()].take()
    }

    pub(super) fn places(&self) -> Vec<P> {
        self.iter().map(|(place, _)| place).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (P, &V)> {
        (self.rows.iter().enumerate())
            .filter_map(|(index, row)| row.as_ref().map(|row| (P::of(index), row)))
    }
}

const KEPT: &str = "who holds a place lets go of it before its row is removed";

impl<P: RowIndex, K, V> Index<P> for Table<P, K, V> {
    type Output = V;

    fn index(&self, place: P) -> &V {
        self.rows[place.index()].as_ref().expect(KEPT)
    }
}

impl<P: RowIndex, K, V> IndexMut<P> for Table<P, K, V> {
    fn index_mut(&mut self, place: P) -> &mut V {
        self.rows[place.index()].as_mut().expect(KEPT)
    }
}
