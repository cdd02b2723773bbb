//! `packtrain check`: mistakes in trails and configuration, found without a device.

use std::path::PathBuf;

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::suggest::closest;
use packtrain_model::trail::Trail;
use packtrain_tools::{Registry, Surroundings, check_selectors, check_templates};
use serde_json::json;

use super::{Context, Format};
use crate::exit::CliError;
use crate::{render, trails};

#[derive(Debug, Args)]
#[command(
    after_help = "A tool that is not known is a warning: it may come from a tool source. \
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
    let found = trails::find(&paths)?;
    let files: Vec<_> = found.iter().flat_map(trails::files).collect();
    let registry = Registry::builtin();
    let given = [args.memory.as_slice(), &args.secret].concat();
    let mut found: Vec<Diagnostic> = Vec::new();
    for file in &files {
        match trails::parse(file)? {
            Ok(parsed) => {
                found.extend(parsed.warnings);
                found.extend(packtrain_engine::check_pins(&parsed.trail));
                found.extend(check_tools(&parsed.trail, &registry));
                let surroundings = Surroundings {
                    given: &given,
                    is_nested: false,
                };
                found.extend(check_templates(&parsed.trail, &registry, surroundings));
            }
            Err(mistakes) => found.extend(mistakes),
        }
    }
    let mistakes = found.iter().filter(|one| one.is_error()).count();
    let warnings = found.len() - mistakes;
    match args.format {
        Format::Text => {
            render::diagnostics(&found, context.color.on_stderr());
            render::say(&format!(
                "{} checked: {}, {}",
                count(files.len(), "file"),
                count(mistakes, "mistake"),
                count(warnings, "warning"),
            ));
        }
        Format::Json => {
            let found: Vec<_> = found.iter().map(as_json).collect();
            render::out(
                &json!({ "schema_version": 1, "files": files.len(), "diagnostics": found })
                    .to_string(),
            );
        }
    }
    Ok(match mistakes > 0 || (args.strict && warnings > 0) {
        true => Exit::Misuse,
        false => Exit::Passed,
    })
}

/// Tools that do not exist, and arguments that their tool will refuse.
fn check_tools(trail: &Trail, registry: &Registry) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let calls = trail
        .all_steps()
        .flat_map(|step| step.recordings.iter())
        .flat_map(|recording| &recording.value);
    for call in calls {
        match registry.get(&call.name) {
            Some(tool) => {
                if let Err(mut error) = tool.check(&call.args) {
                    error.span = error.span.or(call.span);
                    error.hint.get_or_insert_with(|| {
                        format!("`packtrain tools {}` shows its arguments", call.name)
                    });
                    found.push(error.diagnostic(&trail.source));
                }
                found.extend(check_selectors(&call.args).into_iter().map(|slip| {
                    let told = match slip.fatal {
                        true => Diagnostic::error,
                        false => Diagnostic::warning,
                    };
                    let span = slip.span.or(call.span);
                    told(&trail.source, span, slip.message).hint(slip.hint.to_owned())
                }));
            }
            None => {
                let message = format!("`{}` is no built-in tool", call.name);
                let hint = match closest(&call.name, registry.names()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "it must come from a tool source".to_owned(),
                };
                found.push(Diagnostic::warning(&trail.source, call.span, message).hint(hint));
            }
        }
    }
    found
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
