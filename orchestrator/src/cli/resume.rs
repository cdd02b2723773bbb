//! `packtrain resume`: carries on a run whose process is gone, from any computer of the farm.

use std::path::PathBuf;

use clap::{Args, Parser};
use packtrain_config::Flags;
use packtrain_farm::bundle::{CacheLimits, materialise};
use packtrain_farm::link::Link;
use packtrain_farm::query;
use packtrain_farm::wire::Manifest;
use packtrain_model::memory::Redactor;
use packtrain_model::{Exit, RunId};
use packtrain_record::find_run;

use super::farm::address;
use super::run::farm::farm_error;
use super::run::{Prepared, RunRequest, Shown, secret};
use super::{Cli, Command, Context, Format};
use crate::exit::{CliError, OrCliError as _};
use crate::reports::Copies;
use crate::runtime;
use crate::shutdown::Interrupts;

#[derive(Debug, Args)]
#[command(
    after_help = "A run on a farm outlives its process: the results of finished sessions are read \
from the farm, the others are requested again. The whole journal is rewritten.

Examples:
  packtrain resume 20261122-203621-9x3p
  packtrain resume latest --secret password"
)]
pub(crate) struct ResumeArgs {
    /// The run: its id, or `latest`
    run: String,

    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL")]
    farm: Option<String>,

    /// A secret of the run, given again since secrets are not stored; repeatable
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = secret)]
    secret: Vec<(String, String)>,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Progress for people (text), or events as lines of JSON on standard output (json)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    #[command(flatten)]
    shown: Shown,
}

/// `packtrain resume`.
pub(crate) fn run(args: ResumeArgs, context: &Context) -> Result<Exit, CliError> {
    let secrets = Redactor::of(&args.secret);
    let resumed =
        runtime::block_on_stoppable(async |interrupts| resume(args, context, interrupts).await);
    resumed.map_err(|error| error.redacted(&secrets))
}

async fn resume(
    args: ResumeArgs,
    context: &Context,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let mut flags = Flags::default();
    if let Some(folder) = &args.output {
        flags = flags.set("--output", "run.outputDir", folder.display().to_string());
    }
    let config = context.config(flags)?.config;
    let output =
        std::path::absolute(&config.run.output_dir).or_misuse("invalid folder for runs")?;
    let found = find_run(&output, &args.run).unwrap_or_default();
    let name = found.file_name().unwrap_or(args.run.as_ref());
    let run = RunId(name.to_string_lossy().into_owned());
    let address = address::of(args.farm.as_deref(), &config)?;
    let finding = async {
        let link = Link::connect(&address, "packtrain resume").await;
        let link = link.map_err(farm_error)?;
        let manifest = query::manifest(&link, &run).await.map_err(farm_error)?;
        Ok((link, manifest))
    };
    let (link, manifest) = interrupts.interruptible(finding).await?;
    let unknown = || {
        CliError::misuse(format!("the farm has no run {run} that can be resumed"))
            .hint("it has ended, or is older than a day; `packtrain farm queue` lists runs")
    };
    let manifest = manifest.ok_or_else(unknown)?;
    let resume = manifest.resume.clone().ok_or_else(unknown)?;
    check_secrets(&args, &manifest)?;
    let bundling = async {
        let cache = super::host::cache_folder()?;
        let bundle = materialise(&manifest, &link, &cache, CacheLimits::default()).await;
        bundle.or_infrastructure("the run's files cannot be read")
    };
    let bundle = interrupts.interruptible(bundling).await?;
    let root = bundle.path().join(&manifest.root);
    let mut request = request(args, &resume.arguments, context)?;
    // Trails are called as they were.
    std::env::set_current_dir(&root).or_infrastructure("cannot work in the run's files")?;
    let there = Context {
        color: context.color,
        working_directory: root.clone(),
        config_file: manifest.config.as_ref().map(|file| root.join(file)),
    };
    let trails = resume.trails.iter().map(|path| bundle.path().join(path));
    let trails = trails.map(|path| path.strip_prefix(&root).map(PathBuf::from).unwrap_or(path));
    request.trails = trails.collect();
    let mut prepared = Prepared::read(request, &there)?;
    prepared.workspace.config.run.output_dir = output;
    let folder = bundle.path().to_owned();
    super::run::farm::resume(prepared, link, manifest, resume, folder, interrupts).await
}

/// The run's own request, with what is given again.
fn request(
    args: ResumeArgs,
    arguments: &[String],
    context: &Context,
) -> Result<RunRequest, CliError> {
    let program = ["packtrain".to_owned()];
    let parsed = Cli::try_parse_from(program.iter().chain(arguments));
    let Ok(Command::Run(run)) = parsed.map(|cli| cli.command) else {
        return Err(CliError::misuse(
            "the run was started by another version of packtrain",
        ));
    };
    let mut request = run.request()?;
    request.secrets = args.secret;
    request.copies = args.shown.copies(Copies {
        only: request.copies.only,
        junit: args.junit.or(request.copies.junit),
        html: args.html.or(request.copies.html),
        ..Copies::default()
    });
    // The process goes elsewhere.
    let Copies {
        junit,
        html,
        summary,
        ..
    } = &mut request.copies;
    for path in [junit, html, summary].into_iter().flatten() {
        *path = context.working_directory.join(&*path);
    }
    request.format = args.format;
    request.shown = args.shown;
    Ok(request)
}

/// Secrets are stored nowhere, so they are given again.
fn check_secrets(args: &ResumeArgs, manifest: &Manifest) -> Result<(), CliError> {
    let mut missing = manifest.secrets.clone();
    missing.retain(|name| args.secret.iter().all(|(known, _)| known != name));
    let Some(first) = missing.first() else {
        return Ok(());
    };
    Err(CliError::misuse(format!(
        "the run has secrets, which are not stored: {}",
        missing.join(", ")
    ))
    .hint(format!("give them again: --secret {first}")))
}
