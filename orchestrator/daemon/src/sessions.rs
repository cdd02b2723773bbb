//! Sessions of runs of other processes, carried out here: `packtrain run` while a daemon is up. The
//! run keeps its journal; the order comes in, and what happens goes back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::BoxFuture;
use packtrain_engine::{
    DeviceChange, SessionHost, SessionMessage, SessionOrder, SessionOutput, SessionStop,
};
use packtrain_model::{Blame, Outcome};
use packtrain_terminal::exit::CliError;
use packtrain_terminal::render;
use packtrain_tools::Caller;
use packtrain_wire::Place as ContentPlace;
use serde_json::json;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::client::{self, Connection};
use super::connection::{grant, opened, refuse};
use super::hub::Hub;
use super::place::Place;
use super::project::Project;
use super::wire::{self, ProjectKey, Request, SessionControl, SessionItem, SessionRequest};

/// What may wait to be written.
const WAITING: usize = 64;
/// How long a run that is gone may hold its device.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a daemon may stay silent after it was asked to stop a session.
const UNHEARD_TIMEOUT: Duration = Duration::from_secs(40);

/// Carries out a session; it ends when its caller hangs up.
pub(crate) async fn carry_out(
    request: SessionRequest,
    hub: &Arc<Hub>,
    project: &Arc<Project>,
    mut reader: impl AsyncBufRead + Unpin + Send,
    mut writer: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let SessionRequest {
        order,
        scratch,
        working_directory,
        environment,
        ticket,
    } = request;
    let caller = match ticket {
        None => Caller::Person,
        Some(ticket) if hub.read(|state| state.tickets.contains(&ticket)) => project.agent.clone(),
        Some(_) => {
            let error =
                CliError::infrastructure("the agent that started this run has disconnected");
            return refuse(&mut writer, error).await;
        }
    };
    let opening = project.here(caller, working_directory, scratch);
    let (mut here, _toolbox) = match opened(hub, opening).await {
        Ok(here) => here,
        Err(error) => return refuse(&mut writer, error).await,
    };
    here.environment = Some(Arc::new(environment));
    grant(&mut writer, &json!({})).await?;
    let (output, said) = SessionOutput::elsewhere(WAITING);
    let writing = tokio::spawn(send_back(said, writer));
    let stop = SessionStop::default();
    let mut session = here.run(order, output, stop.clone());
    let outcome = loop {
        tokio::select! {
            outcome = &mut session => break outcome,
            control = wire::read::<SessionControl>(&mut reader) => match control {
                Ok(Some(SessionControl::Stop(cause))) => stop.cancel(cause),
                Ok(None) | Err(_) => {
                    stop.cancel(packtrain_model::CancelCause::Interrupt);
                    // Dropped then, which gives the device back too.
                    let _ = tokio::time::timeout(STOP_TIMEOUT, session).await;
                    let _ = tokio::time::timeout(STOP_TIMEOUT, writing).await;
                    return Ok(());
                }
            },
            () = hub.ending.cancelled() => {
                stop.cancel(packtrain_model::CancelCause::Interrupt);
                let ended = tokio::time::timeout(STOP_TIMEOUT, &mut session).await;
                break match ended {
                    Ok(outcome) if !matches!(outcome, Outcome::Cancelled { .. }) => outcome,
                    Ok(_) | Err(_) => lost("the daemon was stopped"),
                };
            }
        }
    };
    drop(session);
    let mut writer = writing.await.map_err(std::io::Error::other)??;
    wire::write(&mut writer, &SessionItem::Ended(outcome)).await
}

/// Sends what a session says back to its run, until it says nothing more. Of a run that is gone, logs
/// are taken off the disk all the same.
async fn send_back<W: AsyncWrite + Unpin + Send>(
    mut said: mpsc::Receiver<SessionMessage>,
    mut writer: W,
) -> std::io::Result<W> {
    let mut sent = Ok(());
    while let Some(message) = said.recv().await {
        let (item, bytes) = match message {
            SessionMessage::Event(event, _) => (SessionItem::Event(event), Vec::new()),
            SessionMessage::Waits(reason) => (SessionItem::Waits(reason), Vec::new()),
            SessionMessage::File(artifact, taken) => {
                let (file, content) = packtrain_wire::File::of(artifact);
                let placing = tokio::task::spawn_blocking(move || ContentPlace::of(content));
                let placed = placing.await.ok().flatten();
                drop(taken);
                let Some((content, bytes)) = placed else {
                    continue;
                };
                (SessionItem::File(file.with(content)), bytes)
            }
        };
        if sent.is_ok() {
            sent = wire::write(&mut writer, &item).await;
        }
        if sent.is_ok() {
            sent = writer.write_all(&bytes).await;
        }
    }
    sent.map(|()| writer)
}

