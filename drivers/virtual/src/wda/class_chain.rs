//! Class chains: ``**/XCUIElementTypeCell[`name == 'c1'`]/XCUIElementTypeButton[-1]``.
//!
//! Links are parted by `/`; `**/` before one means any depth. Behind a kind or `*` stand
//! predicates, over the element in backticks and over its descendants in dollar signs (doubled,
//! the sign is itself), and at last a position from 1, from the end when negative. Source:
//! `FBClassChainQueryParser.m` of <https://github.com/appium/WebDriverAgent>.

use super::element_type::ElementType;
use super::predicate::{Predicate, PredicateError};
use super::tree::ElementTree;

/// The longest chain a client may send, in bytes.
const MAX_LENGTH: usize = 32 * 1024;
/// How many links a chain may have.
const MAX_LINKS: usize = 64;

/// Why a chain finds nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum ClassChainError {
    /// It is none.
    #[error("Cannot parse class chain query '{query}'. {why}")]
    Syntax {
        /// The whole chain.
        query: String,
        /// What stands where it should not.
        why: String,
    },
    /// A predicate in it is none, or fails.
    #[error(transparent)]
    Predicate(#[from] PredicateError),
}

/// A chain that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassChain(Vec<Link>);

#[derive(Debug, Clone, PartialEq)]
struct Link {
    depth: Depth,
    kind: ElementType,
    filters: Vec<Filter>,
    position: Option<isize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Children,
    Descendants,
}

#[derive(Debug, Clone, PartialEq)]
enum Filter {
    /// Over the element itself.
    Itself(Predicate),
    /// Over any of its descendants.
    Inside(Predicate),
}

/// Why a link is none.
enum Failure {
    Syntax(String),
    Predicate(PredicateError),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Syntax(why)
    }
}

impl From<PredicateError> for Failure {
    fn from(error: PredicateError) -> Self {
        Self::Predicate(error)
    }
}

impl ClassChain {
    /// Reads a chain.
    ///
    /// # Errors
    /// When it is none, or a predicate in it is none.
    pub(crate) fn parse(query: &str) -> Result<Self, ClassChainError> {
        links(query).map(Self).map_err(|failure| match failure {
            Failure::Syntax(why) => ClassChainError::Syntax {
                query: query.chars().take(200).collect(),
                why,
            },
            Failure::Predicate(error) => error.into(),
        })
    }

    /// What the chain finds below `root`, in document order.
    ///
    /// # Errors
    /// When a predicate compares what cannot be compared.
    pub(crate) fn find(
        &self,
        tree: &ElementTree,
        root: usize,
    ) -> Result<Vec<usize>, ClassChainError> {
        self.0
            .iter()
            .try_fold(vec![root], |roots, link| link.find(tree, &roots))
    }
}

impl Link {
    fn find(&self, tree: &ElementTree, roots: &[usize]) -> Result<Vec<usize>, ClassChainError> {
        let mut found = Vec::new();
        for &root in roots {
            match self.depth {
                Depth::Children => found.extend(tree.children(root)),
                Depth::Descendants => found.extend(tree.descendants(root)),
            }
        }
        // Roots may lie in each other.
        found.sort_unstable();
        found.dedup();
        found.retain(|&at| {
            let kind = tree.get(at).map(|element| element.kind);
            self.kind == ElementType::ANY || kind == Some(self.kind)
        });
        for filter in &self.filters {
            found = filter.apply(tree, found)?;
        }
        Ok(match self.position {
            None => found,
            Some(position) => pick(&found, position).into_iter().collect(),
        })
    }
}

impl Filter {
    fn apply(&self, tree: &ElementTree, found: Vec<usize>) -> Result<Vec<usize>, PredicateError> {
        let mut kept = Vec::new();
        for at in found {
            let keep = match self {
                Self::Itself(predicate) => predicate.selects(tree, at)?,
                Self::Inside(predicate) => {
                    any(tree.descendants(at), |inner| predicate.selects(tree, inner))?
                }
            };
            if keep {
                kept.push(at);
            }
        }
        Ok(kept)
    }
}

