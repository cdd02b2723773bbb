//! A NATS server of the test's own: real, on loopback, killed and started again at will.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use packtrain_testing::free_port;

use crate::process::Process;
use crate::until;

/// How long a server may take to say who it is once it takes connections.
const INFO_TIMEOUT: Duration = Duration::from_secs(1);

/// A server with JetStream, kept on disk in a folder of its own. Dropped, it is killed.
pub struct NatsServer {
    /// Where clients connect; the same after each start.
    pub address: SocketAddr,
    folder: PathBuf,
    name: String,
    process: Option<Process>,
}

impl NatsServer {
    /// The program.
    ///
    /// # Panics
    /// When the environment does not name it.
    pub fn program() -> PathBuf {
        let path = std::env::var_os("PACKTRAIN_TEST_NATS").map(PathBuf::from);
        path.filter(|path| path.is_file()).expect(
            "these tests need a nats-server: `sh tests/run.sh` installs one, and \
             PACKTRAIN_TEST_NATS names the program",
        )
    }

    /// A server that takes clients. What it keeps is below `folder`.
    pub fn start(folder: &Path) -> Self {
        let mut server = Self::new(folder, "n1", "");
        server.restart();
        server
    }

    /// Servers that keep everything together; they take clients, and may have no leader yet.
    pub fn cluster(folder: &Path, count: usize) -> Vec<Self> {
        let routes: Vec<SocketAddr> = free_addresses(count);
        let urls: Vec<String> = routes
            .iter()
            .map(|route| format!("\"nats://{route}\""))
            .collect();
        let mut servers: Vec<Self> = routes
            .iter()
            .enumerate()
            .map(|(at, route)| {
                let cluster = format!(
                    "cluster {{ name: farm, listen: \"{route}\", routes: [{}] }}\n",
                    urls.join(", ")
                );
                Self::new(folder, &format!("n{}", at + 1), &cluster)
            })
            .collect();
        servers.iter_mut().for_each(Self::launch);
        servers.iter().for_each(Self::wait);
        servers
    }

    /// A server with a configuration of its own, in which it listens at `address`. It does not run.
    pub fn configured(folder: &Path, name: &str, address: SocketAddr, config: &str) -> Self {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("server.conf"), config).unwrap();
        Self {
            address,
            folder,
            name: name.to_owned(),
            process: None,
        }
    }

    fn new(folder: &Path, name: &str, more: &str) -> Self {
        let address = free_addresses(1)[0];
        let mut config = String::from(more);
        writeln!(config, "listen: \"{address}\"\nserver_name: {name}").unwrap();
        let store = folder.join(name).join("store");
        writeln!(
            config,
            "jetstream {{ store_dir: {:?} }}",
            store.display().to_string()
        )
        .unwrap();
        Self::configured(folder, name, address, &config)
    }

    /// Its name in its cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What clients are given.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// The process.
    ///
    /// # Panics
    /// When it was killed.
    pub fn process(&self) -> &Process {
        self.process.as_ref().expect("it runs")
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it, again or for the first time, where it was and with what it had; it takes clients when
    /// this returns.
    pub fn restart(&mut self) {
        self.launch();
        self.wait();
    }

    /// Starts it without waiting.
    pub fn launch(&mut self) {
        self.process = None;
        let mut command = Command::new(Self::program());
        command.arg("-c").arg(self.folder.join("server.conf"));
        let log = self.folder.join("server.log");
        self.process = Some(Process::start(&self.name, &mut command, &log));
    }

    /// Waits until it takes clients.
    pub fn wait(&self) {
        until(|| self.says_who_it_is());
    }

    fn says_who_it_is(&self) -> bool {
        let Ok(stream) = TcpStream::connect(self.address) else {
            return false;
        };
        let mut line = String::new();
        stream.set_read_timeout(Some(INFO_TIMEOUT)).is_ok()
            && BufReader::new(stream).read_line(&mut line).is_ok()
            && line.starts_with("INFO ")
    }
}

/// Addresses on loopback that nobody listens on.
pub(crate) fn free_addresses(count: usize) -> Vec<SocketAddr> {
    (0..count)
        .map(|_| (Ipv4Addr::LOCALHOST, free_port()).into())
        .collect()
}
