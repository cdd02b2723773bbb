//! One connection to the daemon's socket.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::hub::Hub;
use super::place::DaemonState;
use super::sessions;
use super::wire::{self, Answer, DevicesNews, Hello, Problem, VERSION, Wants};
use crate::exit::CliError;
use crate::mcp::AgentServer;
use crate::mcp::toolset_tools::ToolsetTools;

/// How long whoever connects may take to say what is wanted.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves whoever has connected, to the end.
pub(super) async fn serve(stream: UnixStream, hub: Arc<Hub>, state: Arc<DaemonState>) {
    // The folder lets nobody else in; this does not lean on it alone.
    let own = nix::unistd::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own || peer.uid() == 0 => {}
        Ok(_) | Err(_) => return,
    }
    if let Err(error) = converse(stream, hub, &state).await {
        tracing::debug!(%error, "a command hung up");
    }
}

async fn converse(stream: UnixStream, hub: Arc<Hub>, state: &DaemonState) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let hello = tokio::time::timeout(HELLO_TIMEOUT, wire::read::<Hello>(&mut reader)).await;
    let Ok(Some(Hello {
        version,
        project,
        state: files,
        wants,
    })) = hello.unwrap_or(Ok(None))
    else {
        return refuse(&mut writer, CliError::misuse("that is no request")).await;
    };
    if version != VERSION {
        let message = format!("the daemon is of version {VERSION}, the command of {version}");
        let error = CliError::infrastructure(message);
        let error = error.hint("`packtrain daemon stop`, and run the command again");
        return refuse(&mut writer, error).await;
    }
    match wants {
        Wants::Status => grant(&mut writer, state).await,
        Wants::Agents => grant(&mut writer, &hub.agents.news()).await,
        Wants::EndAgent(id) => {
            let ended = hub.end(&id).await;
            grant(&mut writer, &json!({ "ended": ended })).await
        }
        Wants::Stop => {
            grant(&mut writer, &json!({ "pid": std::process::id() })).await?;
            hub.ending.cancel();
            Ok(())
        }
        Wants::Devices { open: false } if !hub.has(&project).await => {
            let error = CliError::misuse("the project is not open");
            refuse(&mut writer, error).await
        }
        Wants::Devices { .. } => match hub.project(project, files).await {
            Ok(project) => {
                let devices = project.devices().await;
                grant(&mut writer, &DevicesNews { devices }).await
            }
            Err(error) => refuse(&mut writer, error).await,
        },
        Wants::Session(request) => match hub.project(project, files).await {
            Ok(project) => {
                let _using = Arc::clone(&project.in_use);
                sessions::carry_out(*request, &hub, &project, reader, writer).await
            }
            Err(error) => refuse(&mut writer, error).await,
        },
        Wants::Mcp { toolset } => {
            let opened = async {
                let project = hub.project(project, files).await?;
                // An agent's first list has them all.
                project.tools().await?;
                let (server, present) = AgentServer::take_in(&hub, &project);
                if let Some(name) = toolset {
                    let equipped = ToolsetTools::new(Arc::clone(&project.toolsets)).equip(&name);
                    let equipped = equipped.map_err(|error| CliError::misuse(error.to_string()))?;
                    present.agent().equip(equipped);
                }
                Ok((server, present))
            };
            let (server, present) = match opened.await {
                Ok(opened) => opened,
                Err(error) => return refuse(&mut writer, error).await,
            };
            grant(&mut writer, &json!({ "agent": present.agent().id })).await?;
            let gone = present.agent().gone.clone();
            if let Ok(serving) = server.serve_with_ct((reader, writer), gone).await {
                // That it broke off is its end.
                let _ = serving.waiting().await;
            }
            drop(present);
            Ok(())
        }
    }
}

pub(super) async fn grant<T: Serialize + Sync>(
    writer: &mut (impl tokio::io::AsyncWrite + Unpin + Send),
    answer: &T,
) -> std::io::Result<()> {
    let answer: Answer = Ok(serde_json::to_value(answer)?);
    wire::write(writer, &answer).await
}

pub(super) async fn refuse(
    writer: &mut (impl tokio::io::AsyncWrite + Unpin + Send),
    error: CliError,
) -> std::io::Result<()> {
    let answer: Answer = Err(Problem::from(error));
    wire::write(writer, &answer).await?;
    writer.shutdown().await
}
