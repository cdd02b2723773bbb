//! One process of a rehearsal: this program in one of its parts, or the server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use futures::FutureExt as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packtrain_program::Program;
use tokio::process::Command;

use crate::exit::CliError;

/// A process that can be killed, stopped, and started again as it was.
pub(super) struct Actor {
    /// What it is called: `h1`, `broker-2`.
    pub(super) name: String,
    program: PathBuf,
    words: Vec<String>,
    /// The folder it works in.
    folder: PathBuf,
    log: PathBuf,
    environment: Vec<(&'static str, String)>,
    running: Option<Program>,
}

impl Actor {
    /// One that has not been started.
    pub(super) fn new(
        name: &str,
        program: &Path,
        words: Vec<String>,
        folder: PathBuf,
        stage: &Path,
        ttl_seconds: u64,
    ) -> Self {
        let below = |name: &str| stage.join(name).display().to_string();
        Self {
            name: name.to_owned(),
            program: program.to_owned(),
            words,
            folder,
            log: stage.join("logs").join(format!("{name}.log")),
            // What this user has does not matter, and nothing is left there.
            environment: vec![
                ("XDG_CONFIG_HOME", below("config")),
                ("XDG_STATE_HOME", below("state")),
                ("XDG_CACHE_HOME", below("cache")),
                ("PACKTRAIN_FARM_TTL", ttl_seconds.to_string()),
                ("NO_COLOR", "1".to_owned()),
            ],
            running: None,
        }
    }

    /// Starts it, with its outputs in its log.
    pub(super) fn start(&mut self) -> Result<(), CliError> {
        let failed = |error: std::io::Error| {
            CliError::infrastructure(format!("cannot start {}", self.name)).because(&error)
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let append = |path: &Path| File::options().create(true).append(true).open(path);
        let mut command = Command::new(&self.program);
        command
            .args(&self.words)
            .current_dir(&self.folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(append(&self.output()).map_err(failed)?)
            .stderr(append(&self.log).map_err(failed)?);
        self.running = Some(Program::spawn(command).map_err(failed)?);
        Ok(())
    }

    /// The file with what it writes to standard output.
    pub(super) fn output(&self) -> PathBuf {
        self.log.with_extension("out")
    }

    /// The last lines that it wrote to standard error.
    pub(super) fn last_words(&self) -> String {
        let said = std::fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }

    /// Other words for the next start.
    pub(super) fn set_words(&mut self, words: Vec<String>) {
        self.words = words;
    }

    /// Whether it runs.
    pub(super) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Its exit code, once, when it has ended by itself; 255 when it was killed.
    pub(super) fn ended(&mut self) -> Option<i32> {
        let ended = self.running.as_mut()?.wait().now_or_never()?;
        self.running = None;
        Some(ended.ok().and_then(|status| status.code()).unwrap_or(255))
    }

    /// `kill -9` of the process alone, as the system does it when memory is short.
    pub(super) async fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        if let Some(mut running) = self.running.take() {
            let _ = running.wait().await;
        }
    }

    /// Stops it without its knowledge.
    pub(super) fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets it go on.
    pub(super) fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let id = self.running.as_ref().and_then(Program::id);
        if let Some(id) = id.and_then(|id| i32::try_from(id).ok()) {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(id), signal);
        }
    }
}
