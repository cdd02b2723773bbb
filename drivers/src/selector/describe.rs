//! A selector in one line: `textRegex "Save" below (textRegex "Total")`.

use std::fmt;

use super::NodeSelector;
use super::condition::{Check, Condition};

/// Longest pattern shown whole, in characters.
const MAX_TEXT: usize = 120;

impl fmt::Display for NodeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if let Some(block) = self.block() {
            if block.conditions.is_empty() {
                words.push(format!("any {} element", block.name));
            }
            words.extend(block.conditions.iter().map(ToString::to_string));
        }
        for (relation, nested) in self.relations() {
            words.push(if nested.is_simple() {
                format!("{relation} {nested}")
            } else {
                format!("{relation} ({nested})")
            });
        }
        if let Some(index) = self.index {
            words.push(format!("index {index}"));
        }
        if words.is_empty() {
            words.push("any element".into());
        }
        f.write_str(&words.join(" "))
    }
}

impl NodeSelector {
    /// Whether it reads as one thing, without brackets.
    fn is_simple(&self) -> bool {
        let words = self.block().map_or(0, |block| block.conditions.len());
        words <= 1 && self.relations().next().is_none() && self.index.is_none()
    }
}

impl fmt::Display for Condition<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.check {
            Check::Pattern(source, _) => write!(f, "{} {}", self.field, quote(source)),
            _ => self.write_exact(f),
        }
    }
}

impl<P> Condition<P> {
    /// Writes the condition; patterns are the caller's.
    pub(super) fn write_exact(&self, f: &mut impl fmt::Write) -> fmt::Result {
        match &self.check {
            Check::Pattern(..) => f.write_str(self.field),
            Check::Equals(want, _) | Check::Contains(want, _) => {
                write!(f, "{} {}", self.field, quote(want))
            }
            Check::Flag(true, _) => f.write_str(self.field),
            Check::Flag(false, _) => write!(f, "not {}", self.field),
            Check::Number(want, _) => write!(f, "{} {want}", self.field),
            Check::Nth(want) => write!(f, "{} {want}", self.field),
        }
    }
}

/// A text in quotes, on one line, not too long.
pub(super) fn quote(text: &str) -> String {
    let shown: String = text.chars().take(MAX_TEXT).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    let shown = shown.replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{shown}{more}\"")
}
