//! What all parts of a trail are made of: texts, numbers, keys, classifiers.

use super::Reader;
use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::source::Span;
use crate::suggest::{closest, did_you_mean};
use crate::yaml::{Entry, Mapping, Node, Value};

/// The platforms whose names a classifier begins with.
const PLATFORMS: [&str; 4] = ["android", "ios", "web", "desktop"];

impl Reader<'_> {
    pub(super) fn mapping<'v>(&mut self, value: &'v Value, name: &str) -> Option<&'v Mapping> {
        match &value.node {
            Node::Mapping(mapping) => Some(mapping),
            Node::Scalar(_) | Node::Sequence(_) => self.mismatch(value, name, "a mapping", None),
        }
    }

    /// A scalar as written, whatever it looks like.
    pub(super) fn text(&mut self, value: &Value, name: &str) -> Option<String> {
        match &value.node {
            Node::Scalar(scalar) if !value.is_null() => Some(scalar.text.clone()),
            Node::Scalar(_) => {
                self.mismatch(value, name, "text", Some("write \"\" for empty text"))
            }
            Node::Mapping(_) | Node::Sequence(_) => {
                let hint = "text that looks like YAML needs quotes around it";
                self.mismatch(value, name, "text", Some(hint))
            }
        }
    }

    pub(super) fn decoded<T: serde::de::DeserializeOwned>(
        &mut self,
        value: &Value,
        name: &str,
    ) -> Option<T> {
        match value.decode() {
            Ok(decoded) => Some(decoded),
            Err(error) => {
                let mut problem = error.diagnostic(self.source);
                problem.message = format!("`{name}`: {}", problem.message);
                self.tell(problem);
                None
            }
        }
    }

    pub(super) fn mismatch<T>(
        &mut self,
        value: &Value,
        name: &str,
        wanted: &str,
        hint: Option<&'static str>,
    ) -> Option<T> {
        let message = format!("expected `{name}` to be {wanted}, found {}", value.kind());
        let hint = hint.map(str::to_owned);
        self.tell(Diagnostic::error(self.source, value.span, message).hint(hint));
        None
    }

    pub(super) fn unknown_key(
        &mut self,
        entry: &Entry,
        severity: Severity,
        of: &str,
        known: &[&str],
    ) {
        let key = &entry.key.text;
        let message = format!("unknown key {} in {of}", quoted(key));
        let hint = did_you_mean(key, known.iter().copied())
            .unwrap_or_else(|| format!("it can have {}", known.join(", ")));
        let mut problem = Diagnostic::error(self.source, entry.key.span, message).hint(hint);
        problem.severity = severity;
        self.tell(problem);
    }

    /// The key of an entry as a classifier.
    pub(super) fn classifier(&mut self, entry: &Entry) -> Option<String> {
        let name = entry.key.text.as_str();
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let message = format!("invalid device classifier {}", quoted(name));
            return self.refuse(
                entry.key.span,
                message,
                "write a platform, or a narrower one like `android-phone`",
            );
        }
        let platform = name.split('-').next().unwrap_or(name);
        if !PLATFORMS.contains(&platform)
            && let Some(meant) = closest(platform, PLATFORMS)
        {
            let message = format!("unknown platform {}", quoted(platform));
            self.tell(
                Diagnostic::warning(self.source, entry.key.span, message)
                    .hint(format!("did you mean `{meant}`?")),
            );
        }
        Some(name.to_owned())
    }
}

/// Where a value stands; every value of a file has a place.
pub(super) fn span(span: Option<Span>) -> Span {
    span.unwrap_or_default()
}
