//! The programs of a virtual phone, by name. Each file is a family.
//!
//! A program that is not here answers as a real phone does, and is noted for whoever runs the
//! fleet ([`crate::device::Device::unhandled`]).

mod agent;
mod am;
mod battery;
mod builtin;
mod checksum;
mod cmd;
mod columns;
mod content;
mod dumpsys;
mod file;
mod filter;
mod input;
mod install;
mod intent;
mod list;
mod logcat;
mod net;
mod options;
mod pm;
mod process;
mod property;
mod screen;
mod sed;
mod services;
mod system;
mod test;
mod uiautomator;
mod wm;

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};

pub(super) use self::battery::Battery;
pub(super) use self::test::holds;
pub(super) use self::uiautomator::truncate;
use crate::android::Android;
use crate::android::shell::Shell;
use crate::android::shell::io::{Io, Stop};
use crate::android::shell::run::Flow;
use crate::faults::{Event, Fault};

/// How a program ended: its exit code, or that nobody reads its output any more.
pub(super) type CommandResult = Result<i32, Stop>;

/// One call of a program.
pub(super) struct Call<'a> {
    pub shell: &'a mut Shell,
    /// With the program's name in front.
    pub args: &'a [String],
    pub io: &'a Io,
    /// What goes wrong with it and is its own business.
    pub faults: Vec<Fault>,
}

impl<'a> Call<'a> {
    fn android(&self) -> Arc<Android> {
        self.shell.android.clone()
    }

    /// The program's name.
    fn name(&self) -> &'a str {
        self.args.first().map_or("", String::as_str)
    }

    /// The arguments behind the name.
    fn rest(&self) -> &'a [String] {
        self.args.get(1..).unwrap_or(&[])
    }

    /// One of them.
    fn arg(&self, index: usize) -> Option<&'a str> {
        self.args.get(index).map(String::as_str)
    }

    async fn out(&self, text: impl Into<bytes::Bytes>) -> Result<(), Stop> {
        self.io.stdout.write(text).await
    }

    async fn err(&self, text: impl Into<bytes::Bytes>) -> Result<(), Stop> {
        self.io.stderr.write(text).await
    }

    /// `name: message` on the standard error, and an exit code.
    async fn fail(&self, message: impl std::fmt::Display, code: i32) -> CommandResult {
        self.err(format!("{}: {message}\n", self.name())).await?;
        Ok(code)
    }

    /// Too few arguments, as toybox says it.
    async fn needs(&self, message: &str) -> CommandResult {
        let name = self.name();
        self.fail(format!("{message} (see \"{name} --help\")"), 1)
            .await
    }

    /// The same program with other arguments; the first is its name.
    fn with<'b>(&'b mut self, args: &'b [String]) -> Call<'b> {
        Call {
            shell: self.shell,
            args,
            io: self.io,
            faults: self.faults.clone(),
        }
    }

    /// Runs another program, as `env` and `timeout` do.
    fn run_other<'b>(&'b mut self, args: &'b [String], io: &'b Io) -> BoxFuture<'b, i32> {
        async move {
            match self.shell.invoke(args, io).await {
                Ok(code) | Err(Flow::Exit(code) | Flow::Return(code)) => code,
                Err(Flow::Break(_) | Flow::Continue(_)) => 0,
            }
        }
        .boxed()
    }

    /// This was asked for and is not there.
    fn unhandled(&self) {
        self.shell
            .android
            .device()
            .note_unhandled(&self.args.join(" "));
    }
}

/// A family of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Agent,
    Am,
    Checksum,
    Cmd,
    Content,
    Dumpsys,
    File,
    Filter,
    Input,
    List,
    Logcat,
    Net,
    Pm,
    Process,
    Property,
    Screen,
    Sed,
    System,
    Uiautomator,
    Wm,
}

