//! What can be wrong with a configuration, with the place and the line.

use std::fmt;
use std::path::PathBuf;

use crate::key::KeyPath;
use crate::origin::Position;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is larger than any configuration.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// A file is not valid.
    #[error("{0}")]
    Invalid(Box<Problem>),
    /// The value of a variable or flag is not valid.
    #[error("{source_name}: {message}")]
    Setting {
        /// The variable or flag.
        source_name: String,
        /// The setting it is for.
        key: KeyPath,
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Layers that are valid alone but not together.
    #[error("the layers of the configuration contradict each other: {0}")]
    Inconsistent(String),
}

/// Something wrong at a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub position: Position,
    /// The setting it is about.
    pub key: KeyPath,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line of the file.
    pub line: String,
}

/// Something that was ignored but may not have been meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file, or `None` for the environment.
    pub path: Option<PathBuf>,
    /// Where in the file.
    pub position: Position,
    /// What was ignored and why.
    pub message: String,
}

impl ConfigError {
    /// The line of the file with a mark below the place, when a file is to blame.
    pub fn snippet(&self) -> Option<String> {
        match self {
            Self::Invalid(problem) => Some(problem.snippet()),
            Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::Setting { .. }
            | Self::Inconsistent(_) => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Invalid(problem) => problem.hint.as_deref(),
            Self::Setting { hint, .. } => hint.as_deref(),
            Self::Unreadable { .. } | Self::TooLarge { .. } | Self::Inconsistent(_) => None,
        }
    }
}

impl Problem {
    /// The line of the file with a mark below the place.
    pub fn snippet(&self) -> String {
        let number = self.position.line.to_string();
        let margin = " ".repeat(number.len());
        let column = usize::try_from(self.position.column).unwrap_or(1).max(1);
        // Tabs stay tabs, so that the mark stands below its place.
        let indent: String = self
            .line
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("{number} | {}\n{margin} | {indent}^", self.line)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.path.display(), self.position)?;
        if !self.key.parts().is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}:{}: ", path.display(), self.position.line)?;
        }
        f.write_str(&self.message)
    }
}
