//! The daemon's process, from its lock to its end.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use packtrain_door::door::{Door, Policy};
use packtrain_door::front::{self, OnClosed, SessionLimits, Sessions, Visitor};
use packtrain_model::Exit;
use packtrain_terminal::exit::CliError;
use packtrain_terminal::render;
use packtrain_toolsets::store::ToolsetStore;
use rmcp::ServerHandler;
use tokio::net::UnixListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::agents::Agent;
use super::build_id::build;
use super::connection;
use super::hub::Hub;
use super::place::{DaemonState, Place};
use super::project::Checks;
use super::runs;
use super::wire::{ProjectKey, VERSION};

/// How often it looks whether it is still wanted.
const IDLE_POLL: Duration = Duration::from_secs(2);
/// How long what goes on may take at the end.
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// How long no client is accepted after that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long one that ends is waited for, and how often to check whether it has.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const LOOK_TIMEOUT: Duration = Duration::from_millis(500);
const LOCK_POLL: Duration = Duration::from_millis(20);
/// How many devices the threads of actors are made for.
const DEVICES: usize = 400;

/// How a daemon goes about it.
pub struct ServeOptions {
    /// Where it was started: agents over HTTP work there.
    pub project: ProjectKey,
    /// The toolsets of that project.
    pub toolsets: Arc<ToolsetStore>,
    /// What refuses a configuration.
    pub checks: Checks,
    /// The port for agents; any that is free when 0.
    pub port: u16,
    /// After how long without anybody it ends; never when `None`.
    pub idle: Option<Duration>,
    /// Whether it is watched.
    pub is_watched: bool,
}

/// What answers agents by the Model Context Protocol.
pub trait Answers: ServerHandler {
    /// For the client at the other end of a connection.
    fn connected(hub: &Arc<Hub>, agent: &Arc<Agent>) -> Self;

    /// For a client over HTTP. Cheap, and changes nothing.
    fn visited(hub: &Arc<Hub>, visitor: &Visitor, project: ProjectKey) -> Self;
}

/// Serves until `ending` is cancelled, it is told to end, or nobody has used it for long.
///
/// # Errors
/// When there is one already, or the system refuses.
pub async fn serve<S: Answers>(
    options: ServeOptions,
    ending: CancellationToken,
) -> Result<Exit, CliError> {
    let place = Place::of_user()?;
    place.prepare()?;
    // Before its file can be replaced.
    build();
    let _lock = lock(&place, options.is_watched).await?;
    runs::remember_program();
    let failed = |error: &std::io::Error| {
        CliError::infrastructure("cannot open the daemon's socket").because(error)
    };
    place.clear();
    let listener = UnixListener::bind(place.socket()).map_err(|error| failed(&error))?;
    let hub = Hub::new(
        &packtrain_workplace::arbiters(DEVICES),
        ending,
        options.checks,
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
    let router = front::mcp(visitors::<S>(&hub, &options), sessions, hub.ending.clone());
    let serving = door.serve(router);
    let state = Arc::new(DaemonState {
        version: VERSION.to_owned(),
        build: build().to_owned(),
        pid: std::process::id(),
        url,
        token,
        socket: place.socket(),
        search_path: std::env::var("PATH").unwrap_or_default(),
    });
    place.announce(&state).map_err(|error| failed(&error))?;
    if options.is_watched {
        render::say(&format!(
            "{}: press Ctrl-C to stop",
            place.folder().display()
        ));
    }
    let mut looking = tokio::time::interval(IDLE_POLL);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let serving = connection::serve::<S>(stream, Arc::clone(&hub), Arc::clone(&state));
                    hub.spawn(serving);
                } else {
                    // As when too many files are open.
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
            _ = looking.tick() => {
                if hub.reap(options.idle) || !place.is_announced() {
                    break;
                }
            }
            () = hub.ending.cancelled() => break,
        }
    }
    hub.ending.cancel();
    place.clear_own();
    hub.dismiss_all();
    serving.close().await;
    // What does not end in time ends with the devices.
    let _ = tokio::time::timeout(END_TIMEOUT, hub.is_done()).await;
    hub.close().await;
    Ok(Exit::Passed)
}

/// The right to be the daemon. A daemon started in the background has it once the one before has
/// ended.
async fn lock(place: &Place, is_watched: bool) -> Result<File, CliError> {
    let begun = Instant::now();
    let mut every = tokio::time::interval(LOCK_POLL);
    loop {
        every.tick().await;
        if let Some(lock) = place.lock()? {
            return Ok(lock);
        }
        let longest = match is_watched {
            // A process that checks for a daemon has the lock for a moment.
            true => LOOK_TIMEOUT,
            false => LOCK_TIMEOUT,
        };
        if place.state().is_some() || begun.elapsed() > longest {
            return Err(CliError::infrastructure("a daemon is already running")
                .hint("`packtrain daemon status` says where, `packtrain daemon stop` ends it"));
        }
    }
}

/// A port of loopback, and the token that opens it.
async fn open_door(place: &Place, port: u16) -> std::io::Result<(Door, String)> {
    let tokens = place.secret()?;
    let token = tokens.owner().to_owned();
    Ok((Door::bind_at(Policy::agents(tokens), port).await?, token))
}

/// What serves those who come over HTTP.
fn visitors<S: Answers>(
    hub: &Arc<Hub>,
    options: &ServeOptions,
) -> impl Fn(&Visitor) -> std::io::Result<S> + Send + Sync + 'static {
    // The hub ends with the door, not the other way round.
    let hub = Arc::downgrade(hub);
    let (project, toolsets) = (options.project.clone(), Arc::clone(&options.toolsets));
    move |visitor| {
        let hub = hub
            .upgrade()
            .ok_or_else(|| std::io::Error::other("the daemon is stopping"))?;
        if let Some(name) = visitor.toolset()
            && let Err(error) = toolsets.load(name)
        {
            let missing = std::io::ErrorKind::NotFound;
            return Err(std::io::Error::new(missing, error.to_string()));
        }
        Ok(S::visited(&hub, visitor, project.clone()))
    }
}
