//! Programs about processes, and those that run other programs.

use std::time::Duration;

use crate::android::Build;
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, is_known, names};
use crate::android::files::FileUser;
use crate::android::processes::Process;
use crate::android::shell::io::{Input, Io};

/// The most words `xargs` hands to one call.
const MAX_WORDS: usize = 5000;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "ps" => ps(call).await,
        "top" => top(call).await,
        "pidof" => pidof(call).await,
        "pgrep" => pgrep(call).await,
        "kill" => kill(call).await,
        "pkill" | "killall" => pkill(call).await,
        "env" => env(call).await,
        "printenv" => printenv(call).await,
        "nohup" | "setsid" => {
            call.shell.immunity.grant();
            let (args, io) = (call.rest().to_vec(), call.io.clone());
            Ok(call.run_other(&args, &io).await)
        }
        "nice" => {
            let options = Options::of(call.rest(), &["n"]);
            let io = call.io.clone();
            Ok(call.run_other(&options.rest, &io).await)
        }
        "timeout" => timeout(call).await,
        "xargs" => xargs(call).await,
        "sh" => sh(call).await,
        "su" => su(call).await,
        "run-as" => run_as(call).await,
        "toybox" => toybox(call).await,
        _ => Ok(0),
    }
}

/// The beginning of what toybox says, which clients look at for what `ps` can do.
const PS_HELP: &str = "usage: ps [-AadefLlnwZ] [-gG GROUP,] [-k FIELD,] [-o FIELD,] [-p PID,] [-t TTY,] [-uU USER,]\n\nList processes.\n\nWhich processes to show (-gGuUpPt selections may be comma separated lists):\n\n-A\tAll\n-a\tHas terminal not session leader\n-d\tAll but session leaders\n-e\tSynonym for -A\n-g\tIn GROUPs\n-G\tIn real GROUPs (before sgid)\n-p\tPIDs (--pid)\n-P\tParent PIDs (--ppid)\n-s\tIn session IDs\n-t\tAttached to selected TTYs\n-T\tShow threads also\n-u\tOwned by selected USERs\n-U\tReal USERs (before suid)\n";

async fn ps(call: &mut Call<'_>) -> CommandResult {
    if call.rest().iter().any(|arg| arg == "--help") {
        call.out(PS_HELP).await?;
        return Ok(0);
    }
    let options = Options::of(call.rest(), &["o", "p", "u"]);
    let android = call.android();
    let own = call.shell.pid;
    let all = android.processes();
    let chosen: Vec<&Process> = match options.value("p") {
        Some(pids) => {
            let pids: Vec<u32> = pids
                .split(',')
                .filter_map(|p| p.trim().parse().ok())
                .collect();
            all.iter().filter(|p| pids.contains(&p.pid)).collect()
        }
        // Without options only one's own, as toybox does.
        None if !options.any("AefTwlZ") && options.rest.is_empty() && !options.has("o") => {
            let mine = |p: &&Process| p.parent == own || p.pid == own;
            all.iter().filter(mine).collect()
        }
        None => all.iter().collect(),
    };
    if let Some(fields) = options.value("o") {
        // `NAME=TITLE` names the column; without a title in any there is no head line.
        let columns: Vec<(&str, String)> = (fields.split(','))
            .map(|column| match column.split_once('=') {
                Some((name, title)) => (name, title.to_owned()),
                None => (column, column.to_uppercase()),
            })
            .collect();
        let row = |cells: &mut dyn Iterator<Item = String>| {
            let last = columns.len().saturating_sub(1);
            let cells: Vec<String> = (columns.iter().zip(cells).enumerate())
                .map(
                    |(i, ((name, _), cell))| match name.to_uppercase().as_str() {
                        "PID" | "PPID" => format!("{cell:>5}"),
                        "USER" | "UID" if i < last => format!("{cell:<12}"),
                        "NAME" | "COMM" | "CMD" if i < last => format!("{cell:<27}"),
                        _ => cell,
                    },
                )
                .collect();
            cells.join(" ") + "\n"
        };
        let mut text = String::new();
        if columns.iter().any(|(_, title)| !title.is_empty()) {
            text = row(&mut columns.iter().map(|(_, title)| title.clone()));
        }
        for process in &chosen {
            text.push_str(&row(&mut columns
                .iter()
                .map(|(name, _)| field(process, name))));
        }
        call.out(text).await?;
        return Ok(0);
    }
    let mut text =
        "USER           PID  PPID        VSZ    RSS WCHAN            ADDR S NAME                       \n"
            .to_owned();
    for p in chosen {
        text.push_str(&format!(
            "{:<12} {:>5} {:>5} {:>10} {:>6} {:<16} {:>4} S {}\n",
            p.user, p.pid, p.parent, 13_842_000, 91_204, "do_epoll_wait", 0, p.name
        ));
    }
    call.out(text).await?;
    Ok(0)
}

