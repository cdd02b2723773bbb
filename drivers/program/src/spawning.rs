//! One start of a program at a time where the system cannot make a pipe that no child inherits at once.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parking_lot::Mutex;

/// How long a program of the system may take.
const RUN_TIMEOUT: Duration = Duration::from_secs(10);
/// Where macOS has `lsof` and `sysctl`, and not every `PATH` looks.
const OF_SYSTEM: &str = "/usr/sbin";

/// Starts a program. Where std makes a pipe first and keeps it from children afterwards (macOS has no
/// `pipe2`), a program that another thread starts in between would hold a pipe open whose end somebody
/// waits for: there, one is started at a time.
pub fn spawning<T>(spawn: impl FnOnce() -> T) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = (!cfg!(target_os = "linux")).then(|| ONE.lock());
    spawn()
}

/// Runs a program of the system to its end, one that has nothing to read and comes to it at once.
///
/// # Errors
/// When there is no such program or it cannot be started.
pub fn run(command: &mut Command) -> io::Result<Output> {
    run_for(command, RUN_TIMEOUT)
}

fn run_for(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let start = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        spawning(|| command.spawn())
    };
    let program = start(command).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let there = Path::new(OF_SYSTEM).join(command.get_program());
            start(Command::new(there).args(command.get_args()))
        }
        _ => Err(error),
    })?;
    let pid = i32::try_from(program.id()).map(Pid::from_raw);
    let (over, is_over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = pid.map(|pid| kill(pid, Signal::SIGKILL));
            }
        });
        let output = program.wait_with_output();
        drop(over);
        output
    })
}

/// Whether a program could not be started, or a file opened, because as many files are open as may be:
/// that says nothing of the program.
pub fn is_limit(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw);
    matches!(number, Some(Errno::EMFILE | Errno::ENFILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_system_is_found_without_a_path_and_has_its_time() {
        let without_path = |program| run(Command::new(program).env("PATH", "/no/such"));
        assert!(without_path("no-such-program").is_err());
        assert!(
            !without_path("chroot").unwrap().status.success(),
            "it wants words"
        );
        let limit = Duration::from_millis(50);
        let stopped = run_for(Command::new("/bin/sh").args(["-c", "kill -STOP $$"]), limit);
        assert_eq!(stopped.unwrap().status.code(), None);
    }
}
