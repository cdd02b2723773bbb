//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::{self as yaml, Source, Span};
use serde::Serialize;

/// A place in a file, both counted from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

/// A file of settings; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileLayer {
    /// The user's own, for every project.
    User,
    /// Trailblaze's workspace file and its trailmaps.
    Trailblaze,
    /// The project's packtrain.yaml.
    Project,
}

/// Where a value comes from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "from")]
pub enum Origin {
    /// It was not set.
    Default,
    /// A file.
    File {
        /// Which kind of file.
        layer: FileLayer,
        /// The file.
        path: PathBuf,
        /// Where its key is.
        #[serde(flatten)]
        position: Position,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// A flag of the command line.
    Flag {
        /// The flag as typed: `--retries`.
        name: String,
    },
}

impl Origin {
    /// Something wrong with what a variable or a flag says.
    pub(crate) fn mistake(&self, message: String, hint: Option<String>) -> Diagnostic {
        Diagnostic::error(&Source::new(self.to_string(), ""), None, message).hint(hint)
    }
}

impl From<Option<Span>> for Position {
    fn from(span: Option<Span>) -> Self {
        let start = span.map_or(yaml::Position::START, |span| span.start);
        Self {
            line: start.line.into(),
            column: start.column.into(),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, position, .. } => {
                write!(f, "{}:{}", path.display(), position.line)
            }
            Self::Environment { name } | Self::Flag { name } => f.write_str(name),
        }
    }
}