fn field(process: &Process, name: &str) -> String {
    match name.to_uppercase().as_str() {
        "PID" => process.pid.to_string(),
        "PPID" => process.parent.to_string(),
        "USER" | "UID" => process.user.clone(),
        "ARGS" | "CMD" | "CMDLINE" => process.line.clone(),
        "NAME" | "COMM" => process.name.clone(),
        "S" | "STAT" => "S".to_owned(),
        _ => "0".to_owned(),
    }
}

async fn top(call: &mut Call<'_>) -> CommandResult {
    let all = call.android().processes();
    let mut text = format!(
        "Tasks: {} total,   1 running, {} sleeping,   0 stopped,   0 zombie\n  Mem:  7864320K total,  5242880K used,  2621440K free,   131072K buffers\n Swap:  4194300K total,        0K used,  4194300K free,  2097152K cached\n800%cpu   9%user   0%nice   6%sys 785%idle   0%iow   0%irq   0%sirq   0%host\n  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n",
        all.len(),
        all.len().saturating_sub(1)
    );
    let options = Options::of(call.rest(), &["d", "m", "n", "o", "k", "O", "s", "p", "u"]);
    for p in all
        .into_iter()
        .take(options.number("m").unwrap_or(usize::MAX))
    {
        text.push_str(&format!(
            "{:>5} {:<12} 20   0  13G  89M  61M S  0.0   1.1   0:00.10 {}\n",
            p.pid, p.user, p.name
        ));
    }
    call.out(text).await?;
    Ok(0)
}

async fn pidof(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["o"]);
    let own = call.shell.pid;
    let found: Vec<String> = (call.android().processes().iter())
        .filter(|p| p.pid != own && p.line.split(' ').next() != Some("pidof"))
        .filter(|p| options.rest.contains(&p.name))
        .map(|p| p.pid.to_string())
        .collect();
    if found.is_empty() {
        return Ok(1);
    }
    call.out(format!("{}\n", found.join(" "))).await?;
    Ok(0)
}

/// The processes `pgrep` and `pkill` mean; never the program itself.
fn meant(call: &Call<'_>, options: &Options) -> Option<Vec<Process>> {
    let pattern = options.rest.first()?;
    let regex = regex::Regex::new(pattern).ok()?;
    let own = call.args.join(" ");
    let all = call
        .shell
        .android
        .processes()
        .into_iter()
        .filter(|p| p.line != own);
    let hit = |p: &Process| {
        let text = if options.has("f") { &p.line } else { &p.name };
        if options.has("x") {
            text == pattern
        } else {
            regex.is_match(text)
        }
    };
    Some(all.filter(hit).collect())
}

async fn pgrep(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["u", "P"]);
    let Some(found) = meant(call, &options) else {
        return call.fail("bad pattern", 2).await;
    };
    for process in &found {
        let line = match (options.has("l"), options.has("a")) {
            (_, true) => format!("{} {}\n", process.pid, process.line),
            (true, _) => format!("{} {}\n", process.pid, process.name),
            _ => format!("{}\n", process.pid),
        };
        call.out(line).await?;
    }
    Ok(i32::from(found.is_empty()))
}

async fn pkill(call: &mut Call<'_>) -> CommandResult {
    let args: Vec<String> = (call.rest().iter())
        .filter(|arg| !is_signal(arg))
        .cloned()
        .collect();
    let mut options = Options::of(&args, &["u", "P", "l", "s"]);
    let exact = call.name() == "killall";
    let found = if exact {
        let all = call.android().processes();
        options
            .rest
            .drain(..)
            .flat_map(|name| {
                all.iter()
                    .filter(move |p| p.name == name)
                    .cloned()
                    .collect::<Vec<_>>()
            })
            .collect()
    } else {
        match meant(call, &options) {
            Some(found) => found,
            None => return call.fail("bad pattern", 2).await,
        }
    };
    let own = call.shell.pid;
    let killed = (found.iter())
        .filter(|p| call.shell.android.kill(p))
        // A shell whose command line matches kills itself, as `pkill -f` is known for.
        .fold(0, |count, p| count + i32::from(p.pid != own));
    Ok(i32::from(killed == 0))
}

