//! Runs that agents start: `packtrain run` as a process of its own, whose sessions this daemon carries
//! out. It is followed by its events, and ends when its agent does, unless that let it go on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::DeviceId;
use packtrain_model::{Entry, RunEvent, Verdict};
use packtrain_program::Program;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::agents::{Agent, Update};
use super::hub::Hub;
use super::project::Project;

/// The variable by which a run's process shows who has started it.
pub const TICKET: &str = "PACKTRAIN_STARTED_BY";
/// How long a run may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(90);
/// How long it may take to end once it has said all.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);
/// The most of an event, and of what is said on the way.
const LINE_BYTES: u64 = 64 * 1024 * 1024;
const SAID_BYTES: u64 = 64 * 1024;

/// How a run begins to say what it waits for.
const WAITS: &str = "waiting for ";

/// Where this program is: once it was replaced, the system does not know any more.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Remembers where this program is.
pub(crate) fn remember_program() {
    // A run by another build would be refused by this daemon.
    if let Ok(program) = packtrain_program::own_program() {
        PROGRAM.get_or_init(|| program);
    }
}

/// What a run is started with.
pub struct Started {
    /// Flags of `packtrain run`.
    pub words: Vec<String>,
    /// Trail files and folders.
    pub paths: Vec<PathBuf>,
    /// Whether it goes on when its agent is gone.
    pub is_detached: bool,
    /// Its places among the agent's runs and among all.
    pub places: [OwnedSemaphorePermit; 2],
}

/// What a check says.
pub struct Checked {
    /// Whether nothing is wrong.
    pub is_right: bool,
    /// What it printed.
    pub said: String,
}

/// How far a run is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Its name, once it has one.
    run: Option<String>,
    planned: usize,
    settled: usize,
    /// How each session ended, in words.
    ended: Vec<(String, String)>,
    /// The step that was begun last.
    now: Option<String>,
    /// The devices that sessions wait for, each with why.
    waits: BTreeMap<String, String>,
    verdict: Option<Verdict>,
    /// What its process said besides, when it ended without a verdict.
    problem: Option<String>,
    is_over: bool,
}

impl Progress {
    /// In one line.
    pub fn line(&self) -> String {
        let waits = self.waits.iter();
        let waits = waits.map(|(device, why)| format!("waiting for {device}: {why}"));
        let now: Vec<_> = self.now.clone().into_iter().chain(waits).collect();
        let now = match now.is_empty() {
            true => "starting".to_owned(),
            false => now.join("; "),
        };
        format!(
            "{} of {} sessions settled; {now}",
            self.settled, self.planned
        )
    }
}

/// A run of an agent.
pub struct AgentRun {
    /// What the agent names it by.
    pub handle: String,
    /// When it was started.
    pub started: DateTime<Utc>,
    /// Where runs are kept.
    root: PathBuf,
    progress: watch::Sender<Progress>,
    cancel: CancellationToken,
    folder: OnceLock<PathBuf>,
}

impl AgentRun {
    /// Starts one.
    ///
    /// # Errors
    /// When its process cannot be started.
    pub fn start(
        hub: &Arc<Hub>,
        agent: &Arc<Agent>,
        started: Started,
    ) -> Result<Arc<Self>, String> {
        let (ticket, good) = hub.ticket();
        let mut command = ours(&agent.project, "run", &started.paths, &started.words)?;
        command.env(TICKET, &ticket);
        let mut program = Program::spawn(command).map_err(|error| error.to_string())?;
        let (Some(stdout), Some(stderr)) = (program.stdout(), program.stderr()) else {
            return Err("its output cannot be read".to_owned());
        };
        let run = Arc::new(Self {
            handle: format!("run-{}", uuid::Uuid::new_v4().simple()),
            started: Utc::now(),
            root: agent.project.config.run.output_dir.clone(),
            progress: watch::Sender::default(),
            cancel: hub.ending.child_token(),
            folder: OnceLock::new(),
        });
        agent.started(&run);
        let (of_it, told) = (Arc::clone(&run), Arc::clone(agent));
        hub.spawn(async move {
            let _kept = (good, started.places);
            let gone = async {
                if started.is_detached {
                    std::future::pending().await
                } else {
                    told.gone.cancelled().await;
                }
            };
            let following = async {
                let (problem, ()) = tokio::join!(of_it.said(stderr), of_it.follow(stdout, &told));
                problem
            };
            tokio::pin!(following);
            let problem = tokio::select! {
                problem = &mut following => problem,
                () = async { tokio::select! { () = gone => {} () = of_it.cancel.cancelled() => {} } } => {
                    program.terminate();
                    let stopped = tokio::time::timeout(STOP_TIMEOUT, following).await;
                    stopped.unwrap_or_else(|_| "it did not stop in time".to_owned())
                }
            };
            // Its output has ended, or its time.
            let exit = tokio::time::timeout(END_TIMEOUT, program.wait()).await;
            // What it left has no owner.
            let _ = program.kill().await;
            let code = exit.ok().and_then(Result::ok).and_then(|exit| exit.code());
            of_it.progress.send_modify(|progress| progress.end(code, problem.trim()));
            told.tell(Update::Resource(of_it.uri()));
        });
        Ok(run)
    }

