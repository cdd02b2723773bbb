//! The programs of a virtual phone, by name. Each file is a family.
//!
//! A program that is not here answers as a real phone does, and is noted for whoever runs the
//! fleet ([`crate::device::Device::unhandled`]).

mod agent;
mod am;
mod builtin;
mod cmd;
mod content;
mod dumpsys;
mod file;
mod filter;
mod input;
mod install;
mod intent;
mod list;
mod logcat;
mod nc;
mod options;
mod pm;
mod process;
mod property;
mod screen;
mod system;
mod uiautomator;
mod wm;

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};

pub(super) use self::intent::short;
use self::options::Options;
pub(super) use self::uiautomator::truncate;
use crate::android::shell::Shell;
use crate::android::shell::io::{Io, Stop};
use crate::android::{Android, recorded};
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

    /// The options and the rest of the arguments of a program that knows these letters and
    /// `with_value`. Others end it, as toybox does.
    async fn options(&self, known: &str, with_value: &[&str]) -> Result<Options, Stop> {
        let options = Options::of(self.rest(), with_value);
        if let Some(other) = options.other_than(known, with_value) {
            self.unhandled();
            let why = format!("Unknown option '{other}' (see \"{} --help\")", self.name());
            return Err(Stop(self.fail(why, 1).await?));
        }
        Ok(options)
    }

    async fn out(&self, text: impl Into<bytes::Bytes>) -> Result<(), Stop> {
        self.io.stdout.write(text).await
    }

    async fn err(&self, text: impl Into<bytes::Bytes>) -> Result<(), Stop> {
        self.io.stderr.write(text).await
    }

    /// Prints `text` and is done.
    async fn say(&self, text: impl Into<bytes::Bytes>) -> CommandResult {
        self.end(text, 0).await
    }

    /// Prints `text` and ends with this exit code.
    async fn end(&self, text: impl Into<bytes::Bytes>, code: i32) -> CommandResult {
        self.out(text).await?;
        Ok(code)
    }

    /// Prints `text` on the standard error and ends with this exit code.
    async fn refuse(&self, text: impl Into<bytes::Bytes>, code: i32) -> CommandResult {
        self.err(text).await?;
        Ok(code)
    }

    /// `name: message` on the standard error, and an exit code.
    async fn fail(&self, message: impl std::fmt::Display, code: i32) -> CommandResult {
        self.refuse(format!("{}: {message}\n", self.name()), code)
            .await
    }

    /// What a service's command prints when it throws. Source: AOSP `BasicShellCommandHandler`.
    async fn throw(&self, command: &str, what: impl std::fmt::Display) -> CommandResult {
        let text = format!("\nException occurred while executing '{command}':\njava.lang.{what}\n");
        self.refuse(text, 255).await
    }

    /// What a service prints for a command that it does not have.
    async fn unknown(&self, command: &str) -> CommandResult {
        self.unhandled();
        self.end(format!("Unknown command: {command}\n"), 255).await
    }

    /// The program is there, but nobody recorded what it says to these words.
    async fn not_recorded(&self) -> CommandResult {
        self.unhandled();
        self.fail("a virtual phone has no answer to these arguments", 1)
            .await
    }

    /// Runs another program, as `toybox` and `run-as` do.
    async fn run_other(&mut self, args: &[String]) -> CommandResult {
        Ok(match self.shell.invoke(args, self.io).await {
            Ok(code) | Err(Stop(code)) => code,
        })
    }

    /// This was asked for and is not there.
    fn unhandled(&self) {
        let line = self.args.join(" ");
        self.shell.android.device().note_unhandled(&line);
    }
}

type Program = for<'a, 'b> fn(&'a mut Call<'b>) -> BoxFuture<'a, CommandResult>;

