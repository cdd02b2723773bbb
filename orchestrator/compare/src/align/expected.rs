//! Differences that a user said to expect.

use std::collections::BTreeMap;

use regex::Regex;

use crate::answer::{Item, ItemKind};
use crate::cover::Pattern;

/// An entry of `expect`: differences that are not news.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// The entry as its author wrote it.
    pub text: String,
    /// The only trail that it is about; all when `None`.
    pub trail: Option<usize>,
    /// Where it applies.
    pub place: Place,
    /// The role of the element.
    pub role: Option<String>,
    /// What the element is called, here or in the reference.
    pub name: Option<NameMatch>,
    /// The kind of difference.
    pub kind: Option<ItemKind>,
}

/// Where an [`Expectation`] applies; everywhere when it says nothing.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// These steps.
    pub steps: Vec<u32>,
    /// Cells whose axes and facts are like that.
    pub cells: Pattern,
}

/// What an element is called.
#[derive(Debug, Clone)]
pub enum NameMatch {
    /// Exactly this.
    Text(String),
    /// Something like that.
    Pattern(Regex),
}

impl Expectation {
    /// Whether it is about a trail.
    pub fn is_for(&self, trail: usize) -> bool {
        self.trail.is_none_or(|only| only == trail)
    }

    /// Whether it explains a difference at a step of a cell.
    pub fn applies(&self, item: &Item, step: u32, cell: &BTreeMap<String, String>) -> bool {
        let is_here = (self.place.steps.is_empty() || self.place.steps.contains(&step))
            && self.place.cells.iter().all(|(name, condition)| {
                cell.get(name).is_some_and(|value| condition.holds(value))
            });
        let called = |name: &NameMatch| {
            let is = item.is.as_deref().unwrap_or_default();
            match name {
                NameMatch::Text(text) => *text == item.name || text == is,
                NameMatch::Pattern(pattern) => pattern.is_match(&item.name) || pattern.is_match(is),
            }
        };
        is_here
            && self.role.as_ref().is_none_or(|role| *role == item.role)
            && self.kind.is_none_or(|kind| kind == item.kind)
            && self.name.as_ref().is_none_or(called)
    }
}