/// Every program but the shell's own.
const PROGRAMS: &[(&str, Family)] = &[
    ("am", Family::Am),
    ("app_process", Family::Agent),
    ("app_process32", Family::Agent),
    ("app_process64", Family::Agent),
    ("appops", Family::Cmd),
    ("base64", Family::Checksum),
    ("basename", Family::File),
    ("bmgr", Family::Cmd),
    ("cat", Family::Filter),
    ("chgrp", Family::File),
    ("chmod", Family::File),
    ("chown", Family::File),
    ("cksum", Family::Checksum),
    ("cmd", Family::Cmd),
    ("cmp", Family::Filter),
    ("content", Family::Content),
    ("cp", Family::File),
    ("cut", Family::Filter),
    ("date", Family::System),
    ("dd", Family::Filter),
    ("device_config", Family::Property),
    ("df", Family::System),
    ("dirname", Family::File),
    ("dmesg", Family::System),
    ("du", Family::List),
    ("dumpsys", Family::Dumpsys),
    ("egrep", Family::Filter),
    ("env", Family::Process),
    ("expr", Family::System),
    ("fgrep", Family::Filter),
    ("file", Family::List),
    ("find", Family::List),
    ("free", Family::System),
    ("getenforce", Family::System),
    ("getprop", Family::Property),
    ("grep", Family::Filter),
    ("groups", Family::System),
    ("head", Family::Filter),
    ("hostname", Family::System),
    ("id", Family::System),
    ("ifconfig", Family::Net),
    ("ime", Family::Cmd),
    ("input", Family::Input),
    ("ip", Family::Net),
    ("keyevent", Family::Input),
    ("kill", Family::Process),
    ("killall", Family::Process),
    ("ln", Family::File),
    ("locksettings", Family::Cmd),
    ("log", Family::Logcat),
    ("logcat", Family::Logcat),
    ("ls", Family::List),
    ("md5", Family::Checksum),
    ("md5sum", Family::Checksum),
    ("mkdir", Family::File),
    ("mktemp", Family::File),
    ("monkey", Family::Am),
    ("mount", Family::System),
    ("mv", Family::File),
    ("nc", Family::Net),
    ("netcat", Family::Net),
    ("netstat", Family::Net),
    ("nice", Family::Process),
    ("nl", Family::Filter),
    ("nohup", Family::Process),
    ("nproc", Family::System),
    ("paste", Family::Filter),
    ("pgrep", Family::Process),
    ("pidof", Family::Process),
    ("ping", Family::Net),
    ("pkill", Family::Process),
    ("pm", Family::Pm),
    ("printenv", Family::Process),
    ("ps", Family::Process),
    ("readlink", Family::File),
    ("realpath", Family::File),
    ("reboot", Family::System),
    ("remount", Family::System),
    ("renice", Family::System),
    ("rev", Family::Filter),
    ("rm", Family::File),
    ("rmdir", Family::File),
    ("run-as", Family::Process),
    ("screencap", Family::Screen),
    ("screenrecord", Family::Screen),
    ("sed", Family::Sed),
    ("seq", Family::System),
    ("service", Family::System),
    ("setenforce", Family::System),
    ("setprop", Family::Property),
    ("setsid", Family::Process),
    ("settings", Family::Property),
    ("sh", Family::Process),
    ("sha1sum", Family::Checksum),
    ("sha256sum", Family::Checksum),
    ("sleep", Family::System),
    ("sort", Family::Filter),
    ("start", Family::System),
    ("stat", Family::List),
    ("stop", Family::System),
    ("su", Family::Process),
    ("svc", Family::Cmd),
    ("sync", Family::System),
    ("tac", Family::Filter),
    ("tail", Family::Filter),
    ("tee", Family::Filter),
    ("timeout", Family::Process),
    ("top", Family::Process),
    ("touch", Family::File),
    ("toybox", Family::Process),
    ("tr", Family::Filter),
    ("truncate", Family::File),
    ("tty", Family::System),
    ("uiautomator", Family::Uiautomator),
    ("uname", Family::System),
    ("uniq", Family::Filter),
    ("uptime", Family::System),
    ("usleep", Family::System),
    ("vmstat", Family::System),
    ("wc", Family::Filter),
    ("which", Family::File),
    ("whoami", Family::System),
    ("wm", Family::Wm),
    ("xargs", Family::Process),
    ("xxd", Family::Checksum),
    ("yes", Family::System),
];

/// The names of all programs, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// Whether there is a program of that name.
pub(super) fn is_known(name: &str) -> bool {
    family_of(name).is_some()
}

fn family_of(name: &str) -> Option<Family> {
    let index = PROGRAMS
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    PROGRAMS.get(index).map(|(_, family)| *family)
}

/// Directories programs are found in.
const BIN: [&str; 4] = ["/system/bin/", "/bin/", "/system/xbin/", "/vendor/bin/"];

