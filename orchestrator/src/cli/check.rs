//! `packtrain check`: mistakes in trails and configuration, found without a device.

mod calls;
mod companions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use packtrain_config::{Config, Flags, KeyPath};
use packtrain_model::Exit;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::Companion;
use packtrain_tools::{Registry, TemplateContext, check_cycles, check_templates};
use serde_json::json;

pub(crate) use self::calls::{Calls, SourceTools};
use super::{Context, Format, listed};
use crate::exit::CliError;
use crate::sources::{self, RunningSources, SourceStartOptions};
use crate::tool_files::{ToolFiles, canonical};
use crate::{matrix, names, render, runtime, trails};

#[derive(Debug, Args)]
#[command(
    after_help = "An unknown tool is only a warning when a tool source is configured, since that may provide it; \
--tools starts the sources to find out. Exit code 3 when there are mistakes, 2 when a source that \
--tools starts does not list its tools."
)]
pub(crate) struct CheckArgs {
    /// Trail files, or folders of them [default: the configured trailsDir]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Start the tool sources and check calls against what they list
    #[arg(long)]
    tools: bool,

    /// Fail on warnings too
    #[arg(long)]
    strict: bool,

    /// The name of a value that runs set with --memory; repeatable
    #[arg(long, value_name = "NAME", value_parser = name)]
    memory: Vec<String>,

    /// The name of a value that runs set with --secret; repeatable
    #[arg(long, value_name = "NAME", value_parser = name)]
    secret: Vec<String>,

