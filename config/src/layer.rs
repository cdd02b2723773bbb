//! One layer of settings: the values somebody set, and where.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::node::{Content, Node};
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
    pub(crate) fn from_document(
        document: &Document,
        layer: FileLayer,
    ) -> Result<Self, ConfigError> {
        let mut config: Config = document.parse()?;
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
        let values = present(
            &document.root.content,
            typed,
            &KeyPath::default(),
            &mut note,
        );
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
        let wrong = |(message, hint)| ConfigError::Setting {
            source_name: origin.to_string(),
            key: key.clone(),
            message,
            hint,
        };
        let value = match value {
            Value::String(text) => kind.read(&text).map_err(|message| wrong((message, None)))?,
            other => other,
        };
        let mut config: Config = Node::from(nested(key, value))
            .decode()
            .map_err(|mistake| wrong(suggest::words(&mistake.wrong)))?;
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
    content: &Content,
    typed: Value,
    key: &KeyPath,
    note: &mut impl FnMut(&KeyPath, Position, bool),
) -> Option<Value> {
    match (content, typed) {
        (Content::Null, Value::Object(_)) => Some(Value::Object(Map::new())),
        (Content::Null, _) => None,
        (Content::Map(entries), Value::Object(mut typed)) => {
            let mut values = Map::new();
            for entry in entries {
                let (name, content) = (&entry.key, &entry.value.content);
                let child = key.child(name);
                let value = typed.remove(name).unwrap_or_default();
                note(&child, entry.at, value.is_array());
                if let Some(value) = present(content, value, &child, note) {
                    values.insert(name.clone(), value);
                }
            }
            Some(Value::Object(values))
        }
        // Entries by name that are read as a list have numbers, in the order of the file.
        (Content::Map(entries), typed @ Value::Array(_)) => {
            for (index, entry) in entries.iter().enumerate() {
                let child = key.child(index.to_string());
                note(&child, entry.at, false);
                note_inside(&entry.value.content, &child, note);
            }
            Some(typed)
        }
        (content, typed) => {
            note_inside(content, key, note);
            Some(typed)
        }
    }
}

/// Notes the places of everything inside a value that is taken whole.
fn note_inside(content: &Content, key: &KeyPath, note: &mut impl FnMut(&KeyPath, Position, bool)) {
    let mut each = |part: String, at: Position, content: &Content| {
        let child = key.child(part);
        note(&child, at, matches!(content, Content::List(_)));
        note_inside(content, &child, note);
    };
    match content {
        Content::Null | Content::Scalar(_) => {}
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                each(index.to_string(), item.at, &item.content);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                each(entry.key.clone(), entry.at, &entry.value.content);
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