    /// Checks trails.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub async fn check(project: &Project, paths: Vec<PathBuf>) -> Result<Checked, String> {
        let mut command = ours(project, "check", &paths, &[])?;
        command.kill_on_drop(true);
        let output = packtrain_program::output(command, SAID_BYTES as usize);
        let output = tokio::time::timeout(CHECK_TIMEOUT, output).await;
        let output = output
            .map_err(|_| format!("it took longer than {} s", CHECK_TIMEOUT.as_secs()))?
            .map_err(|error| error.to_string())?;
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Checked {
            is_right: output.status.success(),
            said,
        })
    }

    async fn follow(&self, stdout: impl AsyncRead + Unpin, agent: &Agent) {
        let mut lines = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut lines).take(LINE_BYTES);
            if !matches!(limited.read_until(b'\n', &mut line).await, Ok(1..)) {
                return;
            }
            let Ok(entry) = serde_json::from_slice::<Entry>(&line) else {
                continue;
            };
            let is_news = self
                .progress
                .send_if_modified(|progress| progress.take(entry.event));
            if is_news {
                agent.tell(Update::Resource(self.uri()));
            }
            let name = self.progress.borrow().run.clone();
            if let Some(name) = name {
                self.folder.get_or_init(|| self.root.join(name));
            }
        }
    }

    /// What it says on standard error, as far as it is worth keeping; what it waits for is reported at once.
    async fn said(&self, stderr: impl AsyncRead + Unpin) -> String {
        let mut lines = BufReader::new(stderr);
        let mut kept = String::new();
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut lines).take(SAID_BYTES);
            if !matches!(limited.read_until(b'\n', &mut line).await, Ok(1..)) {
                return kept;
            }
            let line = String::from_utf8_lossy(&line);
            let waits = line.strip_prefix(WAITS).map(str::trim);
            if let Some((device, why)) = waits.and_then(|waits| waits.split_once(": ")) {
                self.progress.send_modify(|progress| {
                    progress.waits.insert(device.to_owned(), why.to_owned());
                });
            }
            if kept.len() + line.len() <= SAID_BYTES as usize {
                kept.push_str(&line);
            }
        }
    }

    /// Waits until it is over; `on_progress` gets its progress.
    pub async fn is_settled(&self, mut on_progress: impl FnMut(&Progress)) {
        let mut progress = self.progress.subscribe();
        loop {
            let now = progress.borrow_and_update().clone();
            if now.is_over {
                return;
            }
            on_progress(&now);
            // Its sender is `self`'s.
            if progress.changed().await.is_err() {
                return;
            }
        }
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Whether it was asked to stop and did not come to its end.
    pub fn was_cancelled(&self) -> bool {
        let progress = self.progress.borrow();
        let verdict = progress.verdict();
        let is_whole = verdict.is_some_and(|verdict| verdict.cancelled == 0);
        self.cancel.is_cancelled() && progress.is_over && !is_whole
    }

    /// Whether its process has ended.
    pub fn is_over(&self) -> bool {
        self.progress.borrow().is_over
    }

    /// How far it is, in one line.
    pub fn line(&self) -> String {
        self.progress.borrow().line()
    }

    /// The resource that tells how it goes.
    pub fn uri(&self) -> String {
        format!("packtrain://runs/{}", self.handle)
    }

    /// A file of its folder.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.get()?.join(name))
    }

    /// Whether a session of it waits for a device.
    pub fn waits_for(&self, device: &DeviceId) -> bool {
        let progress = self.progress.borrow();
        progress.waits.contains_key(&device.to_string())
    }

    /// How it goes, for programs.
    pub fn status(&self) -> Value {
        let progress = self.progress.borrow();
        let sessions = progress.ended.iter();
        let sessions: Vec<_> = sessions
            .map(|(what, how)| json!({ "session": what, "outcome": how }))
            .collect();
        json!({
            "run": self.handle,
            "id": progress.run,
            "over": progress.is_over,
            "planned": progress.planned,
            "settled": progress.settled,
            "sessions": sessions,
            "verdict": progress.verdict(),
            "problem": progress.problem,
            "now": progress.now,
            "waits_for": progress.waits,
        })
    }

    /// How it goes, for readers.
    pub fn summary(&self) -> String {
        let progress = self.progress.borrow();
        let mut lines: Vec<String> = Vec::new();
        match (&progress.problem, progress.verdict()) {
            (Some(problem), _) => lines.push(format!("finished with errors: {problem}")),
            (None, Some(verdict)) => lines.push(format!(
                "finished: {} passed, {} failed, {} errored, {} skipped, {} cancelled",
                verdict.passed,
                verdict.failed,
                verdict.infrastructure + verdict.needs_agent,
                verdict.skipped,
                verdict.cancelled
            )),
            (None, None) => lines.push(format!("running: {}", progress.line())),
        }
        let ended = progress.ended.iter();
        lines.extend(ended.map(|(what, how)| format!("{what}: {how}")));
        let report = self.file("report.html");
        if progress.is_over && report.is_some_and(|path| path.is_file()) {
            lines.push(format!("report: {}/report.html", self.uri()));
        }
        lines.join("\n")
    }
}

