//! One start of a program at a time where the system cannot make a pipe that no child inherits at once.

use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

/// Starts a program. Where std makes a pipe first and keeps it from children afterwards (macOS has no
/// `pipe2`), a program that another thread starts in between would hold a pipe open whose end somebody
/// waits for: there, one is started at a time.
pub fn spawning<T>(spawn: impl FnOnce() -> T) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let _one =
        (!cfg!(target_os = "linux")).then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner));
    spawn()
}

/// Runs a program of the system to its end, one that has nothing to read and comes to it at once.
///
/// # Errors
/// When there is no such program or it cannot be started.
pub fn run(command: &mut Command) -> io::Result<Output> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    spawning(|| command.spawn())?.wait_with_output()
}
