//! `packtrain doctor`: what is there, what is missing, how to get it.

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format, listed, refused};
use crate::daemon::client;
use crate::exit::CliError;
use crate::farm::nats;
use crate::wiring::health::{self, Finding, State};
use crate::{render, runtime};

#[derive(Debug, Args)]
#[command(
    after_help = "Installs nothing unless --fix is given, and then only what npm and PyPI can \
install for a user. Browsers, Node and adb come from the system's packages."
)]
pub(crate) struct DoctorArgs {
    /// Install what can be installed without root
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
    let (fixed, mut findings) = runtime::block_on(async {
        let fixed = if args.fix {
            let devices = health::fix(config).await;
            devices.and(nats::fix_nats_server(config).await)
        } else {
            Ok(())
        };
        let mut findings = health::findings(config).await?;
        findings.push(nats::nats_server(config).await);
        Ok((fixed, findings))
    })?;
    findings.extend(daemon());
    let mut all = findings.iter();
    let complete = all.all(|finding| finding.is_found() || !finding.needed);
    match args.format {
        Format::Json => {
            let shown: Vec<_> = findings.iter().map(as_json).collect();
            listed::data(json!({ "complete": complete, "findings": shown }));
        }
        Format::Text => findings
            .iter()
            .map(text)
            .for_each(|text| render::out(&text)),
    }
    fixed?;
    loaded.whole().map_err(refused)?;
    Ok(if complete {
        Exit::Passed
    } else {
        Exit::Infrastructure
    })
}

/// Where the daemon looks for programs, when there is one: an app that started it may have found fewer.
fn daemon() -> Option<Finding> {
    let daemon = client::running().ok()??;
    // One of another build may not tell.
    let path = Some(&daemon.search_path).filter(|path| !path.is_empty())?;
    let looks = format!("process {} looks for programs in {path}", daemon.pid);
    let own = std::env::var_os("PATH").unwrap_or_default();
    let known: Vec<_> = std::env::split_paths(path).collect();
    let lacking = std::env::split_paths(&own).filter(|folder| !known.contains(folder));
    let lacking: Vec<_> = lacking.map(|folder| folder.display().to_string()).collect();
    Some(Finding {
        what: "daemon",
        needed: false,
        state: match lacking.is_empty() {
            true => State::Found(looks),
            false => State::Unusable(format!("{looks}, but not in {}", lacking.join(":"))),
        },
        remedy: "`packtrain daemon stop`: the next one uses the PATH of the process that starts it"
            .to_owned(),
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
