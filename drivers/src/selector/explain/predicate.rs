//! The parts of a selector that an element either fulfils or not.

use crate::selector::compile::{Plan, Side};
use crate::selector::condition::{Check, Condition};
use crate::selector::describe::quote;
use crate::selector::pattern::Pattern;
use crate::selector::resolve::{DescendantIndex, Filter};
use crate::tree::{NodeDetail, NodeId, Tree};

/// One part, ready to be asked about any element.
pub(super) enum Predicate<'p> {
    Condition(&'p Condition<Pattern>, NodeTest<'p>),
    Side(Side, NodeTest<'p>),
    Child(&'p Plan, NodeTest<'p>),
    Descendant(&'p Plan, NodeTest<'p>),
}

type NodeTest<'p> = Box<dyn Fn(NodeId) -> bool + 'p>;

impl<'p> Predicate<'p> {
    /// All parts of `plan`, whose filter is `filter`.
    pub(super) fn all(tree: &'p Tree, plan: &'p Plan, filter: &'p Filter<'p>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for condition in plan.block.iter().flat_map(|block| &block.conditions) {
            let holds = move |id| {
                let node = tree.get(id);
                node.is_some_and(|node| filter.holds(condition, id, node))
            };
            all.push(Self::Condition(condition, Box::new(holds)));
        }
        for (side, anchor) in &filter.anchors {
            let holds = move |id| {
                let bounds = tree.get(id).and_then(|node| node.bounds);
                bounds.is_some_and(|bounds| side.holds(&bounds, anchor))
            };
            all.push(Self::Side(*side, Box::new(holds)));
        }
        if let Some(child) = plan.contains_child.as_deref() {
            all.push(Self::Child(child, Box::new(|id| filter.child_holds(id))));
        }
        for (index, wanted) in plan.contains_descendants.iter().enumerate() {
            let index = DescendantIndex(index);
            let holds = move |id| filter.descendant_holds(index, id);
            all.push(Self::Descendant(wanted, Box::new(holds)));
        }
        all
    }

    pub(super) fn holds(&self, id: NodeId) -> bool {
        match self {
            Self::Condition(_, holds)
            | Self::Side(_, holds)
            | Self::Child(_, holds)
            | Self::Descendant(_, holds) => holds(id),
        }
    }

    /// The part as the selector says it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Condition(condition, _) => condition.to_string(),
            Self::Side(side, _) => format!("`{}`", side.name()),
            Self::Child(plan, _) => format!("a child with {}", plan.description),
            Self::Descendant(plan, _) => format!("{} in it", plan.description),
        }
    }
}

impl std::fmt::Display for Condition<Pattern> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.check {
            Check::Pattern(pattern, _) => {
                write!(f, "{} {}", self.field, quote(pattern.source()))
            }
            _ => self.write_exact(f),
        }
    }
}

impl Condition<Pattern> {
    /// What the element has where the condition looks, fit to be read.
    pub(super) fn actual(&self, detail: &NodeDetail) -> Option<String> {
        match &self.check {
            Check::Pattern(_, read) | Check::Equals(_, read) => {
                read(detail).map(|text| quote(&text))
            }
            Check::Contains(_, read) => read(detail).map(|list| quote(&list.join(", "))),
            Check::Flag(_, read) => read(detail).map(|flag| flag.to_string()),
            Check::Number(_, read) => read(detail).map(|number| number.to_string()),
            Check::Nth(_) => None,
        }
    }

    /// The property's name, without what makes it a pattern.
    pub(super) fn property(&self) -> &'static str {
        self.field.strip_suffix("Regex").unwrap_or(self.field)
    }
}
