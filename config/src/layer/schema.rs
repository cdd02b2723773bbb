//! The settings there are, read from the schema.

use serde_json::{Value, json};

use crate::key::KeyPath;
use crate::schema;

/// A setting that has a value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its name; `*` stands for a name of the user's choice, `#` for an item of a list.
    pub key: KeyPath,
    pub kind: Kind,
}

/// What a setting's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text or a number, which is written as a text here.
    Text,
    Flag,
    /// Texts, separated by commas where there is just one line for them.
    List,
}

impl Setting {
    /// Whether its name holds for every configuration.
    pub(crate) fn is_fixed(&self) -> bool {
        !self
            .key
            .parts()
            .iter()
            .any(|part| part == "*" || part == "#")
    }

    /// Whether `key` is this setting, with names in place of the stars. Items of lists cannot be
    /// set one by one.
    pub(crate) fn covers(&self, key: &KeyPath) -> bool {
        let (own, other) = (self.key.parts(), key.parts());
        let fits = |(own, other): (&String, &String)| own != "#" && (own == "*" || own == other);
        own.len() == other.len() && own.iter().zip(other).all(fits)
    }
}

impl Kind {
    /// Reads the value from one line of text.
    pub(crate) fn read(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Self::Text => Ok(json!(text)),
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Ok(json!(true)),
                "false" | "no" | "off" | "0" => Ok(json!(false)),
                _ => Err(format!("`{text}` is not true or false")),
            },
            Self::List => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                Ok(json!(items.collect::<Vec<_>>()))
            }
        }
    }
}

/// All settings, in the order of the schema.
pub(crate) fn settings() -> Vec<Setting> {
    let schema = schema();
    let mut settings = Vec::new();
    walk(&schema, &schema, &KeyPath::default(), &mut settings);
    settings
}

fn walk(schema: &Value, node: &Value, key: &KeyPath, settings: &mut Vec<Setting>) {
    let node = resolve(schema, node);
    if let Some(properties) = node["properties"].as_object() {
        for (name, property) in properties {
            walk(schema, property, &key.child(name), settings);
        }
        return;
    }
    let of_each = |node: &'_ Value| node.is_object().then(|| node.clone());
    // What may be a list, or entries by name, is a list when it is set.
    if node["items"].is_null()
        && let Some(each) = of_each(&node["additionalProperties"])
    {
        walk(schema, &each, &key.child("*"), settings);
        return;
    }
    let kind = match type_of(node) {
        "array" => {
            let item = resolve(schema, &node["items"]);
            if item["properties"].is_object() {
                walk(schema, item, &key.child("#"), settings);
                return;
            }
            Kind::List
        }
        "boolean" => Kind::Flag,
        _ => Kind::Text,
    };
    settings.push(Setting {
        key: key.clone(),
        kind,
    });
}

/// Follows references, and looks through "this or null".
fn resolve<'s>(schema: &'s Value, mut node: &'s Value) -> &'s Value {
    loop {
        if let Some(reference) = node["$ref"].as_str() {
            match schema.pointer(reference.trim_start_matches('#')) {
                Some(found) => node = found,
                None => return node,
            }
        } else if let Some(choice) = node["anyOf"].as_array()
            && let [one, other] = &choice[..]
            && other["type"] == "null"
        {
            node = one;
        } else {
            return node;
        }
    }
}

fn type_of(node: &Value) -> &str {
    match &node["type"] {
        Value::Array(types) => types.first().and_then(Value::as_str).unwrap_or_default(),
        other => other.as_str().unwrap_or_default(),
    }
}
