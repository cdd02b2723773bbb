//! What the author of a pattern may have meant.

use std::collections::BTreeSet;

use crate::selector::condition::{Block, Check, Condition, ReadText};
use crate::selector::describe::quote;
use crate::selector::pattern::Pattern;
use crate::selector::refs::describe;
use crate::tree::{NodeId, Tree};

/// Most different texts compared.
const MAX_TEXTS: usize = 2_000;
/// Longest text compared, in bytes.
const MAX_TEXT: usize = 200;
/// How alike two texts must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.55;

/// Suggestions for a condition that no candidate fulfils.
pub(super) fn suggest(
    tree: &Tree,
    block: &Block<Pattern>,
    condition: &Condition<Pattern>,
    candidates: &[NodeId],
) -> Vec<String> {
    let (words, read) = match &condition.check {
        Check::Pattern(pattern, read) => (pattern.words(), *read),
        Check::Equals(want, read) => (want.clone(), *read),
        Check::Contains(..) | Check::Flag(..) | Check::Number(..) | Check::Nth(_) => {
            return Vec::new();
        }
    };
    let texts = texts(tree, candidates, read);
    if let Some(line) = elsewhere(tree, block, condition, candidates) {
        return vec![line];
    }
    if texts.is_empty() {
        return vec![format!("no element here has any {}", condition.property())];
    }
    vec![near(&words, &texts).unwrap_or_else(|| {
        let shown: Vec<String> = texts.iter().take(6).map(|text| quote(text)).collect();
        let more = match texts.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("on the screen: {}{more}", shown.join(", "))
    })]
}

fn texts(tree: &Tree, candidates: &[NodeId], read: ReadText) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for text in candidates
        .iter()
        .filter_map(|&id| tree.get(id).and_then(|node| read(&node.detail)))
    {
        if texts.len() == MAX_TEXTS {
            break;
        }
        if !text.trim().is_empty() && text.len() <= MAX_TEXT {
            texts.insert(text.into_owned());
        }
    }
    texts
}

/// The pattern found in another property of an element.
fn elsewhere(
    tree: &Tree,
    block: &Block<Pattern>,
    condition: &Condition<Pattern>,
    candidates: &[NodeId],
) -> Option<String> {
    let matches = |text: &str| match &condition.check {
        Check::Pattern(pattern, _) => pattern.matches(text),
        Check::Equals(want, _) => text == want,
        Check::Contains(..) | Check::Flag(..) | Check::Number(..) | Check::Nth(_) => false,
    };
    let others = block
        .texts
        .iter()
        .filter(|(field, _)| *field != condition.field);
    others.clone().find_map(|(field, read)| {
        let has = |id: &&NodeId| {
            let node = tree.get(**id);
            node.and_then(|node| read(&node.detail))
                .is_some_and(|text| matches(&text))
        };
        let id = *candidates.iter().find(has)?;
        Some(format!("but {field} would match: {}", describe(tree, id)))
    })
}

fn near(words: &str, texts: &BTreeSet<String>) -> Option<String> {
    let wanted = words.to_lowercase();
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if wanted.trim().is_empty() {
        return None;
    }
    if let Some(text) = texts.iter().find(|text| text.to_lowercase() == wanted) {
        let text = quote(text);
        return Some(format!(
            "{text} differs in case only; (?i) in front ignores case"
        ));
    }
    let squeezed = squeeze(&wanted);
    if let Some(text) = texts
        .iter()
        .find(|text| squeeze(&text.to_lowercase()) == squeezed)
    {
        return Some(format!("{} differs in white space only", quote(text)));
    }
    if let Some(text) = texts.iter().find(|text| text.contains(words)) {
        return Some(format!(
            "{} contains it, but a pattern must match the whole text: \".*{words}.*\"",
            quote(text)
        ));
    }
    if wanted.len() > MAX_TEXT {
        return None;
    }
    let mut alike: Vec<(f64, &String)> = texts
        .iter()
        .map(|text| {
            (
                strsim::normalized_levenshtein(&wanted, &text.to_lowercase()),
                text,
            )
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best: Vec<String> = alike.iter().take(3).map(|(_, text)| quote(text)).collect();
    (!best.is_empty()).then(|| format!("did you mean {}?", best.join(" or ")))
}