/// `-9`, `-KILL`, `-SIGTERM`
fn is_signal(arg: &str) -> bool {
    arg.strip_prefix('-').is_some_and(|rest| {
        !rest.is_empty()
            && (rest.bytes().all(|b| b.is_ascii_digit())
                || (rest.len() > 2
                    && rest
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())))
    })
}

async fn kill(call: &mut Call<'_>) -> CommandResult {
    let named = usize::from(call.arg(1) == Some("-s")) * 2;
    let args: Vec<&String> = (call.rest().iter().skip(named))
        .filter(|arg| !is_signal(arg))
        .collect();
    if call.arg(1) == Some("-l") {
        call.out("HUP INT QUIT KILL TERM STOP CONT\n").await?;
        return Ok(0);
    }
    let probes = call.rest().iter().any(|arg| arg == "-0");
    let all = call.android().processes();
    let mut code = 0;
    for arg in args {
        let process = arg
            .parse::<u32>()
            .ok()
            .and_then(|pid| all.iter().find(|p| p.pid == pid));
        match process {
            None => code = call.fail(format!("{arg}: No such process"), 1).await?,
            Some(_) if probes => {}
            Some(process) => {
                if !call.shell.android.kill(process) {
                    code = call
                        .fail(format!("{arg}: Operation not permitted"), 1)
                        .await?;
                }
            }
        }
    }
    Ok(code)
}

async fn env(call: &mut Call<'_>) -> CommandResult {
    let mut rest = call.rest();
    let mut shell = call.shell.clone();
    while let Some((first, more)) = rest.split_first() {
        match first.split_once('=') {
            Some((name, value)) if !name.is_empty() && !first.starts_with('-') => {
                shell.set(name, value);
                shell.export(name);
            }
            _ if first.starts_with('-') => {}
            _ => break,
        }
        rest = more;
    }
    if rest.is_empty() {
        let lines: String = shell
            .exported()
            .map(|(k, v)| format!("{k}={v}\n"))
            .collect();
        call.out(lines).await?;
        return Ok(0);
    }
    let (args, io) = (rest.to_vec(), call.io.clone());
    let mut inner = Call {
        shell: &mut shell,
        args: &args,
        io: &io,
        faults: Vec::new(),
    };
    Ok(inner.run_other(&args, &io).await)
}

async fn printenv(call: &mut Call<'_>) -> CommandResult {
    let Some(name) = call.arg(1) else {
        return env(call).await;
    };
    match call.shell.get(name) {
        Some(value) => {
            call.out(format!("{value}\n")).await?;
            Ok(0)
        }
        None => Ok(1),
    }
}

async fn timeout(call: &mut Call<'_>) -> CommandResult {
    // The options behind the command's name are the command's.
    let mut rest = call.rest();
    while let [first, tail @ ..] = rest
        && first.starts_with('-')
    {
        let takes_value = matches!(first.as_str(), "-k" | "-s");
        rest = if takes_value {
            tail.get(1..).unwrap_or(&[])
        } else {
            tail
        };
    }
    let [time, args @ ..] = rest else {
        return call
            .fail("Needs 2 arguments (see \"timeout --help\")", 125)
            .await;
    };
    let digits = time.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &time[digits.len()..] {
        "m" => 60.0,
        "h" => 3600.0,
        _ => 1.0,
    };
    let seconds = digits.parse::<f64>().unwrap_or(0.0).clamp(0.0, 86_400.0) * unit;
    let (args, io) = (args.to_vec(), call.io.clone());
    let limit = Duration::from_secs_f64(seconds);
    match tokio::time::timeout(limit, call.run_other(&args, &io)).await {
        Ok(code) => Ok(code),
        Err(_) => Ok(124),
    }
}

async fn xargs(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["n", "I", "P", "s"]);
    let input = call.io.stdin.all(1 << 20).await;
    let text = String::from_utf8_lossy(&input).into_owned();
    let words: Vec<String> = if options.has("0") {
        text.split('\0')
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    } else if options.has("I") {
        text.lines().map(str::to_owned).collect()
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    };
    let mut command = options.rest.clone();
    if command.is_empty() {
        command.push("echo".to_owned());
    }
    if words.is_empty() && options.has("r") {
        return Ok(0);
    }
    let io = Io {
        stdin: Input::empty(),
        ..call.io.clone()
    };
    let mut code = 0;
    if let Some(mark) = options.value("I") {
        for word in words.iter().take(MAX_WORDS) {
            let args: Vec<String> = command.iter().map(|arg| arg.replace(mark, word)).collect();
            code = code.max(call.run_other(&args, &io).await);
        }
        return Ok(code);
    }
    let each: usize = options.number("n").unwrap_or(MAX_WORDS).clamp(1, MAX_WORDS);
    let groups: Vec<&[String]> = if words.is_empty() {
        vec![&[]]
    } else {
        words.chunks(each).collect()
    };
    for group in groups {
        let args = [command.as_slice(), group].concat();
        code = code.max(call.run_other(&args, &io).await);
    }
    Ok(code)
}

