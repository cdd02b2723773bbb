//! Ctrl-C, SIGTERM and a terminal that is closed, counted by a thread that needs nothing else to work: the first asks to stop,
//! the second quits with what there is, the third just quits.

mod descendants;

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use packtrain_engine::{Stop, StopReason};
use packtrain_model::Exit;
use packtrain_program::run;
use parking_lot::Mutex;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub use self::descendants::kill_descendants;
use crate::exit::{CliError, OrCliError as _};

/// How long reports of what there is may take after the second signal.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

/// What is done before the program quits, and the exit code.
type LastAct = Box<dyn FnOnce() -> Exit + Send>;

/// Whether the program shall outlive its terminal, as `nohup` has it: a child ignores what this process
/// ignores, and one that does not dies of the signal.
fn is_hanging_up_ignored() -> bool {
    let ended = run(Command::new("/bin/sh").args(["-c", "kill -HUP $$"]));
    ended.is_ok_and(|ended| ended.status.signal() != Some(SIGHUP))
}

/// The signals that ask the program to end, from the moment this is made until it has ended.
#[derive(Clone)]
pub struct Interrupts {
    first: CancellationToken,
    end: Arc<Mutex<End>>,
}

/// How the program ends when it is told to at once.
#[derive(Default)]
struct End {
    last_act: Option<LastAct>,
    /// The exit code that nothing may hide any more.
    known: Exit,
}

impl Interrupts {
    /// Listens from now on. A signal is a byte in a pipe, so that two in quick succession are two.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen() -> Result<Self, CliError> {
        let interrupts = Self {
            first: CancellationToken::new(),
            end: Arc::default(),
        };
        let listening = interrupts.clone();
        let start = || -> io::Result<()> {
            let (signals, pipe) = UnixStream::pair()?;
            let hung_up = (!is_hanging_up_ignored()).then_some(SIGHUP);
            for signal in [SIGINT, SIGTERM].into_iter().chain(hung_up) {
                signal_hook::low_level::pipe::register(signal, pipe.try_clone()?)?;
            }
            std::thread::Builder::new()
                .name("signals".to_owned())
                .spawn(move || listening.count(signals))?;
            Ok(())
        };
        start().or_infrastructure("cannot listen for signals")?;
        Ok(interrupts)
    }

    /// Cancelled by the first signal.
    pub const fn first(&self) -> &CancellationToken {
        &self.first
    }

    /// What `work` answers, unless a signal comes first.
    ///
    /// # Errors
    /// Those of `work`, or that it was interrupted.
    pub async fn interruptible<T>(
        &self,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        tokio::select! {
            answer = work => answer,
            () = self.first.cancelled() => Err(CliError::infrastructure("interrupted")),
        }
    }

    /// Stops a run with the first signal, for as long as the handle lives. `say` shows words to a person,
    /// and is not waited for.
    pub fn stopping(
        &self,
        stop: Stop,
        say: impl Fn(&str) + Send + 'static,
    ) -> AbortOnDropHandle<()> {
        let first = self.first.clone();
        AbortOnDropHandle::new(tokio::spawn(async move {
            first.cancelled().await;
            stop.request(StopReason::Interrupt);
            say("stopping: devices are released and reports are written; \
                 press Ctrl-C again to quit now");
        }))
    }

    /// What the second signal does before the program ends, as far as it is done in time.
    pub fn before_quitting(&self, act: impl FnOnce() -> Exit + Send + 'static) {
        self.end.lock().last_act = Some(Box::new(act));
    }

    /// Whatever signals come from now on, the program ends with this, or with what takes precedence.
    pub fn known(&self, exit: Exit) {
        self.end.lock().known = exit;
    }

    fn count(self, mut signals: UnixStream) {
        let mut next = || signals.read_exact(&mut [0]).is_ok();
        if !next() {
            return;
        }
        self.first.cancel();
        if !next() {
            return;
        }
        let last_act = self.end.lock().last_act.take();
        if let Some(act) = last_act {
            // It is not joined: it ends the program.
            let quitting = std::thread::Builder::new().name("quitting".to_owned());
            let interrupts = self.clone();
            if quitting.spawn(move || interrupts.quit(act())).is_err() {
                self.quit(Exit::Infrastructure);
            }
            // The third signal, or the end of patience.
            if signals.set_read_timeout(Some(QUIT_TIMEOUT)).is_ok() {
                let _ = signals.read(&mut [0]);
            }
        }
        self.quit(Exit::Infrastructure);
    }

    /// Ends the program and everything that it started.
    fn quit(&self, exit: Exit) -> ! {
        let known = self.end.lock().known;
        kill_descendants();
        #[expect(
            clippy::disallowed_methods,
            reason = "a second signal asks for this, and what was started is gone"
        )]
        std::process::exit(i32::from(exit.max(known).code()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_ignored_is_seen_to_be_so() {
        const ALONE: &str = "PACKTRAIN_TEST_HANGS_UP";
        if std::env::var_os(ALONE).is_some() {
            return println!("ignored: {}", is_hanging_up_ignored());
        }
        let name = "a_signal_that_is_ignored_is_seen_to_be_so";
        for (script, expected) in [("trap '' HUP", true), ("trap - HUP", false)] {
            let told = Command::new("sh")
                .args(["-c", &format!("{script}; exec \"$0\" {name} --nocapture")])
                .arg(std::env::current_exe().unwrap())
                .env(ALONE, "1")
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&told.stdout).into_owned();
            assert!(told.contains(&format!("ignored: {expected}")), "{told}");
        }
    }
}
