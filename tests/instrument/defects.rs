//! What is planted, and how one recognises a card about it. `app/defects.js` does it to the page.
//!
//! Columns of `defects.txt`: id, what is wrong, the kinds of cards that may be about it, where else it
//! cannot be seen, and words of which one stands in its title. Where there are none, any title will do.

use packtrain_compare::answer::ClusterKind;

use super::condition::Literal;

/// Something that is wrong with the shop.
pub(crate) struct Defect {
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    pub(crate) kinds: Vec<ClusterKind>,
    /// In every language that the reference of a run may be in.
    pub(crate) about: Vec<&'static str>,
    pub(crate) only: Option<Literal>,
}

/// All of them.
pub(crate) fn all() -> Vec<Defect> {
    let lines = include_str!("defects.txt").lines();
    let defects = lines.filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some(Defect {
            id: columns.next()?,
            what: columns.next()?,
            kinds: columns.next()?.split(' ').filter_map(kind).collect(),
            only: columns.next()?.split_once('='),
            about: columns
                .next()?
                .split("; ")
                .filter(|word| !word.is_empty())
                .collect(),
        })
    });
    defects.collect()
}

fn kind(word: &str) -> Option<ClusterKind> {
    serde_json::from_value(word.into()).ok()
}
