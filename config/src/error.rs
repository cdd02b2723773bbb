//! What can be wrong with a configuration, with the place and the line.

use std::path::PathBuf;

use packtrain_yaml::Source;
use packtrain_yaml::diagnostic::Diagnostic;

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
    /// Files, variables and flags that are not valid: every mistake in them, at least one. The source
    /// of one is the file, or the name of the variable or flag.
    #[error("{}", sentences(.0))]
    Invalid(Vec<Diagnostic>),
    /// Layers that are valid alone but not together.
    #[error("the layers of the configuration contradict each other: {0}")]
    Inconsistent(String),
}

impl ConfigError {
    /// Every mistake; what is wrong with a file as a whole is one.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Self::Invalid(mistakes) => mistakes,
            Self::Unreadable { .. } | Self::TooLarge { .. } | Self::Inconsistent(_) => {
                let source = Source::new("configuration", "");
                vec![Diagnostic::error(&source, None, self.to_string())]
            }
        }
    }
}

/// The mistakes with their places, without the lines of the files.
fn sentences(mistakes: &[Diagnostic]) -> String {
    let sentences = mistakes
        .iter()
        .map(|mistake| format!("{}: {}", mistake.location(), mistake.message));
    sentences.collect::<Vec<_>>().join("\n")
}
