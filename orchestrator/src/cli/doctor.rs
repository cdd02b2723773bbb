//! `packtrain doctor`: what is there, what is missing, how to get it.

use std::time::Duration;

use clap::Args;
use packtrain_config::Flags;
use packtrain_driver_playwright::install;
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format};
use crate::exit::CliError;
use crate::{render, runtime, wiring};

/// How long npm may take.
const INSTALLING: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
#[command(
    after_help = "Installs nothing unless --fix is given, and then only what npm and PyPI can \
install for a user. Browsers and Node come from the system's packages."
)]
pub(crate) struct DoctorArgs {
    /// Install what can be installed without being root
    #[arg(long)]
    fix: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// One thing that is there or not.
struct Finding {
    what: &'static str,
    found: Option<String>,
    remedy: String,
}

/// `packtrain doctor`.
pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let search = wiring::web::search_paths(&config);
    let mut found = install::find(&search);
    if args.fix && found.cli.is_none() {
        let Some(folder) = search.modules.first() else {
            return Err(
                CliError::infrastructure("there is no folder to install into")
                    .hint("set PACKTRAIN_HOME or HOME"),
            );
        };
        render::say(&format!(
            "installing playwright-core {} from npm into {}",
            install::PLAYWRIGHT_CORE,
            folder.display()
        ));
        runtime::block_on(async {
            install::install_playwright(folder, INSTALLING)
                .await
                .map_err(|error| {
                    CliError::infrastructure("cannot install playwright-core")
                        .because(&error)
                        .hint("npm comes with Node: `apt-get install nodejs npm`")
                })
        })?;
        found = install::find(&search);
    }
    let findings = web(&found);
    let complete = findings.iter().all(|finding| finding.found.is_some());
    match args.format {
        Format::Json => {
            let shown: Vec<_> = findings
                .iter()
                .map(|finding| {
                    json!({ "what": finding.what, "found": finding.found, "remedy": finding.remedy })
                })
                .collect();
            render::out(
                &json!({ "schema_version": 1, "complete": complete, "findings": shown })
                    .to_string(),
            );
        }
        Format::Text => {
            for finding in &findings {
                match &finding.found {
                    Some(found) => render::out(&format!("✓ {}: {found}", finding.what)),
                    None => render::out(&format!(
                        "✗ {}: missing\n    {}",
                        finding.what, finding.remedy
                    )),
                }
            }
        }
    }
    Ok(match complete {
        true => Exit::Passed,
        false => Exit::Infrastructure,
    })
}

fn web(found: &install::Found) -> Vec<Finding> {
    let shown =
        |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let core = shown(&found.cli).map(|path| {
        let version = found.version.as_deref().unwrap_or("of unknown version");
        let tried = match found.is_tried_version() {
            true => String::new(),
            false => format!(" (tried with {})", install::PLAYWRIGHT_CORE),
        };
        format!("{version}{tried} at {path}")
    });
    vec![
        Finding {
            what: "Chromium or Chrome",
            found: shown(&found.browser),
            remedy: "Debian, Ubuntu: apt-get install chromium; macOS: brew install --cask chromium"
                .to_owned(),
        },
        Finding {
            what: "Node",
            found: shown(&found.node),
            remedy: "Debian, Ubuntu: apt-get install nodejs npm; macOS: brew install node"
                .to_owned(),
        },
        Finding {
            what: "playwright-core",
            found: core,
            remedy: "packtrain doctor --fix (installs it from npm, without any browser)".to_owned(),
        },
    ]
}
