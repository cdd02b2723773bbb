//! A nats-server of our own, from its start to its end.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packtrain_program::Program;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::sync::{Mutex, watch};
use tokio_util::task::AbortOnDropHandle;

use super::access::Access;
use super::config::ServerConfig;
use super::error::ServerError;
use super::find::NatsServer;
use super::folder::{FarmFolder, FolderLock, write_private};
use super::identity::Identity;
use super::log::{Log, ServerLog};
use super::tls::{self, Certificates};
use super::users::Users;
use crate::link::Trust;

/// How long it may take until it takes connections; it reads its streams first.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to read its configuration again.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long it may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a server listens. Off loopback everything is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

impl Default for Listen {
    /// On loopback, on any free port.
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }
}

impl Listen {
    /// As the server reads it, to which any free port is `-1`.
    fn words(self) -> String {
        let text = self.0.to_string();
        match text.strip_suffix(":0") {
            Some(ip) => format!("{ip}:-1"),
            None => text,
        }
    }
}

/// A nats-server that runs. Dropped, it is killed; see [`end`](Self::end).
#[derive(Debug)]
pub struct Embedded {
    /// Held while the server is started again, or reads its configuration again.
    pub(super) running: Mutex<Running>,
    server: NatsServer,
    said: watch::Sender<ServerLog>,
    address: SocketAddr,
    pin: Option<String>,
    config_file: PathBuf,
    log_file: PathBuf,
    _lock: FolderLock,
}

/// Its process, what reads what that says, and its configuration.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) program: Program,
    reader: AbortOnDropHandle<()>,
    config: ServerConfig,
}

impl Embedded {
    /// Starts a server on a farm's folder, with the users that the folder has, and waits until it
    /// takes connections. `computer` is the name that others know this computer by.
    ///
    /// # Errors
    /// [`ServerError::InUse`], [`ServerError::DidNotStart`], or a file's.
    pub async fn start(
        server: &NatsServer,
        folder: &FarmFolder,
        listen: Listen,
        computer: &str,
    ) -> Result<Self, ServerError> {
        let lock = folder.lock()?;
        let certificates = if listen.0.ip().is_loopback() {
            None
        } else {
            let names = tls::names(listen.0.ip(), computer);
            Some(Certificates::open(&folder.tls(), "server", &names)?)
        };
        let config = ServerConfig {
            name: "farm".to_owned(),
            listen: listen.words(),
            store: folder.store(),
            sync_always: false,
            cluster: None,
            tls: certificates.as_ref().map(|made| made.files.clone()),
            users: folder.users()?,
            join_password: Some(folder.secret()?.join_password()),
        };
        let config_file = folder.config_file();
        write_private(&config_file, &config.render())?;

        let said = watch::Sender::default();
        let log_file = folder.log_file();
        let (program, reader) = spawn(server, &config_file, &log_file, &said)?;
        let address = ready(&mut said.subscribe()).await?;
        Ok(Self {
            running: Mutex::new(Running {
                program,
                reader,
                config,
            }),
            server: server.clone(),
            said,
            address,
            pin: certificates.map(|made| made.pin),
            config_file,
            log_file,
            _lock: lock,
        })
    }

    /// Starts it again where it was, once it has ended by itself.
    ///
    /// # Errors
    /// [`ServerError::DidNotStart`], or the configuration's file.
    pub async fn restart(&self) -> Result<(), ServerError> {
        let mut running = self.running.lock().await;
        running.config.listen = Listen(self.address).words();
        write_private(&self.config_file, &running.config.render())?;
        (running.program, running.reader) =
            spawn(&self.server, &self.config_file, &self.log_file, &self.said)?;
        ready(&mut self.said.subscribe()).await.map(drop)
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients on this computer.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        self.url_at(ip)
    }

