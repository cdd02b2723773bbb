//! Starts one process of a source and connects to it. Ready is who answers the protocol, lives, and
//! owns the socket it answers on.

use std::net::{IpAddr, Ipv6Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::{Port, Protocol, Transport};
use packtrain_program::Listener;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::instance::Instance;
use super::launch::{CommandLine, Places, command_line, names_port};
use super::log::SourceLog;
use super::mcp::{ConnectError, McpClient, STDOUT, StdioTransport, Wire};
use super::process::Process;
use super::settings::{Launch, SourceSettings};
use crate::supervisor::SupervisorOptions;

/// The address that sources listen on.
const HOST: &str = "127.0.0.1";
/// Where some listen instead.
const HOST_V6: &str = "[::1]";
/// Ports that are tried before a source is given up.
const MAX_PORTS: usize = 5;
/// How often to check whether a source listens, at first and at last.
const READY_POLL: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Lines of a source that did not start that each report has; its log has all.
const REPORTED_LINES: usize = 12;
/// Bytes of such a line.
const REPORTED_LINE: usize = 400;

/// What a process is started with.
#[derive(Clone)]
pub(super) struct StartOrder {
    pub(super) settings: SourceSettings,
    pub(super) transport: Transport,
    /// `TRAILBLAZE_*` and what else every source gets.
    pub(super) env: Vec<(&'static str, String)>,
    pub(super) device: Option<String>,
    pub(super) options: Arc<SupervisorOptions>,
    /// The log file's name.
    pub(super) log_name: String,
}

/// Why a process did not start.
#[derive(Debug, Clone)]
pub(crate) struct StartError {
    /// One sentence, after which the log may follow.
    pub(crate) message: String,
    /// The end of what it wrote.
    pub(crate) tail: Vec<String>,
}

impl StartError {
    /// The reason and the last lines that the source wrote, for reports.
    pub(crate) fn why(&self, source: &str) -> String {
        let mut why = format!("tool source `{source}`: {}", self.message);
        let first = self.tail.len().saturating_sub(REPORTED_LINES);
        for line in &self.tail[first..] {
            let end = line.floor_char_boundary(REPORTED_LINE);
            why.push_str(&format!("\n  {}", &line[..end]));
        }
        why
    }

    pub(super) fn new(message: impl Into<String>, log: &SourceLog) -> Self {
        Self {
            message: message.into(),
            tail: log.tail(),
        }
    }
}

/// What came of one attempt to start with HTTP.
enum HttpStart {
    Ready(Box<Instance>),
    /// The port is not ours.
    PortTaken(String),
    /// It does not know the flags of HTTP: by this sign.
    NoHttp(String),
    /// It answers on standard input and output instead.
    Stdio(Box<Instance>),
    Failed(StartError),
}

impl StartOrder {
    fn log(&self) -> SourceLog {
        let folder = self
            .options
            .run_dir
            .as_ref()
            .map(|folder| folder.join("sources"));
        let listener = self.options.log_listener.clone();
        SourceLog::new(
            folder.as_deref(),
            &self.log_name,
            self.options.redactor.clone(),
            listener,
        )
    }

    fn places(&self, port: Option<u16>, host: &str) -> Places {
        Places {
            host: host.to_owned(),
            port,
            token: uuid::Uuid::new_v4().simple().to_string(),
            device: self.device.clone(),
            run_dir: self.options.run_dir.clone(),
        }
    }

    /// Starts, within the time that the settings give.
    ///
    /// # Errors
    /// [`StartError`].
    pub(super) async fn start(&self) -> Result<Instance, StartError> {
        let log = self.log();
        let limit = self.settings.server.ready_timeout.get();
        let deadline = Instant::now() + limit;
        let started = async {
            match (&self.settings.launch, self.transport) {
                (None, _) => self.connect_only(&log).await,
                (Some(launch), Transport::Stdio) => self.stdio(launch, &log).await,
                (Some(launch), Transport::Http) => self.http(launch, &log).await,
            }
        };
        match tokio::time::timeout_at(deadline, started).await {
            Ok(started) => started,
            Err(_) => Err(StartError::new(
                format!("it did not answer within {:.1} s", limit.as_secs_f64()),
                &log,
            )),
        }
    }

    /// A source that runs already.
    async fn connect_only(&self, log: &SourceLog) -> Result<Instance, StartError> {
        let places = self.places(None, HOST);
        let url = places.fill(self.settings.server.url.as_deref().unwrap_or_default());
        let connected = self.connect_http(&url, &places, log).await;
        let client = connected.map_err(|message| StartError::new(message, log))?;
        Ok(instance(client, None, Transport::Http, log))
    }

    async fn stdio(&self, launch: &Launch, log: &SourceLog) -> Result<Instance, StartError> {
        let places = self.places(None, HOST);
        let line = self.line(launch, Transport::Stdio, &places, log)?;
        let mut protocol = self.settings.server.protocol;
        loop {
            let (process, client) = self.on_stdio(&line, protocol, log)?;
            let connected = tokio::select! {
                connected = client => connected,
                how = process.ended() => {
                    // A server of before may end when it is asked what it has never heard of.
                    if protocol == Protocol::Auto {
                        protocol = Protocol::Legacy;
                        continue;
                    }
                    return Err(StartError::new(format!("it ended before it answered ({how})"), log));
                }
            };
            match connected {
                Ok(client) => {
                    return Ok(instance(client, Some(process), Transport::Stdio, log));
                }
                Err(ConnectError::OtherEra(_)) if protocol == Protocol::Legacy => {
                    protocol = Protocol::Modern;
                }
                Err(ConnectError::NotYet(_)) if protocol == Protocol::Auto => {
                    protocol = Protocol::Legacy;
                }
                Err(ConnectError::NotYet(_)) => {
                    let how = process.ended().await;
                    return Err(StartError::new(
                        format!("it ended before it answered ({how})"),
                        log,
                    ));
                }
                Err(error) => return Err(StartError::new(error.to_string(), log)),
            }
        }
    }

    async fn http(&self, launch: &Launch, log: &SourceLog) -> Result<Instance, StartError> {
        let mut last = String::new();
        for _ in 0..MAX_PORTS {
            match self.http_once(launch, log).await? {
                HttpStart::Ready(instance) => return Ok(*instance),
                HttpStart::Failed(error) => return Err(error),
                HttpStart::PortTaken(why) => {
                    log.line(&format!("[packtrain] {why}"));
                    last = why;
                    if matches!(self.settings.server.port, Port::Fixed(_)) {
                        break;
                    }
                }
                HttpStart::Stdio(mut instance) => {
                    instance.notes.push(
                        "it ignores `--transport http`, so all calls share its standard input and \
                         output; set `transport: stdio` to skip the attempt"
                            .to_owned(),
                    );
                    return Ok(*instance);
                }
                HttpStart::NoHttp(why) => {
                    let mut instance = self.stdio(launch, log).await?;
                    instance.notes.push(format!(
                        "it does not accept `--transport http` ({why}), so all calls share its \
                         standard input and output; set `transport: stdio` to skip the attempt"
                    ));
                    return Ok(instance);
                }
            }
        }
        Err(StartError::new(last, log))
    }

    async fn http_once(&self, launch: &Launch, log: &SourceLog) -> Result<HttpStart, StartError> {
        let picked = match &self.settings.server.port {
            Port::Auto => Some(
                free_port()
                    .map_err(|error| StartError::new(format!("no free port: {error}"), log))?,
            ),
            Port::Fixed(port) => Some(*port),
            Port::Printed(_) => None,
        };
        let places = self.places(picked, HOST);
        let line = self.line(launch, Transport::Http, &places, log)?;
        log.begin();
        // Flags that we added may be ignored; then it waits for its standard input.
        let may_ignore = !names_port(&self.settings.server, launch);
        let (process, client) = self.on_stdio(&line, Protocol::Legacy, log)?;
        let on_stdio = async {
            if !may_ignore {
                std::future::pending::<()>().await;
            }
            client.await
        };
        let over_http = async {
            let (host, port) = self.listening(&process, picked, log).await?;
            let places = Places {
                host: host.to_owned(),
                port: Some(port),
                ..places.clone()
            };
            let given = self.settings.server.url.as_deref();
            let url = places.fill(given.unwrap_or("http://{host}:{port}/mcp"));
            let connected = self.connect_http(&url, &places, log).await;
            connected.map_err(|message| HttpStart::Failed(StartError::new(message, log)))
        };
        let ended = process.ended();
        let came = tokio::select! {
            connected = over_http => connected.map_or_else(FirstSignal::Other, FirstSignal::Http),
            Ok(client) = on_stdio => FirstSignal::Stdio(client),
            how = ended => FirstSignal::Ended(how),
        };
        Ok(match came {
            FirstSignal::Http(client) => {
                let ready = instance(client, Some(process), Transport::Http, log);
                HttpStart::Ready(Box::new(ready))
            }
            FirstSignal::Stdio(client) => {
                let ready = instance(client, Some(process), Transport::Stdio, log);
                HttpStart::Stdio(Box::new(ready))
            }
            FirstSignal::Other(other) => other,
            FirstSignal::Ended(how) => {
                let tail = log.tail().join("\n").to_lowercase();
                let taken = ["eaddrinuse", "address already in use", "errno 98"];
                if taken.iter().any(|sign| tail.contains(sign)) {
                    HttpStart::PortTaken(format!("its port was taken by another program ({how})"))
                } else if may_ignore {
                    HttpStart::NoHttp(how)
                } else {
                    let message = format!("it ended before it answered ({how})");
                    HttpStart::Failed(StartError::new(message, log))
                }
            }
        })
    }

    /// Waits until the process listens, and answers where.
    async fn listening(
        &self,
        process: &Process,
        picked: Option<u16>,
        log: &SourceLog,
    ) -> Result<(&'static str, u16), HttpStart> {
        let mut wait = READY_POLL.0;
        loop {
            // A program that was started just now does not listen yet.
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(READY_POLL.1);
            let port = match (&self.settings.server.port, picked) {
                (Port::Printed(pattern), _) => printed_port(pattern, log),
                (_, port) => port,
            };
            if let Some(port) = port {
                match process.listener(port).await {
                    Listener::Session(address) => {
                        if address.is_unspecified() {
                            log.line("[packtrain] it listens on every address of this computer");
                        }
                        let is_v6 = address == IpAddr::V6(Ipv6Addr::LOCALHOST);
                        return Ok((if is_v6 { HOST_V6 } else { HOST }, port));
                    }
                    Listener::Other => {
                        let why = format!("port {port} was taken by another program");
                        return Err(HttpStart::PortTaken(why));
                    }
                    // Only who was started is talked to.
                    Listener::Unknown => {
                        let why = format!(
                            "cannot tell which program listens on port {port}: install lsof, or set \
                             `transport: stdio`"
                        );
                        return Err(HttpStart::Failed(StartError::new(why, log)));
                    }
                    Listener::Nobody => {}
                }
            }
        }
    }

    async fn connect_http(
        &self,
        url: &str,
        places: &Places,
        log: &SourceLog,
    ) -> Result<McpClient, String> {
        let mut protocol = self.settings.server.protocol;
        let mut wait = READY_POLL.0;
        let mut last = String::new();
        loop {
            let headers = self.settings.server.headers.iter();
            let wire = Wire::Http {
                url: url.to_owned(),
                headers: headers
                    .map(|(name, value)| (name.clone(), places.fill(value)))
                    .collect(),
                concurrency: self.settings.server.concurrency as usize,
            };
            match McpClient::connect(wire, protocol).await {
                Ok(client) => return Ok(client),
                Err(ConnectError::NotYet(why)) => {
                    if why != last {
                        log.line(&format!("[packtrain] {url}: {why}"));
                        last = why;
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(READY_POLL.1);
                }
                Err(ConnectError::OtherEra(_)) if protocol == Protocol::Legacy => {
                    protocol = Protocol::Modern;
                }
                Err(error) => return Err(format!("{url}: {error}")),
            }
        }
    }

    fn line(
        &self,
        launch: &Launch,
        transport: Transport,
        places: &Places,
        log: &SourceLog,
    ) -> Result<CommandLine, StartError> {
        command_line(
            &self.settings.server,
            launch,
            transport,
            places,
            &self.options.search_path,
        )
        .map_err(|message| StartError::new(message, log))
    }

    fn process(
        &self,
        line: &CommandLine,
        log: &SourceLog,
    ) -> Result<(Process, tokio::process::ChildStdout), StartError> {
        let mut env = self.env.clone();
        if let Some(file) = &line.file {
            env.push(("TRAILBLAZE_TOOLSET_FILE", file.display().to_string()));
        }
        Process::start(line, &env, log.clone()).map_err(|message| StartError::new(message, log))
    }

    /// A process and the connection over its standard input and output, as it comes about.
    fn on_stdio(
        &self,
        line: &CommandLine,
        protocol: Protocol,
        log: &SourceLog,
    ) -> Result<
        (
            Process,
            impl Future<Output = Result<McpClient, ConnectError>> + use<>,
        ),
        StartError,
    > {
        let (process, stdout) = self.process(line, log)?;
        let (lines_tx, mut lines) = mpsc::channel::<String>(64);
        let (transport, pump) = StdioTransport::new(Arc::clone(&process.stdin), lines_tx);
        tokio::spawn(pump.read(stdout));
        let log = log.clone();
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                log.line(&line);
            }
        });
        let connecting = McpClient::connect(Wire::Stdio(transport), protocol);
        Ok((process, connecting))
    }
}

/// What came first.
enum FirstSignal {
    Http(McpClient),
    Stdio(McpClient),
    Ended(String),
    Other(HttpStart),
}

fn instance(
    client: McpClient,
    process: Option<Process>,
    transport: Transport,
    log: &SourceLog,
) -> Instance {
    Instance {
        version: client.version(),
        client,
        process,
        transport,
        log: log.clone(),
        notes: Vec::new(),
        doubts: watch::Sender::new(0),
        calls: std::sync::atomic::AtomicUsize::new(0),
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((HOST, 0))?.local_addr()?.port())
}

/// The port in the last line that the pattern matches.
fn printed_port(pattern: &str, log: &SourceLog) -> Option<u16> {
    let pattern = regex::Regex::new(pattern).ok()?;
    let tail = log.tail();
    let mut lines = tail.iter().rev();
    let found =
        lines.find_map(|line| pattern.captures(line.strip_prefix(STDOUT).unwrap_or(line)))?;
    found.get(1)?.as_str().parse().ok()
}
