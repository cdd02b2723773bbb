//! A nats-server of a test's own.

use std::path::Path;

use packtrain_farm::link::{Credentials, FarmAddress, Link, Trust};
use packtrain_program::Program;
use tempfile::TempDir;
use tokio::process::Command;

/// A server with JetStream on a port of its own; it ends with this.
pub struct Nats {
    program: Option<Program>,
    folder: TempDir,
    pub port: u16,
}

impl Nats {
    /// Starts a server.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (program, port) = spawn(folder.path(), None).await;
        Self {
            program: Some(program),
            folder,
            port,
        }
    }

    /// Kills the server and waits until its port is free.
    pub async fn kill(&mut self) {
        let running = self.program.take().expect("it runs");
        running.kill().await.unwrap();
    }

    /// Starts it again where it was.
    pub async fn restart(&mut self) {
        let (program, _) = spawn(self.folder.path(), Some(self.port)).await;
        self.program = Some(program);
    }

    pub fn address(&self) -> FarmAddress {
        FarmAddress {
            servers: vec![format!("nats://127.0.0.1:{}", self.port)],
            credentials: Credentials::None,
            trust: Trust::System,
        }
    }

    /// A connection.
    pub async fn link(&self) -> Link {
        Link::connect(&self.address(), "test").await.unwrap()
    }

    /// A connection to a server on which everything is set up.
    pub async fn farm(&self) -> Link {
        let link = self.link().await;
        link.set_up(1).await.unwrap();
        link
    }
}

async fn spawn(folder: &Path, port: Option<u16>) -> (Program, u16) {
    let server = std::env::var_os("PACKTRAIN_TEST_NATS")
        .expect("PACKTRAIN_TEST_NATS leads to a nats-server; `sh tests/run.sh` installs one");
    let ports = folder.join("ports");
    let _ = std::fs::remove_dir_all(&ports);
    std::fs::create_dir_all(&ports).unwrap();
    let mut command = Command::new(server);
    // Where it is to come back, nobody else may be meanwhile.
    let port = port
        .unwrap_or_else(packtrain_testing::free_port)
        .to_string();
    command
        .args(["-a", "127.0.0.1", "-p", &port, "-js", "-sd"])
        .arg(folder.join("data"))
        .arg("--ports_file_dir")
        .arg(&ports)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let program = Program::spawn(command).unwrap();
    let mut every = tokio::time::interval(std::time::Duration::from_millis(5));
    for _ in 0..2_000 {
        every.tick().await;
        let mut files = std::fs::read_dir(&ports).unwrap();
        let Some(file) = files.next() else { continue };
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap_or_default();
        let after = text.split("nats://127.0.0.1:").nth(1);
        let digits = after.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        if let Some(port) = digits.and_then(|digits| digits.parse().ok()) {
            return (program, port);
        }
    }
    panic!("nats-server did not start");
}
