//! Programs about processes, and those that run other programs.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, builtin, is_known};
use crate::android::files::FileUser;
use crate::android::processes::Process;

pub(super) async fn ps(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("Aef", &[]).await?;
    let own = call.shell.pid;
    let mut chosen = call.android().processes();
    if !options.any("Aef") {
        // Without options only one's own, as toybox does.
        chosen.retain(|p| p.parent == own || p.pid == own);
    }
    let mut text =
        "USER           PID  PPID        VSZ    RSS WCHAN            ADDR S NAME                       \n"
            .to_owned();
    for p in chosen {
        text.push_str(&format!(
            "{:<12} {:>5} {:>5}   13842000  91204 do_epoll_wait       0 S {}\n",
            p.user, p.pid, p.parent, p.name
        ));
    }
    call.say(text).await
}

pub(super) async fn pidof(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("s", &[]).await?;
    let names = &options.rest;
    let own = call.shell.pid;
    let found: Vec<String> = (call.android().processes().iter())
        .filter(|p| p.pid != own && names.contains(&p.name))
        .map(|p| p.pid.to_string())
        .take(if options.has("s") { 1 } else { usize::MAX })
        .collect();
    if found.is_empty() {
        return Ok(1);
    }
    call.say(found.join(" ") + "\n").await
}

/// The processes `pgrep` and `pkill` mean; never the program itself.
fn meant(call: &Call<'_>, options: &Options) -> Option<Vec<Process>> {
    let regex = regex::Regex::new(options.rest.first()?).ok()?;
    let own = call.args.join(" ");
    let mut all = call.shell.android.processes();
    all.retain(|p| {
        let text = if options.has("f") { &p.line } else { &p.name };
        p.line != own && regex.is_match(text)
    });
    Some(all)
}

pub(super) async fn pgrep(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("f", &[]).await?;
    let Some(found) = meant(call, &options) else {
        return call.fail("bad pattern", 2).await;
    };
    let lines = found.iter().map(|process| format!("{}\n", process.pid));
    let text: String = lines.collect();
    call.end(text, i32::from(found.is_empty())).await
}

pub(super) async fn pkill(call: &mut Call<'_>) -> CommandResult {
    let args: Vec<String> = (call.rest().iter())
        .filter(|arg| !is_signal(arg))
        .cloned()
        .collect();
    let Some(found) = meant(call, &Options::of(&args, &[])) else {
        return call.fail("bad pattern", 2).await;
    };
    let own = call.shell.pid;
    let killed = (found.iter())
        .filter(|p| call.shell.android.kill(p))
        // A shell whose command line matches kills itself, as `pkill -f` is known for.
        .fold(0, |count, p| count + i32::from(p.pid != own));
    Ok(i32::from(killed == 0))
}

pub(super) async fn kill(call: &mut Call<'_>) -> CommandResult {
    let probes = call.arg(1) == Some("-0");
    let all = call.android().processes();
    let mut code = 0;
    for pid in call.rest().iter().filter(|arg| !is_signal(arg)) {
        let why = match all.iter().find(|p| p.pid.to_string() == *pid) {
            None => "No such process",
            Some(process) if !probes && !call.shell.android.kill(process) => {
                "Operation not permitted"
            }
            Some(_) => continue,
        };
        code = call.fail(format!("{pid}: {why}"), 1).await?;
    }
    Ok(code)
}

/// `-9`, `-KILL`, `-SIGTERM`
fn is_signal(arg: &str) -> bool {
    let rest = arg.strip_prefix('-').unwrap_or("");
    let is_number = rest.bytes().all(|b| b.is_ascii_digit());
    let is_name = rest.len() > 2 && rest.bytes().all(|b| b.is_ascii_uppercase());
    !rest.is_empty() && (is_number || is_name)
}

pub(super) async fn sh(call: &mut Call<'_>) -> CommandResult {
    let [option, command] = call.rest() else {
        return call.not_recorded().await;
    };
    if option != "-c" {
        return call.not_recorded().await;
    }
    Ok(Box::pin(call.shell.copy().run_text(command, call.io)).await)
}

pub(super) async fn run_as(call: &mut Call<'_>) -> CommandResult {
    let Some(package) = call.arg(1) else {
        let usage = "usage: run-as <package-name> [--user <uid>] <command> [<args>]";
        return call.fail(usage, 1).await;
    };
    let id = package.into();
    let device = call.shell.android.device();
    match device.world(|world| world.installed_app(&id)) {
        None => return call.fail(format!("unknown package: {package}"), 1).await,
        Some(app) if app.system => {
            let message = format!("package not debuggable: {package}");
            return call.fail(message, 1).await;
        }
        Some(_) => {}
    }
    let mut shell = call.shell.copy();
    shell.who = FileUser::App(package.to_owned());
    shell.cwd = format!("/data/data/{package}");
    let args = call.args.get(2..).unwrap_or(&[]);
    Ok(match shell.invoke(args, call.io).await {
        Ok(code) => code,
        Err(stop) => stop.0,
    })
}

pub(super) async fn toybox(call: &mut Call<'_>) -> CommandResult {
    match call.arg(1) {
        Some(name) if is_known(name) || builtin::is_builtin(name) => {
            call.run_other(call.rest()).await
        }
        name => {
            call.unhandled();
            let name = name.unwrap_or("");
            let text = format!("toybox: Unknown command {name} (see \"toybox --help\")\n");
            call.refuse(text, 127).await
        }
    }
}
