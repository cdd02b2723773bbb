//! A YAML file, and its errors with file, line and key.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::{ConfigError, Problem};
use crate::key::KeyPath;
use crate::node::{Content, Node};
use crate::origin::Position;
use crate::suggest;

/// Largest file read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// A key at the top that has two spellings: the one we use, and Trailblaze's other one.
const SPELLINGS: [&str; 2] = ["mcpServers", "mcp_servers"];

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub path: PathBuf,
    pub text: String,
    pub root: Node,
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
        Self::from_text(path, std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// The same for a text that was read already.
    pub(crate) fn from_text(path: &Path, text: String) -> Result<Self, ConfigError> {
        let mut document = Self {
            path: path.to_owned(),
            text,
            root: Node::default(),
        };
        document.root = Node::read(&document.text)
            .map_err(|error| document.problem(error.at, KeyPath::default(), error.message, None))?;
        document.spell()?;
        Ok(document)
    }

    /// Gives the key that has two spellings the one we use.
    fn spell(&mut self) -> Result<(), ConfigError> {
        let Content::Map(entries) = &mut self.root.content else {
            return Ok(());
        };
        let [ours, other] = SPELLINGS;
        let is_twice = entries.iter().any(|entry| entry.key == ours);
        let Some(entry) = entries.iter_mut().find(|entry| entry.key == other) else {
            return Ok(());
        };
        if !is_twice {
            ours.clone_into(&mut entry.key);
            return Ok(());
        }
        let (at, key) = (entry.at, KeyPath::new([other]));
        let message = format!("`{ours}` and `{other}` are two spellings of one key");
        Err(self.problem(at, key, message, Some("merge them into one".into())))
    }

    /// A setting as this file has it: a tool source that is written by name has its name.
    pub(crate) fn written(&self, key: &KeyPath) -> KeyPath {
        let mut parts = key.parts().to_vec();
        if let Content::Map(entries) = &self.root.content
            && let [top, place, ..] = &mut parts[..]
            && *top == SPELLINGS[0]
            && let Some(entry) = entries.iter().find(|entry| entry.key == *top)
            && let Content::Map(sources) = &entry.value.content
            && let Some(source) = place
                .parse()
                .ok()
                .and_then(|place: usize| sources.get(place))
        {
            place.clone_from(&source.key);
        }
        KeyPath::new(parts)
    }

    /// The file as a type of ours.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        self.root.decode().map_err(|mistake| {
            let (message, hint) = suggest::words(&mistake.wrong);
            let position = mistake.at.unwrap_or(Position { line: 1, column: 1 });
            self.problem(position, mistake.key(), message, hint)
        })
    }

    /// Something wrong at a place of this file.
    pub(crate) fn problem(
        &self,
        position: Position,
        key: KeyPath,
        message: String,
        hint: Option<String>,
    ) -> ConfigError {
        let line = usize::try_from(position.line)
            .unwrap_or(1)
            .saturating_sub(1);
        ConfigError::Invalid(Box::new(Problem {
            path: self.path.clone(),
            position,
            key,
            message,
            hint,
            line: self.text.lines().nth(line).unwrap_or_default().to_owned(),
        }))
    }

    /// Where a key is; that of the nearest one around it when it is not there.
    pub(crate) fn position(&self, key: &KeyPath) -> Position {
        let mut node = &self.root;
        let mut position = Position { line: 1, column: 1 };
        for part in key.parts() {
            let found = match &node.content {
                Content::Map(entries) => {
                    let mut entries = entries.iter();
                    let entry = entries.find(|entry| entry.key == *part);
                    entry.map(|entry| (entry.at, &entry.value))
                }
                Content::List(items) => {
                    let item = part.parse().ok().and_then(|place: usize| items.get(place));
                    item.map(|item| (item.at, item))
                }
                Content::Null | Content::Scalar(_) => None,
            };
            let Some((at, inner)) = found else { break };
            position = at;
            node = inner;
        }
        position
    }
}