/// Runs one of the shell's own commands, a program, or a script.
pub(super) async fn run(shell: &mut Shell, args: &[String], io: &Io) -> Result<i32, Flow> {
    let Some(name) = args.first() else {
        return Ok(0);
    };
    if let Some(result) = builtin::run(shell, args, io).await {
        return result;
    }
    let short = BIN
        .iter()
        .find_map(|dir| name.strip_prefix(dir))
        .unwrap_or(name);
    if let Some(family) = family_of(short) {
        let mut args = args.to_vec();
        short.clone_into(&mut args[0]);
        return Ok(run_program(shell, family, &args, io).await);
    }
    if name.contains('/') {
        return Ok(run_file(shell, args, io).await?);
    }
    shell.android.device().note_unhandled(&args.join(" "));
    shell
        .complain(io, &format!("{name}: inaccessible or not found"))
        .await?;
    Ok(127)
}

async fn run_program(shell: &mut Shell, family: Family, args: &[String], io: &Io) -> i32 {
    let line = args.join(" ");
    let android = shell.android.clone();
    let faults = android.device().fire_faults(Event::Command(&line));
    let process = android.start_process(shell.pid, &args[0], &line);
    let mut call = Call {
        shell,
        args,
        io,
        faults: Vec::new(),
    };
    let running = async {
        for fault in faults {
            match fault {
                Fault::Delay(time) => android.device().sleep(time.0).await,
                Fault::Fail(text) => {
                    call.err(format!("{text}\n")).await?;
                    return Ok(1);
                }
                Fault::Answer {
                    stdout,
                    stderr,
                    exit,
                } => {
                    call.out(stdout).await?;
                    call.err(stderr).await?;
                    return Ok(i32::from(exit));
                }
                Fault::Ignore => return Ok(0),
                Fault::NoFocus(time) => android.lose_focus(time.0),
                // The link is gone, and with it whoever would hear of the rest.
                Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_) => std::future::pending().await,
                other => call.faults.push(other),
            }
        }
        run_family(family, &mut call).await
    };
    tokio::select! {
        result = running => result.unwrap_or_else(|stop| stop.0),
        () = process.end.cancelled() => {
            // The shell tells what happened to its child.
            let _ = io.stderr.write("Killed \n").await;
            137
        }
    }
}

/// Each family's future is boxed: together they would be large, and every call would pay for it.
fn run_family<'b>(family: Family, call: &'b mut Call<'_>) -> BoxFuture<'b, CommandResult> {
    match family {
        Family::Agent => agent::run(call).boxed(),
        Family::Am => am::run(call).boxed(),
        Family::Checksum => checksum::run(call).boxed(),
        Family::Cmd => cmd::run(call).boxed(),
        Family::Content => content::run(call).boxed(),
        Family::Dumpsys => dumpsys::run(call).boxed(),
        Family::File => file::run(call).boxed(),
        Family::Filter => filter::run(call).boxed(),
        Family::Input => input::run(call).boxed(),
        Family::List => list::run(call).boxed(),
        Family::Logcat => logcat::run(call).boxed(),
        Family::Net => net::run(call).boxed(),
        Family::Pm => pm::run(call).boxed(),
        Family::Process => process::run(call).boxed(),
        Family::Property => property::run(call).boxed(),
        Family::Screen => screen::run(call).boxed(),
        Family::Sed => sed::run(call).boxed(),
        Family::System => system::run(call).boxed(),
        Family::Uiautomator => uiautomator::run(call).boxed(),
        Family::Wm => wm::run(call).boxed(),
    }
}

/// Runs a file: a script as the shell would, anything else not at all.
async fn run_file(shell: &mut Shell, args: &[String], io: &Io) -> Result<i32, Stop> {
    let name = &args[0];
    let meta = shell.real_path(name).ok().and_then(|real| {
        let files = crate::android::lock(&shell.android.files);
        files.meta(&real)
    });
    let Some(meta) = meta else {
        shell
            .complain(io, &format!("{name}: inaccessible or not found"))
            .await?;
        return Ok(127);
    };
    if meta.is_dir() || meta.mode & 0o111 == 0 {
        shell
            .complain(io, &format!("{name}: can't execute: Permission denied"))
            .await?;
        return Ok(126);
    }
    let text = shell.read_file(name, 256 * 1024).unwrap_or_default();
    if text.starts_with(b"\x7fELF") || text.contains(&0) {
        shell.android.device().note_unhandled(&args.join(" "));
        let message = format!("{name}: not executable: 64-bit ELF file");
        shell.complain(io, &message).await?;
        return Ok(126);
    }
    let mut script = shell.clone();
    script.arguments = args[1..].to_vec();
    script.depth += 1;
    Ok(Box::pin(script.run_text(&String::from_utf8_lossy(&text), io)).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_in_order_so_that_they_are_found() {
        assert!(PROGRAMS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
