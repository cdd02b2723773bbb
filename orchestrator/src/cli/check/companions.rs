//! Files beside trails: the configuration, tools and toolsets are checked as such, others as YAML.

use std::path::Path;

use packtrain_config::{ConfigError, Sources};
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::Companion;
use packtrain_model::source::{Source, Span};
use packtrain_model::yaml;
use packtrain_tools::{Composed, Tool, Toolset, check_name};

use super::Calls;
use crate::exit::CliError;
use crate::trails;

/// What is wrong with a file that is no trail.
///
/// # Errors
/// When it cannot be read.
pub(super) fn check(
    path: &Path,
    kind: Companion,
    calls: &Calls<'_>,
) -> Result<Vec<Diagnostic>, CliError> {
    let (name, text) = (path.display().to_string(), trails::text(path)?);
    match kind {
        Companion::Tool => return Ok(tool(&text, &name, calls)),
        Companion::Toolset => {
            return Ok(match Toolset::parse(&text, &name) {
                Ok(file) => file.warnings,
                Err(mistakes) => mistakes,
            });
        }
        Companion::Configuration
        | Companion::Workspace
        | Companion::Trailmap
        | Companion::Waypoint => {}
    }
    let source = Source::new(name, text);
    let read = yaml::read(&source);
    if kind != Companion::Configuration || !read.problems.is_empty() {
        return Ok(read.problems);
    }
    let loaded = packtrain_config::load(&Sources {
        start: calls.working_directory.to_owned(),
        project: Some(path.to_owned()),
        ..Sources::default()
    });
    Ok(loaded
        .err()
        .map(|error| told(&error, &source))
        .into_iter()
        .collect())
}

/// What is wrong with a tool file and with the calls in it.
fn tool(text: &str, name: &str, calls: &Calls<'_>) -> Vec<Diagnostic> {
    let file = match Composed::parse(text, name) {
        Ok(file) => file,
        Err(mistakes) => return mistakes,
    };
    let mut found = file.warnings;
    if let Some(tool) = file.tool {
        found.extend(misnamed(&tool));
        found.extend(calls.check_tool(&tool));
    }
    found
}

fn misnamed(tool: &Composed) -> Option<Diagnostic> {
    let spec = tool.spec();
    let problem = check_name(&spec.name, &spec.origin)?;
    let told = if problem.is_fatal() {
        Diagnostic::error
    } else {
        Diagnostic::warning
    };
    let told = told(tool.source(), tool.span(), problem.to_string());
    Some(told.hint(problem.hint().to_owned()))
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
