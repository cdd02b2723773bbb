//! What to look for on a phone's screen: a node selector, or an element in Maestro's words. Pure.
//!
//! Only what is in sight counts: an element that is scrolled away is neither touched nor visible.

mod platform;
mod words;

use packtrain_drivers::selector::{
    CompiledSelector, NodeSelector, SelectorError, explain, resolve,
};
use packtrain_drivers::{Located, NodeDetail, NodeId, Platform, Rect, Size, Snapshot, Tree};

use super::sight::{in_sight, sort};
use super::words::{describe, place};
use crate::tool::ToolError;

pub(crate) use platform::foreign;
pub(crate) use words::{TextCriterion, Words};

/// Matches out of sight that a message tells of.
const TOLD: usize = 3;

/// What to look for, made ready for one platform.
pub(crate) struct ElementQuery {
    by: By,
    /// Each is enough.
    any_of: Vec<CompiledSelector>,
    /// What the platform's selectors have no word for.
    also: ExtraConditions,
    /// Which of the matches in sight, from 0.
    index: usize,
    description: String,
    /// The selector, or the first of them.
    selector: NodeSelector,
}

/// How it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// By a selector, whose matches are used as they are.
    Selector,
    /// In Maestro's words.
    Words,
}

/// Conditions beside the selectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ExtraConditions {
    enabled: Option<bool>,
    checked: Option<bool>,
}

/// An element that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VisibleMatch {
    /// Which.
    pub(crate) node: NodeId,
    /// Where, when the platform says so.
    pub(crate) bounds: Option<Rect>,
    /// How many were in sight; this is the first in order.
    pub(crate) matched: u32,
}

impl ElementQuery {
    /// Looks for what a selector names.
    ///
    /// # Errors
    /// A failure when the selector names nothing, contradicts itself or is for another platform.
    pub(crate) fn selector(selector: NodeSelector, on: Platform) -> Result<Self, ToolError> {
        let compiled = CompiledSelector::new(&selector).map_err(|error| broken(&error))?;
        platform::check(&selector, on)?;
        Ok(Self {
            by: By::Selector,
            description: compiled.description().to_owned(),
            any_of: vec![compiled],
            also: ExtraConditions::default(),
            index: 0,
            selector,
        })
    }

