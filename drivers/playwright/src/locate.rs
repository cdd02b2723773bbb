//! From a selector or a reference to a selector of Playwright's engines. Pure.

use std::fmt::Write as _;

use packtrain_drivers::TextMatch;
use packtrain_drivers::selector::{
    NodeSelector, WebMatch, around_number, is_role, role_and_name, without_state,
};
use serde_json::json;

/// A selector in Playwright's words, and in the reader's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// `internal:role=button[name="Save"s]`.
    pub(crate) selector: String,
    /// `role button "Save"`.
    pub(crate) by: String,
}

/// What a reference stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// Something that can be looked for at once.
    Selector(Candidate),
    /// A number of the compact list, `e4`.
    ListedElement(u32),
    /// A bare text: the first of these that matches anything.
    OneOf(Vec<Candidate>),
}

/// Roles tried for a bare text, in order.
const INTERACTIVE: [&str; 10] = [
    "textbox",
    "searchbox",
    "combobox",
    "button",
    "link",
    "checkbox",
    "radio",
    "tab",
    "menuitem",
    "option",
];

/// Roles whose text is not a name, though the compact list calls them by it.
const CALLED_BY_TEXT: [&str; 19] = [
    "alert",
    "article",
    "blockquote",
    "caption",
    "code",
    "definition",
    "deletion",
    "emphasis",
    "insertion",
    "listitem",
    "log",
    "note",
    "paragraph",
    "status",
    "strong",
    "subscript",
    "superscript",
    "term",
    "time",
];

/// The durable selector, when its `web` block names something.
pub(crate) fn durable(selector: &NodeSelector) -> Option<Candidate> {
    let web = selector.web.as_ref()?;
    let mut found = block(web)?;
    if let Some(nth) = web.nth_index.or(selector.index) {
        found = nth_of(found, nth);
    }
    Some(found)
}

fn block(web: &WebMatch) -> Option<Candidate> {
    if let Some(css) = &web.css_selector {
        return Some(Candidate {
            selector: format!("css={css}"),
            by: format!("css {css}"),
        });
    }
    if let Some(id) = &web.data_test_id {
        return Some(Candidate {
            selector: format!("internal:testid=[data-testid={}s]", quoted(id)),
            by: format!("test id {id:?}"),
        });
    }
    if web.aria_role.is_none() && web.heading_level.is_none() {
        return descriptor(&literal(web.aria_descriptor_regex.as_deref()?).0);
    }
    let role = web.aria_role.as_deref().unwrap_or("heading");
    let mut selector = format!("internal:role={role}");
    let mut by = format!("role {role}");
    if let Some(pattern) = &web.aria_name_regex {
        let (name, is_literal) = literal(pattern);
        by.push_str(&format!(" {name:?}"));
        selector.push_str(&if is_literal {
            format!("[name={}s]", quoted(&name))
        } else {
            format!("[name={}]", js_regex(pattern))
        });
    }
    if let Some(level) = web.heading_level {
        selector.push_str(&format!("[level={level}]"));
        by.push_str(&format!(" level {level}"));
    }
    Some(Candidate { selector, by })
}

/// What a reference stands for; `None` when it is blank.
pub(crate) fn reference(text: &str) -> Option<Reference> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if let Some(css) = text.strip_prefix("css=") {
        return Some(Reference::Selector(Candidate {
            selector: text.to_owned(),
            by: format!("css {css}"),
        }));
    }
    if let Some(words) = text
        .strip_prefix("text=")
        .filter(|it| !it.trim().is_empty())
    {
        let visible = by_words(words.trim())
            .into_iter()
            .map(|candidate| Candidate {
                selector: format!("{} >> visible=true", candidate.selector),
                ..candidate
            });
        return Some(Reference::OneOf(visible.collect()));
    }
    if let Some(number) = listed(text) {
        return Some(Reference::ListedElement(number));
    }
    // A whole line of the compact list: what it says of the element outlives its number.
    let line = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let text = match line {
        Some((number, rest)) if listed(number).is_some() => rest,
        _ => text,
    };
    if let Some(found) = descriptor(text) {
        return Some(Reference::Selector(found));
    }
    let mut tries = Vec::new();
    if let Some((role, name)) = text.split_once(char::is_whitespace)
        && is_role(role)
    {
        tries.push(by_role(role, unquote(name.trim())));
    }
    tries.extend(by_words(text));
    Some(Reference::OneOf(tries))
}

/// What a bare text may be, in order: the name of something to act on, a label, a text.
fn by_words(text: &str) -> Vec<Candidate> {
    let named = INTERACTIVE.iter().map(|role| by_role(role, text));
    let label = Candidate {
        selector: format!("internal:label={}s", json!(text)),
        by: format!("label {text:?}"),
    };
    named
        .chain([label, by_text(text, TextMatch::Contains)])
        .collect()
}

