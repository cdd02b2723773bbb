//! Whoever sees to it that nothing of a program's session goes on: its owner, and a shell beside it
//! whose standard input ends when the owner is gone, however that ended.

use std::fs::File;
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// The variable that a program has from its start, by which it is found when its owner is gone before
/// it could be told who leads the session.
const MARK: &str = "PACKTRAIN_PROGRAM";

/// Is told who leads a session, waits for the end of its input, then kills what is in that session:
/// where nothing tells sessions, what is in its group. When its input ends before it is told, it looks
/// for the mark.
const SCRIPT: &str = r#"trap "" HUP INT TERM QUIT
mark="^$1$"
if read -r leader; then read -r _; else
  for round in 1 2 3; do
    sleep 0.1
    for folder in /proc/[0-9]*; do
      grep -qsz "$mark" "$folder/environ" && read -r stat <"$folder/stat" || continue
      set -- ${stat##*) }
      leader=$4
    done
    [ "$leader" ] && break
  done
fi
[ "$leader" ] || exit
kill -KILL "-$leader"
for round in 1 2 3; do
  for folder in /proc/[0-9]*; do
    read -r stat <"$folder/stat" || continue
    set -- ${stat##*) }
    [ "$4" = "$leader" ] && kill -KILL "${folder#/proc/}"
  done
done"#;

/// Waits for the end of its input, leaves what has the mark so many half seconds to end by itself, and
/// kills it.
const MARK_SCRIPT: &str = r#"trap "" HUP INT TERM QUIT
read -r _
round=0
while :; do
  found=$(grep -lsz "^$1$" /proc/[0-9]*/environ)
  [ "$found" ] || exit
  if [ "$round" -ge "$2" ]; then
    for file in $found; do
      file=${file#/proc/}
      kill -KILL "${file%/environ}"
    done
    [ "$round" -lt "$(($2 + 3))" ] || exit
  fi
  round=$((round + 1))
  sleep 0.5
done"#;

/// How often it is looked for what started while the others were killed.
const ROUNDS: usize = 3;

/// A watcher that has nobody to watch yet. Dropped, it ends.
pub(super) struct Waiting {
    mark: String,
    process: Option<(Child, File)>,
}

impl Waiting {
    /// Starts a watcher, before there is anything to watch: nothing is ever without one.
    pub(super) fn start() -> Self {
        let mark = new_mark();
        let process = beside(SCRIPT, &[&format!("{MARK}={mark}")]);
        Self { mark, process }
    }

    /// Lets what is started be found.
    pub(super) fn mark(&self, command: &mut Command) {
        command.env(MARK, &self.mark);
    }

    /// Watches the session that a process leads.
    pub(super) fn watch(self, leader: u32) -> Option<Watcher> {
        let leader = i32::try_from(leader).ok()?;
        let process = self.process.and_then(|(process, mut input)| {
            let told = writeln!(input, "{leader}");
            if let Err(error) = &told {
                tracing::debug!(%error, leader, "nothing watches a program's session");
            }
            told.ok().map(|()| (process, input))
        });
        Some(Watcher {
            leader: Pid::from_raw(leader),
            process,
            left: false,
        })
    }
}

fn new_mark() -> String {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{number}-{}", std::process::id(), time.as_nanos())
}

/// A shell with a script, and its input, which ends with this process.
fn beside(script: &str, arguments: &[&str]) -> Option<(Child, File)> {
    let process = Command::new("/bin/sh")
        .args(["-c", script, "sh"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .and_then(|mut process| {
            let input = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
            Ok((process, File::from(input.into_owned_fd()?)))
        });
    if let Err(error) = &process {
        tracing::debug!(%error, "nothing watches what a program starts");
    }
    process.ok()
}

/// What a program starts, also where it leads sessions of its own, as browsers do: dropped, what is
/// left is killed. When this process is gone, it may end by itself first. Linux only; elsewhere nothing
/// tells what belongs to it.
#[derive(Debug)]
pub struct Descendants {
    mark: String,
    watcher: Option<(Child, File)>,
}

impl Descendants {
    /// Those of a program that is yet to be started. `grace`, to the half second, is what they may take
    /// to end by themselves once this process is gone.
    pub fn of(command: &mut Command, grace: Duration) -> Self {
        let mark = new_mark();
        command.env(MARK, &mark);
        let rounds = grace.as_millis() / 500;
        let watcher = beside(
            MARK_SCRIPT,
            &[&format!("{MARK}={mark}"), &rounds.to_string()],
        );
        Self { mark, watcher }
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        let mark = format!("{MARK}={}", self.mark);
        for _ in 0..ROUNDS {
            let marked = processes().filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                let mut variables = environment.split(|byte| *byte == 0);
                variables.any(|variable| variable == mark.as_bytes())
            });
            let killed = marked.filter(|pid| kill(*pid, Signal::SIGKILL).is_ok());
            if killed.count() == 0 {
                break;
            }
        }
        // It has nothing to do any more.
        if let Some((process, _)) = &mut self.watcher {
            let _ = process.start_kill();
        }
    }
}

/// Dropped, it kills what is in the session.
#[derive(Debug)]
pub(super) struct Watcher {
    leader: Pid,
    /// Its input stays open as long as there is an owner.
    process: Option<(Child, File)>,
    left: bool,
}

impl Watcher {
    /// Whether somebody is left in the session.
    pub(super) fn sees_somebody(&self) -> bool {
        if cfg!(target_os = "linux") {
            !members(self.leader).is_empty()
        } else {
            killpg(self.leader, None).is_ok()
        }
    }

    /// Leaves a session that nobody is in any more: its number may become another's.
    pub(super) async fn leave(mut self) {
        self.left = true;
        if let Some((process, _)) = &mut self.process
            && let Err(error) = process.kill().await
        {
            tracing::debug!(%error, "a session's watcher is gone already");
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The number of a session that nobody is in may be another's by now.
        if !self.left && self.sees_somebody() {
            let _ = killpg(self.leader, Signal::SIGKILL);
            for _ in 0..ROUNDS {
                for member in members(self.leader) {
                    let _ = kill(member, Signal::SIGKILL);
                }
            }
        }
        // It has nothing to do any more.
        if let Some((process, _)) = &mut self.process {
            let _ = process.start_kill();
        }
    }
}

/// Whether a process watches a program: it ends by itself once its owner is gone, and until then it is
/// the only one who knows what is left of a session whose leader has ended. Linux only.
pub fn is_watcher(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .any(|word| [SCRIPT, MARK_SCRIPT].map(str::as_bytes).contains(&word))
}

/// The living processes of a session, as far as the system tells.
pub(super) fn members(leader: Pid) -> Vec<Pid> {
    processes()
        .filter_map(|pid| {
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            // The name before it may hold anything.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let is_alive = fields.next()? != "Z";
            let session: i32 = fields.nth(2)?.parse().ok()?;
            (is_alive && session == leader.as_raw()).then_some(pid)
        })
        .collect()
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)))
}
