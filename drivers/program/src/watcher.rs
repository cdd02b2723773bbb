//! Who sees to it that nothing of a program goes on: its owner, and one process beside this one, whose
//! standard input ends when this process is gone, however that ended. It is this program, started once
//! more in a session of its own, where no signal for the others reaches it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::unistd::Pid;
use parking_lot::{Mutex, MutexGuard};
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use tokio::time::Instant;

use crate::processes::{has_word, marked, members, session};
use crate::spawning;

/// The variable that a program has from its start, by which it is found when its owner is gone before
/// the watcher could be told who leads the session.
const MARK: &str = "PACKTRAIN_PROGRAM";
/// The word that makes this program a watcher.
const WATCH: &str = "watch-programs";
/// How often to look for what started while the others were killed.
const ROUNDS: usize = 3;
/// How long a program whose owner is gone may take to be seen.
const START_GRACE: Duration = Duration::from_millis(100);
/// How often to check whether what may end by itself has.
const END_POLL: Duration = Duration::from_millis(500);

/// The watcher of this process: one, as there is one end of this process.
static WATCHER: Mutex<Watcher> = Mutex::new(Watcher {
    is_wanted: false,
    process: None,
    watched: BTreeMap::new(),
});

/// Has this program watch what it starts. Answers `true` in the process that was started for that: it
/// has watched, and has nothing else to do. For the first line of `main`.
pub fn watches() -> bool {
    if std::env::args_os().nth(1).is_none_or(|word| word != WATCH) {
        watcher().is_wanted = true;
        return false;
    }
    // What ends the others must not end it.
    let _ = SigSet::all().thread_block();
    end(watched(io::stdin().lock()));
    true
}

/// Lets the watcher go when nothing is left to watch, and waits for its end.
pub fn unwatch() {
    let mut watcher = watcher();
    if watcher.watched.is_empty()
        && let Some((mut process, input)) = watcher.process.take()
    {
        drop(input);
        if let Err(error) = process.wait() {
            tracing::debug!(%error, "the watcher is gone already");
        }
    }
}

/// Whether a process watches what another one has started: it ends by itself once that is gone, and until
/// then it is the only one who knows what is left of a session whose leader has ended.
pub fn is_watcher(pid: i32) -> bool {
    has_word(pid, WATCH)
}

/// This program's file: on Linux the one that is run, whatever has become of its name.
///
/// # Errors
/// When nothing tells it.
pub fn own_program() -> io::Result<PathBuf> {
    let run = PathBuf::from("/proc/self/exe");
    if run.exists() {
        return Ok(run);
    }
    let called = std::env::args_os().next();
    std::env::current_exe().or_else(|error| called.map(PathBuf::from).ok_or(error))
}

fn watcher() -> MutexGuard<'static, Watcher> {
    WATCHER.lock()
}

/// What is watched, found by its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// A program that is being started.
    Start,
    /// The session that a process leads.
    Session(i32),
    /// All that has the mark, once it had so many milliseconds to end by itself.
    Descendants(u64),
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Session(leader) => write!(f, "session {leader}"),
            Self::Descendants(grace) => write!(f, "descendants {grace}"),
        }
    }
}

struct Watcher {
    /// Whether this program can be one.
    is_wanted: bool,
    /// Its input stays open as long as this process lives.
    process: Option<(Box<dyn ChildWrapper>, ChildStdin)>,
    /// What it has been told to watch.
    watched: BTreeMap<String, Watch>,
}

impl Watcher {
    /// Has it watch something, or forget it.
    fn tell(&mut self, mark: &str, watch: Option<Watch>) {
        let line = match watch {
            Some(watch) => {
                self.watched.insert(mark.to_owned(), watch);
                format!("{mark} {watch}\n")
            }
            None => {
                self.watched.remove(mark);
                format!("{mark} over\n")
            }
        };
        let told = self
            .process
            .as_mut()
            .map(|(_, input)| input.write_all(line.as_bytes()));
        if matches!(told, Some(Ok(()))) || !self.is_wanted || self.watched.is_empty() {
            return;
        }
        // It was killed, and another one gets everything.
        if let Some((mut gone, _)) = self.process.take() {
            let _ = gone.wait();
        }
        let begun = start().and_then(|(process, mut input)| {
            for (mark, watch) in &self.watched {
                input.write_all(format!("{mark} {watch}\n").as_bytes())?;
            }
            Ok((process, input))
        });
        match begun {
            Ok(begun) => self.process = Some(begun),
            Err(error) => tracing::debug!(%error, "nothing watches what is started"),
        }
    }
}

fn start() -> io::Result<(Box<dyn ChildWrapper>, ChildStdin)> {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(own_program()?);
    command
        .arg0("packtrain")
        .arg(WATCH)
        .env_remove(MARK)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut command = CommandWrap::from(command);
    let mut process = spawning(|| command.wrap(ProcessSession).spawn())?;
    let input = process.stdin().take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((process, input))
}

