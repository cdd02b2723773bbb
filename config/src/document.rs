//! A YAML file, and its errors with file, line and key.

use std::path::{Path, PathBuf};

use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::{Node, Options, Source, Span, Value, read_documents};
use serde::de::DeserializeOwned;

use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::origin::Position;
use crate::suggest;

/// Largest file read, in bytes.
const MAX_BYTES: u64 = packtrain_yaml::MAX_BYTES as u64;
/// What people write by hand may say a thing once and mean it twice.
const OPTIONS: Options = Options {
    is_lenient: true,
    ..Options::STRICT
};
/// A key at the top that has two spellings: the one we use, and Trailblaze's other one.
const SPELLINGS: [&str; 2] = ["mcpServers", "mcp_servers"];

/// Most settings of a file that are left out; one with more mistakes is used for nothing.
const MAX_MISTAKES: usize = 50;

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub path: PathBuf,
    pub source: Source,
    pub root: Value,
    /// What is wrong with it so far; what is left without those parts is used.
    pub mistakes: Vec<Diagnostic>,
    /// The settings that are left out because of them; the whole file when it is not YAML.
    pub left_out: Vec<KeyPath>,
}

impl Document {
    /// Reads a file; errors carry the place.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > MAX_BYTES {
            return Err(ConfigError::TooLarge {
                path: path.to_owned(),
                limit: MAX_BYTES,
            });
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Ok(Self::from_text(path, text))
    }

    /// The same for a text that was read already.
    pub(crate) fn from_text(path: &Path, text: String) -> Self {
        let source = Source::new(path.to_string_lossy(), text);
        let (values, mistakes) = read_documents(&source, OPTIONS);
        let is_unread = values.is_empty() && !mistakes.is_empty();
        let mut document = Self {
            path: path.to_owned(),
            source,
            root: values.into_iter().next().unwrap_or(Value::mapping([])),
            left_out: is_unread.then(KeyPath::default).into_iter().collect(),
            mistakes,
        };
        document.spell();
        document
    }

    /// Gives the key that has two spellings the one we use.
    fn spell(&mut self) {
        let Node::Mapping(mapping) = &mut self.root.node else {
            return;
        };
        let [ours, other] = SPELLINGS;
        let is_twice = mapping.get(ours).is_some();
        let mut keys = mapping.entries.iter_mut().map(|entry| &mut entry.key);
        let Some(key) = keys.find(|key| key.text == other) else {
            return;
        };
        if !is_twice {
            ours.clone_into(&mut key.text);
            return;
        }
        let at = key.span;
        mapping.entries.retain(|entry| entry.key.text != other);
        let message = format!("`{ours}` and `{other}` are two spellings of one key");
        let hint = Some("merge them into one".to_owned());
        let key = KeyPath::new([other]);
        self.mistakes.push(self.mistake(at, &key, &message, hint));
    }

    /// A setting as this file has it: a tool source that is written by name has its name.
    pub(crate) fn written(&self, key: &KeyPath) -> KeyPath {
        let mut parts = key.parts().to_vec();
        if let [top, place, ..] = &mut parts[..]
            && *top == SPELLINGS[0]
            && let Some(sources) = self.root.as_mapping().and_then(|root| root.get(top))
            && let Some(sources) = sources.as_mapping()
            && let Some(source) =
                (place.parse().ok()).and_then(|place: usize| sources.entries.get(place))
        {
            place.clone_from(&source.key.text);
        }
        KeyPath::new(parts)
    }

    /// The file as a type of ours.
    ///
    /// # Errors
    /// The first mistake, and the setting that has it.
    fn decode<T: DeserializeOwned>(&self) -> Result<T, Box<(KeyPath, Diagnostic)>> {
        self.root.decode().map_err(|mistake| {
            let span = mistake.span;
            let (key, message, hint) = suggest::words(mistake);
            let told = self.mistake(span, &key, &message, hint);
            Box::new((key, told))
        })
    }

    /// The same for a file that is used as a whole or not at all.
    pub(crate) fn whole<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        let decoded = self.decode().map_err(|mistake| vec![mistake.1]);
        let whole = decoded.and_then(|decoded| match self.mistakes.as_slice() {
            [] => Ok(decoded),
            mistakes => Err(mistakes.to_vec()),
        });
        whole.map_err(ConfigError::Invalid)
    }

    /// The same without the settings that have a mistake, which are left out for good.
    pub(crate) fn parse<T: DeserializeOwned>(&mut self) -> Option<T> {
        for _ in 0..MAX_MISTAKES {
            let (key, told) = match self.decode() {
                Ok(typed) => return Some(typed),
                Err(mistake) => *mistake,
            };
            let is_gone = remove(&mut self.root, key.parts());
            self.mistakes.push(told);
            self.left_out.push(key);
            if !is_gone {
                break;
            }
        }
        None
    }

    /// Something wrong at a place of this file.
    pub(crate) fn mistake(
        &self,
        at: Option<Span>,
        key: &KeyPath,
        message: &str,
        hint: Option<String>,
    ) -> Diagnostic {
        let message = match key.parts() {
            [] => message.to_owned(),
            _ => format!("{key}: {message}"),
        };
        let at = at.unwrap_or(Span::at(packtrain_yaml::Position::START));
        Diagnostic::error(&self.source, at, message).hint(hint)
    }

    /// Where a key is; that of the nearest one around it when it is not there.
    pub(crate) fn position(&self, key: &KeyPath) -> Position {
        let mut node = &self.root;
        let mut position = Position { line: 1, column: 1 };
        for part in key.parts() {
            let found = match &node.node {
                Node::Mapping(mapping) => {
                    let entry = mapping.entry(part);
                    entry.map(|entry| (entry.key.span, &entry.value))
                }
                Node::Sequence(list) => {
                    let item = (part.parse().ok()).and_then(|place: usize| list.items.get(place));
                    item.map(|item| (item.span, item))
                }
                Node::Scalar(_) => None,
            };
            let Some((at, inner)) = found else { break };
            position = at.into();
            node = inner;
        }
        position
    }
}

/// Takes a part out of a tree; whether it was there.
fn remove(tree: &mut Value, way: &[String]) -> bool {
    let Some((part, rest)) = way.split_first() else {
        let is_other = tree.as_mapping().is_none();
        *tree = Value::mapping([]);
        return is_other;
    };
    let place = match &tree.node {
        Node::Mapping(mapping) => mapping.keys().position(|key| key == part),
        Node::Sequence(list) => part
            .parse()
            .ok()
            .filter(|place: &usize| *place < list.items.len()),
        Node::Scalar(_) => None,
    };
    let Some(place) = place else { return false };
    match (&mut tree.node, rest) {
        (Node::Mapping(mapping), []) => drop(mapping.entries.remove(place)),
        (Node::Mapping(mapping), _) => return remove(&mut mapping.entries[place].value, rest),
        (Node::Sequence(list), []) => drop(list.items.remove(place)),
        (Node::Sequence(list), _) => return remove(&mut list.items[place], rest),
        (Node::Scalar(_), _) => return false,
    }
    true
}
