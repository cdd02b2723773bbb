//! A selector made ready: checked, patterns compiled, relations in order.

use super::condition::{Block, Check};
use super::pattern::Pattern;
use super::{NodeSelector, SelectorError};
use crate::geometry::Rect;

/// A selector that can be resolved any number of times, on any tree.
#[derive(Debug)]
pub struct CompiledSelector {
    pub(super) plan: Plan,
    description: String,
}

/// One part of a selector: what an element must be and how it lies to others.
#[derive(Debug)]
pub(super) struct Plan {
    pub description: String,
    pub block: Option<Block<Pattern>>,
    pub spatial: Vec<(Side, Plan)>,
    pub child_of: Option<Box<Plan>>,
    pub contains_child: Option<Box<Plan>>,
    pub contains_descendants: Vec<Plan>,
    pub index: Option<u32>,
}

/// Where an element lies, seen from its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Above,
    LeftOf,
    RightOf,
}

impl Side {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Above => "above",
            Self::LeftOf => "leftOf",
            Self::RightOf => "rightOf",
        }
    }

    /// Whether `bounds` lie on this side of `anchor`; touching is enough.
    pub(super) fn holds(self, bounds: &Rect, anchor: &Rect) -> bool {
        match self {
            Self::Below => bounds.top >= anchor.bottom,
            Self::Above => bounds.bottom <= anchor.top,
            Self::LeftOf => bounds.right <= anchor.left,
            Self::RightOf => bounds.left >= anchor.right,
        }
    }
}

impl CompiledSelector {
    /// Checks a selector and compiles its patterns.
    pub fn new(selector: &NodeSelector) -> Result<Self, SelectorError> {
        selector.validate()?;
        Ok(Self {
            plan: Plan::new(selector),
            description: selector.to_string(),
        })
    }

    /// The selector in one line, as events and reports show it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What the selector's author should know, one sentence each: patterns that are compared as
    /// text because they are not regular expressions, patterns that took too long, relations that
    /// have no effect.
    pub fn notes(&self) -> Vec<String> {
        let notes = self.all_notes();
        notes.into_iter().map(|(_, note)| note).collect()
    }

    /// Those of the notes because of which the selector may have missed what was meant: patterns
    /// that are compared as text or took too long. That nothing matches proves nothing then.
    pub fn doubts(&self) -> Vec<String> {
        let notes = self.all_notes().into_iter();
        let doubts = notes.filter(|(about, _)| *about == About::Pattern);
        doubts.map(|(_, note)| note).collect()
    }

    fn all_notes(&self) -> Vec<(About, String)> {
        let mut notes = Vec::new();
        self.plan.notes(Usage::Searched, &mut notes);
        notes
    }
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Pattern,
    Relation,
}

/// What a part of a selector is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    /// To find elements in the tree.
    Searched,
    /// To check a child or descendant of an element.
    Contained,
}

impl Plan {
    fn new(selector: &NodeSelector) -> Self {
        let side = |side, anchor: &Option<Box<NodeSelector>>| {
            anchor.as_deref().map(|anchor| (side, Self::new(anchor)))
        };
        let one = |nested: &Option<Box<NodeSelector>>| {
            nested.as_deref().map(|nested| Box::new(Self::new(nested)))
        };
        Self {
            description: selector.to_string(),
            block: selector.block().map(Block::compile),
            spatial: [
                side(Side::Below, &selector.below),
                side(Side::Above, &selector.above),
                side(Side::LeftOf, &selector.left_of),
                side(Side::RightOf, &selector.right_of),
            ]
            .into_iter()
            .flatten()
            .collect(),
            child_of: one(&selector.child_of),
            contains_child: one(&selector.contains_child),
            contains_descendants: selector
                .contains_descendants
                .iter()
                .map(Self::new)
                .collect(),
            index: selector.index,
        }
    }

    fn notes(&self, usage: Usage, notes: &mut Vec<(About, String)>) {
        for condition in self.block.iter().flat_map(|block| &block.conditions) {
            if let Check::Pattern(pattern, _) = &condition.check {
                notes.extend(pattern.note().map(|note| (About::Pattern, note)));
            }
        }
        if usage == Usage::Contained {
            let ignored = [
                ("childOf", self.child_of.is_some()),
                ("index", self.index.is_some()),
            ];
            for (name, present) in ignored {
                if present {
                    let note = format!(
                        "`{name}` has no effect inside containsChild and containsDescendants"
                    );
                    notes.push((About::Relation, note));
                }
            }
        } else if let Some(parent) = &self.child_of {
            parent.notes(Usage::Searched, notes);
        }
        for (_, anchor) in &self.spatial {
            anchor.notes(Usage::Searched, notes);
        }
        for contained in self
            .contains_child
            .as_deref()
            .into_iter()
            .chain(&self.contains_descendants)
        {
            contained.notes(Usage::Contained, notes);
        }
    }
}
