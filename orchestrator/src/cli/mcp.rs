//! `packtrain mcp`: Packtrain as a server of the Model Context Protocol, on standard input and output.

use clap::Args;
use packtrain_model::Exit;
use tokio::io::{AsyncWriteExt, BufReader};

use super::Context;
use crate::daemon::client;
use crate::daemon::wire::Wants;
use crate::exit::CliError;
use crate::runtime;
use crate::shutdown::Interrupts;

/// The most bytes that are handed to an agent at once.
const PIECE: usize = 128 * 1024;

#[derive(Debug, Args)]
#[command(after_help = "An agent starts it:\n
  claude mcp add packtrain -- packtrain mcp\n
docs/agents.md shows how others do. It is a pipe to the daemon of this user, which it starts when there \
is none; what the agent holds goes back when the pipe breaks.")]
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
        client::ask(&state.socket, project.clone(), Wants::Mcp { toolset }).await
    };
    let connection = interrupts.interruptible(connecting).await?;
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
    let hung_up = || std::io::Error::other("the daemon hung up");
    let outcome = tokio::select! {
        ended = &mut outwards => ended.and_then(|()| Err(hung_up())),
        ended = &mut inwards => match ended {
            // What was asked for is still answered.
            Ok(()) => outwards.await,
            Err(error) => Err(error),
        },
        () = interrupts.first().cancelled() => Ok(()),
    };
    outcome.map_err(|error| CliError::infrastructure("the pipe broke").because(&error))?;
    Ok(Exit::Passed)
}