/// Every program but the shell's own and those whose answers are recorded. Each future is boxed:
/// together they would be large, and every call would pay for it.
const PROGRAMS: &[(&str, Program)] = &[
    ("am", |call| am::run(call).boxed()),
    ("app_process", |call| agent::run(call).boxed()),
    ("appops", |call| cmd::appops(call).boxed()),
    ("cat", |call| filter::cat(call).boxed()),
    ("chmod", |call| file::chmod(call).boxed()),
    ("cmd", |call| cmd::run(call).boxed()),
    ("content", |call| content::run(call).boxed()),
    ("cp", |call| file::move_or_copy(call).boxed()),
    ("cut", |call| filter::cut(call).boxed()),
    ("date", |call| system::date(call).boxed()),
    ("dumpsys", |call| dumpsys::run(call).boxed()),
    ("getprop", |call| property::getprop(call).boxed()),
    ("grep", |call| filter::grep(call).boxed()),
    ("id", |call| system::id(call).boxed()),
    ("input", |call| input::run(call).boxed()),
    ("kill", |call| process::kill(call).boxed()),
    ("log", |call| logcat::log(call).boxed()),
    ("logcat", |call| logcat::run(call).boxed()),
    ("ls", |call| list::ls(call).boxed()),
    ("md5sum", |call| filter::md5sum(call).boxed()),
    ("mkdir", |call| file::mkdir(call).boxed()),
    ("monkey", |call| am::monkey(call).boxed()),
    ("mv", |call| file::move_or_copy(call).boxed()),
    ("nc", |call| nc::run(call).boxed()),
    ("pgrep", |call| process::pgrep(call).boxed()),
    ("pidof", |call| process::pidof(call).boxed()),
    ("pkill", |call| process::pkill(call).boxed()),
    ("pm", |call| pm::run(call).boxed()),
    ("ps", |call| process::ps(call).boxed()),
    ("reboot", |call| system::reboot(call).boxed()),
    ("remount", |call| system::remount(call).boxed()),
    ("rm", |call| file::rm(call).boxed()),
    ("run-as", |call| process::run_as(call).boxed()),
    ("screencap", |call| screen::screencap(call).boxed()),
    ("screenrecord", |call| screen::screenrecord(call).boxed()),
    ("seq", |call| system::seq(call).boxed()),
    ("settings", |call| property::settings(call).boxed()),
    ("sh", |call| process::sh(call).boxed()),
    ("sleep", |call| system::sleep(call).boxed()),
    ("svc", |call| cmd::svc(call).boxed()),
    ("toybox", |call| process::toybox(call).boxed()),
    ("uiautomator", |call| uiautomator::run(call).boxed()),
    ("wc", |call| filter::wc(call).boxed()),
    ("which", |call| system::which(call).boxed()),
    ("wm", |call| wm::run(call).boxed()),
];

/// The names of all programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// Whether there is a program of that name.
pub(super) fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Runs one of the shell's own commands, or a program.
pub(super) async fn run(shell: &mut Shell, args: &[String], io: &Io) -> CommandResult {
    let Some(name) = args.first() else {
        return Ok(0);
    };
    if let Some(result) = builtin::run(shell, args, io).await {
        return result;
    }
    let short = name.strip_prefix("/system/bin/").unwrap_or(name);
    let program = PROGRAMS.iter().find(|(known, _)| *known == short);
    if program.is_some() || recorded::is_program(short) {
        let mut args = args.to_vec();
        short.clone_into(&mut args[0]);
        return Ok(run_program(shell, program.map(|(_, run)| *run), &args, io).await);
    }
    shell.android.device().note_unhandled(&args.join(" "));
    let message = format!("{name}: inaccessible or not found");
    shell.complain(io, &message).await?;
    Ok(127)
}

async fn run_program(shell: &mut Shell, program: Option<Program>, args: &[String], io: &Io) -> i32 {
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
                Fault::Fail(text) => return call.refuse(text + "\n", 1).await,
                Fault::Answer {
                    stdout,
                    stderr,
                    exit,
                } => {
                    call.out(stdout).await?;
                    return call.refuse(stderr, i32::from(exit)).await;
                }
                Fault::Ignore => return Ok(0),
                Fault::NoFocus(time) => android.lose_focus(time.0),
                // The link is gone, and with it whoever would hear of the rest.
                Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_) => std::future::pending().await,
                other => call.faults.push(other),
            }
        }
        match (recorded::answer(args), program) {
            (Some(answer), _) => {
                let text = android.fill(answer.text);
                call.end(text, answer.code).await
            }
            (None, Some(program)) => program(&mut call).await,
            (None, None) => call.not_recorded().await,
        }
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
