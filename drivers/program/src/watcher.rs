//! Whoever sees to it that nothing of a program's session goes on: its owner, and a shell beside it
//! whose standard input ends when the owner is gone, however that ended.

use std::fs::File;
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

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
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mark = format!("{}-{number}-{}", std::process::id(), time.as_nanos());
        let process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh", &format!("{MARK}={mark}")])
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
            tracing::debug!(%error, "nothing watches a program's session");
        }
        Self {
            mark,
            process: process.ok(),
        }
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

/// Whether a process watches a session: it ends by itself once its owner is gone, and until then it is
/// the only one who knows what is left of a session whose leader has ended. Linux only.
pub fn is_watcher(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .any(|word| word == SCRIPT.as_bytes())
}

/// The living processes of a session, as far as the system tells.
pub(super) fn members(leader: Pid) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read(entry.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            // The name before it may hold anything.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            let is_alive = fields.next()? != "Z";
            let session: i32 = fields.nth(2)?.parse().ok()?;
            (is_alive && session == leader.as_raw()).then_some(Pid::from_raw(pid))
        })
        .collect()
}