/// `role "Name"` or a bare role, as the compact list prints them, a trailing `[level=1]` or `: value` ignored.
pub(crate) fn descriptor(text: &str) -> Option<Candidate> {
    let text = without_state(text);
    if let Some(content) = text.strip_prefix("text: ") {
        return Some(Candidate {
            by: format!("text {content:?}"),
            ..by_text(content, TextMatch::Exact)
        });
    }
    if is_role(text) {
        return Some(of_role(text));
    }
    let (role, name) = role_and_name(text)?;
    let named = by_role(role, name);
    if !CALLED_BY_TEXT.contains(&role) {
        return Some(named);
    }
    let content = format!("internal:role={role} >> internal:has-text={}s", json!(name));
    Some(Candidate {
        selector: format!("{} >> internal:or={}", named.selector, json!(content)),
        by: named.by,
    })
}

/// All of a role.
pub(crate) fn of_role(role: &str) -> Candidate {
    Candidate {
        selector: format!("internal:role={role}"),
        by: format!("role {role}"),
    }
}

/// A role and its exact name.
pub(crate) fn by_role(role: &str, name: &str) -> Candidate {
    Candidate {
        selector: format!("internal:role={role}[name={}s]", quoted(name)),
        by: format!("role {role} {name:?}"),
    }
}

/// A text, across nested elements: a substring in any case, or the whole text of an element.
pub(crate) fn by_text(text: &str, matching: TextMatch) -> Candidate {
    let (sign, how) = match matching {
        TextMatch::Contains => ('i', "text"),
        TextMatch::Exact => ('s', "exact text"),
    };
    let number = containing(text).filter(|_| matching == TextMatch::Contains);
    Candidate {
        selector: match number {
            Some(pattern) => format!("internal:text=/{pattern}/iu"),
            None => format!("internal:text={}{sign}", json!(text)),
        },
        by: format!("{how} {text:?}"),
    }
}

/// JavaScript's regular expression of a text that contains this one, whose first or last character
/// is a digit, and not within a longer number. It holds nothing that a selector's parser stops at.
pub(crate) fn containing(text: &str) -> Option<String> {
    let (before, after) = around_number(text)?;
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let mut pattern = String::new();
        for c in word.chars() {
            // Soft hyphens and blanks without any width are not seen.
            let unseen = if pattern.is_empty() {
                ""
            } else {
                "[\\u200b\\u00ad]*"
            };
            let escape = if "^$\\.*+?()[]{}|/".contains(c) {
                "\\"
            } else {
                ""
            };
            let _ = write!(pattern, "{unseen}{escape}{c}");
        }
        words.push(pattern);
    }
    let mut pattern = format!("^{before}{}{after}$", words.join("\\s+"));
    for (sign, code) in [
        ('\'', "\\x27"),
        ('"', "\\x22"),
        ('`', "\\x60"),
        ('>', "\\x3e"),
    ] {
        pattern = pattern.replace(sign, code);
    }
    Some(pattern)
}

/// A text that can be seen on the page. What a text area began with is not what it shows.
pub(crate) fn by_visible_text(text: &str, matching: TextMatch) -> Candidate {
    let Candidate { selector, by } = by_text(text, matching);
    let shown = json!("css=:not(textarea)");
    Candidate {
        selector: format!("{selector} >> internal:and={shown} >> visible=true"),
        by,
    }
}

/// The element at a place among those that match.
pub(crate) fn nth_of(candidate: Candidate, nth: u32) -> Candidate {
    Candidate {
        selector: format!("{} >> nth={nth}", candidate.selector),
        by: format!("{}, place {nth}", candidate.by),
    }
}

/// The same, with what assistive technology is not told of.
pub(crate) fn with_hidden(selector: &str) -> String {
    const ROLE: &str = "internal:role=";
    let Some(role) = selector.strip_prefix(ROLE) else {
        return selector.to_owned();
    };
    let end = role
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(role.len());
    let (role, rest) = role.split_at(end);
    format!("{ROLE}{role}[include-hidden=true]{rest}")
}

fn listed(text: &str) -> Option<u32> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let digits = bare.strip_prefix('e')?;
    digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

