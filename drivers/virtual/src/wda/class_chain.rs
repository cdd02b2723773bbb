//! Class chains: ``**/XCUIElementTypeCell[`name == 'c1'`]/XCUIElementTypeButton[-1]``.
//!
//! Links are parted by `/`; `**/` before one means any depth. Behind a kind or `*` stand
//! predicates, over the element in backticks and over its descendants in dollar signs (doubled,
//! the sign is itself), and at last a position from 1, from the end when negative. Source:
//! `FBClassChainQueryParser.m` of <https://github.com/appium/WebDriverAgent>.

use super::element_type::ElementType;
use super::error::{ErrorKind, WdaError};
use super::predicate::Predicate;
use super::tree::ElementTree;

/// The longest chain a client may send, in bytes.
const MAX_LENGTH: usize = 32 * 1024;
/// How many links a chain may have.
const MAX_LINKS: usize = 64;

/// A chain that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassChain(Vec<Link>);

#[derive(Debug, Clone, PartialEq)]
struct Link {
    any_depth: bool,
    kind: ElementType,
    filters: Vec<Filter>,
    position: Option<isize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Filter {
    /// Over the element itself.
    Itself(Predicate),
    /// Over any of its descendants.
    Inside(Predicate),
}

impl ClassChain {
    /// Reads a chain.
    ///
    /// # Errors
    /// When it is none, or a predicate in it is none.
    pub(crate) fn parse(query: &str) -> Result<Self, WdaError> {
        if query.len() > MAX_LENGTH {
            return Err(no_chain(&format!("it is longer than {MAX_LENGTH} bytes")));
        }
        let mut links = Vec::new();
        let mut rest = query;
        loop {
            let (link, after) = link(rest)?;
            links.push(link);
            rest = match after.strip_prefix('/') {
                Some(_) if links.len() == MAX_LINKS => {
                    return Err(no_chain(&format!("it has more than {MAX_LINKS} links")));
                }
                Some(next) => next,
                None if after.is_empty() => return Ok(Self(links)),
                None => return Err(no_chain(&format!("'{after}' was not expected"))),
            };
        }
    }

