//! Why a selector matched nothing, in plain words, for the log of a failed step.

mod predicate;
mod suggest;

use super::compile::{CompiledSelector, Plan};
use super::condition::Family;
use super::refs::describe;
use super::resolve::{Filter, find, find_all, scope};
use crate::tree::{NodeId, Tree};
use predicate::Predicate;

/// Most lines in an explanation.
const MAX_LINES: usize = 12;
/// Most conditions named as being in the way.
const MAX_NEAR: usize = 2;
/// Longest line, in characters.
const MAX_LINE: usize = 300;

/// Says why nothing matches: which condition ruled out the last candidates and what came near.
/// Empty when something matches; never more than a dozen lines.
pub fn explain(tree: &Tree, selector: &CompiledSelector) -> Vec<String> {
    if !find(tree, &selector.plan).is_empty() {
        return Vec::new();
    }
    let mut explanation = Explanation {
        tree,
        lines: Vec::new(),
    };
    explanation.part(&selector.plan);
    for note in selector.notes() {
        explanation.say(note);
    }
    explanation.lines
}

struct Explanation<'t> {
    tree: &'t Tree,
    lines: Vec<String>,
}

impl Explanation<'_> {
    fn say(&mut self, line: String) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(match line.char_indices().nth(MAX_LINE) {
                Some((cut, _)) => format!("{}...", &line[..cut]),
                None => line,
            });
        }
    }

    fn part(&mut self, plan: &Plan) {
        if self.lines.len() >= MAX_LINES {
            return;
        }
        if self.tree.is_empty() {
            return self.say("the screen has no elements".into());
        }
        if self.relation_fails(plan) || self.index_fails(plan) {
            return;
        }
        let scope = scope(self.tree, plan);
        if scope.is_empty() {
            return self.say("the elements that match childOf have nothing in them".into());
        }
        let Some(candidates) = self.candidates(plan, &scope) else {
            return;
        };
        self.conditions(plan, &candidates);
    }

    /// Explains a parent or an anchor that is missing; `true` when that settles it.
    fn relation_fails(&mut self, plan: &Plan) -> bool {
        if let Some(parent) = &plan.child_of
            && find(self.tree, parent).is_empty()
        {
            self.missing("childOf", parent);
            return true;
        }
        for (side, anchor) in &plan.spatial {
            let Some(&first) = find(self.tree, anchor).first() else {
                self.missing(side.name(), anchor);
                return true;
            };
            if self
                .tree
                .get(first)
                .is_some_and(|node| node.bounds.is_none())
            {
                self.say(format!(
                    "{}: {} has no bounds, so nothing lies to any side of it",
                    side.name(),
                    describe(self.tree, first)
                ));
                return true;
            }
        }
        let contained = plan.contains_child.as_deref().into_iter();
        for contained in contained.chain(&plan.contains_descendants) {
            if Filter::new(self.tree, contained).is_none() {
                self.part(contained);
                return true;
            }
        }
        false
    }

    fn missing(&mut self, relation: &str, plan: &Plan) {
        self.say(format!("{relation}: nothing matches {}", plan.description));
        self.part(plan);
    }

    fn index_fails(&mut self, plan: &Plan) -> bool {
        let Some(index) = plan.index else {
            return false;
        };
        let count = find_all(self.tree, plan).len();
        if count > 0 {
            self.say(format!(
                "{} without the index; index {index} is out of range, counting from 0",
                match count {
                    1 => "1 element matches".into(),
                    _ => format!("{count} elements match"),
                }
            ));
        }
        count > 0
    }

    /// The elements of the block's platform.
    fn candidates(&mut self, plan: &Plan, scope: &[NodeId]) -> Option<Vec<NodeId>> {
        let Some(block) = &plan.block else {
            return Some(scope.to_vec());
        };
        if block.family == Family::Compose {
            self.say(
                "compose selectors are for other programs; no device supports them here".into(),
            );
            return None;
        }
        let of_family = |id: &NodeId| {
            let node = self.tree.get(*id);
            node.is_some_and(|node| Family::of(&node.detail) == block.family)
        };
        let candidates: Vec<NodeId> = scope.iter().copied().filter(of_family).collect();
        if candidates.is_empty() {
            self.say(format!(
                "{} selectors match elements of {}, and this screen has none",
                block.name,
                match block.family {
                    Family::Android => "Android",
                    Family::Ios => "iOS",
                    Family::Web | Family::Compose => "web pages",
                }
            ));
            return None;
        }
        Some(candidates)
    }

    fn conditions(&mut self, plan: &Plan, candidates: &[NodeId]) {
        let Some(filter) = Filter::new(self.tree, plan) else {
            return;
        };
        let predicates = Predicate::all(self.tree, plan, &filter);
        let table: Vec<Vec<bool>> = predicates
            .iter()
            .map(|predicate| candidates.iter().map(|&id| predicate.holds(id)).collect())
            .collect();
        let alone = |row: &[bool]| row.iter().filter(|held| **held).count();
        let mut impossible = false;
        for (predicate, row) in predicates.iter().zip(&table) {
            if alone(row) == 0 {
                impossible = true;
                if self.lines.len() >= MAX_LINES {
                    break;
                }
                self.nobody(predicate, plan, candidates);
            }
        }
        if impossible {
            return;
        }
        let near = nearest(&table);
        for &(skipped, first, count) in near.iter().take(MAX_NEAR) {
            self.nearly(&predicates[skipped], candidates[first], count);
        }
        if near.is_empty() {
            let counts = predicates
                .iter()
                .zip(&table)
                .map(|(predicate, row)| format!("{} is true of {}", predicate.text(), alone(row)));
            self.say(format!(
                "no element has all of this at once, of {}: {}",
                candidates.len(),
                counts.collect::<Vec<_>>().join(", ")
            ));
        }
    }

    /// A condition that no element fulfils, and what comes near.
    fn nobody(&mut self, predicate: &Predicate<'_>, plan: &Plan, candidates: &[NodeId]) {
        self.say(format!(
            "none of {} has {}",
            match candidates.len() {
                1 => "1 element".into(),
                count => format!("{count} elements"),
            },
            predicate.text()
        ));
        match predicate {
            Predicate::Condition(condition, _) => {
                if let Some(block) = &plan.block {
                    for line in suggest::suggest(self.tree, block, condition, candidates) {
                        self.say(line);
                    }
                }
            }
            Predicate::Child(contained, _) | Predicate::Descendant(contained, _) => {
                if find_all(self.tree, contained).is_empty() {
                    self.part(contained);
                } else if let Predicate::Child(..) = predicate {
                    self.say(format!(
                        "{} is on the screen, but not as a direct child of one of them; \
                         containsDescendants looks deeper",
                        contained.description
                    ));
                }
            }
            Predicate::Side(side, _) => self.say(format!("nothing lies {} it", side.name())),
        }
    }

    /// A condition without which something would match.
    fn nearly(&mut self, predicate: &Predicate<'_>, id: NodeId, count: usize) {
        let mut line = format!(
            "without {}, {} would match: {}",
            predicate.text(),
            match count {
                1 => "one element".into(),
                _ => format!("{count} elements"),
            },
            describe(self.tree, id)
        );
        if let Predicate::Condition(condition, _) = predicate
            && let Some(node) = self.tree.get(id)
        {
            line += &match condition.actual(&node.detail) {
                Some(actual) => format!("; its {} is {actual}", condition.property()),
                None => format!("; it has no {}", condition.property()),
            };
        }
        self.say(line);
    }
}

/// The rows without which some column would hold in all others, the most telling first: its
/// place, the first such column, and how many there are.
fn nearest(table: &[Vec<bool>]) -> Vec<(usize, usize, usize)> {
    let columns = table.first().map_or(0, Vec::len);
    let mut near: Vec<(usize, usize, usize)> = (0..table.len())
        .filter_map(|skipped| {
            let others = |column: &usize| {
                let rows = table.iter().enumerate();
                rows.filter(|(row, _)| *row != skipped)
                    .all(|(_, row)| row[*column])
            };
            let mut held = (0..columns).filter(others);
            let first = held.next()?;
            Some((skipped, first, held.count() + 1))
        })
        .collect();
    near.sort_by_key(|(_, _, count)| *count);
    near
}
