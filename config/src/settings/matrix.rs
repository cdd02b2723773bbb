//! Matrices of configurations: axes with their values, and which combinations run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

/// A matrix: the configurations that trails run in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Matrix {
    /// The devices it runs on, as with `--device`, unless the command line names some.
    pub devices: Vec<String>,
    /// What varies, by the axis' name.
    pub axes: Axes,
    /// Combinations that do not run: values by axis, where `>1`, `<=390` and `!=x` are possible too.
    pub exclude: Vec<BTreeMap<String, String>>,
    /// Configurations that run besides; axes that they leave out have the reference's value.
    pub add: Vec<BTreeMap<String, String>>,
    /// The configuration that others are compared with first; axes it leaves out have their first value.
    pub reference: BTreeMap<String, String>,
    /// Which combinations run.
    pub cover: Cover,
    /// Most configurations; more are a mistake.
    pub limit: u32,
    /// Differences that are as they should be.
    pub expect: Vec<Expectation>,
}

impl Default for Matrix {
    fn default() -> Self {
        Self {
            devices: Vec::new(),
            axes: Axes::default(),
            exclude: Vec::new(),
            add: Vec::new(),
            reference: BTreeMap::new(),
            cover: Cover::default(),
            limit: 100,
            expect: Vec::new(),
        }
    }
}

impl Matrix {
    /// Makes every relative path start at `base`.
    pub fn resolve_paths(&mut self, base: &Path) {
        let values = self.axes.0.iter_mut().flat_map(|(_, values)| values);
        for file in values.filter_map(|value| value.settings.app_file.as_mut()) {
            if file.is_relative() {
                *file = base.join(&*file);
            }
        }
    }
}

/// Which combinations of a matrix run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cover {
    /// Every combination.
    #[default]
    All,
    /// As few as it takes for every two values of two axes to meet.
    Pairs,
    /// The reference, and from it one axis at a time.
    OneAtATime,
}

impl Cover {
    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Pairs => "pairs",
            Self::OneAtATime => "one-at-a-time",
        }
    }
}

/// Differences that are as they should be: those for which all that is said here holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expectation {
    /// The configurations it is about: values by axis.
    pub when: BTreeMap<String, String>,
    /// The step, by its number.
    pub step: Option<u32>,
    /// What is different: `missing`, `added`, `name`, `value`, `state`, `order`, `out_of_view` or `into_view`.
    pub kind: Option<String>,
    /// The element's role.
    pub role: Option<String>,
    /// A regular expression for the element's name.
    pub name: Option<String>,
}

/// Axes, sorted by name; their values in the order of the file where that is a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axes(pub Vec<(String, Vec<AxisValue>)>);

/// A value of an axis, and what it means besides its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AxisValue {
    /// The value, as reports show it.
    pub value: String,
    /// What else goes with it.
    pub settings: ValueSettings,
}

/// What goes with a value of an axis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ValueSettings {
    /// Where relative addresses lead.
    pub base_url: Option<String>,
    /// An app file that is installed before the trail.
    pub app_file: Option<PathBuf>,
    /// Headers that pages send with every request.
    pub headers: BTreeMap<String, String>,
    /// Arguments for apps that are launched on iPhones.
    pub launch_arguments: Vec<String>,
    /// What the session remembers.
    pub memory: BTreeMap<String, String>,
    /// Texts of the trail's recordings and what the app shows in their place.
    pub texts: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("axes by name")
            }

            fn visit_unit<E>(self) -> Result<Axes, E> {
                Ok(Axes::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Axes, A::Error> {
                let mut axes = Vec::new();
                while let Some(name) = map.next_key()? {
                    let Values(values) = map.next_value()?;
                    axes.push((name, values));
                }
                Ok(Axes(axes))
            }
        }
        deserializer.deserialize_map(Table)
    }
}

impl<'de> Deserialize<'de> for AxisValue {
    /// A word, or a word with its settings: `old: { baseUrl: ... }`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;
        impl<'de> Visitor<'de> for Word {
            type Value = AxisValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or one value with its settings")
            }

            fn visit_str<E>(self, value: &str) -> Result<AxisValue, E> {
                Ok(AxisValue {
                    value: value.to_owned(),
                    settings: ValueSettings::default(),
                })
            }

            fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<AxisValue, E> {
                self.visit_str(if value { "true" } else { "false" })
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<AxisValue, E> {
                self.visit_str(&value.to_string())
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<AxisValue, E> {
                self.visit_str(&value.to_string())
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<AxisValue, E> {
                self.visit_str(&format!("{value:?}"))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AxisValue, A::Error> {
                let first = map.next_entry::<String, Option<ValueSettings>>()?;
                match (first, map.next_key::<String>()?) {
                    (Some((value, settings)), None) => Ok(AxisValue {
                        value,
                        settings: settings.unwrap_or_default(),
                    }),
                    (None, _) | (_, Some(_)) => Err(serde::de::Error::custom(
                        "an item of the list is one value with its settings",
                    )),
                }
            }
        }
        deserializer.deserialize_any(Word)
    }
}

/// The values of one axis: a list of them, or settings by value, which are sorted.
struct Values(Vec<AxisValue>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values, or settings by value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Values(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some((value, settings)) = map.next_entry::<_, Option<_>>()? {
                    values.push(AxisValue {
                        value,
                        settings: settings.unwrap_or_default(),
                    });
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Serialize for Axes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, values) in &self.0 {
            map.serialize_entry(name, values)?;
        }
        map.end()
    }
}

impl Serialize for AxisValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.settings == ValueSettings::default() {
            return serializer.serialize_str(&self.value);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.value, &self.settings)?;
        map.end()
    }
}

impl JsonSchema for Axes {
    fn schema_name() -> Cow<'static, str> {
        "Axes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<ValueSettings>();
        json_schema!({
            "type": "object",
            "description": "Axes by name: a list of values, or settings by value.",
            "additionalProperties": {
                "type": ["array", "object"],
                "items": {
                    "type": ["string", "number", "boolean", "object"],
                    "additionalProperties": { "anyOf": [settings, { "type": "null" }] }
                },
                "additionalProperties": { "anyOf": [settings, { "type": "null" }] }
            }
        })
    }
}