impl Progress {
    /// The verdict, once its process has ended as that says; until then it may still go wrong.
    fn verdict(&self) -> Option<&Verdict> {
        let counts = self.is_over && self.problem.is_none();
        self.verdict.as_ref().filter(|_| counts)
    }

    /// Takes down how its process has ended, which has the last word: what came after the verdict, as
    /// reports that could not be written, may have gone wrong.
    fn end(&mut self, code: Option<i32>, said: &str) {
        self.is_over = true;
        self.waits.clear();
        let verdict = self.verdict.as_ref();
        let meant = verdict.map(|verdict| i32::from(verdict.exit.code()));
        if code.is_none() || code != meant {
            let code = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
            self.problem = Some(format!("it ended with {code}: {said}"));
        }
    }

    /// Whether an event changes what followers of the run care about.
    fn take(&mut self, event: RunEvent) -> bool {
        match event {
            RunEvent::RunStarted { run, sessions, .. } => {
                self.run = Some(run.to_string());
                self.planned = sessions.len();
            }
            RunEvent::SessionStarted {
                session, device, ..
            } => {
                self.now = Some(format!("{session} on {}", device.id));
                self.waits.remove(&device.id.to_string());
            }
            RunEvent::StepStarted { session, step } => {
                self.now = Some(format!("{session}: step {step}"));
            }
            RunEvent::SessionFinished {
                session, outcome, ..
            } => {
                self.settled += 1;
                let how = match outcome.message() {
                    Some(message) => format!("{}: {message}", word(&outcome)),
                    None => word(&outcome).to_owned(),
                };
                self.ended.push((session.to_string(), how));
            }
            RunEvent::RunFinished { verdict, .. } => {
                self.verdict = Some(verdict);
            }
            _ => return false,
        }
        true
    }
}

const fn word(outcome: &packtrain_model::Outcome) -> &'static str {
    use packtrain_model::Outcome;
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Skipped { .. } => "skipped",
        Outcome::Failed(_) => "failed",
        Outcome::NeedsAgent { .. } => "needs an agent",
        Outcome::Infrastructure { .. } => "errored",
        Outcome::Cancelled { .. } => "cancelled",
    }
}

/// This program, in the project's folder, as the client that opened the project configures it.
fn ours(
    project: &Project,
    name: &str,
    paths: &[PathBuf],
    words: &[String],
) -> Result<Command, String> {
    let program = PROGRAM.get().ok_or("cannot find this program")?;
    let mut command = Command::new(program);
    if let Some(config) = &project.key.config {
        command.arg("--config").arg(config);
    }
    command
        .args(["--color", "never", name])
        .args((name == "run").then_some("--format=json"))
        .args(words)
        .arg("--")
        .args(paths)
        .current_dir(&project.key.folder)
        .envs(&project.key.environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use packtrain_model::Outcome;

    use super::*;

    fn passed() -> Progress {
        let mut verdict = Verdict::default();
        verdict.count(&Outcome::Passed, false);
        Progress {
            verdict: Some(verdict),
            ..Progress::default()
        }
    }

    #[test]
    fn a_verdict_counts_only_when_its_process_ends_as_it_says() {
        let mut progress = passed();
        assert_eq!(progress.verdict(), None, "its process has not ended");
        progress.end(Some(0), "");
        assert_eq!(progress.problem, None);
        assert!(progress.verdict().is_some());
        for (code, words) in [
            (Some(2), "it ended with 2: disk full"),
            (None, "it ended with a signal: disk full"),
        ] {
            let mut progress = passed();
            progress.end(code, "disk full");
            assert_eq!(progress.problem.as_deref(), Some(words));
            assert_eq!(progress.verdict(), None);
        }
        let mut progress = Progress::default();
        progress.end(Some(0), "");
        assert!(
            progress.problem.is_some(),
            "without a verdict nothing is known"
        );
    }
}
