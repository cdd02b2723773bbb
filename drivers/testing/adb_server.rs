//! An adb server of the test's own, on its own port, gone with the test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::free_port;

/// A server that runs. Dropping it kills it and all it started.
pub struct AdbServer {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    group: Option<ProcessGroup>,
    home: TempDir,
}

/// Android's `adb`.
pub fn adb() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join("adb"))
        .find(|file| file.is_file())
        .expect("these tests need Android's `adb` on PATH: `apt install adb`, or Android's platform-tools")
}

/// `adb` or a shell that runs it, which sees neither this computer's phones nor its keys.
pub fn secluded(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("ANDROID_USER_HOME", home.join(".android"))
        .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553")
        .env("ADB_MDNS_AUTO_CONNECT", "0")
        // No phone of the machine shall be seen, nor three seconds spent looking for one.
        .env("ADB_USB", "0")
        .env_remove("ANDROID_SERIAL")
        .env_remove("ADB_SERVER_SOCKET")
        .env_remove("ANDROID_ADB_SERVER_PORT")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Starts an adb server as `adb` itself does, and waits until it listens. `command` is a `sh`
/// with the environment it shall have.
pub async fn start_adb_server(
    command: &mut Command,
    adb: &Path,
    args: &[&str],
) -> (Child, ProcessGroup) {
    // The server says OK where it is told to, but never on its standard output.
    let line = "exec \"$@\" fork-server server --reply-fd 3 3>&1 1>/dev/null";
    let mut server = command
        .args(["-c", line, "sh"])
        .arg(adb)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let group = ProcessGroup(server.id().unwrap());
    let mut said = String::new();
    let out = server.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut said).await.unwrap();
    assert_eq!(said, "OK\n", "the adb server starts");
    (server, group)
}

/// A group of processes, killed as a whole when this is dropped.
pub struct ProcessGroup(pub u32);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The whole group: adb may have children of its own.
        let killed = std::process::Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", self.0)])
            .stderr(Stdio::null())
            .status();
        assert!(killed.is_ok(), "`kill` can be run");
    }
}

impl AdbServer {
    /// Starts a server; it listens when this returns.
    pub async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let (child, group) = serve(address, &home).await;
        Self {
            address,
            child,
            group: Some(group),
            home,
        }
    }

    /// Ends it as a crash does; nobody listens when this returns.
    pub async fn kill(&mut self) {
        self.group = None;
        self.child.wait().await.unwrap();
    }

    /// Starts it again where it was. It knows no phones on the network.
    pub async fn start_again(&mut self) {
        let (child, group) = serve(self.address, &self.home).await;
        self.child = child;
        self.group = Some(group);
    }

    /// What `adb` says to a command for this server.
    pub async fn adb(&self, arguments: &[&str]) -> String {
        let port = self.address.port().to_string();
        let said = secluded(&adb(), self.home.path())
            .args(["-P", &port])
            .args(arguments)
            .output()
            .await
            .unwrap();
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// Plugs a phone in, by its address.
    pub async fn plug_in(&self, phone: &str) {
        let said = self.adb(&["connect", phone]).await;
        assert!(said.contains("connected to"), "{said}");
    }

    /// Unplugs it.
    pub async fn unplug(&self, phone: &str) {
        let said = self.adb(&["disconnect", phone]).await;
        assert!(said.contains("disconnected"), "{said}");
    }
}

async fn serve(address: SocketAddr, home: &TempDir) -> (Child, ProcessGroup) {
    let mut command = secluded(Path::new("sh"), home.path());
    let socket = format!("tcp:localhost:{}", address.port());
    start_adb_server(&mut command, &adb(), &["-L", &socket]).await
}

impl Drop for AdbServer {
    fn drop(&mut self) {
        self.group = None;
        // Reaped by the runtime if it is not dead yet.
        let _ = self.child.try_wait();
    }
}
