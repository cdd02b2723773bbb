//! Files beside trails: the configuration is checked as such, others as YAML.

use std::path::Path;

use packtrain_config::{ConfigError, Sources};
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::Companion;
use packtrain_model::source::{Source, Span};
use packtrain_model::yaml;

use crate::exit::CliError;
use crate::trails;

/// What is wrong with a file that is no trail.
///
/// # Errors
/// When it cannot be read.
pub(super) fn check(
    path: &Path,
    kind: Companion,
    working_directory: &Path,
) -> Result<Vec<Diagnostic>, CliError> {
    let source = Source::new(path.display().to_string(), trails::text(path)?);
    let read = yaml::read(&source);
    if kind != Companion::Configuration || !read.problems.is_empty() {
        return Ok(read.problems);
    }
    let loaded = packtrain_config::load(&Sources {
        start: working_directory.to_owned(),
        project: Some(path.to_owned()),
        ..Sources::default()
    });
    Ok(loaded
        .err()
        .map(|error| told(&error, &source))
        .into_iter()
        .collect())
}

fn told(error: &ConfigError, source: &Source) -> Diagnostic {
    let (span, message) = match error {
        ConfigError::Invalid(problem) => {
            let place = source.position(problem.position.line, problem.position.column);
            let key = problem.key.to_string();
            let message = match key.as_str() {
                "" => problem.message.clone(),
                key => format!("{key}: {}", problem.message),
            };
            (Some(Span::at(place)), message)
        }
        ConfigError::Unreadable { .. }
        | ConfigError::TooLarge { .. }
        | ConfigError::Setting { .. }
        | ConfigError::Inconsistent(_) => (None, error.to_string()),
    };
    Diagnostic::error(source, span, message).hint(error.hint().map(str::to_owned))
}