    /// What the chain finds below `root`, in document order.
    ///
    /// # Errors
    /// When a predicate compares what cannot be compared.
    pub(crate) fn find(&self, tree: &ElementTree, root: usize) -> Result<Vec<usize>, WdaError> {
        let mut links = self.0.iter();
        links.try_fold(vec![root], |roots, link| link.find(tree, &roots))
    }
}

impl Link {
    fn find(&self, tree: &ElementTree, roots: &[usize]) -> Result<Vec<usize>, WdaError> {
        let mut found = Vec::new();
        for &root in roots {
            match self.any_depth {
                true => found.extend(tree.descendants(root)),
                false => found.extend(tree.children(root)),
            }
        }
        // Roots may lie in each other.
        found.sort_unstable();
        found.dedup();
        let mut kept = Vec::new();
        for at in found {
            let kind = tree.get(at).map(|element| element.kind);
            let mut keep = self.kind == ElementType::ANY || kind == Some(self.kind);
            for filter in &self.filters {
                keep = keep && filter.keeps(tree, at)?;
            }
            if keep {
                kept.push(at);
            }
        }
        let Some(position) = self.position else {
            return Ok(kept);
        };
        let steps = position.unsigned_abs();
        let at = match position {
            1.. => Some(steps - 1),
            _ => kept.len().checked_sub(steps),
        };
        Ok(at
            .and_then(|at| kept.get(at).copied())
            .into_iter()
            .collect())
    }
}

impl Filter {
    fn keeps(&self, tree: &ElementTree, at: usize) -> Result<bool, WdaError> {
        let (predicate, places) = match self {
            Self::Itself(predicate) => (predicate, at..at + 1),
            Self::Inside(predicate) => (predicate, tree.descendants(at)),
        };
        for place in places {
            if predicate.selects(tree, place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn link(rest: &str) -> Result<(Link, &str), WdaError> {
    let (any_depth, rest) = match rest.strip_prefix("**/") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (kind, mut rest) = kind(rest)?;
    let (mut filters, mut position) = (Vec::new(), None);
    while let Some(inside) = rest.strip_prefix('[') {
        let after = match inside.chars().next() {
            Some(sign @ ('`' | '$')) => {
                if position.is_some() {
                    return Err(no_chain("a predicate must stand before the position"));
                }
                let (text, after) = predicate_text(&inside[1..], sign)?;
                let predicate = Predicate::parse(&text)?;
                filters.push(match sign {
                    '`' => Filter::Itself(predicate),
                    _ => Filter::Inside(predicate),
                });
                after
            }
            _ => {
                let end = inside.find(']').unwrap_or(inside.len());
                let (number, after) = inside.split_at(end);
                let number = number.parse().ok().filter(|number: &isize| *number != 0);
                if number.is_none() || position.is_some() {
                    return Err(no_chain("one position other than zero was expected"));
                }
                position = number;
                after
            }
        };
        let closed = after.strip_prefix(']');
        rest = closed.ok_or_else(|| no_chain(&format!("']' was expected at '{after}'")))?;
    }
    let link = Link {
        any_depth,
        kind,
        filters,
        position,
    };
    Ok((link, rest))
}

fn kind(rest: &str) -> Result<(ElementType, &str), WdaError> {
    if let Some(rest) = rest.strip_prefix('*') {
        return Ok((ElementType::ANY, rest));
    }
    let end = rest.find(|letter: char| !letter.is_alphabetic());
    let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
    let kind = ElementType::named(name).map(|kind| (kind, after));
    kind.ok_or_else(|| no_chain(&format!("'{name}' class name is unknown to WDA")))
}

/// The text up to a single `sign`; a doubled one stands for itself.
fn predicate_text(rest: &str, sign: char) -> Result<(String, &str), WdaError> {
    let mut text = String::new();
    let mut after = rest;
    while let Some((part, rest)) = after.split_once(sign) {
        text.push_str(part);
        let Some(doubled) = rest.strip_prefix(sign) else {
            return Ok((text, rest));
        };
        text.push(sign);
        after = doubled;
    }
    Err(no_chain(&format!(
        "cannot find the end of predicate '{rest}'"
    )))
}

fn no_chain(why: &str) -> WdaError {
    let message = format!("Cannot parse class chain query. {why}");
    WdaError::new(ErrorKind::INVALID_SELECTOR, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wda::tree::tests::{form, rows};

    /// What finds which elements of the form.
    const FOUND: &str = r#"
XCUIElementTypeWindow -> Window
XCUIElementTypeWindow/*/XCUIElementTypeButton -> sign_in
*/*/* -> email, sign_in, notify, list
XCUIElementTypeButton ->
**/XCUIElementTypeButton -> sign_in, buy
XCUIElementTypeWindow/**/XCUIElementTypeCell/**/* -> One, Two, buy, Three
**/*[`label == 'Two'`] -> Two
**/XCUIElementTypeCell[1] -> c1
**/XCUIElementTypeCell[-1] -> c3
**/XCUIElementTypeCell[2]/XCUIElementTypeButton -> buy
**/XCUIElementTypeCell[-3]/* -> One
**/XCUIElementTypeCell[4] ->
**/XCUIElementTypeCell[-4] ->
**/XCUIElementTypeAny[`name == 'buy'`] -> buy
**/XCUIElementTypeCell[$label == 'Three'$] -> c3
**/XCUIElementTypeCell[$type == 'XCUIElementTypeButton'$][`name != 'c9'`][1] -> c2
**/*[`label == 'a``b'`] ->
**/*[`label != 'a``b' AND name == 'c1'`] -> c1
**/*[$label == '$$' OR name == 'buy'$] -> Window, Other, list, c2
"#;

    fn find(query: &str) -> Result<Vec<String>, WdaError> {
        let tree = form();
        let found = ClassChain::parse(query)?.find(&tree, 0)?;
        Ok(tree.names(&found))
    }

    #[test]
    fn links_predicates_and_positions_lead_to_what_webdriveragent_finds() {
        for (query, names) in rows(FOUND) {
            assert_eq!(find(query).unwrap(), names, "{query}");
        }
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
            assert_eq!(error.kind, ErrorKind::INVALID_SELECTOR, "{query}: {error}");
        }
        let error = find("**/*[`name ==`]").unwrap_err();
        assert_eq!(error.kind, ErrorKind::UNKNOWN_ERROR);
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