    /// How to print what was found
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain check`.
pub(crate) fn run(args: &CheckArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.read(Flags::default())?;
    let tool_files = ToolFiles::read(&loaded.config, &context.working_directory)?;
    let config = &loaded.config;
    let paths = match args.paths.as_slice() {
        [] => vec![config.trails_dir.clone()],
        given => given.to_vec(),
    };
    let axes = matrix::NamedAxes::new(config, &paths);
    let trails::Found {
        trails,
        mut companions,
    } = trails::find(&paths)?;
    // When no path is given, the workspace's tools and toolsets too.
    if args.paths.is_empty() {
        let known: BTreeSet<_> = companions.iter().map(|(path, _)| canonical(path)).collect();
        let more = tool_files.paths.iter();
        let more = more.filter(|(path, _)| !known.contains(&canonical(path)));
        companions.extend(more.cloned());
    }
    let files: Vec<_> = trails.iter().flat_map(trails::files).collect();
    let mut found = loaded.mistakes.clone();
    found.extend(names::not_emulated(&loaded, &[]));
    found.extend(matrix::misspelled(&loaded, &axes, |_| true));
    if found.is_empty() {
        sources::check(config)?;
    }
    let registry = tool_files.registry().unwrap_or_else(|collisions| {
        found.extend(tool_files.told(&collisions));
        let tools = tool_files.tools.iter();
        tools.fold(Registry::builtin(), |registry, tool| {
            registry.with(Arc::clone(tool) as _)
        })
    });
    let (registry, unheard) = if args.tools {
        from_sources(config, &loaded.root, registry)?
    } else {
        (registry, 0)
    };
    let mut calls = Calls::new(&registry, config, &context.working_directory);
    let lacks = |key: &str| loaded.lacks(&KeyPath::new([key]));
    if lacks("mcpServers") {
        calls.sources = SourceTools::Unheard;
    } else if args.tools && !config.mcp_servers.is_empty() {
        calls.sources = match unheard {
            0 => SourceTools::Listed,
            1.. => SourceTools::Unheard,
        };
    }
    let mut unstarted: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let given = [args.memory.as_slice(), &args.secret].concat();
    for file in &files {
        match trails::parse(file)? {
            Ok(parsed) => {
                found.extend(parsed.warnings);
                found.extend(packtrain_engine::check_pins(&parsed.trail));
                found.extend(calls.check(&parsed.trail));
                for (trailmap, tool) in calls.of_trailmaps(&parsed.trail) {
                    let tools = unstarted.entry(trailmap.to_owned()).or_default();
                    tools.insert(format!("`{tool}`"));
                }
                found.extend(matrix::misspelled_of_trail(&parsed.trail, &loaded, &axes));
                found.extend(names::of_trail(&parsed.trail, &loaded));
                let cells = matrix::names(config, &parsed.trail);
                let given = [given.as_slice(), &cells].concat();
                let surroundings = TemplateContext {
                    given: &given,
                    is_nested: false,
                };
                if !lacks("matrices") {
                    found.extend(check_templates(&parsed.trail, &registry, surroundings));
                }
            }
            Err(mistakes) => found.extend(mistakes),
        }
    }
    let mut kinds = BTreeMap::new();
    for (path, kind) in &companions {
        // What is wrong with the configuration itself has been told.
        let mut files = loaded.files.iter();
        if files.all(|file| canonical(file) != canonical(path)) {
            found.extend(companions::check(path, *kind, &calls)?);
        }
        *kinds.entry(*kind).or_insert(0) += 1;
    }
    found.extend(of_all_tools(&tool_files, &registry, config, &companions));
    found.extend(calls.ambiguous());
    if let Some(note) = tool_files.note().filter(|_| args.format == Format::Text) {
        render::say(&format!("note: {note}"));
    }
    let checked = files.len() + companions.len();
    let mistakes = found.iter().filter(|one| one.is_error()).count();
    let warnings = found.len() - mistakes;
    match args.format {
        Format::Text => {
            for (trailmap, tools) in unstarted.iter().filter(|_| !args.tools) {
                let shown = trailmap.strip_prefix(&context.working_directory);
                render::say(&format!(
                    "note: {} has {}; --tools starts it to check their arguments",
                    shown.unwrap_or(trailmap).display(),
                    Vec::from_iter(tools.iter().map(String::as_str)).join(", "),
                ));
            }
            render::diagnostics(&found, context.color.on_stderr());
            let kinds = kinds
                .iter()
                .map(|(kind, number)| count(*number, kind.word()));
            let trails = (!files.is_empty()).then(|| count(files.len(), "trail"));
            let parts = trails
                .into_iter()
                .chain(kinds)
                .collect::<Vec<_>>()
                .join(", ");
            let [checked, mistakes, warnings] = [
                (checked, "file"),
                (mistakes, "mistake"),
                (warnings, "warning"),
            ]
            .map(|(number, what)| count(number, what));
            let failed = match unheard {
                0 => String::new(),
                failed => format!(", {} not started", count(failed, "tool source")),
            };
            render::say(&format!(
                "{checked} checked ({parts}): {mistakes}, {warnings}{failed}"
            ));
        }
        Format::Json => {
            let found: Vec<_> = found.iter().map(as_json).collect();
            listed::data(json!({ "files": checked, "diagnostics": found }));
        }
    }
    Ok(if mistakes > 0 || (args.strict && warnings > 0) {
        Exit::Misuse
    } else if args.tools && unheard > 0 {
        Exit::Infrastructure
    } else {
        Exit::Passed
    })
}

/// What is wrong with the workspace's tools all together, with files that runs read though they
/// were not asked for, and with toolsets that were.
fn of_all_tools(
    tool_files: &ToolFiles,
    registry: &Registry,
    config: &Config,
    companions: &[(PathBuf, Companion)],
) -> Vec<Diagnostic> {
    let asked: BTreeSet<_> = companions.iter().map(|(path, _)| canonical(path)).collect();
    let is_asked = |one: &Diagnostic| asked.contains(&canonical(Path::new(one.source.name())));
    let unasked = tool_files.mistakes.iter().filter(|one| !is_asked(one));
    let mut found: Vec<_> = unasked.cloned().collect();
    found.extend(check_cycles(tool_files.tools.iter().map(AsRef::as_ref)));
    let toolsets = tool_files.odd_toolsets(registry, config).into_iter();
    found.extend(toolsets.filter(|one| is_asked(one) || one.span.is_none()));
    found
}

/// The tools with those of the sources, which are started and ended for it, and how many sources have
/// not told theirs.
pub(super) fn from_sources(
    config: &Config,
    root: &Path,
    registry: Registry,
) -> Result<(Registry, usize), CliError> {
    runtime::block_on(async {
        let purpose = SourceStartOptions::of("check", root);
        let running = RunningSources::start(config, registry, purpose).await?;
        let registry = running.registry().snapshot();
        running.shutdown().await;
        Ok(((*registry).clone(), running.failures))
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
    packtrain_compare::words::count(number, what, &format!("{what}s"))
}
