//! The command line.

mod agents;
mod approve;
mod check;
mod compare;
mod config;
mod daemon;
mod demo;
mod devices;
mod doctor;
pub(crate) mod farm;
mod history;
mod host;
mod inspect;
mod listed;
mod matrix;
mod mcp;
mod report;
mod resume;
mod run;
mod scaffold;
mod schema;
pub(crate) mod select;
pub(crate) mod sources;
mod tools;
mod toolsets;
mod virtual_phones;

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;

use clap::error::ContextKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use packtrain_config::{ConfigError, Flags, Loaded, Sources};
use packtrain_model::Exit;

use crate::daemon::wire::ProjectKey;
use crate::exit::{CliError, OrCliError as _};
pub(crate) use crate::render::Format;
use crate::render::{self, Color};
use crate::workplace::{Workspace, refused};
use crate::{names, tool_files, wiring};

/// Runs one trail on every device at once: browsers, Android phones and iPhones side by side, read
/// as one comparison.
///
/// A trail is a YAML file of steps; each step has words and, for each kind of device, recorded tool
/// calls. `packtrain demo` shows it on a bundled example.
#[derive(Debug, Parser)]
#[command(
    name = "packtrain",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 passed, 1 failed, 2 infrastructure error (the result is unknown), \
3 usage error. In a mixed run, 1 takes precedence over 2.\nLogs: PACKTRAIN_LOG=debug, or any filter in the syntax of Rust's tracing."
)]
struct Cli {
    /// Configuration file [default: packtrain.yaml here or in a folder above]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run trails on devices, in parallel
    #[command(alias = "trail")]
    Run(Box<run::RunArgs>),
    /// Run the bundled example on virtual phones and every browser found
    Demo(demo::DemoArgs),
    /// Show the configurations of a matrix without running them
    Matrix(matrix::MatrixArgs),
    /// Check trails and configuration without a device
    Check(check::CheckArgs),
    /// Resume a farm run whose process has ended
    Resume(Box<resume::ResumeArgs>),
    /// List the devices that trails can run on
    Devices(devices::DevicesArgs),
    /// Read a device's screen
    Snapshot(inspect::SnapshotArgs),
    /// Call one tool on a device, or create a new one
    Tool(inspect::ToolArgs),
    /// List the tools that steps can call, or show one
    Tools(tools::ToolsArgs),
    /// List, show, accept or delete the toolsets that agents have built
    Toolsets(toolsets::ToolsetsArgs),
    /// Show the state of the tool sources
    Sources(sources::SourcesArgs),
    /// Rebuild the reports of a run from its journal
    Report(report::ReportArgs),
    /// List earlier runs
    Runs(report::RunsArgs),
    /// Compare a run with its baselines, or with an earlier run
    Compare(compare::CompareArgs),
    /// Make a run's recorded screens its baselines, without running again
    Approve(approve::ApproveArgs),
    /// Check your setup: what is installed, what is missing, and how to get it
    Doctor(doctor::DoctorArgs),
    /// Share the devices of many computers as a farm
    Farm(Box<farm::FarmArgs>),
    /// Print a JSON schema for editors
    Schema(schema::SchemaArgs),
    /// Run virtual phones for other tools
    Virtual(virtual_phones::VirtualArgs),
    /// Offer this computer's devices to a farm until Ctrl-C
    Host(host::HostArgs),
    /// Serve an agent over the Model Context Protocol on standard input and output
    Mcp(mcp::McpArgs),
    /// List connected agents, or disconnect one
    Agents(agents::AgentsArgs),
    /// Keep devices and tool sources warm for agents and commands
    Daemon(daemon::DaemonArgs),
    /// Show the configuration and where each value comes from
    Config(config::ConfigArgs),
    /// Keep a simulator's WebDriverAgent
    #[command(name = crate::wiring::ios::KEEP, hide = true)]
    Keep { order: String },
}

/// What variables begin with that say what a project's devices and tools are.
const MAKES_A_PROJECT: [&str; 5] = [
    "PACKTRAIN_AGENTS_",
    "PACKTRAIN_DEVICES_",
    "PACKTRAIN_TARGET",
    "PACKTRAIN_TOOL",
    "PACKTRAIN_TRAILS_DIR",
];

/// The variables by which the user's own configuration is found.
const LEADS_TO_THE_USERS_FILE: [&str; 2] = ["HOME", "XDG_CONFIG_HOME"];

/// What every command starts from.
pub(crate) struct Context {
    pub(crate) color: Color,
    pub(crate) working_directory: PathBuf,
    config_file: Option<PathBuf>,
}

impl Context {
    /// The configuration, flags on top of everything else.
    pub(crate) fn config(&self, flags: Flags) -> Result<Loaded, CliError> {
        self.read(flags)?.whole().map_err(refused)
    }

    /// The same with its mistakes, and without the settings that have them.
    pub(crate) fn read(&self, flags: Flags) -> Result<Loaded, CliError> {
        let loaded = packtrain_config::read(&Sources {
            start: self.working_directory.clone(),
            project: self.config_file.clone(),
            environment: environment().collect(),
            flags,
        });
        let mut loaded = loaded.map_err(refused)?;
        check(&mut loaded);
        render::diagnostics(&loaded.warnings, self.color.on_stderr());
        Ok(loaded)
    }
}

/// Adds the mistakes that the configuration itself cannot find.
fn check(loaded: &mut Loaded) {
    let mut values = crate::matrix::check_values(loaded);
    loaded.mistakes.append(&mut values);
    names::check(loaded);
}

/// The variables of this process that are text.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The configuration, when nothing is wrong with it, names included.
pub(crate) fn checked(mut loaded: Loaded) -> Result<Loaded, ConfigError> {
    check(&mut loaded);
    loaded.whole()
}

