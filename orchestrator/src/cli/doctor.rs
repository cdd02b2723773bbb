//! `packtrain doctor`: what is there, what is missing, how to get it.

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format, refused};
use crate::exit::CliError;
use crate::wiring::health::{self, Finding, State};
use crate::{render, runtime};

#[derive(Debug, Args)]
#[command(
    after_help = "Installs nothing unless --fix is given, and then only what npm and PyPI can \
install for a user. Browsers, Node and adb come from the system's packages."
)]
pub(crate) struct DoctorArgs {
    /// Install what can be installed without being root
    #[arg(long)]
    fix: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain doctor`.
pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.read(Flags::default())?;
    let config = &loaded.config;
    let (fixed, findings) = runtime::block_on(async {
        let fixed = if args.fix {
            health::fix(config).await
        } else {
            Ok(())
        };
        Ok((fixed, health::findings(config).await?))
    })?;
    let complete = findings
        .iter()
        .all(|finding| finding.is_found() || !finding.needed);
    match args.format {
        Format::Json => {
            let shown: Vec<_> = findings.iter().map(as_json).collect();
            render::out(
                &json!({ "schema_version": 1, "complete": complete, "findings": shown })
                    .to_string(),
            );
        }
        Format::Text => findings
            .iter()
            .for_each(|finding| render::out(&text(finding))),
    }
    fixed?;
    loaded.whole().map_err(refused)?;
    Ok(if complete {
        Exit::Passed
    } else {
        Exit::Infrastructure
    })
}

fn as_json(finding: &Finding) -> serde_json::Value {
    let (found, problem) = match &finding.state {
        State::Found(what) => (Some(what), None),
        State::Missing => (None, None),
        State::Unusable(why) => (None, Some(why)),
    };
    json!({
        "what": finding.what,
        "needed": finding.needed,
        "found": found,
        "problem": problem,
        "remedy": finding.remedy,
    })
}

fn text(finding: &Finding) -> String {
    let Finding { what, remedy, .. } = finding;
    let sign = if finding.needed { "✗" } else { "-" };
    match &finding.state {
        State::Found(found) => format!("✓ {what}: {found}"),
        State::Missing => format!("{sign} {what}: missing\n    {remedy}"),
        State::Unusable(why) => format!("{sign} {what}: {why}\n    {remedy}"),
    }
}
