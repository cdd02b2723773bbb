//! The port of a started server: `auto`, a number, or what the server prints.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor, value::MapAccessDeserializer};
use serde::ser::{Serialize, Serializer};

const EXPECTED: &str = "`auto`, a port from 1 to 65535, or `stdoutRegex`";

/// The port that a started server listens on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Port {
    /// A free one is chosen for it.
    #[default]
    Auto,
    /// Always this one; never 0.
    Fixed(u16),
    /// The server chooses, and prints it where the only group of this pattern matches.
    Printed(String),
}

/// A server that prints its port.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PrintedPort {
    /// A regular expression for the standard output, whose only capture group is the port.
    #[schemars(extend("examples" = [r"http://\S+:(\d+)"]))]
    stdout_regex: String,
}

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PortVisitor;
        impl<'de> Visitor<'de> for PortVisitor {
            type Value = Port;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_unit<E>(self) -> Result<Port, E> {
                Ok(Port::Auto)
            }

            fn visit_u64<E: Error>(self, port: u64) -> Result<Port, E> {
                self.visit_str(&port.to_string())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Port, E> {
                let number = || text.parse().ok().filter(|port| *port > 0);
                let port = if text == "auto" {
                    Some(Port::Auto)
                } else {
                    number().map(Port::Fixed)
                };
                port.ok_or_else(|| E::custom(format!("`{text}` is not {EXPECTED}")))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Port, A::Error> {
                let printed = PrintedPort::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Port::Printed(printed.stdout_regex))
            }
        }
        deserializer.deserialize_any(PortVisitor)
    }
}

impl Serialize for Port {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(port) => serializer.serialize_u16(*port),
            Self::Printed(pattern) => PrintedPort {
                stdout_regex: pattern.clone(),
            }
            .serialize(serializer),
        }
    }
}

impl JsonSchema for Port {
    fn schema_name() -> Cow<'static, str> {
        "Port".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`auto`, a port, or a server that prints its port.",
            "anyOf": [
                { "const": "auto" },
                { "type": "integer", "minimum": 1, "maximum": 65535 },
                generator.subschema_for::<PrintedPort>(),
            ],
        })
    }
}

/// How many capture groups a regular expression has; `None` when its brackets do not match up.
/// Whether it compiles is checked where it is compiled.
pub(crate) fn capture_groups(pattern: &str) -> Option<usize> {
    let (mut groups, mut open, mut class) = (0, 0_usize, 0_usize);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let tail = rest.as_str();
        match c {
            '\\' => drop(rest.next()?),
            '[' => {
                class += 1;
                // A `]` that comes first is one of the class.
                let first = tail.strip_prefix('^').unwrap_or(tail);
                if let Some(inside) = first.strip_prefix(']') {
                    rest = inside.chars();
                }
            }
            ']' => class = class.saturating_sub(1),
            '(' if class == 0 => {
                let is_named = tail.starts_with("?P<")
                    || (tail.starts_with("?<")
                        && !tail.starts_with("?<=")
                        && !tail.starts_with("?<!"));
                groups += usize::from(is_named || !tail.starts_with('?'));
                open += 1;
            }
            ')' if class == 0 => open = open.checked_sub(1)?,
            _ => {}
        }
    }
    (open == 0 && class == 0).then_some(groups)
}
