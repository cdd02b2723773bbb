//! A trail on its way to another process: its text, from which it is parsed again.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Trail;

/// What a trail is made from.
#[derive(Serialize, Deserialize)]
struct Document {
    /// What messages call it.
    name: String,
    text: String,
    /// The variables that were filled in when it was read.
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

impl Serialize for Trail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = Document {
            name: self.source.name().to_owned(),
            text: self.source.text().to_owned(),
            variables: self.variables.clone(),
        };
        document.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Trail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Document {
            name,
            text,
            variables,
        } = Document::deserialize(deserializer)?;
        // A file cannot be empty; a trail that is in no file is.
        if text.is_empty() {
            return Ok(Self::empty(&name));
        }
        let parsed = Self::parse_with(&text, &name, &|name| variables.get(name).cloned());
        parsed.map(|parsed| parsed.trail).map_err(|problems| {
            let told = problems.iter().map(|problem| problem.message.as_str());
            serde::de::Error::custom(told.collect::<Vec<_>>().join("; "))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::trail::Trail;

    #[test]
    fn a_trail_arrives_as_it_was_read_variables_included() {
        let text = "trail:\n  - step: go\n    recording:\n      web:\n        - web_navigate: { url: \"{{HOST}}/{{later}}\" }\n";
        let variables = |name: &str| (name == "HOST").then(|| "http://a".to_owned());
        let sent = Trail::parse_with(text, "a.trail.yaml", &variables)
            .unwrap()
            .trail;
        let wire = serde_json::to_string(&sent).unwrap();
        let arrived: Trail = serde_json::from_str(&wire).unwrap();
        assert_eq!(arrived, sent);
        assert!(wire.contains("http://a"));
    }

    #[test]
    fn a_trail_that_is_in_no_file_arrives_too() {
        let sent = Trail::empty("<command line>");
        let wire = serde_json::to_string(&sent).unwrap();
        let arrived: Trail = serde_json::from_str(&wire).unwrap();
        assert_eq!(arrived, sent);
    }

    #[test]
    fn what_is_no_trail_is_refused_with_the_reason() {
        let error = serde_json::from_str::<Trail>(r#"{"name":"x","text":"trail: 5"}"#).unwrap_err();
        assert!(error.to_string().contains("trail"), "{error}");
    }
}
