//! What is wrong with a selector whatever the screen shows.

use super::NodeSelector;

/// Deepest nesting of selectors, the outermost being 0. Trailblaze lets deeper ones match
/// nothing, which makes "not visible" pass by accident.
pub(super) const MAX_DEPTH: usize = 10;
/// Most selectors in one, all nested ones counted.
pub(super) const MAX_PARTS: usize = 200;

/// Why a selector can never work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// Two platforms at once.
    #[error("`{first}` and `{second}` are mutually exclusive{}", place(.at))]
    SeveralBlocks {
        /// The block found first.
        first: &'static str,
        /// The block beside it.
        second: &'static str,
        /// Where in the selector: `below.childOf`; empty for its outermost part.
        at: String,
    },
    /// Nested too deeply.
    #[error("selectors are nested more than {MAX_DEPTH} deep{}", place(.at))]
    TooDeep {
        /// Where in the selector.
        at: String,
    },
    /// Made of too many parts.
    #[error("a selector has more than {MAX_PARTS} parts")]
    TooLarge,
}

fn place(at: &str) -> String {
    if at.is_empty() {
        String::new()
    } else {
        format!(" in `{at}`")
    }
}

pub(super) fn check(selector: &NodeSelector) -> Result<(), SelectorError> {
    let mut parts = 0;
    check_part(selector, &mut Vec::new(), &mut parts)
}

fn check_part(
    selector: &NodeSelector,
    path: &mut Vec<&'static str>,
    parts: &mut usize,
) -> Result<(), SelectorError> {
    *parts += 1;
    if *parts > MAX_PARTS {
        return Err(SelectorError::TooLarge);
    }
    if path.len() > MAX_DEPTH {
        return Err(SelectorError::TooDeep { at: path.join(".") });
    }
    let blocks = selector.block_names();
    if let [first, second, ..] = blocks[..] {
        return Err(SelectorError::SeveralBlocks {
            first,
            second,
            at: path.join("."),
        });
    }
    for (relation, nested) in selector.relations() {
        path.push(relation);
        check_part(nested, path, parts)?;
        path.pop();
    }
    Ok(())
}

impl NodeSelector {
    fn block_names(&self) -> Vec<&'static str> {
        [
            ("androidAccessibility", self.android_accessibility.is_some()),
            ("androidMaestro", self.android_maestro.is_some()),
            ("iosMaestro", self.ios_maestro.is_some()),
            ("iosAxe", self.ios_axe.is_some()),
            ("web", self.web.is_some()),
            ("compose", self.compose.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, present)| present.then_some(name))
        .collect()
    }

    /// The nested selectors and what each is for.
    pub(super) fn relations(&self) -> impl Iterator<Item = (&'static str, &Self)> {
        let one = [
            ("below", &self.below),
            ("above", &self.above),
            ("leftOf", &self.left_of),
            ("rightOf", &self.right_of),
            ("childOf", &self.child_of),
            ("containsChild", &self.contains_child),
        ];
        one.into_iter()
            .filter_map(|(name, nested)| Some((name, nested.as_deref()?)))
            .chain(
                self.contains_descendants
                    .iter()
                    .map(|nested| ("containsDescendants", nested)),
            )
    }
}