/// What is left to watch at the end of the input.
fn watched(input: impl BufRead) -> BTreeMap<String, Watch> {
    let mut watched = BTreeMap::new();
    for line in input.lines().map_while(Result::ok) {
        let words: Vec<_> = line.split(' ').collect();
        let watch = match words[..] {
            [_, "start"] => Some(Watch::Start),
            [_, "session", leader] => leader.parse().ok().map(Watch::Session),
            [_, "descendants", grace] => grace.parse().ok().map(Watch::Descendants),
            _ => None,
        };
        let mark = format!("{MARK}={}", words[0]);
        match watch {
            Some(watch) => watched.insert(mark, watch),
            None => watched.remove(&mark),
        };
    }
    watched
}

/// Ends what is watched.
fn end(watched: BTreeMap<String, Watch>) {
    let begun = Instant::now();
    let (mut leaders, mut starting, mut descendants) = (Vec::new(), Vec::new(), Vec::new());
    for (mark, watch) in watched {
        match watch {
            Watch::Start => starting.push(mark),
            Watch::Session(leader) => leaders.push(Pid::from_raw(leader)),
            Watch::Descendants(grace) => descendants.push((Duration::from_millis(grace), mark)),
        }
    }
    kill_sessions(&leaders);
    for _ in 0..ROUNDS {
        if starting.is_empty() {
            break;
        }
        std::thread::park_timeout(START_GRACE);
        let found = starting.iter().flat_map(|mark| marked(mark));
        kill_sessions(&found.filter_map(session).collect::<Vec<_>>());
    }
    for (grace, mark) in descendants {
        while begun.elapsed() < grace && !marked(&mark).is_empty() {
            std::thread::park_timeout(END_POLL);
        }
        kill_marked(&mark);
    }
}

/// Kills what is in sessions.
fn kill_sessions(leaders: &[Pid]) {
    for _ in 0..ROUNDS {
        // The number of a session that nobody is in may be another's by now.
        let members = members(leaders);
        let groups: BTreeSet<_> = members.iter().copied().filter_map(session).collect();
        if groups.is_empty() {
            return;
        }
        for group in groups {
            let _ = killpg(group, Signal::SIGKILL);
        }
        for member in members {
            let _ = kill(member, Signal::SIGKILL);
        }
    }
}

fn kill_marked(mark: &str) {
    for _ in 0..ROUNDS {
        let marked = marked(mark).into_iter();
        let killed = marked.filter(|pid| kill(*pid, Signal::SIGKILL).is_ok());
        if killed.count() == 0 {
            return;
        }
    }
}

/// Something registered with the watcher; dropped, it is unregistered.
#[derive(Debug)]
struct Watched {
    mark: String,
}

impl Watched {
    /// What this command starts, which has the mark.
    fn new(command: &mut tokio::process::Command, watch: Watch) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mark = format!("{}-{number}-{}", std::process::id(), time.as_nanos());
        command.env(MARK, &mark);
        watcher().tell(&mark, Some(watch));
        Self { mark }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        watcher().tell(&self.mark, None);
    }
}

/// A program that is watched from before its start: nothing is ever unwatched.
pub(super) struct Waiting(Watched);

impl Waiting {
    /// Has the program that this command starts watched.
    pub(super) fn mark(command: &mut tokio::process::Command) -> Self {
        Self(Watched::new(command, Watch::Start))
    }

    /// Watches the session that a process leads.
    pub(super) fn watch(self, leader: u32) -> Option<Session> {
        let leader = i32::try_from(leader).ok()?;
        watcher().tell(&self.0.mark, Some(Watch::Session(leader)));
        Some(Session {
            leader: Some(Pid::from_raw(leader)),
            _watched: self.0,
        })
    }
}

/// A session of a program. Dropped, it kills what is in it.
#[derive(Debug)]
pub(super) struct Session {
    /// Its leader; none once it was left.
    leader: Option<Pid>,
    _watched: Watched,
}

impl Session {
    /// Whether somebody is left in it.
    pub(super) fn sees_somebody(&self) -> bool {
        !members(self.leader.as_slice()).is_empty()
    }

    /// Leaves a session that nobody is in any more: its number may become another's.
    pub(super) fn leave(mut self) {
        self.leader = None;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            kill_sessions(&[leader]);
        }
    }
}

/// What a program starts, also where it leads sessions of its own, as browsers do: dropped, what is
/// left is killed. When this process is gone, it may end by itself first.
#[derive(Debug)]
pub struct Descendants(Watched);

impl Descendants {
    /// Those of a program that is yet to be started. `grace`, to the half second, is what they may take
    /// to end by themselves once this process is gone.
    pub fn of(command: &mut tokio::process::Command, grace: Duration) -> Self {
        let grace = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        Self(Watched::new(command, Watch::Descendants(grace)))
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        kill_marked(&format!("{MARK}={}", self.0.mark));
    }
}
