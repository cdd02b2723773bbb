//! One process of a source: started in a session of its own, watched, asked to end, killed.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::Stop;
use packtrain_program::{Listener, Program, listener};
use tokio::process::{ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;

use super::launch::CommandLine;
use super::log::SourceLog;
use super::mcp::Stdin;

/// How long after its end what it wrote last may take to arrive.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A process that was started. Dropped, it is killed with all it started.
pub(super) struct Process {
    pub(super) pid: u32,
    /// Its standard input.
    pub(super) stdin: Arc<Stdin>,
    ended: watch::Receiver<Option<String>>,
    orders: mpsc::Sender<End>,
    _keeper: AbortOnDropHandle<()>,
}

impl Process {
    /// Starts a process. Answers its standard output too.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn start(
        line: &CommandLine,
        env: &[(&str, String)],
        log: SourceLog,
    ) -> Result<(Self, ChildStdout), String> {
        let mut command = Command::new(&line.program);
        for name in &line.without {
            command.env_remove(name);
        }
        command
            .args(&line.args)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .envs(&line.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &line.folder {
            command.current_dir(folder);
        }
        let shown = line.program.to_string_lossy();
        let mut program = Program::spawn(command).map_err(|error| match &line.folder {
            Some(folder) if !folder.is_dir() => {
                format!("its folder {} does not exist", folder.display())
            }
            _ if error.kind() == std::io::ErrorKind::NotFound => {
                format!("program `{shown}` not found")
            }
            _ => format!("`{shown}` cannot be started: {error}"),
        })?;
        let lost = || format!("`{shown}` has no pipes");
        let (stdin, stdout, stderr) = (program.stdin(), program.stdout(), program.stderr());
        let stdout = stdout.ok_or_else(lost)?;
        let stderr = stderr.ok_or_else(lost)?;
        let pid = program
            .id()
            .ok_or_else(|| format!("`{shown}` ended at once"))?;
        let (ended_tx, ended) = watch::channel(None);
        let (orders, asked) = mpsc::channel(4);
        let reading = AbortOnDropHandle::new(tokio::spawn(log.follow(stderr)));
        let keeper = keep(program, reading, asked, ended_tx);
        Ok((
            Self {
                pid,
                stdin: Stdin::new(stdin),
                ended,
                orders,
                _keeper: AbortOnDropHandle::new(tokio::spawn(keeper)),
            },
            stdout,
        ))
    }

    /// Waits for its end; answers how it ended: `exit code: 42`.
    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let how = ended.wait_for(Option::is_some).await;
        how.ok()
            .and_then(|how| how.clone())
            .unwrap_or_else(|| "killed".to_owned())
    }

    /// Who listens on a port, as seen from it. The system takes milliseconds to say, in which the source
    /// may answer in another way.
    pub(super) async fn listener(&self, port: u16) -> Listener {
        let pid = self.pid;
        let looking = tokio::task::spawn_blocking(move || listener(pid, port));
        // An interrupted look has seen no process.
        looking.await.unwrap_or(Listener::Nobody)
    }

    /// Ends it: its standard input is closed, it is sent SIGTERM, it is killed.
    pub(super) async fn stop(&self, policy: &Stop, reads_stdin: bool) {
        if reads_stdin {
            self.stdin.close().await;
            if tokio::time::timeout(policy.stdin_grace.get(), self.ended())
                .await
                .is_ok()
            {
                return;
            }
        }
        let _ = self.orders.send(End::Terminate).await;
        if tokio::time::timeout(policy.term_grace.get(), self.ended())
            .await
            .is_err()
        {
            let _ = self.orders.send(End::Kill).await;
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, self.ended()).await;
        }
    }
}

/// How a process is asked to end.
enum End {
    /// By SIGTERM.
    Terminate,
    /// At once.
    Kill,
}

/// Owns the program until it has ended or it is no longer needed.
async fn keep(
    mut program: Program,
    reading: AbortOnDropHandle<()>,
    mut asked: mpsc::Receiver<End>,
    ended: watch::Sender<Option<String>>,
) {
    let status = loop {
        tokio::select! {
            status = program.wait() => break status,
            order = asked.recv() => match order {
                Some(End::Terminate) => program.terminate(),
                Some(End::Kill) | None => {
                    drop(program);
                    ended.send_replace(Some("killed".to_owned()));
                    return;
                }
            },
        }
    };
    let how = match status {
        Ok(status) => match status.code() {
            Some(code) => format!("exit code: {code}"),
            None => format!("{status}"),
        },
        Err(error) => error.to_string(),
    };
    // Kills what it left running, so that its pipes end.
    drop(program);
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, reading).await;
    ended.send_replace(Some(how));
}
