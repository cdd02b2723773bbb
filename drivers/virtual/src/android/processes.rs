//! The processes of a device: those of the system, which only have names, and those that run.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use crate::android::{Android, recorded};

/// A process.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Who started it.
    pub parent: u32,
    /// Its user's name.
    pub user: String,
    /// What `ps` shows.
    pub name: String,
    /// Its whole command line.
    pub line: String,
    /// Ends it; `None` for what cannot be ended.
    pub end: Option<CancellationToken>,
}

impl Process {
    /// One that cannot be ended, whose name is all of its command line.
    fn named(pid: u32, parent: u32, user: &str, name: &str) -> Self {
        Self {
            pid,
            parent,
            user: user.to_owned(),
            name: name.to_owned(),
            line: name.to_owned(),
            end: None,
        }
    }
}

/// The processes of one device, without those of apps, which the world knows.
#[derive(Debug, Default)]
pub struct Processes {
    next: u32,
    running: BTreeMap<u32, Process>,
}

/// Keeps a process in the list for as long as it runs.
#[derive(Debug)]
pub struct Running {
    android: Weak<Android>,
    /// Its number.
    pub pid: u32,
    /// Cancelled when it is killed.
    pub end: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(android) = self.android.upgrade() {
            android.processes.lock().running.remove(&self.pid);
        }
    }
}

impl Android {
    /// Starts a process; it is in the list until the guard is dropped.
    pub(super) fn start_process(self: &Arc<Self>, parent: u32, name: &str, line: &str) -> Running {
        let mut processes = self.processes.lock();
        // Below that are those of the system and of apps.
        processes.next = match processes.next {
            9000..32_000 => processes.next + 1,
            _ => 9001,
        };
        while processes.running.contains_key(&processes.next) {
            processes.next += 1;
        }
        let pid = processes.next;
        let end = CancellationToken::new();
        let process = Process {
            line: line.to_owned(),
            end: Some(end.clone()),
            ..Process::named(pid, parent, self.who().name(), name)
        };
        processes.running.insert(pid, process);
        Running {
            android: Arc::downgrade(self),
            pid,
            end,
        }
    }

    /// All processes, by number.
    pub(super) fn processes(&self) -> Vec<Process> {
        // What always runs: number, parent, user, name.
        let mut all: Vec<Process> = recorded::table("processes")
            .filter_map(|line| {
                let mut words = line.split(' ');
                let mut number = || words.next()?.parse().ok();
                let (pid, parent) = (number()?, number()?);
                Some(Process::named(pid, parent, words.next()?, words.next()?))
            })
            .collect();
        self.device.world(|world| {
            all.extend(
                (world.installed()).filter_map(|app| {
                    Some(Process::named(app.pid?, 512, "u0_a200", app.id.as_str()))
                }),
            );
        });
        all.extend(self.processes.lock().running.values().cloned());
        all.sort_by_key(|p| p.pid);
        all
    }

    /// Ends the process, or the app that runs in it; false when it cannot be ended.
    pub(super) fn kill(&self, process: &Process) -> bool {
        if let Some(end) = &process.end {
            end.cancel();
            return true;
        }
        self.device.world(|world| {
            let app = world.installed().find(|app| app.pid == Some(process.pid));
            match app {
                Some(app) => {
                    world.stop(&app.id);
                    true
                }
                None => false,
            }
        })
    }

    /// Ends everything that clients started, as a reboot does.
    pub(super) fn kill_all(&self) {
        for process in self.processes.lock().running.values() {
            if let Some(end) = &process.end {
                end.cancel();
            }
        }
    }
}
