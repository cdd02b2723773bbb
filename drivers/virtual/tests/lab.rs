//! A fleet and an adb server of its own, both gone with the test.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use packtrain_testing::{
    NO_FAULTS, ProcessGroup, TEST_TIMEOUT, adb, fleet_options, secluded, start_adb_server,
};
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// The example app, without waiting and with one phone.
pub fn one_phone() -> FleetOptions {
    with_faults(NO_FAULTS)
}

/// As [`one_phone`], with these faults.
pub fn with_faults(rules: &str) -> FleetOptions {
    FleetOptions {
        android: 1,
        ..fleet_options(rules)
    }
}

/// A client `adb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adb {
    /// Debian's, of 2018's protocol.
    Old,
    /// The one inside of `adbutils`.
    New,
}

impl Adb {
    /// Both, for promises that hold for every client.
    pub const BOTH: [Self; 2] = [Self::Old, Self::New];

    /// Where it is.
    fn path(self) -> PathBuf {
        match self {
            Self::Old => adb(),
            Self::New => {
                static FOUND: OnceLock<PathBuf> = OnceLock::new();
                FOUND.get_or_init(adb_of_adbutils).clone()
            }
        }
    }
}

/// The Python to run scripts with.
pub fn python() -> PathBuf {
    let python = std::env::var_os("PACKTRAIN_TEST_PYTHON").expect(
        "PACKTRAIN_TEST_PYTHON is not set: make a venv, `pip install -r tests/requirements.txt`, and set it to the venv's bin/python",
    );
    PathBuf::from(python)
}

/// The `adb` inside of the Python package `adbutils`.
pub fn adb_of_adbutils() -> PathBuf {
    let script = "import adbutils, pathlib; print(pathlib.Path(adbutils.__file__).parent / 'binaries' / 'adb')";
    let output = std::process::Command::new(python())
        .args(["-c", script])
        .output()
        .expect("PACKTRAIN_TEST_PYTHON can be run");
    assert!(
        output.status.success(),
        "PACKTRAIN_TEST_PYTHON has no adbutils: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// What a client said.
#[derive(Debug)]
pub struct ProgramOutput {
    pub stdout: String,
    pub bytes: Vec<u8>,
    pub stderr: String,
    pub code: i32,
}

impl ProgramOutput {
    /// Standard output and error together.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The output, after making sure that the client was content.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }
}

/// A fleet, and an adb server that belongs to this test.
pub struct Lab {
    adb: PathBuf,
    server: Option<Child>,
    /// The server's process, which leads its own group.
    group: Option<ProcessGroup>,
    socket: String,
    fleet: Option<Fleet>,
    dir: TempDir,
    burst: bool,
}

impl Lab {
    /// A fleet, and a server whose devices are not connected yet.
    pub async fn new(adb: Adb, options: FleetOptions) -> Self {
        Self::with_burst(adb, options, false).await
    }

    /// As [`Lab::new`]; with `burst` the client offers delayed acks.
    pub async fn with_burst(adb: Adb, options: FleetOptions, burst: bool) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = format!("localfilesystem:{}", dir.path().join("adb.sock").display());
        let fleet = Fleet::start(options).await.expect("the fleet starts");
        let mut lab = Self {
            adb: adb.path(),
            server: None,
            group: None,
            socket,
            fleet: Some(fleet),
            dir,
            burst,
        };
        lab.start_server().await;
        lab
    }

    /// A fleet and a server with all its devices connected.
    pub async fn connected(adb: Adb, options: FleetOptions) -> Self {
        let lab = Self::new(adb, options).await;
        for phone in lab.phones() {
            let said = lab.adb(["connect", &phone.address().to_string()]).await;
            assert!(said.stdout.starts_with("connected to"), "{said:?}");
        }
        lab
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = secluded(program.as_ref(), self.dir.path());
        if self.burst {
            command.env("ADB_BURST_MODE", "1");
        }
        command
    }

    async fn start_server(&mut self) {
        let socket = self.socket.clone();
        let mut command = self.command("sh");
        let (server, group) = start_adb_server(&mut command, &self.adb, &["-L", &socket]).await;
        self.group = Some(group);
        self.server = Some(server);
    }

    /// The directory of this test.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The phones.
    pub fn phones(&self) -> &[AndroidHandle] {
        self.fleet.as_ref().expect("until the end").android()
    }

    /// The first phone.
    pub fn phone(&self) -> &AndroidHandle {
        &self.phones()[0]
    }

    /// How adb names the first phone.
    pub fn serial(&self) -> String {
        self.phone().address().to_string()
    }

    /// A running `adb` whose output can be followed.
    pub fn follow<const N: usize>(&self, args: [&str; N]) -> Child {
        self.command(&self.adb)
            .args(["-L", &self.socket])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::piped())
            .spawn()
            .expect("adb can be run")
    }

    /// Runs `adb`.
    pub async fn adb<const N: usize>(&self, args: [&str; N]) -> ProgramOutput {
        self.said(
            self.command(&self.adb)
                .args(["-L", &self.socket])
                .args(args),
            &[],
        )
        .await
    }

    /// Runs `adb -s` the first phone.
    pub async fn on_phone<const N: usize>(&self, args: [&str; N]) -> ProgramOutput {
        let serial = self.serial();
        let mut command = self.command(&self.adb);
        command.args(["-L", &self.socket, "-s", &serial]).args(args);
        self.said(&mut command, &[]).await
    }

    /// Runs `adb shell` on the first phone.
    pub async fn shell(&self, line: &str) -> ProgramOutput {
        self.on_phone(["shell", line]).await
    }

    /// Runs `adb exec-out` on the first phone.
    pub async fn exec_out(&self, line: &str) -> ProgramOutput {
        self.on_phone(["exec-out", line]).await
    }

    /// Runs `adb -s` the first phone with this on its standard input.
    pub async fn with_input<const N: usize>(&self, args: [&str; N], input: &[u8]) -> ProgramOutput {
        let serial = self.serial();
        let mut command = self.command(&self.adb);
        command.args(["-L", &self.socket, "-s", &serial]).args(args);
        self.said(&mut command, input).await
    }

    async fn said(&self, command: &mut Command, input: &[u8]) -> ProgramOutput {
        let mut child = command
            .stdin(if input.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the client can be run");
        if let Some(mut stdin) = child.stdin.take() {
            let input = input.to_vec();
            tokio::spawn(async move {
                use tokio::io::AsyncWriteExt as _;
                // A client that does not want more of it has closed it.
                let _ = stdin.write_all(&input).await;
            });
        }
        let output = tokio::time::timeout(TEST_TIMEOUT, child.wait_with_output())
            .await
            .unwrap_or_else(|_| panic!("{command:?} hangs"))
            .expect("the client ran");
        ProgramOutput {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            bytes: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Ends everything, and makes sure that the fleet ends.
    pub async fn end(mut self) {
        self.end_server();
        let fleet = self.fleet.take().expect("until the end");
        tokio::time::timeout(TEST_TIMEOUT, fleet.shutdown())
            .await
            .expect("the fleet ends");
    }

    fn end_server(&mut self) {
        self.group = None;
        if let Some(mut server) = self.server.take() {
            // Reaped by the runtime if it is not dead yet.
            let _ = server.try_wait();
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.end_server();
    }
}
