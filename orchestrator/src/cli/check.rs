//! `packtrain check`: mistakes in trails and configuration, found without a device.

mod calls;
mod companions;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_tools::{Registry, Surroundings, check_templates};
use serde_json::json;

pub(crate) use self::calls::Calls;
use super::{Context, Format};
use crate::exit::CliError;
use crate::{render, trails};

#[derive(Debug, Args)]
#[command(
    after_help = "An unknown tool is a warning when a tool source is configured, which may have it. \
Exit code 3 when there are mistakes."
)]
pub(crate) struct CheckArgs {
    /// Trail files, or folders that hold some [default: the configured trailsDir]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Fail on warnings too
    #[arg(long)]
    strict: bool,

    /// A value that a run gives with --memory; repeatable
    #[arg(long, value_name = "NAME", value_parser = name)]
    memory: Vec<String>,

    /// A value that a run gives with --secret; repeatable
    #[arg(long, value_name = "NAME", value_parser = name)]
    secret: Vec<String>,

    /// How to print what was found
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain check`.
pub(crate) fn run(args: &CheckArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let paths = match args.paths.as_slice() {
        [] => vec![config.trails_dir.clone()],
        given => given.to_vec(),
    };
    let trails::Found { trails, companions } = trails::find(&paths)?;
    let files: Vec<_> = trails.iter().flat_map(trails::files).collect();
    let registry = Registry::builtin();
    let calls = Calls::new(&registry, &config, &context.working_directory);
    let given = [args.memory.as_slice(), &args.secret].concat();
    let mut found: Vec<Diagnostic> = Vec::new();
    for file in &files {
        match trails::parse(file)? {
            Ok(parsed) => {
                found.extend(parsed.warnings);
                found.extend(packtrain_engine::check_pins(&parsed.trail));
                found.extend(calls.check(&parsed.trail));
                let surroundings = Surroundings {
                    given: &given,
                    is_nested: false,
                };
                found.extend(check_templates(&parsed.trail, &registry, surroundings));
            }
            Err(mistakes) => found.extend(mistakes),
        }
    }
    let mut kinds = BTreeMap::new();
    for (path, kind) in &companions {
        found.extend(companions::check(path, *kind, &context.working_directory)?);
        *kinds.entry(*kind).or_insert(0) += 1;
    }
    let checked = files.len() + companions.len();
    let mistakes = found.iter().filter(|one| one.is_error()).count();
    let warnings = found.len() - mistakes;
    match args.format {
        Format::Text => {
            render::diagnostics(&found, context.color.on_stderr());
            let kinds = kinds
                .iter()
                .map(|(kind, number)| count(*number, kind.word()));
            let trails = (!files.is_empty()).then(|| count(files.len(), "trail"));
            let parts: Vec<_> = trails.into_iter().chain(kinds).collect();
            render::say(&format!(
                "{} checked ({}): {}, {}",
                count(checked, "file"),
                parts.join(", "),
                count(mistakes, "mistake"),
                count(warnings, "warning"),
            ));
        }
        Format::Json => {
            let found: Vec<_> = found.iter().map(as_json).collect();
            render::out(
                &json!({ "schema_version": 1, "files": checked, "diagnostics": found }).to_string(),
            );
        }
    }
    Ok(if mistakes > 0 || (args.strict && warnings > 0) {
        Exit::Misuse
    } else {
        Exit::Passed
    })
}

/// NAME, or NAME=VALUE as `packtrain run` takes it.
fn name(text: &str) -> Result<String, String> {
    match text.split_once('=').map_or(text, |(name, _)| name) {
        "" => Err("expected NAME".to_owned()),
        name => Ok(name.to_owned()),
    }
}

fn as_json(diagnostic: &Diagnostic) -> serde_json::Value {
    json!({
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "message": diagnostic.message,
        "at": diagnostic.location(),
        "hint": diagnostic.hint,
    })
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        several => format!("{several} {what}s"),
    }
}
