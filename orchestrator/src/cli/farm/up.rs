//! `packtrain farm up`: a whole farm on this computer, until Ctrl-C.

use std::net::{AddrParseError, IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use packtrain_config::{Config, Flags};
use packtrain_farm::broker::{self, BrokerOptions};
use packtrain_farm::link::{FarmAddress, Link};
use packtrain_farm::server::{self, Embedded, FarmFolder, JoinRequests, Listen, NatsServer, Role};
use packtrain_farm::wire::HostName;
use packtrain_model::Exit;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{address, computer, token};
use crate::cli::{Context, Format, host, listed};
use crate::exit::CliError;
use crate::farm::nats::nats_places;
use crate::shutdown::Interrupts;
use crate::{render, runtime};

/// The port for clients when only an address is given.
const DEFAULT_PORT: u16 = 4222;
/// A server that ends earlier than this has a reason that a new start does not mend.
const MIN_UPTIME: Duration = Duration::from_secs(60);
/// How often in a row it may end so early.
const MOST_SHORT_LIVES: u32 = 5;
/// How long a server that did not start again is waited for before it is tried once more.
const RESTART_GRACE: Duration = Duration::from_secs(2);
/// How long broker and host may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
#[command(
    after_help = "On loopback, the default, no other computer can reach the farm. With --listen it \
is encrypted, and the command with which another computer joins is printed."
)]
pub(crate) struct UpArgs {
    /// Address and port for other computers: 0.0.0.0, or 192.0.2.7:4222
    #[arg(long, value_name = "ADDR", value_parser = listen)]
    listen: Option<SocketAddr>,

    /// The farm's folder: its data, secret and users [default: this user's]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,

    /// Do not offer this computer's devices
    #[arg(long)]
    no_devices: bool,

    /// Devices to offer [default: all that are found]
    #[arg(short, long, value_name = "DEVICE", value_delimiter = ',')]
    device: Vec<String>,

    /// The name of this computer on the farm
    #[arg(long, value_name = "NAME")]
    name: Option<HostName>,

    /// How to print the addresses
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    let with_port = text.parse::<SocketAddr>();
    let without = || Ok(SocketAddr::new(text.parse::<IpAddr>()?, DEFAULT_PORT));
    let expected = |_: AddrParseError| "expected ADDRESS or ADDRESS:PORT, such as 0.0.0.0:4222";
    with_port.or_else(|_| without().map_err(expected))
}

/// `packtrain farm up`.
pub(crate) fn run(args: UpArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let folder = address::folder(args.dir.as_ref())?;
    runtime::block_on_stoppable(async |interrupts| up(args, &config, &folder, interrupts).await)
}

async fn up(
    args: UpArgs,
    config: &Config,
    folder: &FarmFolder,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let starting = async {
        let found = server::find(&nats_places(config)).await?;
        let name = match args.name {
            Some(name) => name,
            None => host::own_name()?,
        };
        let listen = args.listen.or_else(|| earlier(folder));
        let listen = listen.map_or_else(Listen::default, Listen);
        Farm::start(&found, folder, listen, name).await
    };
    let farm = interrupts.interruptible(starting).await?;
    let served = async {
        // A reader of the line may join at once.
        let joining = farm.joining().await?;
        farm.announce(args.format)?;
        let devices = (!args.no_devices).then_some(args.device);
        farm.serve(config, devices, joining, &interrupts).await
    };
    let served = served.await;
    farm.end().await;
    served.map(|()| Exit::Passed)
}

/// Where the farm was reached the last time, if nobody else is there now: hosts and runs look for it
/// there.
fn earlier(folder: &FarmFolder) -> Option<SocketAddr> {
    let text = std::fs::read_to_string(listen_file(folder)).ok()?;
    let address: SocketAddr = text.trim().parse().ok()?;
    let is_free = address.ip().is_loopback() && std::net::TcpListener::bind(address).is_ok();
    is_free.then_some(address)
}

/// Where a farm listened the last time. It stays when the farm ends.
fn listen_file(folder: &FarmFolder) -> PathBuf {
    folder.path().join("listen")
}

/// A farm's server that is up, and this user's ways to it.
struct Farm<'a> {
    folder: &'a FarmFolder,
    server: Embedded,
    broker: FarmAddress,
    host: FarmAddress,
    name: HostName,
    /// What was left for other commands.
    left: Vec<PathBuf>,
}

impl<'a> Farm<'a> {
    async fn start(
        program: &NatsServer,
        folder: &'a FarmFolder,
        listen: Listen,
        name: HostName,
    ) -> Result<Self, CliError> {
        let identity = |role| folder.identity(role, &name);
        let identities = [
            identity(Role::Broker)?,
            identity(Role::Host)?,
            identity(Role::Operator)?,
        ];
        let server = Embedded::start(program, folder, listen, &name.to_string()).await?;
        let accesses = identities.map(|identity| server.access(identity));
        let (broker, host) = (accesses[0].address(), accesses[1].address());
        let mut left = Vec::new();
        for access in accesses {
            let file = address::access_file(access.identity.role)?;
            access.save(&file)?;
            left.push(file);
        }
        Ok(Self {
            folder,
            server,
            broker,
            host,
            name,
            left,
        })
    }

