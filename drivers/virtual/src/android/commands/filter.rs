//! Programs that read text and write text.

use md5::{Digest as _, Md5};
use regex::{Regex, RegexBuilder};

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::shell::io::{Input, Stop};

/// The most that is held of an input, in bytes.
const MAX_INPUT: usize = 256 * 1024 * 1024;

/// Opens a file, or the standard input for `-`; complains when it cannot.
async fn open(call: &Call<'_>, path: &str) -> Result<Option<Input>, Stop> {
    if path == "-" {
        return Ok(Some(call.io.stdin.clone()));
    }
    match call.shell.open_input(path) {
        Ok(input) => Ok(Some(input)),
        Err(errno) => {
            call.fail(format!("{path}: {errno}"), 1).await?;
            Ok(None)
        }
    }
}

/// The options and the files that are named: the standard input when none is.
async fn files_of(
    call: &Call<'_>,
    known: &str,
    with_value: &[&str],
) -> Result<(Options, Vec<String>), Stop> {
    let mut options = call.options(known, with_value).await?;
    let mut files = std::mem::take(&mut options.rest);
    if files.is_empty() {
        files.push("-".to_owned());
    }
    Ok((options, files))
}

pub(super) async fn cat(call: &mut Call<'_>) -> CommandResult {
    let mut code = 0;
    for file in &files_of(call, "", &[]).await?.1 {
        let Some(input) = open(call, file).await? else {
            code = 1;
            continue;
        };
        while let Some(block) = input.block().await {
            call.out(block).await?;
        }
    }
    Ok(code)
}

pub(super) async fn md5sum(call: &mut Call<'_>) -> CommandResult {
    let mut code = 0;
    for file in &files_of(call, "", &[]).await?.1 {
        let sum = match known_md5(call, file) {
            Some(sum) => sum,
            None => match open(call, file).await? {
                Some(input) => Md5::digest(input.all(MAX_INPUT).await).into(),
                None => {
                    code = 1;
                    continue;
                }
            },
        };
        let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        call.out(format!("{hex}  {file}\n")).await?;
    }
    Ok(code)
}

/// The sum of a file that a thousand devices hold is computed once.
fn known_md5(call: &Call<'_>, path: &str) -> Option<[u8; 16]> {
    let real = call.shell.real_path(path).ok()?;
    let content = call
        .shell
        .android
        .files
        .lock()
        .content(&real, &call.shell.who);
    content.ok()??.md5().ok()
}

/// A pattern of grep as the regex crate writes it: in a basic one, `\(` groups and `(` stands for
/// itself.
fn regex_of(pattern: &str, extended: bool) -> Option<Regex> {
    const TURNED: &str = "(){}|+?";
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if extended => out.push(c),
            '\\' => match chars.next() {
                Some(c) if TURNED.contains(c) => out.push(c),
                Some(c) => out.extend(['\\', c]),
                None => out.push_str("\\\\"),
            },
            c if TURNED.contains(c) || c == '*' && out.is_empty() => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    RegexBuilder::new(&out).size_limit(1 << 20).build().ok()
}

pub(super) async fn grep(call: &mut Call<'_>) -> CommandResult {
    let (options, mut files) = files_of(call, "cEoq", &["m"]).await?;
    let pattern = files.remove(0);
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let Some(regex) = regex_of(&pattern, options.has("E")) else {
        return call.fail(format!("bad REGEX: {pattern}"), 2).await;
    };
    let most: usize = options.number("m").unwrap_or(usize::MAX);
    let mut found_any = false;
    for file in &files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        let head = match files.len() {
            1 => String::new(),
            _ => format!("{file}:"),
        };
        let mut found = 0_usize;
        while let Some(line) = input.line().await {
            let text = String::from_utf8_lossy(&line);
            if !regex.is_match(&text) {
                continue;
            }
            found += 1;
            found_any = true;
            if options.has("q") {
                return Ok(0);
            }
            if options.has("o") {
                let parts = regex.find_iter(&text);
                let lines: String = parts
                    .map(|part| format!("{head}{}\n", part.as_str()))
                    .collect();
                call.out(lines).await?;
            } else if !options.has("c") {
                call.out(format!("{head}{text}\n")).await?;
            }
            if found >= most {
                break;
            }
        }
        if options.has("c") {
            call.out(format!("{head}{found}\n")).await?;
        }
    }
    Ok(i32::from(!found_any))
}

pub(super) async fn wc(call: &mut Call<'_>) -> CommandResult {
    let (options, files) = files_of(call, "cl", &[]).await?;
    for file in &files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        let (mut lines, mut bytes) = (0, 0);
        while let Some(block) = input.block().await {
            bytes += block.len();
            lines += block.iter().filter(|byte| **byte == b'\n').count();
        }
        let shown = match (options.has("l"), options.has("c")) {
            (true, false) => lines,
            (false, true) => bytes,
            _ => return call.not_recorded().await,
        };
        let name = match file.as_str() {
            "-" => String::new(),
            file => format!(" {file}"),
        };
        call.out(format!("{shown}{name}\n")).await?;
    }
    Ok(0)
}

/// `cut -d X -f N,M`
pub(super) async fn cut(call: &mut Call<'_>) -> CommandResult {
    let (options, files) = files_of(call, "", &["d", "f"]).await?;
    let (Some(fields), between) = (options.value("f"), options.value("d").unwrap_or("\t")) else {
        call.unhandled();
        return call.fail("no -f", 1).await;
    };
    let kept: Vec<usize> = fields.split(',').filter_map(|n| n.parse().ok()).collect();
    for file in &files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        while let Some(line) = input.line().await {
            let text = String::from_utf8_lossy(&line);
            let parts = text.split(between).enumerate();
            let parts = parts.filter(|(i, _)| kept.contains(&(i + 1)) || !text.contains(between));
            let parts: Vec<&str> = parts.map(|(_, part)| part).collect();
            call.out(parts.join(between) + "\n").await?;
        }
    }
    Ok(0)
}
