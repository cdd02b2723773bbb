//! Takes secrets out of texts.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;

use crate::yaml::Value;

/// A line of a secret that is at least this long is a secret itself; logs show single lines.
const SECRET_LINE: usize = 8;

/// Knows every value that must not be shown and puts the template of its name in its place.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    hidden: Vec<Hidden>,
}

#[derive(Clone, PartialEq, Eq)]
struct Hidden {
    name: String,
    value: String,
    /// Whole, in parts, and as it looks inside JSON and inside an address.
    forms: Vec<String>,
}

impl Redactor {
    /// Hides a value from now on. An empty one cannot be hidden.
    pub fn hide(&mut self, name: &str, value: &str) {
        let known = |hidden: &Hidden| hidden.name == name && hidden.value == value;
        if value.is_empty() || self.hidden.iter().any(known) {
            return;
        }
        let mut forms = vec![value.to_owned(), in_json(value), in_address(value)];
        forms.extend(
            value
                .lines()
                .map(str::trim)
                .filter(|line| line.len() >= SECRET_LINE)
                .map(str::to_owned),
        );
        forms.sort();
        forms.dedup();
        self.hidden.push(Hidden {
            name: name.to_owned(),
            value: value.to_owned(),
            forms,
        });
    }

    /// What hides these names and values.
    pub fn of(secrets: &[(String, String)]) -> Self {
        let mut redactor = Self::default();
        for (name, value) in secrets {
            redactor.hide(name, value);
        }
        redactor
    }

    /// Takes the secrets out of texts where they are.
    pub fn redact_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            if let Cow::Owned(redacted) = self.redact(text) {
                *text = redacted;
            }
        }
    }

    /// Whether nothing is hidden.
    pub const fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// The text with each secret in it replaced by its template: `{{password}}`. Where secrets
    /// overlap, all they cover goes. A template that stands for a secret already stays as it is,
    /// so that doing it twice changes nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let covered = self.covered(text);
        if covered.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for (range, name) in covered {
            redacted.push_str(&text[end..range.start]);
            redacted.push_str(&template(name));
            end = range.end;
        }
        redacted.push_str(&text[end..]);
        Cow::Owned(redacted)
    }

    /// The JSON with every secret in it replaced, in keys and numbers too.
    pub fn redact_json(&self, json: &serde_json::Value) -> serde_json::Value {
        match json {
            serde_json::Value::String(text) => self.redact(text).into(),
            serde_json::Value::Number(number) => match self.redact(&number.to_string()) {
                Cow::Borrowed(_) => json.clone(),
                Cow::Owned(text) => text.into(),
            },
            serde_json::Value::Array(items) => {
                items.iter().map(|item| self.redact_json(item)).collect()
            }
            serde_json::Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (self.redact(key).into_owned(), self.redact_json(value)))
                .collect(),
            serde_json::Value::Null | serde_json::Value::Bool(_) => json.clone(),
        }
    }

    /// The value with every secret in it replaced: arguments as a recording may keep them. Keys
    /// stay; tools name them, not people.
    pub fn redact_value(&self, value: &Value) -> Value {
        let redacted = value.try_map::<Infallible>(&mut |_, scalar, _| {
            Ok(match self.redact(&scalar.text) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some(Value::text(text)),
            })
        });
        match redacted {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The stretches that hold secrets, in order, apart from each other, each with the name of the
    /// secret that begins it.
    fn covered(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let templates: Vec<Range<usize>> = self
            .hidden
            .iter()
            .map(|hidden| template(&hidden.name))
            .flat_map(|template| matches(text, &template).collect::<Vec<_>>())
            .collect();
        let is_done = |range: &Range<usize>| {
            templates
                .iter()
                .any(|done| done.start <= range.start && range.end <= done.end)
        };
        let mut found: Vec<(Range<usize>, &str)> = self
            .hidden
            .iter()
            .flat_map(|hidden| hidden.forms.iter().map(|form| (form, hidden.name.as_str())))
            .flat_map(|(form, name)| matches(text, form).map(move |range| (range, name)))
            .filter(|(range, _)| !is_done(range))
            .collect();
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut covered: Vec<(Range<usize>, &str)> = Vec::with_capacity(found.len());
        for (range, name) in found {
            match covered.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => covered.push((range, name)),
            }
        }
        covered
    }
}

/// All places of a form in a text, those that overlap too.
fn matches<'t>(text: &'t str, form: &'t str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(form)?;
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        Some(start..start + form.len())
    })
}

fn template(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Percent-encoded as in the query of an address.
fn in_address(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Names only.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.hidden.iter().map(|hidden| &hidden.name))
            .finish()
    }
}
