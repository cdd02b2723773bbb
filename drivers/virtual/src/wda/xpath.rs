//! XPath 1.0 over elements, as if they were the XML of `/source`: the tags are kinds, the
//! attributes those that WebDriverAgent writes. The evaluator is the `xpath-eval` crate, compared
//! with libxml2 (which WebDriverAgent uses) on the expressions of the tests; this module lends it
//! the tree and keeps a client's expression within bounds.

use std::cell::Cell;
use std::cmp::Ordering;

use xpath_eval::{EvaluationContext, ExpandedName, NodeKind, Value, evaluate, parse};

use super::error::{ErrorKind, WdaError};
use super::source::{self, XmlOptions};
use super::tree::ElementTree;

/// The longest expression a client may send, in bytes.
const MAX_LENGTH: usize = 16 * 1024;
/// How deep parentheses and predicates may nest. The evaluator calls itself for each level and
/// for each operator; a debug build needs two megabytes of stack for five times as many.
const MAX_DEPTH: usize = 16;
/// How many operators an expression may have.
const MAX_OPERATORS: usize = 128;
/// How many steps from node to node one evaluation may take.
const MAX_STEPS: u64 = 2_000_000;

/// What `expression` finds, in document order. `root` is the document's only element, and the one
/// to start from.
///
/// # Errors
/// When it is no expression, or not one of elements.
pub(crate) fn find(
    tree: &ElementTree,
    root: usize,
    expression: &str,
) -> Result<Vec<usize>, WdaError> {
    let failed = |kind, why: &str| {
        let expression: String = expression.chars().take(200).collect();
        let message =
            format!("Cannot evaluate results for XPath expression \"{expression}\": {why}");
        WdaError::new(kind, message)
    };
    let invalid = |why: String| failed(ErrorKind::INVALID_SELECTOR, &why);
    // XCTest's word for "any kind".
    let expression = &expression.replace("XCUIElementTypeAny", "*");
    admit(expression).map_err(&invalid)?;
    let parsed = parse(expression).map_err(|error| invalid(error.to_string()))?;
    let document = Document::new(tree, root, expression);
    let start = Node {
        document: &document,
        place: NodePosition::Element(root),
    };
    let value = evaluate(&parsed, &EvaluationContext::new(start));
    if document.steps.get() > MAX_STEPS {
        return Err(failed(ErrorKind::TIMEOUT, "it takes too many steps"));
    }
    let nodes = match value.map_err(|error| invalid(error.to_string()))? {
        Value::NodeSet(nodes) => nodes,
        // libxml2 has no nodes to give for a number or a text, which finds nothing.
        Value::Boolean(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let element = |node: Node<'_>| match node.place {
        NodePosition::Root => None,
        NodePosition::Element(at) => Some(Ok(at)),
        NodePosition::Attribute(..) => Some(Err(failed(
            ErrorKind::UNKNOWN_ERROR,
            "it selects no elements",
        ))),
    };
    nodes.into_iter().filter_map(element).collect()
}

/// Bounds what the evaluator does by recursion.
fn admit(expression: &str) -> Result<(), String> {
    if expression.len() > MAX_LENGTH {
        return Err(format!("it is longer than {MAX_LENGTH} bytes"));
    }
    let (mut depth, mut operators, mut quote) = (0_usize, 0, None);
    for (at, letter) in expression.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | '+' | '-' | '*' | '=' | '<' | '>') => operators += 1,
            (None, ' ') if begins_with_operator(&expression[at + 1..]) => operators += 1,
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth > MAX_DEPTH {
            return Err(format!("it nests deeper than {MAX_DEPTH} levels"));
        }
        if operators > MAX_OPERATORS {
            return Err(format!("it has more than {MAX_OPERATORS} operators"));
        }
    }
    match prefix(expression) {
        Some(prefix) => Err(format!("undefined namespace prefix: {prefix}")),
        None => Ok(()),
    }
}

/// Whether an expression has `@name` or `@*` in its middle, with no letter on either side.
fn names_attribute(expression: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    expression.match_indices('@').any(|(at, _)| {
        let before = expression[..at].chars().next_back();
        let rest = &expression[at + 1..];
        let after = rest.strip_prefix(name).or_else(|| rest.strip_prefix('*'));
        let after = after.and_then(|after| after.chars().next());
        before.is_some_and(|letter| !is_word(letter) && letter != '@')
            && after.is_some_and(|letter| !is_word(letter))
    })
}

/// The first prefix of a namespace, of which a tree of elements has none.
fn prefix(expression: &str) -> Option<&str> {
    let mut quote = None;
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    expression.char_indices().find_map(|(at, letter)| {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ':') => {
                let (before, after) = (&expression[..at], &expression[at + 1..]);
                let start = before.trim_end_matches(of_name).len();
                let follows = |c: char| of_name(c) || c == '*';
                return (start < at && after.starts_with(follows)).then(|| &before[start..]);
            }
            _ => {}
        }
        None
    })
}

