//! The shell's own commands, those that change the shell itself.

use crate::android::commands::test;
use crate::android::shell::Shell;
use crate::android::shell::io::Io;
use crate::android::shell::run::Flow;

/// The shell's own commands.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "alias", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "hash", "jobs", "let", "local", "printf", "pwd", "read", "readonly",
    "return", "set", "shift", "source", "test", "trap", "true", "type", "typeset", "ulimit",
    "umask", "unalias", "unset", "wait",
];

/// Whether the shell itself does this.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Runs one of the shell's own commands; `None` when it is none.
pub(super) async fn run(shell: &mut Shell, args: &[String], io: &Io) -> Option<Result<i32, Flow>> {
    let name = args.first()?.as_str();
    is_builtin(name).then_some(())?;
    Some(builtin(shell, name, &args[1..], io).await)
}

async fn builtin(shell: &mut Shell, name: &str, args: &[String], io: &Io) -> Result<i32, Flow> {
    let first = args.first().map(String::as_str);
    let number = || first.and_then(|text| text.parse::<i32>().ok());
    match name {
        ":" | "true" | "alias" | "unalias" | "hash" | "jobs" | "ulimit" => Ok(0),
        "trap" => {
            trap(shell, args);
            Ok(0)
        }
        "false" => Ok(1),
        "echo" => echo(args, io).await,
        "printf" => {
            let text = printf(first.unwrap_or(""), args.get(1..).unwrap_or(&[]));
            io.stdout.write(text).await?;
            Ok(0)
        }
        "pwd" => {
            io.stdout.write(format!("{}\n", shell.cwd)).await?;
            Ok(0)
        }
        "umask" => {
            if args.is_empty() {
                io.stdout.write("000\n").await?;
            }
            Ok(0)
        }
        "test" => test_command(shell, "test", args, io).await,
        "[" => match args.split_last() {
            Some((last, inner)) if last == "]" => test_command(shell, "[", inner, io).await,
            _ => {
                shell.complain(io, "[: missing ]").await?;
                Ok(2)
            }
        },
        "cd" => change_directory(shell, first, io).await,
        "exit" => Err(Flow::Exit(number().unwrap_or(shell.status))),
        "return" => Err(Flow::Return(number().unwrap_or(shell.status))),
        "break" => Err(Flow::Break(loops(number()))),
        "continue" => Err(Flow::Continue(loops(number()))),
        "export" | "readonly" | "local" | "typeset" => declare(shell, name, args, io).await,
        "unset" => {
            args.iter()
                .filter(|arg| !arg.starts_with('-'))
                .for_each(|name| shell.unset(name));
            Ok(0)
        }
        "let" => {
            let text = args.join(" ");
            let (name, expression) = match text.split_once('=') {
                Some((name, rest)) if !rest.starts_with('=') => (Some(name.trim()), rest),
                _ => (None, text.as_str()),
            };
            let value = crate::android::shell::evaluate(expression, shell).unwrap_or(0);
            if let Some(name) = name {
                shell.set(name, &value.to_string());
            }
            Ok(i32::from(value == 0))
        }
        "set" => set(shell, args, io).await,
        "shift" => {
            let by = usize::try_from(number().unwrap_or(1)).unwrap_or(0);
            if by > shell.arguments.len() {
                return Ok(1);
            }
            shell.arguments.drain(..by);
            Ok(0)
        }
        "eval" => {
            shell.depth += 1;
            let result = shell.evaluate(&args.join(" "), io).await;
            shell.depth -= 1;
            result
        }
        "." | "source" => source(shell, args, io).await,
        "read" => read(shell, args, io).await,
        "wait" => Ok(0),
        "exec" => {
            if args.is_empty() {
                return Ok(0);
            }
            let code = shell.invoke(args, io).await?;
            Err(Flow::Exit(code))
        }
        "command" => match first {
            Some("-v") => which(shell, &args[1..], io, false).await,
            Some("-V") => which(shell, &args[1..], io, true).await,
            Some("-p") => shell.invoke(&args[1..], io).await,
            Some(_) => shell.invoke(args, io).await,
            None => Ok(0),
        },
        "type" => which(shell, args, io, true).await,
        _ => Ok(0),
    }
}

/// `trap ACTION SIGNAL …`. Of the signals, a shell here lives to see its end and a hangup.
fn trap(shell: &mut Shell, args: &[String]) {
    let [action, signals @ ..] = args else {
        return;
    };
    for signal in signals {
        match (signal.trim_start_matches("SIG"), action.as_str()) {
            ("EXIT" | "0", "-") => shell.exit_trap = None,
            ("EXIT" | "0", action) => shell.exit_trap = Some(action.to_owned()),
            ("HUP" | "1", "") => shell.immunity.grant(),
            _ => {}
        }
    }
}

