//! `packtrain demo`: the bundled example on everything that is there.

use std::sync::Arc;

use clap::Args;
use packtrain_config::{Config, Flags, McpServer, VirtualSettings};
use packtrain_model::Exit;
use packtrain_model::trail::Trail;
use packtrain_tools::Registry;

use super::run::{Prepared, RunRequest, Shown};
use super::{Context, Workspace};
use crate::exit::{CliError, OrCliError as _};
use crate::matrix::MatrixOptions;
use crate::reports::Copies;
use crate::site::Site;
use crate::{render, runtime, trails, wiring};

/// The trail, as it lies in examples/.
const TRAIL: &str = include_str!("../../../examples/shop/trails/buy.trail.yaml");
/// What messages call it.
const NAME: &str = "examples/shop/trails/buy.trail.yaml";

/// What the trail goes on with where Node is found: steps by a tool that is not built in.
const MORE_STEPS: &str = include_str!("../../../examples/signup/steps.yaml");
/// The tool source that has it.
const SOURCE: &str = include_str!("../../../examples/signup/node/signup.mjs");

/// The devices of the demo, as a packtrain.yaml has them.
const CONFIG: &str = include_str!("../../../examples/shop/packtrain.yaml");

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Devices, as in `packtrain run` [default: all of the demo's]
    #[arg(short, long, value_delimiter = ',', value_name = "DEVICE")]
    device: Vec<String>,

    /// Show the browsers' windows
    #[arg(long)]
    headed: bool,

    /// Also run configurations in which the shop lacks a link, to see how differences are reported
    #[arg(long)]
    differences: bool,

    /// Open the report at the end
    #[arg(long)]
    open: bool,

    /// Show only failures and the summary
    #[arg(short, long)]
    quiet: bool,
}

/// The configurations of the demo.
const AXES: [&str; 2] = ["colorScheme=light,dark", "viewport=1280x800,390x844"];
/// Those in which the difference is found.
const MORE_AXES: [&str; 3] = [
    "colorScheme=light,dark",
    "viewport=1280x800,768x1024,390x844",
    "touch=false,true",
];
/// The difference.
const DIFFERENCE: &str = "
@media (prefers-color-scheme: dark) { [data-page=thanks] main a { display: none } }
";

/// `packtrain demo`.
pub(crate) fn run(args: DemoArgs, context: &Context) -> Result<Exit, CliError> {
    let mut config = context.config(Flags::default())?.config;
    let bundled = packtrain_config::parse(CONFIG, "examples/shop/packtrain.yaml")
        .map_err(|error| CliError::misuse(error.to_string()))?;
    config.devices.web = bundled.devices.web;
    config.devices.simulated = bundled.devices.simulated.map(|phones| VirtualSettings {
        // The bundled app is what they show without a file.
        app: None,
        ..phones
    });
    let mut trail = TRAIL.to_owned();
    config.mcp_servers = tool_source(&config)?.into_iter().collect();
    if !config.mcp_servers.is_empty() {
        trail.push('\n');
        trail.push_str(MORE_STEPS);
    }
    let parsed = Trail::parse(&trail, NAME)
        .map_err(|mistakes| CliError::files("the bundled trail is broken", mistakes))?;
    let found = trails::Loaded {
        trails: vec![trails::LoadedTrail::File(Arc::new(parsed.trail))],
        warnings: parsed.warnings,
        mistakes: Vec::new(),
    };
    let axes: &[&str] = if args.differences { &MORE_AXES } else { &AXES };
    runtime::block_on_stoppable(async |interrupts| {
        let devices = async { Ok(devices(args.device, &config, context).await) };
        let devices = interrupts.interruptible(devices).await?;
        let style = if args.differences { DIFFERENCE } else { "" };
        let site = Site::start(style)
            .await
            .or_infrastructure("cannot serve the example shop")?;
        render::say(&format!("the example shop is at {}", site.base_url()));
        let shown = Shown {
            open: args.open,
            quiet: args.quiet,
            ..Shown::default()
        };
        let request = RunRequest {
            devices,
            base_url: Some(site.base_url()),
            headed: args.headed,
            without_daemon: true,
            matrix: MatrixOptions {
                axes: axes.iter().map(ToString::to_string).collect(),
                ..MatrixOptions::default()
            },
            copies: shown.copies(Copies::default()),
            shown,
            ..RunRequest::default()
        };
        let workspace = Workspace {
            registry: Registry::builtin(),
            root: context.working_directory.clone(),
            config,
        };
        let prepared = Prepared {
            request,
            workspace,
            found,
            context,
        };
        super::run::execute(prepared, interrupts).await
    })
}

/// The bundled tool source, written down to be started, where there is Node.
fn tool_source(config: &Config) -> Result<Option<McpServer>, CliError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let mut nodes = folders.map(|folder| folder.join("node"));
    let Some(node) = nodes.find(|node| node.is_file()) else {
        render::say("Node is not installed, so the demo runs without its tool source");
        return Ok(None);
    };
    let output = &config.run.output_dir;
    let folder = output.parent().unwrap_or(output).join("demo");
    let script = folder.join("signup.mjs");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&script, SOURCE))
        .or_infrastructure(format_args!("cannot write {}", script.display()))?;
    Ok(Some(McpServer {
        name: "signup".to_owned(),
        command: vec![node.display().to_string(), script.display().to_string()],
        transport: Some(packtrain_config::Transport::Stdio),
        ..McpServer::default()
    }))
}

/// What was asked for, or the virtual phones and, where they can be driven, the browsers. The demo
/// never touches a real phone: the shop is on none.
async fn devices(asked: Vec<String>, config: &Config, context: &Context) -> Vec<String> {
    const PHONES: [&str; 2] = ["android", "ios"];
    if !asked.is_empty() {
        if asked.iter().any(|word| word.starts_with("web")) {
            prepare_browsers(config, context).await;
        }
        let named = asked.into_iter().map(|word| {
            if PHONES.contains(&word.as_str()) {
                format!("virtual:{word}")
            } else {
                word
            }
        });
        return named.collect();
    }
    let mut devices = PHONES.map(|name| format!("virtual:{name}")).to_vec();
    prepare_browsers(config, context).await;
    match wiring::web::lacking(config) {
        None => devices.push("web/desktop".to_owned()),
        Some(lacking) => {
            let why = lacking.why;
            render::say(&format!("{why}; the virtual phones run without it"));
            render::say(&format!("hint: {}", lacking.remedy));
        }
    }
    devices
}

/// Installs what drives browsers where there is one and npm can: who sees the demo for the first
/// time has nothing else to do.
async fn prepare_browsers(config: &Config, context: &Context) {
    if wiring::web::lacking(config).is_some_and(|lacking| lacking.is_fixable)
        && let Err(error) = wiring::health::fix_playwright(config).await
    {
        render::error(&error, context.color);
    }
}