    /// Prints how it is reached, and how others join.
    fn announce(&self, format: Format) -> Result<(), CliError> {
        let bound = self.server.address().ip();
        let outside = match bound.is_unspecified() {
            true => computer::address(),
            false => Some(bound).filter(|ip| !ip.is_loopback()),
        };
        let url = outside.map_or_else(|| self.server.url(), |ip| self.server.url_at(ip));
        let listen = self.server.address().to_string();
        let written = std::fs::write(token::url_file(self.folder), &url)
            .and_then(|()| std::fs::write(listen_file(self.folder), listen));
        written.map_err(|error| {
            CliError::infrastructure("cannot save the farm's address").because(&error)
        })?;
        let (token, _) = token::invite(self.folder, Role::Host, token::DEFAULT_TTL)?;
        let line = token::line(&url, Role::Host, &token);
        match format {
            Format::Json => listed::data(json!({
                "url": self.server.url(),
                "servers": [url],
                "host": self.name,
                "token": token,
                "join": line,
            })),
            Format::Text if outside.is_some() => {
                render::say(&format!(
                    "the farm is up at {url}; within an hour, one other computer can join with:"
                ));
                render::out(&line);
            }
            Format::Text => {
                render::out(&self.server.url());
                render::say(
                    "the farm is up, for this computer alone; --listen 0.0.0.0 lets others join",
                );
            }
        }
        render::say("press Ctrl-C to stop");
        Ok(())
    }

    /// Serves until a signal comes or something of it breaks.
    async fn serve(
        &self,
        config: &Config,
        devices: Option<Vec<String>>,
        (link, requests): (Link, JoinRequests),
        interrupts: &Interrupts,
    ) -> Result<(), CliError> {
        let stop = CancellationToken::new();
        let broker = run_broker(&self.broker, 1, stop.clone());
        // The host is drained by the first signal, and needs a broker until it is.
        let host = async {
            let ended = match devices {
                Some(devices) => {
                    let offer = host::Offer {
                        devices,
                        ..host::Offer::default()
                    };
                    let (name, farm) = (self.name.clone(), self.host.clone());
                    host::serve_on(farm, name, offer, config, interrupts.clone()).await
                }
                None => {
                    interrupts.first().cancelled().await;
                    Ok(())
                }
            };
            stop.cancel();
            ended
        };
        let joining = async {
            tokio::select! {
                served = server::let_in(self.folder, &self.server, &link, requests) => Ok(served?),
                () = stop.cancelled() => Ok(()),
            }
        };
        let overdue = async {
            interrupts.first().cancelled().await;
            tokio::time::sleep(END_TIMEOUT).await;
        };
        tokio::select! {
            ended = async { tokio::try_join!(broker, host, joining) } => ended.map(drop),
            error = self.keep_up() => Err(error),
            () = overdue => Err(CliError::infrastructure("the farm did not stop in time")),
        }
    }

    /// Starts the server again whenever it ends, until it ends too often.
    async fn keep_up(&self) -> CliError {
        let log = self.folder.log_file();
        let gave_up = |why| {
            CliError::infrastructure("the farm's nats-server has ended")
                .cause(why)
                .hint(format!("its log is {}", log.display()))
        };
        let mut short_lives = 0;
        loop {
            let begun = Instant::now();
            let why = self.server.ended().await;
            short_lives = match begun.elapsed() < MIN_UPTIME {
                true => short_lives + 1,
                false => 0,
            };
            if short_lives > MOST_SHORT_LIVES {
                return gave_up(why);
            }
            render::say(&format!(
                "the farm's nats-server has ended ({why}) and is started again; its log is {}",
                log.display()
            ));
            if let Err(error) = self.server.restart().await {
                // It counts as a short life.
                tracing::warn!(%error, "nats-server did not start again");
                tokio::time::sleep(RESTART_GRACE).await;
            }
        }
    }

    async fn joining(&self) -> Result<(Link, JoinRequests), CliError> {
        let link = Link::connect(&self.broker, "join").await?;
        let requests = JoinRequests::listen(&link).await?;
        Ok((link, requests))
    }

    /// Ends the server, and takes back what was left for other commands.
    async fn end(self) {
        self.server.end().await;
        for file in self.left.iter().chain([&token::url_file(self.folder)]) {
            if let Err(error) = std::fs::remove_file(file) {
                tracing::debug!(%error, file = %file.display(), "not taken back");
            }
        }
    }
}

/// Is one of the farm's brokers until it is asked to stop.
pub(super) async fn run_broker(
    farm: &FarmAddress,
    replicas: usize,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let link = Link::connect(farm, "packtrain broker").await?;
    let options = BrokerOptions {
        name: address::owner(),
        replicas,
        ttl: address::ttl_on(replicas),
    };
    Ok(broker::run(link, options, stop).await?)
}