    /// The URL for clients that reach this computer by an address.
    pub fn url_at(&self, ip: IpAddr) -> String {
        let scheme = if self.pin.is_some() { "tls" } else { "nats" };
        format!("{scheme}://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The SHA-256 of its certificate authority, when it is encrypted.
    pub fn pin(&self) -> Option<&str> {
        self.pin.as_deref()
    }

    /// How somebody on this computer reaches it.
    pub fn access(&self, identity: Identity) -> Access {
        let trust = match &self.pin {
            Some(pin) => Trust::Pinned(pin.clone()),
            None => Trust::System,
        };
        Access {
            servers: vec![self.url()],
            trust,
            identity,
        }
    }

    /// Has it know these users, and no others; who is connected and still known stays so.
    ///
    /// # Errors
    /// [`ServerError::DidNotReload`], or the file's.
    pub async fn set_users(&self, users: Users) -> Result<(), ServerError> {
        let mut running = self.running.lock().await;
        running.config.users = users;
        write_private(&self.config_file, &running.config.render())?;
        let mut said = self.said.subscribe();
        let before = said.borrow_and_update().reloads;
        let gone = || ServerError::DidNotReload("it has ended".to_owned());
        let pid = running.program.id().and_then(|id| i32::try_from(id).ok());
        kill(Pid::from_raw(pid.ok_or_else(gone)?), Signal::SIGHUP).map_err(|_| gone())?;
        let answered = said.wait_for(|said| said.reloads > before || said.ended);
        let answer = tokio::time::timeout(RELOAD_TIMEOUT, answered).await;
        let answer = answer
            .map_err(|_| ServerError::DidNotReload("it does not answer".to_owned()))?
            .map_err(|_| gone())?;
        match &answer.refusal {
            _ if answer.reloads == before => Err(gone()),
            Some(why) => Err(ServerError::DidNotReload(why.clone())),
            None => Ok(()),
        }
    }

    /// Waits until it has ended by itself; answers its last complaint.
    pub async fn ended(&self) -> String {
        let mut said = self.said.subscribe();
        match said.wait_for(|said| said.ended).await {
            Ok(said) => complaint(&said),
            Err(_) => complaint(&ServerLog::default()),
        }
    }

    /// Lets it write what it has to the disk and end.
    pub async fn end(self) {
        let mut program = self.running.into_inner().program;
        program.terminate();
        let ended = tokio::time::timeout(END_TIMEOUT, program.wait()).await;
        if ended.is_err() {
            tracing::warn!("nats-server did not end when asked to and is killed");
            let _ = program.kill().await;
        }
    }
}

/// Where it listens, once it takes connections.
async fn ready(said: &mut watch::Receiver<ServerLog>) -> Result<SocketAddr, ServerError> {
    let waited = said.wait_for(|said| said.ended || (said.ready && said.listening.is_some()));
    let ready = match tokio::time::timeout(READY_TIMEOUT, waited).await {
        Ok(Ok(said)) => said.clone(),
        Ok(Err(_)) => ServerLog::default(),
        Err(_) => {
            let words = format!("it took no connection within {READY_TIMEOUT:?}");
            return Err(ServerError::DidNotStart(words));
        }
    };
    match ready.listening {
        Some(address) if ready.ready => Ok(address),
        _ => Err(ServerError::DidNotStart(complaint(&ready))),
    }
}

fn complaint(said: &ServerLog) -> String {
    let words = said.complaint.as_deref();
    words.unwrap_or("it ended without a message").to_owned()
}

fn spawn(
    server: &NatsServer,
    config: &Path,
    log: &Path,
    said: &watch::Sender<ServerLog>,
) -> Result<(Program, AbortOnDropHandle<()>), ServerError> {
    let mut command = Command::new(&server.program);
    command
        .arg("-c")
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut program =
        Program::spawn(command).map_err(|error| ServerError::DidNotStart(error.to_string()))?;
    said.send_replace(ServerLog::default());
    let (tx, output, log) = (said.clone(), program.stderr(), log.to_owned());
    let reader = AbortOnDropHandle::new(tokio::spawn(async move {
        if let Some(output) = output {
            listen_to(output, &log, &tx).await;
        }
        tx.send_modify(|said| said.ended = true);
    }));
    Ok((program, reader))
}

/// Keeps what it says. A disk that is full loses lines, not the server.
async fn listen_to(output: impl AsyncRead + Unpin, log: &Path, said: &watch::Sender<ServerLog>) {
    let mut log = Log::open(log).await;
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::debug!(line, "nats-server");
        if let Some(log) = &mut log {
            log.write(&line).await;
        }
        said.send_modify(|said| said.hear(&line));
    }
}
