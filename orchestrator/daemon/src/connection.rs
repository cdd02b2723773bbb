//! One connection to the daemon's socket.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use packtrain_terminal::exit::CliError;
use rmcp::ServiceExt as _;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt as _, BufReader, ReadBuf};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::agents::Transport;
use super::build_id::build;
use super::hub::Hub;
use super::lent;
use super::place::DaemonState;
use super::serve::Answers;
use super::sessions;
use super::wire::{self, Answer, DeviceList, Hello, Problem, Request, other_build};

/// What asks for the end, in every version and build; and for the end when nobody uses it.
const STOP: &str = "stop";
const RETIRE: &str = "retire";
/// How long a client may take to send its request.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an agent that has hung up is still answered.
const HANGUP_GRACE: Duration = Duration::from_secs(1);

/// Serves a connection until it ends.
pub(crate) async fn serve<S: Answers>(stream: UnixStream, hub: Arc<Hub>, state: Arc<DaemonState>) {
    // The folder is private; this does not rely on it alone.
    let own = nix::unistd::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own || peer.uid() == 0 => {}
        Ok(_) | Err(_) => return,
    }
    if let Err(error) = converse::<S>(stream, hub, &state).await {
        tracing::debug!(%error, "a command hung up");
    }
}

async fn converse<S: Answers>(
    stream: UnixStream,
    hub: Arc<Hub>,
    state: &DaemonState,
) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let hello = tokio::time::timeout(HELLO_TIMEOUT, wire::read::<Value>(&mut reader)).await;
    let hello = match hello {
        // A client that only checks whether the daemon is there sends nothing.
        Ok(Ok(None)) => return Ok(()),
        Ok(Ok(Some(hello))) => hello,
        Ok(Err(_)) | Err(_) => Value::Null,
    };
    let version = hello["version"].as_str().unwrap_or_default();
    // Another version may say the rest in any form, and may end this one.
    if !version.is_empty() && hello["wants"] == STOP {
        grant(&mut writer, &json!({ "pid": std::process::id() })).await?;
        hub.ending.cancel();
        return Ok(());
    }
    if !version.is_empty() && hello["wants"] == RETIRE {
        return grant(&mut writer, &hub.retire().await).await;
    }
    let other = hello["build"].as_str().unwrap_or(version);
    if !version.is_empty() && other != build() {
        let error = other_build(build(), other, &hub.users());
        return refuse(&mut writer, error).await;
    }
    let Some(Hello {
        project,
        state: files,
        wants,
        ..
    }) = serde_json::from_value(hello)
        .ok()
        .filter(|hello: &Hello| hello.build == build())
    else {
        return refuse(&mut writer, CliError::misuse("invalid request")).await;
    };
    match wants {
        Request::Status => grant(&mut writer, state).await,
        Request::Agents => grant(&mut writer, &hub.agents()).await,
        Request::EndAgent(id) => {
            let ended = hub.end(&id).await;
            grant(&mut writer, &json!({ "ended": ended })).await
        }
        // Answered above.
        Request::Stop | Request::Retire => Ok(()),
        // Who has a device is so whatever has become of the configuration.
        Request::Devices { open: false } => {
            let devices = hub.devices(&project).await;
            grant(&mut writer, &DeviceList { devices }).await
        }
        Request::Devices { open: true } => match opened(&hub, hub.project(project, files)).await {
            Ok(project) => {
                let devices = project.devices().await;
                // A client that has its answer no longer uses it.
                drop(project);
                grant(&mut writer, &DeviceList { devices }).await
            }
            Err(error) => refuse(&mut writer, error).await,
        },
        Request::Session(request) => match opened(&hub, hub.project(project, files)).await {
            Ok(project) => sessions::carry_out(*request, &hub, &project, reader, writer).await,
            Err(error) => refuse(&mut writer, error).await,
        },
        Request::Device(request) => match opened(&hub, hub.project(project, files)).await {
            Ok(project) => lent::lend(request, &hub, &project, reader, writer).await,
            Err(error) => refuse(&mut writer, error).await,
        },
        Request::Mcp { toolset } => {
            let joined = async {
                let project = hub.project(project, files).await?;
                // An agent's first list has them all.
                project.tools().await?;
                let present = hub.join(Transport::Stdio, &project, None);
                let server = S::connected(&hub, &present.agent);
                if let Some(name) = toolset {
                    present.agent.equip_named(&name)?;
                }
                Ok((server, present))
            };
            let (server, present) = match opened(&hub, joined).await {
                Ok(joined) => joined,
                Err(error) => return refuse(&mut writer, error).await,
            };
            let id = present.agent.id.to_string();
            grant(&mut writer, &json!({ "agent": id })).await?;
            let gone = present.agent.gone.clone();
            let (reader, hung_up) = EofReader::new(reader);
            let serving = async {
                if let Ok(serving) = server.serve_with_ct((reader, writer), gone.clone()).await {
                    // That it broke off is its end.
                    let _ = serving.waiting().await;
                }
            };
            let given_up = async {
                hung_up.cancelled().await;
                // What it has asked for is answered, when that does not take long.
                tokio::time::sleep(HANGUP_GRACE).await;
                gone.cancel();
            };
            tokio::pin!(serving);
            tokio::select! {
                () = &mut serving => {}
                () = given_up => {
                    // What it holds goes back now, whatever is still under way.
                    present.agent.leave();
                    serving.await;
                }
            }
            drop(present);
            Ok(())
        }
    }
}

/// What a client waits for, unless the daemon ends meanwhile. What has opened right then is refused
/// too: whom the end dismisses is known by then.
pub(crate) async fn opened<T>(
    hub: &Hub,
    opening: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let opened = hub.ending.run_until_cancelled(opening).await;
    match opened.filter(|_| !hub.ending.is_cancelled()) {
        Some(opened) => opened,
        None => Err(CliError::infrastructure("the daemon was stopped")),
    }
}

pub(crate) async fn grant<T: Serialize + Sync>(
    writer: &mut (impl tokio::io::AsyncWrite + Unpin + Send),
    answer: &T,
) -> std::io::Result<()> {
    let answer: Answer = Ok(serde_json::to_value(answer)?);
    wire::write(writer, &answer).await
}

pub(crate) async fn refuse(
    writer: &mut (impl tokio::io::AsyncWrite + Unpin + Send),
    error: CliError,
) -> std::io::Result<()> {
    let answer: Answer = Err(Problem::from(error));
    wire::write(writer, &answer).await?;
    writer.shutdown().await
}

/// A reader whose end is reported.
struct EofReader<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R> EofReader<R> {
    fn new(inner: R) -> (Self, CancellationToken) {
        let ended = CancellationToken::new();
        let watched = Self {
            inner,
            ended: ended.clone(),
        };
        (watched, ended)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EofReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        let read = Pin::new(&mut this.inner).poll_read(context, buffer);
        let is_end = match &read {
            Poll::Ready(Ok(())) => room > 0 && buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            this.ended.cancel();
        }
        read
    }
}
