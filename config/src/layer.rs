//! One layer of settings: the values that were set, and where.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use packtrain_yaml::{self as yaml, Node};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::origin::{FileLayer, Origin, Position};
use crate::settings::Config;
use crate::suggest;

pub(crate) use schema::{Kind, Setting, settings};

/// Values as JSON, in the form in which the configuration is written, and the origin of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub values: Map<String, Value>,
    pub origins: Vec<(KeyPath, Origin)>,
    /// Lists, which replace those of weaker layers whole.
    pub lists: Vec<KeyPath>,
}

impl Layer {
    /// The settings of a packtrain.yaml or a user's file. Relative paths start at its folder.
    /// Settings with a mistake are left out, and noted in the document.
    pub(crate) fn from_document(
        document: &mut Document,
        layer: FileLayer,
    ) -> Result<Self, ConfigError> {
        let mut config: Config = document.parse().unwrap_or_default();
        config.resolve_paths(document.path.parent().unwrap_or(Path::new(".")));
        let mut origins = Vec::new();
        let mut lists = Vec::new();
        let mut note = |key: &KeyPath, position: Position, is_list: bool| {
            if is_list {
                lists.push(key.clone());
            }
            let path = document.path.clone();
            origins.push((
                key.clone(),
                Origin::File {
                    layer,
                    path,
                    position,
                },
            ));
        };
        let typed = to_json(&config)?;
        let values = present(&document.root, typed, &KeyPath::default(), &mut note);
        Ok(Self {
            values: values.and_then(object).unwrap_or_default(),
            origins,
            lists,
        })
    }

    /// One setting from a text or a JSON value. Relative paths start at `base`.
    pub(crate) fn from_value(
        kind: Kind,
        key: &KeyPath,
        value: Value,
        origin: Origin,
        base: &Path,
    ) -> Result<Self, ConfigError> {
        let wrong = |(message, hint): (String, _)| {
            ConfigError::Invalid(vec![origin.mistake(message, hint)])
        };
        let value = match value {
            Value::String(text) => kind.read(&text).map_err(|message| wrong((message, None)))?,
            other => other,
        };
        let mut config: Config =
            yaml::Value::from(&nested(key, value))
                .decode()
                .map_err(|mistake| {
                    let (_, message, hint) = suggest::words(mistake);
                    wrong((message, hint))
                })?;
        config.resolve_paths(base);
        let typed = to_json(&config)?;
        let value = key
            .parts()
            .iter()
            .try_fold(&typed, |value, part| value.get(part))
            .cloned()
            .unwrap_or_default();
        Ok(Self {
            values: object(nested(key, value)).unwrap_or_default(),
            origins: vec![(key.clone(), origin)],
            lists: vec![key.clone()],
        })
    }

    /// Lays this layer over others: keys are merged, lists and values replaced.
    pub(crate) fn lay_over(self, values: &mut Map<String, Value>, origins: &mut Origins) {
        let replaced = |key: &KeyPath| self.lists.iter().any(|list| list.contains(key));
        origins.values.retain(|key, _| !replaced(key));
        origins.values.extend(self.origins);
        origins.lists.extend(self.lists);
        merge(values, self.values);
    }
}

/// Where each value comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    values: BTreeMap<KeyPath, Origin>,
    lists: BTreeSet<KeyPath>,
}

impl Origins {
    /// The origin of a value. What is inside a list comes from where the list comes from; what
    /// is inside anything else and was not set has its default.
    pub(crate) fn get(&self, key: &KeyPath) -> Origin {
        let around = || std::iter::successors(Some(key.clone()), KeyPath::parent);
        let exact = self.values.get(key).cloned();
        exact
            .or_else(|| {
                around().find(|key| self.lists.contains(key))?;
                around().find_map(|key| self.values.get(&key)).cloned()
            })
            .unwrap_or(Origin::Default)
    }
}

pub(crate) fn to_json(config: &Config) -> Result<Value, ConfigError> {
    serde_json::to_value(config).map_err(|error| ConfigError::Inconsistent(error.to_string()))
}

/// What of the whole configuration a file really says.
fn present(
    written: &yaml::Value,
    typed: Value,
    key: &KeyPath,
    note: &mut impl FnMut(&KeyPath, Position, bool),
) -> Option<Value> {
    match (&written.node, typed) {
        (Node::Scalar(_), Value::Object(_)) if written.is_null() => Some(Value::Object(Map::new())),
        (Node::Scalar(_), _) if written.is_null() => None,
        (Node::Mapping(mapping), Value::Object(mut typed)) => {
            let mut values = Map::new();
            for entry in &mapping.entries {
                let name = &entry.key.text;
                let child = key.child(name);
                let value = typed.remove(name).unwrap_or_default();
                note(&child, entry.key.span.into(), value.is_array());
                if let Some(value) = present(&entry.value, value, &child, note) {
                    values.insert(name.clone(), value);
                }
            }
            Some(Value::Object(values))
        }
        // Entries by name that are read as a list have numbers, in the order of the file.
        (Node::Mapping(mapping), typed @ Value::Array(_)) => {
            for (index, entry) in mapping.entries.iter().enumerate() {
                let child = key.child(index.to_string());
                note(&child, entry.key.span.into(), false);
                note_inside(&entry.value, &child, note);
            }
            Some(typed)
        }
        (_, typed) => {
            note_inside(written, key, note);
            Some(typed)
        }
    }
}

/// Notes the places of everything inside a value that is taken whole.
fn note_inside(
    written: &yaml::Value,
    key: &KeyPath,
    note: &mut impl FnMut(&KeyPath, Position, bool),
) {
    let mut each = |part: String, at: Option<yaml::Span>, value: &yaml::Value| {
        let child = key.child(part);
        note(&child, at.into(), value.as_sequence().is_some());
        note_inside(value, &child, note);
    };
    match &written.node {
        Node::Scalar(_) => {}
        Node::Sequence(list) => {
            for (index, item) in list.items.iter().enumerate() {
                each(index.to_string(), item.span, item);
            }
        }
        Node::Mapping(mapping) => {
            for entry in &mapping.entries {
                each(entry.key.text.clone(), entry.key.span, &entry.value);
            }
        }
    }
}

fn merge(values: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (values.get_mut(&name), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                values.insert(name, value);
            }
        }
    }
}

fn nested(key: &KeyPath, value: Value) -> Value {
    key.parts().iter().rev().fold(value, |inner, part| {
        Value::Object(Map::from_iter([(part.clone(), inner)]))
    })
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}
