//! `packtrain agents`: who drives devices by the Model Context Protocol.

use clap::{Args, Subcommand};
use packtrain_model::Exit;
use serde_json::json;

use super::tools::columns;
use super::{Context, Format};
use crate::daemon::client;
use crate::daemon::wire::{AgentNews, Wants};
use crate::exit::CliError;
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: Option<AgentsCommand>,

    /// How to print them
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// End one: its devices are given back, its runs stop
    End {
        /// Its id, as `packtrain agents` shows it
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `packtrain agents`.
pub(crate) fn run(args: &AgentsArgs, context: &Context) -> Result<Exit, CliError> {
    let state = client::running()?;
    let (Some(state), key) = (state, context.project_key()) else {
        match (args.format, &args.command) {
            (_, Some(AgentsCommand::End { .. })) => {
                return Err(CliError::misuse("there is no daemon, so no agent"));
            }
            (Format::Json, None) => {
                render::out(&json!({ "schema_version": 1, "agents": [] }).to_string())
            }
            (Format::Text, None) => render::say("nobody: there is no daemon"),
        }
        return Ok(Exit::Passed);
    };
    if let Some(AgentsCommand::End { id }) = &args.command {
        let asked = client::ask_for(&state.socket, key, Wants::EndAgent(id.clone()));
        let ended: serde_json::Value = runtime::block_on(asked)?;
        return match ended["ended"].as_bool() {
            Some(true) => Ok(Exit::Passed),
            _ => Err(CliError::misuse(format!("there is no agent `{id}`"))
                .hint("`packtrain agents` lists them")),
        };
    }
    let asked = client::ask_for(&state.socket, key, Wants::Agents);
    let agents: Vec<AgentNews> = runtime::block_on(asked)?;
    match args.format {
        Format::Json => render::out(&json!({ "schema_version": 1, "agents": agents }).to_string()),
        Format::Text if agents.is_empty() => render::say("nobody is connected"),
        Format::Text => {
            let rows: Vec<[String; 7]> = agents.iter().map(row).collect();
            let heading = ["AGENT", "WHO", "BY", "TOOLSET", "DEVICES", "RUNS", "IDLE"];
            render::out(&columns(&heading, &rows));
        }
    }
    Ok(Exit::Passed)
}

fn row(agent: &AgentNews) -> [String; 7] {
    [
        agent.id.clone(),
        agent.name.clone(),
        agent.transport.clone(),
        agent
            .toolset
            .clone()
            .unwrap_or_else(|| "all tools".to_owned()),
        agent.devices.join(" "),
        agent.runs.join(" "),
        format!("{} s", agent.idle_s),
    ]
}
