//! The daemon's process, from its lock to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use packtrain_model::Exit;
use tokio::net::UnixListener;

use super::connection;
use super::hub::Hub;
use super::place::{DaemonState, Place};
use super::wire::{ProjectKey, VERSION};
use crate::exit::CliError;
use crate::http::door::{Door, Policy};
use crate::http::front::{self, OnClosed, SessionLimits, Sessions, Visitor};
use crate::mcp::AgentServer;
use crate::shutdown::Interrupts;
use crate::toolsets::ToolsetStore;
use crate::{render, runtime};

/// How often it looks whether it is still wanted.
const LOOK: Duration = Duration::from_secs(2);
/// How long what goes on may take at the end.
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// How many devices the threads of actors are made for.
const DEVICES: usize = 400;

/// How a daemon goes about it.
pub(crate) struct ServeOptions {
    /// Where it was started: agents over HTTP work there.
    pub(crate) project: ProjectKey,
    /// The toolsets of that project.
    pub(crate) toolsets: Arc<ToolsetStore>,
    /// The port for agents; any that is free when 0.
    pub(crate) port: u16,
    /// After how long without anybody it ends; never when `None`.
    pub(crate) idle: Option<Duration>,
    /// Whether somebody watches it.
    pub(crate) is_watched: bool,
}

/// Serves until it is told to end, or nobody has used it for long.
///
/// # Errors
/// When there is one already, or the system refuses.
pub(crate) async fn serve(options: ServeOptions, interrupts: Interrupts) -> Result<Exit, CliError> {
    let place = Place::of_user()?;
    place.prepare()?;
    let Some(_lock) = place.lock()? else {
        return Err(CliError::infrastructure("there is a daemon already")
            .hint("`packtrain daemon status` says where, `packtrain daemon stop` ends it"));
    };
    let failed = |error: &std::io::Error| {
        CliError::infrastructure("cannot open the daemon's socket").because(error)
    };
    place.clear();
    let listener = UnixListener::bind(place.socket()).map_err(|error| failed(&error))?;
    let hub = Hub::new(
        &runtime::arbiters(DEVICES),
        interrupts.first().child_token(),
    );
    let (door, token) = open_door(&place, options.port).await.map_err(|error| {
        CliError::infrastructure("cannot open a port for agents").because(&error)
    })?;
    let url = format!("{}/mcp", door.base_url());
    let left = Arc::downgrade(&hub);
    let on_closed: OnClosed = Arc::new(move |session| {
        if let Some(hub) = left.upgrade() {
            hub.left(session);
        }
    });
    let sessions = Sessions::new(SessionLimits::default(), on_closed);
    hub.serves_http(url.clone(), sessions.clone());
    let router = front::mcp(visitors(&hub, &options), sessions, hub.ending.clone());
    let serving = door.serve(router);
    let state = Arc::new(DaemonState {
        version: VERSION.to_owned(),
        pid: std::process::id(),
        url,
        token,
        socket: place.socket(),
    });
    place.announce(&state).map_err(|error| failed(&error))?;
    if options.is_watched {
        render::say(&format!("{}: Ctrl-C ends it", place.folder().display()));
    }
    let mut looking = tokio::time::interval(LOOK);
    let mut used = Instant::now();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let serving = connection::serve(stream, Arc::clone(&hub), Arc::clone(&state));
                    hub.work.spawn(serving);
                } else {
                    // As when too many files are open.
                    looking.tick().await;
                }
            }
            _ = looking.tick() => {
                hub.reap();
                if !hub.is_idle() {
                    used = Instant::now();
                }
                let is_forgotten = options.idle.is_some_and(|idle| used.elapsed() >= idle);
                if is_forgotten || !place.is_announced() {
                    break;
                }
            }
            () = hub.ending.cancelled() => break,
        }
    }
    hub.ending.cancel();
    place.clear_own();
    hub.agents.end_all();
    serving.close().await;
    hub.work.close();
    // What does not end in time ends with the devices.
    let _ = tokio::time::timeout(END_TIMEOUT, hub.work.wait()).await;
    hub.close().await;
    Ok(Exit::Passed)
}

/// A port of loopback, and the token that opens it.
async fn open_door(place: &Place, port: u16) -> std::io::Result<(Door, String)> {
    let tokens = place.secret()?;
    let token = tokens.owner().to_owned();
    Ok((Door::bind_at(Policy::agents(tokens), port).await?, token))
}

/// What serves those who come over HTTP.
fn visitors(
    hub: &Arc<Hub>,
    options: &ServeOptions,
) -> impl Fn(&Visitor) -> std::io::Result<AgentServer> + Send + Sync + 'static {
    // The hub ends with the door, not the other way round.
    let hub = Arc::downgrade(hub);
    let (project, toolsets) = (options.project.clone(), Arc::clone(&options.toolsets));
    move |visitor| {
        let hub = hub
            .upgrade()
            .ok_or_else(|| std::io::Error::other("it ends"))?;
        if let Some(name) = visitor.toolset()
            && let Err(error) = toolsets.load(name)
        {
            let missing = std::io::ErrorKind::NotFound;
            return Err(std::io::Error::new(missing, error.to_string()));
        }
        Ok(AgentServer::visited(&hub, visitor, project.clone()))
    }
}