    /// Looks for an element in Maestro's words: a text is looked for in what an element holds, in
    /// its hint and in its accessibility text alike, and of elements that lie in each other the
    /// innermost is meant.
    ///
    /// # Errors
    /// As [`ElementQuery::selector`].
    pub(crate) fn words(words: Words, on: Platform) -> Result<Self, ToolError> {
        let selectors = words.selectors(on)?;
        let any_of = selectors
            .iter()
            .map(CompiledSelector::new)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| broken(&error))?;
        let also = match on {
            Platform::Ios => ExtraConditions {
                enabled: words.enabled,
                checked: words.checked,
            },
            // Android's selectors have these words.
            Platform::Android | Platform::Web => ExtraConditions::default(),
        };
        Ok(Self {
            by: By::Words,
            any_of,
            also,
            index: usize::try_from(words.index).unwrap_or(usize::MAX),
            description: words.description(),
            selector: selectors.into_iter().next().unwrap_or_default(),
        })
    }

    /// What is looked for, in one line.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// The selector it was made from.
    pub(crate) const fn source(&self) -> &NodeSelector {
        &self.selector
    }

    /// What the author of the selector should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<_> = self
            .any_of
            .iter()
            .flat_map(CompiledSelector::notes)
            .collect();
        notes.dedup();
        notes
    }

    /// Why it may have been missed although it is there.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let doubts = self.any_of.iter().flat_map(CompiledSelector::doubts);
        let mut doubts: Vec<_> = doubts.collect();
        doubts.dedup();
        doubts
    }

    /// What of it is in sight, in order, whatever the index.
    pub(crate) fn all(&self, snapshot: &Snapshot) -> Vec<NodeId> {
        let mut found = self.matches(&snapshot.tree);
        found.retain(|&id| in_sight(&snapshot.tree, id, snapshot.screen));
        found
    }

    /// The element to act on, when it is in sight.
    pub(crate) fn visible_match(&self, snapshot: &Snapshot) -> Option<VisibleMatch> {
        let found = self.all(snapshot);
        let &node = found.get(self.index)?;
        Some(VisibleMatch {
            node,
            bounds: snapshot.tree.get(node).and_then(|node| node.bounds),
            matched: u32::try_from(found.len()).unwrap_or(u32::MAX),
        })
    }

    /// What led to an element, for the report.
    pub(crate) fn located(&self, visible_match: &VisibleMatch) -> Located {
        Located {
            by: self.description.clone(),
            matched: visible_match.matched,
        }
    }

    /// Why nothing is in sight, in plain words.
    pub(crate) fn explain(&self, snapshot: &Snapshot) -> Vec<String> {
        let tree = &snapshot.tree;
        let matches = self.matches(tree);
        if matches.is_empty() {
            let selector = self.any_of.first();
            let lines = selector.map(|selector| explain(tree, selector));
            return lines
                .filter(|lines| !lines.is_empty())
                .unwrap_or_else(|| self.left_out(tree));
        }
        let in_sight = self.all(snapshot).len();
        if in_sight > 0 {
            return vec![format!(
                "{in_sight} in sight; index {} is out of range, counting from 0",
                self.index
            )];
        }
        matches
            .iter()
            .take(TOLD)
            .map(|&id| out_of_sight(tree, id, snapshot.screen))
            .collect()
    }

    /// What the selectors match and the rest does not allow.
    fn left_out(&self, tree: &Tree) -> Vec<String> {
        self.any_of
            .iter()
            .flat_map(|selector| resolve(tree, selector).matches)
            .take(TOLD)
            .filter_map(|id| Some((id, tree.get(id)?)))
            .map(|(id, node)| {
                if is_app(&node.detail) {
                    format!(
                        "{} is the app itself, whose name is not on the screen",
                        describe(tree, id)
                    )
                } else {
                    format!("{} matches but for its state", describe(tree, id))
                }
            })
            .collect()
    }

    fn matches(&self, tree: &Tree) -> Vec<NodeId> {
        let resolved = self
            .any_of
            .iter()
            .map(|wanted| resolve(tree, wanted).matches);
        if self.by == By::Selector {
            return resolved.flatten().collect();
        }
        let mut found: Vec<_> = resolved
            .flatten()
            .filter(|&id| {
                tree.get(id)
                    .is_some_and(|node| !is_app(&node.detail) && self.also.holds(&node.detail))
            })
            .collect();
        innermost(tree, &mut found);
        sort(tree, &mut found);
        found
    }
}

/// Keeps of elements that lie in each other only the innermost: a text is often that of its row
/// and of the screen it is on, too.
fn innermost(tree: &Tree, found: &mut Vec<NodeId>) {
    found.sort_unstable();
    found.dedup();
    let all = found.clone();
    let mut later = all.iter().skip(1);
    found.retain(|&id| {
        let next = later.next();
        next.is_none_or(|next| !tree.descendants(id).contains(&next.0))
    });
}

/// Whether it is the app as a whole, whose name iOS has at the root of every screen without
/// showing it.
fn is_app(detail: &NodeDetail) -> bool {
    match detail {
        NodeDetail::Ios(node) => node.element_type.as_deref() == Some("Application"),
        NodeDetail::Android(_) | NodeDetail::Web(_) => false,
    }
}

impl ExtraConditions {
    fn holds(self, detail: &NodeDetail) -> bool {
        let NodeDetail::Ios(node) = detail else {
            return true;
        };
        let checked = node.value.as_deref() == Some("1");
        self.enabled.is_none_or(|want| want == node.is_enabled)
            && self.checked.is_none_or(|want| want == checked)
    }
}

fn broken(error: &SelectorError) -> ToolError {
    ToolError::failed(format!("invalid selector: {error}"))
}

fn out_of_sight(tree: &Tree, id: NodeId, screen: Size) -> String {
    let what = describe(tree, id);
    match tree.get(id).and_then(|node| node.bounds) {
        Some(bounds) if super::sight::visible_part(bounds, screen).is_none() => format!(
            "{what} matches, but lies out of sight at {}; the screen is {:.0} by {:.0}",
            place(bounds),
            screen.width,
            screen.height
        ),
        Some(_) | None => format!("{what} matches, but the platform reports it as invisible"),
    }
}
