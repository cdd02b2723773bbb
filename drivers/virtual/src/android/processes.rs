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

/// The processes of one device, without those of apps, which the world knows.
#[derive(Debug)]
pub struct Processes {
    next: u32,
    running: BTreeMap<u32, Process>,
}

impl Processes {
    /// What runs after a start.
    pub const fn new() -> Self {
        Self {
            next: 9000,
            running: BTreeMap::new(),
        }
    }
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
        processes.next = if processes.next >= 32_000 {
            9001
        } else {
            processes.next + 1
        };
        while processes.running.contains_key(&processes.next) {
            processes.next += 1;
        }
        let pid = processes.next;
        let end = CancellationToken::new();
        let process = Process {
            pid,
            parent,
            user: self.who().name().to_owned(),
            name: name.to_owned(),
            line: line.to_owned(),
            end: Some(end.clone()),
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
                Some(Process {
                    pid: words.next()?.parse().ok()?,
                    parent: words.next()?.parse().ok()?,
                    user: words.next()?.to_owned(),
                    name: words.next()?.to_owned(),
                    line: line.rsplit(' ').next()?.to_owned(),
                    end: None,
                })
            })
            .collect();
        self.device.world(|world| {
            all.extend((world.installed()).filter_map(|app| {
                Some(Process {
                    pid: app.pid?,
                    parent: 512,
                    user: "u0_a200".to_owned(),
                    name: app.id.0.clone(),
                    line: app.id.0,
                    end: None,
                })
            }));
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