async fn sh(call: &mut Call<'_>) -> CommandResult {
    let mut shell = call.shell.clone();
    shell.depth += 1;
    let mut args = call.rest();
    let mut command = None;
    while let Some((first, rest)) = args.split_first() {
        if !first.starts_with('-') {
            break;
        }
        args = rest;
        if first.contains('c') && !first.starts_with("--") {
            command = args.first().cloned();
            args = args.get(1..).unwrap_or(&[]);
            break;
        }
        if first.contains('e') {
            shell.exit_on_error = true;
        }
    }
    let io = call.io.clone();
    if let Some(command) = command {
        // What follows the command is $0, then $1 and on.
        shell.arguments = args.get(1..).unwrap_or(&[]).to_vec();
        return Ok(Box::pin(shell.run_text(&command, &io)).await);
    }
    let text = match args.split_first() {
        Some((script, arguments)) => {
            shell.arguments = arguments.to_vec();
            match shell.read_file(script, 256 * 1024) {
                Ok(text) => text,
                Err(errno) => {
                    return call
                        .fail(format!("can't open {script}: {errno}"), 127)
                        .await;
                }
            }
        }
        None => io.stdin.all(256 * 1024).await,
    };
    Ok(Box::pin(shell.run_text(&String::from_utf8_lossy(&text), &io)).await)
}

async fn su(call: &mut Call<'_>) -> CommandResult {
    // A phone as sold has none.
    if call.shell.android.build() == Build::User {
        let message = "/system/bin/sh: su: inaccessible or not found\n";
        call.err(message).await?;
        return Ok(127);
    }
    let (who, mut args) = match call.rest() {
        [] => (FileUser::Root, Vec::new()),
        [user, args @ ..] => match user.split([',', ':']).next().unwrap_or("") {
            "root" | "0" => (FileUser::Root, args.to_vec()),
            "shell" | "2000" => (FileUser::Shell, args.to_vec()),
            // It is the user that comes first: `-c` is for the `su` of other people.
            _ => return call.fail(format!("invalid uid/gid '{user}'"), 1).await,
        },
    };
    if matches!(call.shell.who, FileUser::App(_)) {
        return call.fail("not allowed", 1).await;
    }
    if args.is_empty() {
        args.push("sh".to_owned());
    }
    let io = call.io.clone();
    let before = std::mem::replace(&mut call.shell.who, who);
    let code = call.run_other(&args, &io).await;
    call.shell.who = before;
    Ok(code)
}

async fn run_as(call: &mut Call<'_>) -> CommandResult {
    let Some(package) = call.arg(1) else {
        return call
            .fail(
                "usage: run-as <package-name> [--user <uid>] <command> [<args>]",
                1,
            )
            .await;
    };
    let android = call.android();
    let id = package.into();
    let app = android.device().world(|world, _| world.installed_app(&id));
    match app {
        None => return call.fail(format!("unknown package: {package}"), 1).await,
        Some(app) if app.system => {
            return call
                .fail(format!("package not debuggable: {package}"), 1)
                .await;
        }
        Some(_) => {}
    }
    let mut args = call.args.get(2..).unwrap_or(&[]).to_vec();
    if args.first().is_some_and(|arg| arg == "--user") {
        args.drain(..args.len().min(2));
    }
    let mut shell = call.shell.clone();
    shell.who = FileUser::App(package.to_owned());
    shell.cwd = format!("/data/data/{package}");
    let io = call.io.clone();
    let mut inner = Call {
        shell: &mut shell,
        args: &args,
        io: &io,
        faults: Vec::new(),
    };
    Ok(inner.run_other(&args, &io).await)
}

async fn toybox(call: &mut Call<'_>) -> CommandResult {
    match call.arg(1) {
        None | Some("--help") => {
            call.out(names().collect::<Vec<_>>().join(" ") + "\n")
                .await?;
            Ok(0)
        }
        Some(name) if is_known(name) || crate::android::commands::builtin::is_builtin(name) => {
            let (args, io) = (call.rest().to_vec(), call.io.clone());
            Ok(call.run_other(&args, &io).await)
        }
        Some(name) => {
            call.unhandled();
            call.err(format!(
                "toybox: Unknown command {name} (see \"toybox --help\")\n"
            ))
            .await?;
            Ok(127)
        }
    }
}
