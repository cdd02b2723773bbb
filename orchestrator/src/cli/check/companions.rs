//! Files beside trails: the configuration, tools and toolsets are checked as such, others as YAML.

use std::path::Path;

use packtrain_config::{ConfigError, Sources};
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::Companion;
use packtrain_model::source::Source;
use packtrain_model::yaml;
use packtrain_tools::{Composed, Tool, Toolset, check_name};

use super::Calls;
use crate::exit::CliError;
use crate::trails;

/// What is wrong with a file that is not a trail.
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
    if kind != Companion::Configuration {
        return Ok(yaml::read(&Source::new(name, text)).problems);
    }
    let loaded = packtrain_config::load(&Sources {
        start: calls.working_directory.to_owned(),
        project: Some(path.to_owned()),
        ..Sources::default()
    });
    Ok(loaded
        .err()
        .map_or_else(Vec::new, ConfigError::into_diagnostics))
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
    let told = if problem.is_fatal {
        Diagnostic::error
    } else {
        Diagnostic::warning
    };
    let told = told(tool.source(), tool.span(), problem.to_string());
    Some(told.hint(problem.hint.to_owned()))
}
