//! Whoever sees to it that nothing of a program's session goes on: its owner, and a shell beside it
//! whose standard input ends when the owner is gone, however that ended.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// Waits for the end of its input, then kills what is in the session of the process that it is
/// given: where nothing tells sessions, what is in its group.
const SCRIPT: &str = r#"trap "" HUP INT TERM QUIT
read -r _
leader=$1
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

/// Dropped, it kills what is in the session.
#[derive(Debug)]
pub(super) struct Watcher {
    leader: Pid,
    process: Option<Child>,
    left: bool,
}

impl Watcher {
    /// Watches the session that a process leads.
    pub(super) fn of(leader: u32) -> Option<Self> {
        let leader = i32::try_from(leader).ok()?;
        let process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh", &leader.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        if let Err(error) = &process {
            tracing::debug!(%error, leader, "nothing watches a program's session");
        }
        Some(Self {
            leader: Pid::from_raw(leader),
            process: process.ok(),
            left: false,
        })
    }

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
        if let Some(process) = &mut self.process
            && let Err(error) = process.kill().await
        {
            tracing::debug!(%error, "a session's watcher is gone already");
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The number of a session that nobody is in may be another's by now.
        if self.left || !self.sees_somebody() {
            return;
        }
        let _ = killpg(self.leader, Signal::SIGKILL);
        for _ in 0..ROUNDS {
            for member in members(self.leader) {
                let _ = kill(member, Signal::SIGKILL);
            }
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