fn any<E>(
    places: impl Iterator<Item = usize>,
    mut test: impl FnMut(usize) -> Result<bool, E>,
) -> Result<bool, E> {
    for at in places {
        if test(at)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn pick(found: &[usize], position: isize) -> Option<usize> {
    let steps = position.unsigned_abs();
    let at = if position > 0 {
        steps.checked_sub(1)?
    } else {
        found.len().checked_sub(steps)?
    };
    found.get(at).copied()
}

fn links(query: &str) -> Result<Vec<Link>, Failure> {
    if query.len() > MAX_LENGTH {
        return Err(format!("it is longer than {MAX_LENGTH} bytes").into());
    }
    let mut links = Vec::new();
    let mut rest = query;
    loop {
        let (link, after) = link(rest)?;
        links.push(link);
        if links.len() > MAX_LINKS {
            return Err(format!("it has more than {MAX_LINKS} links").into());
        }
        match after.strip_prefix('/') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(links),
            None => return Err(format!("'{after}' was not expected").into()),
        }
    }
}

fn link(rest: &str) -> Result<(Link, &str), Failure> {
    let (depth, rest) = match rest.strip_prefix("**/") {
        Some(rest) => (Depth::Descendants, rest),
        None => (Depth::Children, rest),
    };
    let (kind, mut rest) = kind(rest)?;
    let mut link = Link {
        depth,
        kind,
        filters: Vec::new(),
        position: None,
    };
    while let Some(inside) = rest.strip_prefix('[') {
        let after = match inside.chars().next() {
            Some(sign @ ('`' | '$')) => {
                if link.position.is_some() {
                    return Err("a predicate must stand before the position"
                        .to_owned()
                        .into());
                }
                let (text, after) = predicate_text(&inside[1..], sign)?;
                let predicate = Predicate::parse(&text)?;
                link.filters.push(match sign {
                    '`' => Filter::Itself(predicate),
                    _ => Filter::Inside(predicate),
                });
                after
            }
            _ => {
                let end = inside.find(']').unwrap_or(inside.len());
                let (number, after) = inside.split_at(end);
                let position = number
                    .parse()
                    .ok()
                    .filter(|&position: &isize| position != 0);
                let position =
                    position.ok_or_else(|| format!("'{number}' is no position other than zero"))?;
                if link.position.replace(position).is_some() {
                    return Err("a position is set twice".to_owned().into());
                }
                after
            }
        };
        let closed = after.strip_prefix(']');
        rest = closed.ok_or_else(|| format!("']' was expected at '{after}'"))?;
    }
    Ok((link, rest))
}

fn kind(rest: &str) -> Result<(ElementType, &str), Failure> {
    if let Some(rest) = rest.strip_prefix('*') {
        return Ok((ElementType::ANY, rest));
    }
    let end = rest
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if name.is_empty() {
        return Err(format!("a kind of element was expected at '{rest}'").into());
    }
    match ElementType::named(name) {
        Some(kind) => Ok((kind, after)),
        None => Err(format!("'{name}' class name is unknown to WDA").into()),
    }
}

/// The text up to a single `sign`; a doubled one stands for itself.
fn predicate_text(rest: &str, sign: char) -> Result<(String, &str), Failure> {
    let mut text = String::new();
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != sign {
            text.push(letter);
            continue;
        }
        match letters.peek() {
            Some(&(_, next)) if next == sign => {
                text.push(sign);
                letters.next();
            }
            _ => return Ok((text, &rest[at + 1..])),
        }
    }
    Err(format!("cannot find the end of predicate '{rest}'").into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wda::tree::tests::form;

    fn find(query: &str) -> Result<Vec<String>, ClassChainError> {
        let tree = form();
        let found = ClassChain::parse(query)?.find(&tree, 0)?;
        Ok(tree.names(&found))
    }

    #[track_caller]
    fn finds(query: &str, names: &[&str]) {
        assert_eq!(find(query).unwrap(), names, "{query}");
    }

    #[test]
    fn links_lead_from_parent_to_child() {
        finds("XCUIElementTypeWindow", &["Window"]);
        finds(
            "XCUIElementTypeWindow/*/XCUIElementTypeButton",
            &["sign_in"],
        );
        finds("*/*/*", &["email", "sign_in", "notify", "list"]);
        finds("XCUIElementTypeButton", &[]);
    }

    #[test]
    fn two_stars_lead_to_any_depth() {
        finds("**/XCUIElementTypeButton", &["sign_in", "buy"]);
        finds(
            "XCUIElementTypeWindow/**/XCUIElementTypeCell/**/*",
            &["One", "Two", "buy", "Three"],
        );
        finds("**/*[`label == 'Two'`]", &["Two"]);
    }

    #[test]
    fn positions_count_from_both_ends() {
        finds("**/XCUIElementTypeCell[1]", &["c1"]);
        finds("**/XCUIElementTypeCell[-1]", &["c3"]);
        finds("**/XCUIElementTypeCell[2]/XCUIElementTypeButton", &["buy"]);
        finds("**/XCUIElementTypeCell[-3]/*", &["One"]);
        finds("**/XCUIElementTypeCell[4]", &[]);
        finds("**/XCUIElementTypeCell[-4]", &[]);
    }

    #[test]
    fn predicates_look_at_the_element_or_into_it() {
        finds("**/XCUIElementTypeAny[`name == 'buy'`]", &["buy"]);
        finds("**/XCUIElementTypeCell[$label == 'Three'$]", &["c3"]);
        finds(
            "**/XCUIElementTypeCell[$type == 'XCUIElementTypeButton'$][`name != 'c9'`][1]",
            &["c2"],
        );
    }

    #[test]
    fn a_doubled_sign_stands_for_itself() {
        finds("**/*[`label == 'a``b'`]", &[]);
        finds("**/*[`label != 'a``b' AND name == 'c1'`]", &["c1"]);
        finds(
            "**/*[$label == '$$' OR name == 'buy'$]",
            &["Window", "Other", "list", "c2"],
        );
    }

    #[test]
    fn what_is_no_chain_is_refused() {
        for query in [
            "",
            "/",
            "**",
            "**/",
            "Button",
            "**/XCUIElementTypeCell[0]",
            "**/XCUIElementTypeCell[x]",
            "**/XCUIElementTypeCell[1][2]",
            "**/XCUIElementTypeCell[1][`name == 'a'`]",
            "**/XCUIElementTypeCell[`name == 'a']",
            "**/XCUIElementTypeCell[1",
            "XCUIElementTypeCell/",
            "XCUIElementTypeCell//XCUIElementTypeCell",
            "XCUIElementTypeCell x",
        ] {
            let error = find(query).unwrap_err();
            assert!(
                matches!(error, ClassChainError::Syntax { .. }),
                "{query}: {error}"
            );
        }
        let error = find("**/*[`name ==`]").unwrap_err();
        assert!(matches!(error, ClassChainError::Predicate(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_panic(text in "\\PC{0,60}") {
            let _ = find(&text);
        }

        #[test]
        fn any_parts_are_answered_without_panic(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("**/"), Just("*"), Just("/"), Just("XCUIElementTypeCell"), Just("["), Just("]"),
                    Just("`"), Just("$"), Just("1"), Just("-1"), Just("name == 'a'"), Just("ü"),
                ],
                0..12,
            ),
        ) {
            let _ = find(&parts.concat());
        }
    }
}
