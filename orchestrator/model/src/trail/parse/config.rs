//! The `config:` block of both forms.

use packtrain_drivers::known_axis;

use super::Reader;
use super::fields::span;
use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::source::Span;
use crate::suggest::did_you_mean;
use crate::template::Undefined;
use crate::trail::{ByClassifier, Config};
use crate::yaml::{Entry, Mapping, Node, Value};

const KEYS: [&str; 14] = [
    "id",
    "title",
    "description",
    "target",
    "context",
    "priority",
    "tags",
    "devices",
    "skip",
    "memory",
    "undefined",
    "metadata",
    "args",
    "matrix",
];
const LIST_KEYS: [&str; 16] = [
    "id",
    "title",
    "description",
    "target",
    "context",
    "priority",
    "tags",
    "skip",
    "memory",
    "undefined",
    "metadata",
    "args",
    "matrix",
    "platform",
    "driver",
    "source",
];

impl Reader<'_> {
    /// The config of the unified form.
    pub(super) fn config(&mut self, value: &Value) -> Option<Config> {
        let mapping = self.mapping(value, "config")?;
        let mut config = self.common(mapping);
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            match key {
                "devices" => {
                    let devices = self.by_classifier(entry);
                    set(&mut config, devices, |config, value| config.devices = value);
                }
                "skip" => {
                    let skip = self.by_classifier(entry);
                    set(&mut config, skip, |config, value| config.skip = value);
                }
                _ if KEYS.contains(&key) => {}
                "platform" | "driver" | "source" => {
                    let message = format!("`{key}` belongs to the list form and is ignored here");
                    let hint = match key {
                        "driver" => "write `devices:` with a driver for each classifier",
                        "platform" => "the platforms are those of the recordings and `devices:`",
                        _ => "write it below `metadata:`",
                    };
                    self.tell(
                        Diagnostic::warning(self.source, entry.key.span, message)
                            .hint(hint.to_owned()),
                    );
                }
                _ => self.unknown_key(entry, Severity::Warning, "config", &KEYS),
            }
        }
        config
    }

    /// The config of the list form, where `driver` and `skip` are for every device.
    pub(super) fn list_config(&mut self, value: &Value) -> Option<Config> {
        let mapping = self.mapping(value, "config")?;
        let mut config = self.common(mapping);
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            match key {
                "driver" | "skip" => {
                    let place = span(entry.key.span);
                    let text = self.text(&entry.value, key);
                    set(&mut config, text, |config, text| {
                        let entries = if key == "driver" {
                            &mut config.devices
                        } else {
                            &mut config.skip
                        };
                        entries.push(None, text, place);
                    });
                }
                "platform" => {
                    let platform = self.text(&entry.value, key);
                    set(&mut config, platform, |config, value| {
                        config.platform = Some(value);
                    });
                }
                "source" => {
                    let notes = self.source_notes(&entry.value);
                    set(&mut config, notes, |config, notes| {
                        config.metadata.extend(notes)
                    });
                }
                _ if LIST_KEYS.contains(&key) => {}
                _ => self.unknown_key(entry, Severity::Warning, "config", &LIST_KEYS),
            }
        }
        config
    }

    /// What both forms have in common.
    fn common(&mut self, mapping: &Mapping) -> Option<Config> {
        let mut config = Some(Config::default());
        for entry in &mapping.entries {
            let value = &entry.value;
            match entry.key.text.as_str() {
                key @ ("id" | "title" | "description" | "target" | "context" | "priority") => {
                    let text = self.text(value, key);
                    set(&mut config, text, |config, text| {
                        *text_field(config, key) = Some(text);
                    });
                }
                "tags" => {
                    let tags = self.decoded(value, "tags");
                    set(&mut config, tags, |config, tags| config.tags = tags);
                }
                key @ "memory" => {
                    let pairs = self.pairs(value, key);
                    set(&mut config, pairs, |config, pairs| config.memory = pairs);
                }
                key @ "undefined" => {
                    let word = self.text(value, key);
                    let undefined = word.and_then(|word| self.undefined(value, &word));
                    set(&mut config, undefined, |config, undefined| {
                        config.undefined = undefined;
                    });
                }
                key @ "metadata" => {
                    let pairs = self.pairs(value, key);
                    set(&mut config, pairs, |config, pairs| {
                        config.metadata.extend(pairs)
                    });
                }
                "matrix" => {
                    let matrix = self.axes_of(value).then(|| value.to_json());
                    set(&mut config, matrix, |config, matrix| {
                        config.matrix = Some(matrix);
                    });
                }
                "args" => {
                    let args = self.args(value);
                    set(&mut config, args, |config, args| config.args = args);
                }
                _ => {}
            }
        }
        config
    }

    /// Whether drivers can apply the values of the axes that they know.
    fn axes_of(&mut self, matrix: &Value) -> bool {
        let mut is_fine = true;
        let axes = matrix.as_mapping().and_then(|matrix| matrix.get("axes"));
        let axes = axes.and_then(Value::as_mapping);
        for axis in axes.iter().flat_map(|axes| &axes.entries) {
            let Some(known) = known_axis(&axis.key.text) else {
                continue;
            };
            for (span, value) in values(&axis.value) {
                let Some(wanted) = known.refuses(&value) else {
                    continue;
                };
                let message = format!("{}: `{value}` is not {wanted}", known.name);
                self.tell(Diagnostic::error(self.source, span, message));
                is_fine = false;
            }
        }
        is_fine
    }

    fn undefined(&mut self, value: &Value, word: &str) -> Option<Undefined> {
        match word {
            "error" => Some(Undefined::Error),
            "literal" => Some(Undefined::Literal),
            _ => {
                let message = format!("unknown value {} for `undefined`", quoted(word));
                let hint = did_you_mean(word, ["error", "literal"])
                    .unwrap_or_else(|| "expected one of: error, literal".to_owned());
                self.refuse(value.span, message, &hint)
            }
        }
    }

    /// Texts for names, in the order of the file.
    fn pairs(&mut self, value: &Value, name: &str) -> Option<Vec<(String, String)>> {
        let mapping = self.mapping(value, name)?;
        let entries = mapping.entries.iter();
        let pairs = entries.map(|entry| {
            let text = self.text(&entry.value, &format!("{name}.{}", entry.key.text))?;
            Some((entry.key.text.clone(), text))
        });
        // All of them are read, so that every mistake is told.
        let pairs: Vec<_> = pairs.collect();
        pairs.into_iter().collect()
    }

    fn by_classifier(&mut self, of: &Entry) -> Option<ByClassifier<String>> {
        let key = &of.key.text;
        let Node::Mapping(mapping) = &of.value.node else {
            let hint = match of.value.as_scalar() {
                Some(scalar) if !of.value.is_null() => Some(format!(
                    "write it for a platform: {{ android: {} }}",
                    quoted(&scalar.text)
                )),
                Some(_) | None => None,
            };
            let message = format!(
                "expected `{key}` to be a mapping of device classifiers, found {}",
                of.value.kind()
            );
            self.tell(Diagnostic::error(self.source, of.value.span, message).hint(hint));
            return None;
        };
        let mut entries = ByClassifier::default();
        let mut whole = true;
        for entry in &mapping.entries {
            let name = format!("{key}.{}", entry.key.text);
            match (self.classifier(entry), self.text(&entry.value, &name)) {
                (Some(classifier), Some(text)) => {
                    entries.push(Some(classifier), text, span(entry.key.span));
                }
                (None, _) | (_, None) => whole = false,
            }
        }
        whole.then_some(entries)
    }

    /// Where a trail of the list form says it comes from; the unified form keeps that as metadata.
    fn source_notes(&mut self, value: &Value) -> Option<Vec<(String, String)>> {
        let pairs = self.pairs(value, "source")?.into_iter();
        let notes = pairs.map(|(key, text)| match key.as_str() {
            "type" => ("source".to_owned(), text),
            "reason" => ("sourceReason".to_owned(), text),
            _ => (format!("source.{key}"), text),
        });
        Some(notes.collect())
    }
}

