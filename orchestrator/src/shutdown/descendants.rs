//! The processes that this one started, those that they started, and so on: killed with their
//! groups when the program ends. Drivers end what they start; this is for what is left when there is
//! no time for that.

use std::collections::{BTreeSet, HashMap};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp};
use packtrain_program::{has_proc, ps};

/// How often to look for what started while the others were killed.
const ROUNDS: usize = 3;

/// A process of this computer.
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
}

/// Kills every process that descends from this one, but those that watch sessions. A daemon that left
/// its parent is none.
pub fn kill_descendants() {
    let own_group = getpgrp();
    for _ in 0..ROUNDS {
        let mut descendants = descendants_of(Pid::this().as_raw(), processes());
        // They end with this process, and kill what a program has left whose parent is gone.
        descendants.retain(|process| !packtrain_program::is_watcher(process.pid));
        if descendants.is_empty() {
            return;
        }
        // What is gone already needs no killing.
        let groups: BTreeSet<_> = descendants.iter().map(|process| process.group).collect();
        for group in groups.into_iter().map(Pid::from_raw) {
            if group != own_group {
                let _ = killpg(group, Signal::SIGKILL);
            }
        }
        for process in &descendants {
            let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
        }
    }
}

fn descendants_of(ancestor: i32, processes: Vec<Process>) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&ancestor).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let more = children.remove(&process.pid).unwrap_or_default();
        found.extend(more);
        next += 1;
    }
    found
}

/// Every process that runs: by `/proc` where that is, elsewhere as `ps` tells.
fn processes() -> Vec<Process> {
    if !has_proc() {
        let told = ps(&["-A", "-o", "pid=,ppid=,pgid="]);
        return told.lines().filter_map(process).collect();
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before it may hold anything.
            let (state, numbers) = stat.rsplit_once(')')?.1.trim_start().split_once(' ')?;
            let pid = entry.file_name().into_string().ok()?;
            (state != "Z").then(|| process(&format!("{pid} {numbers}")))?
        })
        .collect()
}

/// A process, from its own number, its parent's and its group's.
fn process(line: &str) -> Option<Process> {
    let mut numbers = line.split_ascii_whitespace().map(|word| word.parse().ok());
    let mut number = || numbers.next().flatten();
    Some(Process {
        pid: number()?,
        parent: number()?,
        group: number()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Process, descendants_of};

    #[test]
    fn children_of_children_are_found_and_nobody_else() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: pid,
        };
        let all = [
            (1, 0),
            (9, 1),
            (10, 1),
            (11, 12),
            (12, 10),
            (13, 10),
            (14, 9),
        ];
        let all = all.map(|(pid, parent)| process(pid, parent)).into();
        let mut found: Vec<_> = descendants_of(10, all).iter().map(|p| p.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [11, 12, 13]);
    }
}