/// `export NAME[=value] …` and its like.
async fn declare(shell: &mut Shell, how: &str, args: &[String], io: &Io) -> Result<i32, Flow> {
    for arg in args.iter().filter(|arg| !arg.starts_with('-')) {
        let name = match arg.split_once('=') {
            Some((name, value)) => {
                shell.set(name, value);
                name
            }
            None => arg,
        };
        if how == "export" || args.iter().any(|arg| arg == "-x") {
            shell.export(name);
        }
    }
    if args.is_empty() {
        let lines: String = (shell.exported())
            .map(|(name, value)| format!("export {name}={value}\n"))
            .collect();
        io.stdout.write(lines).await?;
    }
    Ok(0)
}

fn loops(number: Option<i32>) -> u32 {
    number
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or(1)
        .max(1)
}

async fn echo(args: &[String], io: &Io) -> Result<i32, Flow> {
    let (mut line_end, mut escapes, mut args) = (true, true, args);
    while let Some((first, rest)) = args.split_first() {
        match first.as_str() {
            "-n" => line_end = false,
            "-e" => escapes = true,
            "-E" => escapes = false,
            _ => break,
        }
        args = rest;
    }
    let joined = args.join(" ");
    let (mut text, goes_on) = if escapes {
        unescape(&joined)
    } else {
        (joined, true)
    };
    if line_end && goes_on {
        text.push('\n');
    }
    io.stdout.write(text).await?;
    Ok(0)
}

/// Replaces `\n` and its like; false when `\c` ended the text.
fn unescape(text: &str) -> (String, bool) {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('e') => out.push('\u{1b}'),
            Some('\\') => out.push('\\'),
            Some('c') => return (out, false),
            Some('0') => out.push(numbered(&mut chars, 8, 3)),
            Some('x') => out.push(numbered(&mut chars, 16, 2)),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    (out, true)
}

fn numbered(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: u32) -> char {
    let mut code = 0;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        code = code * radix + digit;
        chars.next();
    }
    char::from_u32(code).unwrap_or('\u{fffd}')
}

/// `printf`: the format is used again until the arguments are used up.
fn printf(format: &str, args: &[String]) -> String {
    let mut out = String::new();
    let mut left = args.iter();
    loop {
        let before = left.len();
        let ended = printf_once(format, &mut left, &mut out);
        if ended || left.len() == 0 || left.len() == before || out.len() > 1 << 20 {
            return out;
        }
    }
}

fn printf_once(format: &str, args: &mut std::slice::Iter<'_, String>, out: &mut String) -> bool {
    let (format, goes_on) = unescape(format);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = String::new();
        let kind = loop {
            match chars.next() {
                Some(c) if c.is_ascii_digit() || "-+ #.".contains(c) => spec.push(c),
                Some(c) => break c,
                None => return true,
            }
        };
        if kind == '%' {
            out.push('%');
            continue;
        }
        let arg = args.next().map_or("", String::as_str);
        let number = || arg.trim().parse::<i64>().unwrap_or(0);
        let text = match kind {
            'd' | 'i' | 'u' => number().to_string(),
            'x' => format!("{:x}", number()),
            'X' => format!("{:X}", number()),
            'o' => format!("{:o}", number()),
            'c' => arg.chars().take(1).collect(),
            'b' => unescape(arg).0,
            'f' => format!("{:.6}", arg.parse::<f64>().unwrap_or(0.0)),
            'q' => format!("'{}'", arg.replace('\'', "'\\''")),
            _ => arg.to_owned(),
        };
        out.push_str(&padded(&text, &spec));
    }
    !goes_on
}

fn padded(text: &str, spec: &str) -> String {
    let (width, precision) = spec.split_once('.').unwrap_or((spec, ""));
    let text: String = match precision.parse::<usize>() {
        Ok(most) => text.chars().take(most).collect(),
        Err(_) => text.to_owned(),
    };
    let left = width.starts_with('-');
    let zero = width.starts_with('0');
    let width: usize = width
        .trim_start_matches(['-', '0', '+', ' ', '#'])
        .parse()
        .unwrap_or(0);
    let fill = width.min(4096).saturating_sub(text.chars().count());
    match (left, zero) {
        (true, _) => text + &" ".repeat(fill),
        (false, true) => "0".repeat(fill) + &text,
        (false, false) => " ".repeat(fill) + &text,
    }
}

async fn test_command(shell: &Shell, name: &str, args: &[String], io: &Io) -> Result<i32, Flow> {
    match test::holds(shell, args) {
        Ok(holds) => Ok(i32::from(!holds)),
        Err(why) => {
            shell.complain(io, &format!("{name}: {why}")).await?;
            Ok(2)
        }
    }
}

