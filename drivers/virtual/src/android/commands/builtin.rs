//! The shell's own commands, those that change the shell itself, and `test`.

use crate::android::commands::CommandResult;
use crate::android::shell::Shell;
use crate::android::shell::io::{Io, Stop};

/// Whether the shell itself does this.
pub(super) fn is_builtin(name: &str) -> bool {
    let all = ":|[|cd|echo|exec|exit|export|false|pwd|test|true";
    all.split('|').any(|known| known == name)
}

/// Runs one of the shell's own commands; `None` when it is none.
pub(super) async fn run(shell: &mut Shell, args: &[String], io: &Io) -> Option<CommandResult> {
    let (name, args) = args.split_first()?;
    if !is_builtin(name) {
        return None;
    }
    Some(builtin(shell, name, args, io).await)
}

async fn builtin(shell: &mut Shell, name: &str, args: &[String], io: &Io) -> CommandResult {
    let first = args.first().map(String::as_str);
    match name {
        "false" => return Ok(1),
        "echo" => io.stdout.write(echo(args)).await?,
        "pwd" => io.stdout.write(format!("{}\n", shell.cwd)).await?,
        "test" => return test(shell, name, args, io).await,
        "[" => match args.split_last() {
            Some((last, inner)) if last == "]" => return test(shell, name, inner, io).await,
            _ => {
                shell.complain(io, "[: missing ]").await?;
                return Ok(2);
            }
        },
        "cd" => return change_directory(shell, first.unwrap_or("/"), io).await,
        "exit" => {
            let code = first.and_then(|text| text.parse().ok());
            return Err(Stop(code.unwrap_or(shell.status)));
        }
        "exec" if !args.is_empty() => return Err(Stop(shell.invoke(args, io).await?)),
        "export" => {
            for (name, value) in args.iter().filter_map(|arg| arg.split_once('=')) {
                shell.set(name, Some(value.to_owned()));
            }
        }
        _ => {}
    }
    Ok(0)
}

fn echo(args: &[String]) -> String {
    let (args, end) = match args.split_first() {
        Some((first, rest)) if first == "-n" => (rest, ""),
        _ => (args, "\n"),
    };
    let mut text = String::new();
    let joined = args.join(" ");
    let mut chars = joined.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = match chars.peek() {
            Some('n') if c == '\\' => '\n',
            Some('t') if c == '\\' => '\t',
            Some('\\') if c == '\\' => '\\',
            _ => {
                text.push(c);
                continue;
            }
        };
        chars.next();
        text.push(escaped);
    }
    text + end
}

async fn change_directory(shell: &mut Shell, to: &str, io: &Io) -> CommandResult {
    let real = shell.real_path(to).ok();
    let found = real.and_then(|real| {
        let meta = shell.android.files.lock().meta(&real)?;
        Some((real, meta))
    });
    let why = match found {
        Some((real, meta)) if meta.is_dir() => {
            shell.cwd = real;
            return Ok(0);
        }
        Some(_) => "Not a directory",
        None => "No such file or directory",
    };
    shell.complain(io, &format!("cd: {to}: {why}")).await?;
    Ok(2)
}

async fn test(shell: &Shell, name: &str, args: &[String], io: &Io) -> CommandResult {
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut negated = false;
    while args.len() > 1 && args[0] == "!" {
        args.remove(0);
        negated = !negated;
    }
    let holds = match args.as_slice() {
        [] => false,
        [text] => !text.is_empty(),
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        [a, "=" | "==", b] => a == b,
        [a, "!=", b] => a != b,
        _ => {
            let line = format!("{name} {}", args.join(" "));
            shell.android.device().note_unhandled(&line);
            let message = format!("{name}: unexpected operator/operand");
            shell.complain(io, &message).await?;
            return Ok(2);
        }
    };
    Ok(i32::from(holds == negated))
}
