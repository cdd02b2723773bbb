//! The forms of `mcpServers`: a list of entries with names, or entries by name. Both are read into
//! a list, and written as one without what is as by default.

use std::fmt;
use std::path::Path;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde::ser::{Error as _, Serializer};

use super::McpServer;

/// Reads either form.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<McpServer>, D::Error> {
    struct Sources;
    impl<'de> Visitor<'de> for Sources {
        type Value = Vec<McpServer>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list, or entries by name")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut servers = Vec::new();
            while let Some(server) = seq.next_element_seed(Named(None))? {
                servers.push(server);
            }
            Ok(servers)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut servers = Vec::new();
            while let Some(name) = map.next_key()? {
                servers.push(map.next_value_seed(Named(Some(name)))?);
            }
            Ok(servers)
        }
    }
    deserializer.deserialize_any(Sources)
}

/// An entry, below its key if it has one.
struct Named(Option<String>);

impl<'de> DeserializeSeed<'de> for Named {
    type Value = McpServer;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<McpServer, D::Error> {
        let mut server = McpServer::deserialize(deserializer)?;
        let folder = server.trailmap.as_deref().and_then(Path::parent);
        let script = server.script.as_deref().and_then(Path::file_stem);
        let script = script.or_else(|| folder?.file_name());
        match self.0 {
            Some(key) if !server.name.is_empty() && server.name != key => {
                let message = format!("`name` is `{}`, but the key is `{key}`", server.name);
                return Err(D::Error::custom(message));
            }
            Some(key) => server.name = key,
            None if !server.name.is_empty() => {}
            None => match script {
                Some(stem) => server.name = stem.to_string_lossy().into_owned(),
                None => return Err(D::Error::missing_field("name")),
            },
        }
        if server.name.trim().is_empty() {
            return Err(D::Error::custom("`name` must not be empty"));
        }
        Ok(server)
    }
}

/// Writes a list of what is not as by default.
pub(super) fn write<S: Serializer>(
    servers: &[McpServer],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let default = serde_json::to_value(McpServer::default()).map_err(S::Error::custom)?;
    let mut written = Vec::new();
    for server in servers {
        let mut value = serde_json::to_value(server).map_err(S::Error::custom)?;
        if let Some(keys) = value.as_object_mut() {
            keys.retain(|key, value| *value != default[key]);
        }
        written.push(value);
    }
    serializer.collect_seq(written)
}

/// Either form, as editors see it.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    let entry = generator.subschema_for::<McpServer>();
    json_schema!({ "type": ["array", "object"], "items": entry, "additionalProperties": entry })
}