/// Recorded names are literals: bare, in `\Q..\E`, or between `^` and `$`. What is still a regular
/// expression after that is one.
fn literal(pattern: &str) -> (String, bool) {
    if let Some(inner) = pattern
        .strip_prefix("\\Q")
        .and_then(|rest| rest.strip_suffix("\\E"))
        && !inner.contains("\\E")
    {
        return (inner.to_owned(), true);
    }
    let bare = pattern.strip_prefix('^').unwrap_or(pattern);
    let bare = bare.strip_suffix('$').unwrap_or(bare);
    let is_literal = !bare.contains(|c| "\\.+*?()|[]{}^$".contains(c));
    (bare.to_owned(), is_literal)
}

/// A whole-text match of a pattern, or of the pattern as it is written.
fn js_regex(pattern: &str) -> String {
    let written = regex::escape(pattern);
    let source = match regex::Regex::new(pattern) {
        Ok(_) => format!("^(?:{pattern})$|^{written}$"),
        Err(_) => format!("^{written}$"),
    };
    format!("/{}/", source.replace('/', "\\/"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn unquote(text: &str) -> &str {
    text.strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(block: WebMatch) -> NodeSelector {
        NodeSelector {
            web: Some(block),
            ..NodeSelector::default()
        }
    }

    #[test]
    fn css_beats_test_id_beats_role() {
        let block = WebMatch {
            css_selector: Some("#save".into()),
            data_test_id: Some("save".into()),
            aria_role: Some("button".into()),
            ..WebMatch::default()
        };
        let found = durable(&web(block.clone())).unwrap();
        assert_eq!(found.selector, "css=#save");
        let found = durable(&web(WebMatch {
            css_selector: None,
            ..block
        }))
        .unwrap();
        assert_eq!(found.selector, "internal:testid=[data-testid=\"save\"s]");
    }

    #[test]
    fn recorded_names_are_literal_whatever_their_wrapping() {
        for pattern in ["\\QPay (now)\\E", "Pay now", "^Pay now$"] {
            let found = durable(&web(WebMatch {
                aria_role: Some("button".into()),
                aria_name_regex: Some(pattern.into()),
                ..WebMatch::default()
            }))
            .unwrap();
            let name = if pattern.starts_with('\\') {
                "Pay (now)"
            } else {
                "Pay now"
            };
            assert_eq!(
                found.selector,
                format!("internal:role=button[name=\"{name}\"s]")
            );
        }
    }

    #[test]
    fn a_real_regular_expression_matches_whole_names() {
        let found = durable(&web(WebMatch {
            aria_role: Some("link".into()),
            aria_name_regex: Some("Item [0-9]+/2".into()),
            ..WebMatch::default()
        }))
        .unwrap();
        assert!(
            found.selector.contains("name=/^(?:Item [0-9]+\\/2)$|^Item"),
            "{found:?}"
        );
    }

    #[test]
    fn a_selector_without_web_block_names_nothing() {
        let selector = NodeSelector {
            index: Some(2),
            ..NodeSelector::default()
        };
        assert_eq!(durable(&selector), None);
    }

    #[test]
    fn only_roles_are_found_more_widely() {
        assert_eq!(
            with_hidden("internal:role=button[name=\"Buy\"s] >> nth=0"),
            "internal:role=button[include-hidden=true][name=\"Buy\"s] >> nth=0"
        );
        assert_eq!(with_hidden("css=#a"), "css=#a");
    }

    #[test]
    fn references_are_told_apart() {
        assert_eq!(reference("[e12]"), Some(Reference::ListedElement(12)));
        assert_eq!(reference("e4"), Some(Reference::ListedElement(4)));
        assert_eq!(reference("  "), None);
        for line in [
            "[e4] textbox \"Email\": me@x",
            "textbox \"Email\" [disabled]: me@x",
        ] {
            let by = "role textbox \"Email\"".to_owned();
            assert!(
                matches!(reference(line), Some(Reference::Selector(found)) if found.by == by),
                "{line}"
            );
        }
        let Some(Reference::Selector(found)) = reference("heading \"All \\ orders\" [level=1]")
        else {
            panic!("a descriptor");
        };
        assert_eq!(
            found.selector,
            "internal:role=heading[name=\"All \\\\ orders\"s]"
        );
        assert!(matches!(reference("main"), Some(Reference::Selector(_))));
        for text in ["text=main", "text=e4", "text=button \"Save\"", "text=css=a"] {
            let Some(Reference::OneOf(tries)) = reference(text) else {
                panic!("{text} is a text and nothing else");
            };
            let text = text.strip_prefix("text=").unwrap();
            assert_eq!(tries.last().unwrap().by, format!("text {text:?}"));
        }
        let Some(Reference::OneOf(tries)) = reference("Search Wikipedia") else {
            panic!("a bare text");
        };
        assert_eq!(
            tries.last().unwrap().selector,
            "internal:text=\"Search Wikipedia\"i"
        );
    }
}