/// The values of an axis, each with its place: a list, where a value may have settings, or settings by
/// value.
fn values(axis: &Value) -> Vec<(Option<Span>, String)> {
    let word = |value: &Value| match value.to_json() {
        serde_json::Value::String(word) => word,
        other => other.to_string(),
    };
    let keys = |mapping: &Mapping| -> Vec<_> {
        let keys = mapping.entries.iter().map(|entry| &entry.key);
        keys.map(|key| (key.span, key.text.clone())).collect()
    };
    match &axis.node {
        Node::Mapping(mapping) => keys(mapping),
        Node::Sequence(list) => {
            let values = list.items.iter().map(|value| match &value.node {
                Node::Mapping(mapping) => keys(mapping),
                Node::Scalar(_) | Node::Sequence(_) => vec![(value.span, word(value))],
            });
            values.flatten().collect()
        }
        Node::Scalar(_) => Vec::new(),
    }
}

/// Puts a part into the config; a part that could not be read spoils the whole.
fn set<T>(config: &mut Option<Config>, part: Option<T>, put: impl FnOnce(&mut Config, T)) {
    match (config.as_mut(), part) {
        (Some(config), Some(part)) => put(config, part),
        (Some(_), None) => *config = None,
        (None, _) => {}
    }
}

fn text_field<'c>(config: &'c mut Config, key: &str) -> &'c mut Option<String> {
    match key {
        "id" => &mut config.id,
        "title" => &mut config.title,
        "description" => &mut config.description,
        "target" => &mut config.target,
        "context" => &mut config.context,
        _ => &mut config.priority,
    }
}