fn begins_with_operator(rest: &str) -> bool {
    ["and", "or", "div", "mod"]
        .iter()
        .any(|word| rest.starts_with(word))
}

/// The elements with their attributes as XML has them.
struct Document<'t> {
    tree: &'t ElementTree,
    root: usize,
    tags: Vec<String>,
    attributes: Vec<Vec<(&'static str, String)>>,
    steps: Cell<u64>,
}

impl<'t> Document<'t> {
    /// Only the attributes that the expression names with an `@` are there, as WebDriverAgent
    /// writes no others for a search.
    fn new(tree: &'t ElementTree, root: usize, expression: &str) -> Self {
        let options = XmlOptions::default();
        let inside = tree.subtree(root);
        let elements = || tree.iter().take(inside.end);
        let attributes = elements().map(|(at, _)| {
            let mut all = Vec::new();
            if inside.contains(&at) {
                all = source::xml_attributes(tree, at, &options);
                all.retain(|(name, _)| names_attribute(expression, name));
            }
            all
        });
        Self {
            tree,
            root,
            tags: elements().map(|(_, element)| element.kind.name()).collect(),
            attributes: attributes.collect(),
            steps: Cell::new(0),
        }
    }

    /// Counts a step; once there were too many, the tree seems empty and the evaluation ends.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        self.steps.get() <= MAX_STEPS
    }
}

#[derive(Clone, Copy)]
struct Node<'d> {
    document: &'d Document<'d>,
    place: NodePosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodePosition {
    Root,
    Element(usize),
    Attribute(usize, usize),
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Node<'_> {}

impl<'d> Node<'d> {
    fn at(self, place: NodePosition) -> Self {
        Self { place, ..self }
    }

    /// Ordered as in the document: an element's attributes come before its children.
    fn order(self) -> (usize, usize) {
        match self.place {
            NodePosition::Root => (0, 0),
            NodePosition::Element(at) => (at + 1, 0),
            NodePosition::Attribute(at, number) => (at + 1, number + 1),
        }
    }

    fn attribute(self) -> Option<&'d (&'static str, String)> {
        match self.place {
            NodePosition::Attribute(at, number) => self.document.attributes.get(at)?.get(number),
            NodePosition::Root | NodePosition::Element(_) => None,
        }
    }

    fn name(self) -> Option<&'d str> {
        match self.place {
            NodePosition::Element(at) => self.document.tags.get(at).map(String::as_str),
            NodePosition::Root | NodePosition::Attribute(..) => Some(self.attribute()?.0),
        }
    }
}

impl<'d> xpath_eval::Node<'d> for Node<'d> {
    fn kind(self) -> NodeKind {
        match self.place {
            NodePosition::Root => NodeKind::Root,
            NodePosition::Element(_) => NodeKind::Element,
            NodePosition::Attribute(..) => NodeKind::Attribute,
        }
    }

    fn parent(self) -> Option<Self> {
        let place = match self.place {
            NodePosition::Root => return None,
            NodePosition::Element(at) if at == self.document.root => NodePosition::Root,
            NodePosition::Element(at) => NodePosition::Element(self.document.tree.get(at)?.parent?),
            NodePosition::Attribute(at, _) => NodePosition::Element(at),
        };
        self.document.step().then(|| self.at(place))
    }

    fn children(self) -> impl Iterator<Item = Self> + 'd {
        let document = self.document;
        let (root, inner) = match self.place {
            NodePosition::Root => (Some(document.root), None),
            NodePosition::Element(at) => (None, Some(document.tree.children(at))),
            NodePosition::Attribute(..) => (None, None),
        };
        root.into_iter()
            .chain(inner.into_iter().flatten())
            .take_while(|_| document.step())
            .map(move |at| self.at(NodePosition::Element(at)))
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'd {
        let document = self.document;
        let (at, count) = match self.place {
            NodePosition::Element(at) => (at, document.attributes.get(at).map_or(0, Vec::len)),
            NodePosition::Root | NodePosition::Attribute(..) => (0, 0),
        };
        (0..count)
            .take_while(|_| document.step())
            .map(move |number| self.at(NodePosition::Attribute(at, number)))
    }

    fn namespaces(self) -> impl Iterator<Item = Self> + 'd {
        std::iter::empty()
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        Some(ExpandedName {
            namespace_uri: None,
            local_name: self.name()?.to_owned(),
        })
    }

    fn has_expanded_name(self, namespace_uri: Option<&str>, local_name: &str) -> bool {
        namespace_uri.is_none() && self.name() == Some(local_name)
    }

    fn string_value(self) -> String {
        self.with_string_value(str::to_owned)
    }

    fn with_string_value<R>(self, f: impl FnOnce(&str) -> R) -> R {
        // There is no text between the tags.
        f(self.attribute().map_or("", |(_, value)| value))
    }

    fn document_order(self, other: Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

#[cfg(test)]
mod tests;
