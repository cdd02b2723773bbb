//! `packtrain agents`: who drives devices by the Model Context Protocol.

use clap::{Args, Subcommand};
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format, listed};
use crate::daemon::wire::{AgentSummary, Request};
use crate::daemon::{Place, client};
use crate::exit::{CliError, OrCliError as _};
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: Option<AgentsCommand>,

    /// Output format
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// Print a token that identifies one agent over HTTP
    Token {
        /// The agent's name: 1 to 64 letters, digits, - and _
        name: String,
    },
    /// Disconnect an agent: its devices are released, its runs stop
    End {
        /// Its id, as `packtrain agents` shows it
        id: String,
    },
}

/// `packtrain agents`.
pub(crate) fn run(args: &AgentsArgs, context: &Context) -> Result<Exit, CliError> {
    match &args.command {
        Some(AgentsCommand::Token { name }) => token(name),
        Some(AgentsCommand::End { id }) => end(id, context),
        None => list(args.format, context),
    }
}

fn end(id: &str, context: &Context) -> Result<Exit, CliError> {
    let Some(state) = client::running()? else {
        return Err(CliError::misuse(
            "no agent is connected: the daemon is not running",
        ));
    };
    let wants = Request::EndAgent(id.to_owned());
    let asked = client::ask_for(&state.socket, context.project_key(), wants);
    let ended: serde_json::Value = runtime::block_on(asked)?;
    match ended["ended"].as_bool() {
        Some(true) => Ok(Exit::Passed),
        _ => {
            Err(CliError::misuse(format!("unknown agent `{id}`"))
                .hint("`packtrain agents` lists them"))
        }
    }
}

fn list(format: Format, context: &Context) -> Result<Exit, CliError> {
    let asked = async |state: client::DaemonState| {
        client::ask_for(&state.socket, context.project_key(), Request::Agents).await
    };
    let agents: Vec<AgentSummary> = match client::running()? {
        Some(state) => runtime::block_on(asked(state))?,
        None => Vec::new(),
    };
    let (told, rows) = (json!({ "agents": agents }), agents.iter().map(row));
    let heading = ["AGENT", "WHO", "BY", "TOOLSET", "DEVICES", "RUNS", "IDLE"];
    listed::list(format, told, "no agents are connected", heading, rows);
    Ok(Exit::Passed)
}

fn token(name: &str) -> Result<Exit, CliError> {
    let place = Place::of_user()?;
    let tokens = place
        .secret()
        .or_infrastructure("cannot store the secret that signs tokens")?;
    let token = tokens.of(name).ok_or_else(|| {
        CliError::misuse(format!("invalid agent name `{name}`"))
            .hint("expected 1 to 64 letters, digits, - and _, and not `owner`")
    })?;
    render::out(&token);
    Ok(Exit::Passed)
}

fn row(agent: &AgentSummary) -> [String; 7] {
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
