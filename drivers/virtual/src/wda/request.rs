//! A request as the handlers see it: query and body by name, whatever a client sent.

use serde_json::{Map, Value};

use super::error::WdaError;
use super::settings::double;

/// What a client sent along with a route.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments {
    query: Vec<(String, String)>,
    body: Map<String, Value>,
}

impl Arguments {
    /// Takes the query and reads the body. A body that is no JSON, or JSON of a single value, counts
    /// as none, as on a phone.
    ///
    /// # Errors
    /// When the body is a list.
    pub(crate) fn read(query: &str, body: &[u8]) -> Result<Self, WdaError> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query = pairs
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        let body = match serde_json::from_slice(body) {
            Ok(Value::Object(body)) => body,
            Ok(Value::Array(_)) => return Err(unrecognized("objectForKeyedSubscript:")),
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => {
                Map::new()
            }
        };
        Ok(Self { query, body })
    }

    /// A parameter of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A value of the body; `null` counts as none.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }

    /// A text of the body; nothing else is one.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// A number of the body, or a text of digits.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)
            .map(double)
            .filter(|number| number.is_finite())
    }

    /// All values of the body.
    pub(crate) const fn body(&self) -> &Map<String, Value> {
        &self.body
    }
}

/// What Foundation says when something is of the wrong class.
pub(crate) fn unrecognized(selector: &str) -> WdaError {
    WdaError::unknown(format!(
        "-[NSObject {selector}]: unrecognized selector sent to instance"
    ))
}

/// Takes percent signs apart. A sign that stands for nothing stays, as does a plus.
pub(crate) fn decode(text: &str) -> String {
    let bytes = percent_encoding::percent_decode_str(text);
    bytes.decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn query_and_body_are_read_by_name() {
        let body = br#"{"x": "12.5", "y": 3, "name": null}"#;
        let query = "format=json&format=xml&&x=1+2%20&y";
        let arguments = Arguments::read(query, body).unwrap();
        assert_eq!(arguments.query("format"), Some("xml"));
        assert_eq!(
            (arguments.query("x"), arguments.query("y")),
            (Some("1+2 "), Some(""))
        );
        assert_eq!(arguments.number("x"), Some(12.5));
        assert_eq!(arguments.number("y"), Some(3.0));
        assert_eq!(arguments.get("name"), None);
    }

    #[test]
    fn a_body_that_is_no_json_counts_as_none() {
        for body in [b"{\"x\": ".as_slice(), b"null", b"3", b"\"x\""] {
            let arguments = Arguments::read("", body).unwrap();
            assert_eq!(arguments.get("x"), None);
        }
        assert!(Arguments::read("", b"[]").is_err());
    }

    #[test]
    fn only_percent_signs_stand_for_something() {
        assert_eq!(decode("a%20b+c%3"), "a b+c%3");
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_without_panic(query in "\\PC{0,40}", body in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Arguments::read(&query, &body);
        }
    }
}
