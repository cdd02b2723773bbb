//! `packtrain mcp`: Packtrain as a server of the Model Context Protocol, on standard input and output.

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use packtrain_model::Exit;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt, BufReader};

use super::Context;
use crate::daemon::client;
use crate::daemon::wire::Request;
use crate::exit::{CliError, OrCliError as _};
use crate::runtime;
use crate::shutdown::Interrupts;

/// The most bytes that are handed to an agent at once.
const PIECE: usize = 128 * 1024;
/// How long a client may take to send its first request, and the most of that.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REQUEST: u64 = 1024 * 1024;
/// JSON-RPC 2.0, section 5.1: internal error.
const INTERNAL_ERROR: i32 = -32_603;

#[derive(Debug, Args)]
#[command(after_help = "An agent starts it:\n
  claude mcp add packtrain -- packtrain mcp\n
docs/agents.md covers other agents. It connects to this user's daemon, starting it if needed; what \
the agent holds is released when the connection closes.")]
pub(crate) struct McpArgs {
    /// Equip this toolset from the start
    #[arg(long, value_name = "NAME")]
    toolset: Option<String>,
}

/// `packtrain mcp`.
pub(crate) fn run(args: McpArgs, context: &Context) -> Result<Exit, CliError> {
    runtime::block_on_stoppable(async |interrupts| pipe(args, context, interrupts).await)
}

async fn pipe(args: McpArgs, context: &Context, interrupts: Interrupts) -> Result<Exit, CliError> {
    let project = context.project_key();
    let connecting = async {
        let state = client::started(&project, None).await?;
        let toolset = args.toolset;
        client::ask(&state.socket, project.clone(), Request::Mcp { toolset }).await
    };
    let connection = match interrupts.interruptible(connecting).await {
        Ok(connection) => connection,
        Err(error) => {
            // An agent's client shows what it is answered, not what a server prints.
            tokio::select! {
                () = answer(&error) => {}
                () = interrupts.first().cancelled() => {}
            }
            return Err(error);
        }
    };
    let (mut from, mut to) = (connection.reader, connection.writer);
    let inwards = async {
        let copied = tokio::io::copy(&mut tokio::io::stdin(), &mut to).await;
        // The agent has nothing more to say; what it asked for is still answered.
        copied.and(to.shutdown().await)
    };
    let outwards = async {
        let mut stdout = tokio::io::stdout();
        // In pieces that hold a list of tools: each is handed to another thread.
        let mut from = BufReader::with_capacity(PIECE, &mut from);
        tokio::io::copy_buf(&mut from, &mut stdout).await?;
        stdout.flush().await
    };
    tokio::pin!(inwards, outwards);
    let hung_up = || std::io::Error::other("the daemon closed the connection");
    let outcome = tokio::select! {
        ended = &mut outwards => ended.and_then(|()| Err(hung_up())),
        ended = &mut inwards => match ended {
            // What was asked for is still answered.
            Ok(()) => outwards.await,
            Err(error) => Err(error),
        },
        () = interrupts.first().cancelled() => Ok(()),
    };
    outcome.or_infrastructure("the pipe broke")?;
    Ok(Exit::Passed)
}

/// Answers the first request on standard input, an agent's `initialize`, with why there is no server.
async fn answer(error: &CliError) {
    if std::io::stdin().is_terminal() {
        return;
    }
    let asked = tokio::time::timeout(REQUEST_TIMEOUT, first_request()).await;
    let Ok(Some(id)) = asked else {
        return;
    };
    let told = &error.explanation;
    let mistakes = told.diagnostics.iter().map(|mistake| mistake.render(false));
    let hint = told.hint.iter().map(|hint| format!("hint: {hint}"));
    let lines = [told.message.clone()]
        .into_iter()
        .chain(told.causes.clone());
    let lines: Vec<_> = lines.chain(mistakes).chain(hint).collect();
    let error = json!({ "code": INTERNAL_ERROR, "message": lines.join("\n") });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    let mut stdout = tokio::io::stdout();
    // A client that is gone needs no answer.
    let _ = stdout.write_all(format!("{answer}\n").as_bytes()).await;
    let _ = stdout.flush().await;
}

/// The id of the first request; `None` when there is none.
async fn first_request() -> Option<Value> {
    let mut from = BufReader::new(tokio::io::stdin().take(MAX_REQUEST));
    let mut line = Vec::new();
    while from
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|read| read > 0)
    {
        let message: Value = serde_json::from_slice(&line).ok()?;
        if let Some(id) = message
            .get("id")
            .filter(|_| message.get("method").is_some())
        {
            return Some(id.clone());
        }
        line.clear();
    }
    None
}
