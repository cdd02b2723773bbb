//! Sets of cells.

/// A set of places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The set of these places, all below `size`.
    pub(super) fn of(size: usize, places: impl Iterator<Item = usize>) -> Self {
        let mut words = vec![0; size.div_ceil(64)];
        for place in places {
            words[place / 64] |= 1 << (place % 64);
        }
        Self(words)
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 == 1
    }

    /// The places, lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|place| self.contains(*place))
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// Writes the intersection of two sets into this one, without allocating.
    pub(super) fn set_and(&mut self, one: &Self, other: &Self) {
        let both = one.0.iter().zip(&other.0).map(|(a, b)| a & b);
        self.0.clear();
        self.0.extend(both);
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// How many places both have.
    pub(super) fn common(&self, other: &Self) -> usize {
        let both = self.0.iter().zip(&other.0).map(|(a, b)| a & b);
        both.map(|word| word.count_ones() as usize).sum()
    }
}