async fn change_directory(shell: &mut Shell, to: Option<&str>, io: &Io) -> Result<i32, Flow> {
    let to = to.map_or_else(|| shell.get("HOME").unwrap_or_default(), str::to_owned);
    let to = if to == "-" {
        shell.get("OLDPWD").unwrap_or_default()
    } else {
        to
    };
    let real = shell.real_path(&to);
    let meta = match &real {
        Ok(real) => crate::android::lock(&shell.android.files).meta(real),
        Err(_) => None,
    };
    let (Ok(real), Some(meta)) = (real, meta) else {
        shell
            .complain(io, &format!("cd: {to}: No such file or directory"))
            .await?;
        return Ok(2);
    };
    if !meta.is_dir() {
        shell
            .complain(io, &format!("cd: {to}: Not a directory"))
            .await?;
        return Ok(2);
    }
    let before = std::mem::replace(&mut shell.cwd, real);
    shell.set("OLDPWD", &before);
    Ok(0)
}

async fn set(shell: &mut Shell, args: &[String], io: &Io) -> Result<i32, Flow> {
    if args.is_empty() {
        let lines: String = (shell.variables())
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        io.stdout.write(lines).await?;
        return Ok(0);
    }
    for (i, arg) in args.iter().enumerate() {
        match arg.as_str() {
            "--" => {
                shell.arguments = args[i + 1..].to_vec();
                return Ok(0);
            }
            "-e" => shell.exit_on_error = true,
            "+e" => shell.exit_on_error = false,
            flag if flag.starts_with(['-', '+']) => {}
            _ => {
                shell.arguments = args[i..].to_vec();
                return Ok(0);
            }
        }
    }
    Ok(0)
}

async fn source(shell: &mut Shell, args: &[String], io: &Io) -> Result<i32, Flow> {
    let Some(path) = args.first() else {
        shell.complain(io, ".: missing argument").await?;
        return Ok(1);
    };
    match shell.read_file(path, 256 * 1024) {
        Ok(text) => {
            shell.depth += 1;
            let result = shell.evaluate(&String::from_utf8_lossy(&text), io).await;
            shell.depth -= 1;
            match result {
                Err(Flow::Return(code)) => Ok(code),
                other => other,
            }
        }
        Err(errno) => {
            shell.complain(io, &format!(".: {path}: {errno}")).await?;
            Ok(1)
        }
    }
}

async fn read(shell: &mut Shell, args: &[String], io: &Io) -> Result<i32, Flow> {
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let Some(line) = io.stdin.line().await else {
        return Ok(1);
    };
    let line = String::from_utf8_lossy(&line).into_owned();
    if names.is_empty() {
        shell.set("REPLY", &line);
        return Ok(0);
    }
    let mut rest = line.trim_matches([' ', '\t']);
    for (i, name) in names.iter().enumerate() {
        if i + 1 == names.len() {
            shell.set(name, rest);
            break;
        }
        let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        shell.set(name, word);
        rest = after.trim_start_matches([' ', '\t']);
    }
    Ok(0)
}

async fn which(shell: &Shell, names: &[String], io: &Io, long: bool) -> Result<i32, Flow> {
    let mut code = 0;
    for name in names {
        let found = if shell.functions.contains_key(name) {
            Some((name.clone(), "a function"))
        } else if is_builtin(name) {
            Some((name.clone(), "a shell builtin"))
        } else if super::is_known(name) {
            Some((format!("/system/bin/{name}"), ""))
        } else {
            None
        };
        let line = match found {
            Some((path, "")) if long => format!("{name} is {path}\n"),
            Some((_, what)) if long => format!("{name} is {what}\n"),
            Some((path, _)) => format!("{path}\n"),
            None => {
                code = 1;
                if long {
                    format!("{name} not found\n")
                } else {
                    String::new()
                }
            }
        };
        io.stdout.write(line).await?;
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    #[test]
    fn printf_fills_pads_and_repeats() {
        assert_eq!(
            printf("%s=%d\\n", &strings(&["a", "1", "b", "2"])),
            "a=1\nb=2\n"
        );
        assert_eq!(
            printf("[%5s|%-3s|%03d]", &strings(&["ab", "c", "7"])),
            "[   ab|c  |007]"
        );
        assert_eq!(printf("100%%\\x41\\101", &[]), "100%A\\101");
    }

    proptest! {
        #[test]
        fn no_format_makes_printf_panic_or_hang(format in "[%a-z0-9.\\\\ -]{0,20}", args in proptest::collection::vec("[a-z0-9]{0,4}", 0..4)) {
            let _ = printf(&format, &args);
        }
    }
}