impl Context {
    /// The project as the daemon tells it from others.
    pub(crate) fn project_key(&self) -> ProjectKey {
        // How runs go about it is for each of them to say.
        let environment = environment().filter(|(name, _)| {
            MAKES_A_PROJECT.iter().any(|start| name.starts_with(start))
                || LEADS_TO_THE_USERS_FILE.contains(&name.as_str())
        });
        let here = &self.working_directory;
        let found = packtrain_config::find(here);
        let given = self.config_file.as_ref().map(|file| {
            let file = here.join(file);
            file.canonicalize().unwrap_or(file)
        });
        // The file that is found anyway makes no other project.
        let usual = found
            .as_ref()
            .and_then(|found| found.project.as_ref()?.canonicalize().ok());
        let config = given.filter(|file| Some(file) != usual.as_ref());
        let root = match &config {
            Some(_) => None,
            None => found.map(|found| found.root),
        };
        let folder = root.unwrap_or_else(|| here.clone());
        ProjectKey {
            folder: folder.canonicalize().unwrap_or(folder),
            config,
            environment: environment.collect(),
        }
    }

    /// The project's file, whether it is there or not.
    pub(crate) fn project_file(&self, root: &std::path::Path) -> PathBuf {
        let given = self.config_file.as_ref();
        given.map_or_else(
            || root.join(packtrain_config::PROJECT_FILE),
            |file| self.working_directory.join(file),
        )
    }

    /// The tools of the workspace; says what is odd about the files they come from.
    pub(crate) fn tools(&self, loaded: &Loaded) -> Result<tool_files::Loaded, CliError> {
        let tools = tool_files::registry(&loaded.config, &self.working_directory)?;
        render::diagnostics(&tools.warnings, self.color.on_stderr());
        if let Some(note) = &tools.note {
            render::say(&format!("note: {note}"));
        }
        Ok(tools)
    }

    /// The workspace, flags on top of everything else.
    pub(crate) fn workspace(&self, flags: Flags) -> Result<Workspace, CliError> {
        let loaded = self.config(flags)?;
        let registry = self.tools(&loaded)?.registry;
        Ok(Workspace::of(loaded, registry))
    }
}

/// Runs the program; everything it has to say has been printed when this returns.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let error = with_what_is_expected(error);
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Misuse
            } else {
                Exit::Passed
            };
        }
    };
    log_to_stderr();
    let color = cli.color;
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = error.exit;
            render::in_time(move || render::error(&error, color));
            exit
        }
    }
}

/// The standard library says of what is no whole number that a digit is invalid, or that there is none.
fn with_what_is_expected(error: clap::Error) -> clap::Error {
    let source = std::error::Error::source(&error);
    let source = source.and_then(|source| source.downcast_ref::<ParseIntError>());
    let kind = source.map(ParseIntError::kind);
    if !matches!(kind, Some(IntErrorKind::InvalidDigit | IntErrorKind::Empty)) {
        return error;
    }
    let [argument, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue]
        .map(|kind| error.get(kind).map(ToString::to_string).unwrap_or_default());
    let words = format!(
        "invalid value '{value}' for '{argument}': expected a whole number of 0 or more\n\n\
         For more information, try '--help'.\n"
    );
    clap::Error::raw(error.kind(), words).with_cmd(&Cli::command())
}

fn dispatch(cli: Cli) -> Result<Exit, CliError> {
    let working_directory =
        std::env::current_dir().or_infrastructure("cannot find the working directory")?;
    let context = Context {
        color: cli.color,
        working_directory,
        config_file: cli.config,
    };
    match cli.command {
        Command::Run(args) => run::run(*args, &context),
        Command::Demo(args) => demo::run(args, &context),
        Command::Matrix(args) => matrix::run(args, &context),
        Command::Check(args) => check::run(&args, &context),
        Command::Resume(args) => resume::run(*args, &context),
        Command::Devices(args) => devices::run(&args, &context),
        Command::Snapshot(args) => inspect::snapshot(&args, &context),
        Command::Tool(args) => inspect::tool(&args, &context),
        Command::Tools(args) => tools::run(&args, &context),
        Command::Toolsets(args) => toolsets::run(&args, &context),
        Command::Sources(args) => sources::run(&args, &context),
        Command::Report(args) => report::run(&args, &context),
        Command::Runs(args) => report::list(&args, &context),
        Command::Compare(args) => compare::run(&args, &context),
        Command::Approve(args) => approve::run(&args, &context),
        Command::Doctor(args) => doctor::run(&args, &context),
        Command::Farm(args) => farm::run(*args, &context),
        Command::Schema(args) => schema::run(&args),
        Command::Virtual(args) => virtual_phones::run(args, &context),
        Command::Host(args) => host::run(args, &context),
        Command::Mcp(args) => mcp::run(args, &context),
        Command::Agents(args) => agents::run(&args, &context),
        Command::Daemon(args) => daemon::run(&args, &context),
        Command::Config(args) => config::run(&args, &context),
        Command::Keep { order } => wiring::ios::keep(&order).map(|()| Exit::Passed),
    }
}

/// Errors of ours. When Playwright's driver ends, its client logs what the session's outcome says
/// better. What breaks between us and a tool source, the outcome of the call says; what breaks between
/// us and a farm's servers, our own error.
const QUIET: &str = "error,playwright_rs=off,rmcp=off,async_nats=off";

fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_env("PACKTRAIN_LOG").unwrap_or_else(|_| EnvFilter::new(QUIET));
    // A second initialisation, as in tests, is refused and of no matter.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
}