/// The daemon as the host of a run's sessions.
pub struct InDaemon {
    /// Where the daemon is.
    pub socket: PathBuf,
    /// What the devices belong to.
    pub project: ProjectKey,
    /// Where sessions may write.
    pub scratch: Option<PathBuf>,
    /// Where commands run.
    pub working_directory: PathBuf,
    /// What shows that an agent started the run.
    pub ticket: Option<String>,
}

impl SessionHost for InDaemon {
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let request = SessionRequest {
            order,
            scratch: self.scratch.clone(),
            working_directory: self.working_directory.clone(),
            // What lets a computer into a farm is not a trail's business.
            environment: variables
                .filter(|(name, _)| name != "PACKTRAIN_FARM_TOKEN")
                .collect(),
            ticket: self.ticket.clone(),
        };
        let (socket, project) = (self.socket.clone(), self.project.clone());
        Box::pin(async move {
            match follow(&socket, project, request, &output, &stop).await {
                Ok(outcome) => outcome,
                Err(error) => lost(&error.explanation.message),
            }
        })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        // The daemon's fleet restarts what died; a lost session is reported as an outcome.
        mpsc::channel(1).1
    }
}

async fn follow(
    socket: &PathBuf,
    project: ProjectKey,
    request: SessionRequest,
    output: &SessionOutput,
    stop: &SessionStop,
) -> Result<Outcome, CliError> {
    let session = request.order.session.clone();
    let asked = tokio::select! {
        asked = ask(socket, project, request) => asked,
        () = stop.token().cancelled() => return Ok(Outcome::Cancelled { by: stop.cause() }),
    };
    let mut connection = asked?;
    let broken = |error: &std::io::Error| {
        CliError::infrastructure("the daemon closed the connection").because(error)
    };
    let mut is_stopped = false;
    let unheard = tokio::time::sleep(Duration::MAX);
    tokio::pin!(unheard);
    loop {
        let news = {
            // A line that was begun is read to its end: what is dropped here would be lost.
            let reading = wire::read::<SessionItem>(&mut connection.reader);
            tokio::pin!(reading);
            loop {
                tokio::select! {
                    news = &mut reading => break news,
                    () = stop.token().cancelled(), if !is_stopped => {
                        is_stopped = true;
                        unheard.as_mut().reset(tokio::time::Instant::now() + UNHEARD_TIMEOUT);
                        let control = SessionControl::Stop(stop.cause());
                        // When it is gone, reading says so.
                        let _ = wire::write(&mut connection.writer, &control).await;
                    }
                    () = &mut unheard, if is_stopped => {
                        return Ok(lost("the daemon does not answer"));
                    }
                }
            }
        };
        let heard = tokio::time::Instant::now() + UNHEARD_TIMEOUT;
        unheard.as_mut().reset(heard);
        match news.map_err(|error| broken(&error))? {
            Some(SessionItem::Event(event)) => output.record(*event).await,
            Some(SessionItem::File(file)) => {
                let bytes = wire::read_bytes(&mut connection.reader, file.content.length()).await;
                let content = file.content.content(bytes.map_err(|error| broken(&error))?);
                output.save(file.artifact(&session, content)).await;
            }
            Some(SessionItem::Waits(reason)) => render::say(&format!("waiting for {reason}")),
            Some(SessionItem::Ended(outcome)) => return Ok(outcome),
            // The farm's.
            Some(SessionItem::Lost(_) | SessionItem::Large(_)) => {}
            None => return Ok(lost("the daemon closed the connection")),
        }
    }
}

/// Asks for a session. A daemon that was killed, and so has left its files, is started again; one that was
/// stopped is not, nor one that an agent is connected to.
async fn ask(
    socket: &PathBuf,
    project: ProjectKey,
    request: SessionRequest,
) -> Result<Connection, CliError> {
    let wants = || Request::Session(Box::new(request.clone()));
    let asked = client::ask(socket, project.clone(), wants()).await;
    let was_killed = client::running()?.is_none() && Place::of_user()?.state().is_some();
    if asked.is_ok() || request.ticket.is_some() || !was_killed {
        return asked;
    }
    let state = client::started(&project, None).await?;
    client::ask(&state.socket, project, wants()).await
}

fn lost(cause: &str) -> Outcome {
    Outcome::Infrastructure {
        blame: Blame::Host,
        cause: cause.to_owned(),
        hint: Some("`packtrain daemon status` shows whether it is running".to_owned()),
        unstarted: Vec::new(),
    }
}
