//! Arguments as a person types them on a command line: `key=value`.

use super::value::Value;
use crate::diagnostic::quoted;

/// Why words are not arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// No `=`, or nothing before it.
    #[error("invalid argument {}: expected key=value", quoted(.0))]
    NoKey(String),
    /// A key given twice.
    #[error("the argument {} is given twice", quoted(.0))]
    Twice(String),
    /// A value that begins as JSON does but is not valid JSON.
    #[error("invalid JSON in argument {}: {}", quoted(.0), .1)]
    NoJson(String, String),
}

impl Value {
    /// A mapping from `key=value` words, each value a [`Value::word`], or JSON when it begins with
    /// `{` or `[`. What follows the first `=` is the value, whatever it is.
    pub fn from_assignments<'w>(
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<Self, AssignmentError> {
        let mut entries: Vec<(String, Self)> = Vec::new();
        for word in words {
            let (key, value) = match word.split_once('=') {
                Some((key, value)) if !key.trim().is_empty() => (key.trim(), value),
                Some(_) | None => return Err(AssignmentError::NoKey(word.to_owned())),
            };
            if entries.iter().any(|(known, _)| known == key) {
                return Err(AssignmentError::Twice(key.to_owned()));
            }
            let value = if value.starts_with(['{', '[']) {
                let json: serde_json::Value = serde_json::from_str(value)
                    .map_err(|error| AssignmentError::NoJson(key.to_owned(), error.to_string()))?;
                Self::from(&json)
            } else {
                Self::word(value)
            };
            entries.push((key.to_owned(), value));
        }
        Ok(Self::mapping(entries))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::AssignmentError;
    use crate::Value;

    #[test]
    fn words_become_arguments_of_the_type_a_tool_wants() {
        let args = Value::from_assignments(["url=http://a?b=c", "amount=500", "text="]).unwrap();
        assert_eq!(
            args.to_json(),
            json!({"url": "http://a?b=c", "amount": 500, "text": ""})
        );
        let amount: std::collections::BTreeMap<String, String> = args.decode().unwrap();
        assert_eq!(amount["amount"], "500");
    }

    #[test]
    fn lists_and_mappings_are_json() {
        let args = Value::from_assignments([r#"items=["a", 1]"#]).unwrap();
        assert_eq!(args.to_json(), json!({"items": ["a", 1]}));
        let refused = Value::from_assignments(["items=[a"]).unwrap_err();
        assert!(matches!(refused, AssignmentError::NoJson(..)));
    }

    #[test]
    fn a_word_without_a_key_and_a_key_given_twice_are_refused() {
        let refused = |words: &[&str]| Value::from_assignments(words.iter().copied()).unwrap_err();
        assert_eq!(refused(&["tap"]), AssignmentError::NoKey("tap".to_owned()));
        assert_eq!(refused(&["=x"]), AssignmentError::NoKey("=x".to_owned()));
        assert_eq!(
            refused(&["a=1", "a=2"]),
            AssignmentError::Twice("a".to_owned())
        );
    }
}
