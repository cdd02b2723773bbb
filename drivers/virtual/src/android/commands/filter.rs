//! Programs that read text and write text.

use regex::{Regex, RegexBuilder};

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, columns};
use crate::android::shell::io::{Input, Stop};

/// The most that is held of an input, in bytes.
const MAX_INPUT: usize = 16 * 1024 * 1024;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "cat" => cat(call).await,
        "grep" | "egrep" | "fgrep" => grep(call).await,
        "head" => head(call).await,
        "tail" => tail(call).await,
        "wc" => wc(call).await,
        "sort" => sort(call).await,
        "uniq" => uniq(call).await,
        "cut" => columns::cut(call).await,
        "tr" => tr(call).await,
        "tee" => tee(call).await,
        "tac" => {
            let mut lines = lines_of(call, call.rest()).await?;
            lines.reverse();
            print(call, &lines).await
        }
        "nl" => {
            let lines = lines_of(call, call.rest()).await?;
            let numbered: Vec<String> = (lines.iter().enumerate())
                .map(|(i, line)| format!("{:6}\t{line}", i + 1))
                .collect();
            print(call, &numbered).await
        }
        "rev" => {
            let lines = lines_of(call, call.rest()).await?;
            let turned: Vec<String> = (lines.iter())
                .map(|line| line.chars().rev().collect())
                .collect();
            print(call, &turned).await
        }
        "paste" => columns::paste(call).await,
        "cmp" => cmp(call).await,
        "dd" => dd(call).await,
        _ => Ok(0),
    }
}

/// Opens a file, or the standard input for `-`; complains when it cannot.
async fn open(call: &Call<'_>, path: &str) -> Result<Option<Input>, Stop> {
    if path == "-" {
        return Ok(Some(call.io.stdin.clone()));
    }
    match call.shell.open_input(path).await {
        Ok(input) => Ok(Some(input)),
        Err(errno) => {
            call.fail(format!("{path}: {errno}"), 1).await?;
            Ok(None)
        }
    }
}

/// The lines of all files, or of the standard input when there are none.
pub(super) async fn lines_of(call: &Call<'_>, files: &[String]) -> Result<Vec<String>, Stop> {
    let stdin = ["-".to_owned()];
    let files = if files.is_empty() { &stdin } else { files };
    let (mut lines, mut size) = (Vec::new(), 0);
    for file in files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        while let Some(line) = input.line().await {
            size += line.len() + 1;
            if size > MAX_INPUT {
                return Ok(lines);
            }
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
    }
    Ok(lines)
}

pub(super) async fn print(call: &Call<'_>, lines: &[String]) -> CommandResult {
    let mut text = lines.join("\n");
    if !lines.is_empty() {
        text.push('\n');
    }
    call.out(text).await?;
    Ok(0)
}

async fn cat(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let mut files = options.rest;
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let mut code = 0;
    for file in &files {
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

/// A pattern of grep or sed as the regex crate writes it: in a basic one, `\(` groups and `(`
/// stands for itself.
pub(super) fn regex_of(pattern: &str, extended: bool, ignore_case: bool) -> Option<Regex> {
    let mut out = String::new();
    if extended {
        out.push_str(pattern);
    } else {
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some(c @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => out.push(c),
                    Some(c) => {
                        out.push('\\');
                        out.push(c);
                    }
                    None => out.push_str("\\\\"),
                },
                '(' | ')' | '{' | '}' | '|' | '+' | '?' => {
                    out.push('\\');
                    out.push(c);
                }
                '*' if out.is_empty() => out.push_str("\\*"),
                c => out.push(c),
            }
        }
    }
    // `[[]` and `[]]` are fine for grep and not for the crate.
    let out = out.replace("[[]", "\\[").replace("[]]", "\\]");
    RegexBuilder::new(&out)
        .case_insensitive(ignore_case)
        .size_limit(1 << 20)
        .build()
        .ok()
}

async fn grep(call: &mut Call<'_>) -> CommandResult {
    let with_value = ["e", "m", "A", "B", "C", "f"];
    let mut options = Options::of(call.rest(), &with_value);
    let pattern = match options.value("e") {
        Some(pattern) => pattern.to_owned(),
        None if options.rest.is_empty() => return call.fail("no REGEX", 2).await,
        None => options.rest.remove(0),
    };
    let fixed = call.name() == "fgrep" || options.has("F");
    let extended = call.name() == "egrep" || options.has("E");
    let parts: Vec<String> = pattern
        .split('\n')
        .map(|part| {
            if fixed {
                regex::escape(part)
            } else {
                part.to_owned()
            }
        })
        .collect();
    let mut regexes = Vec::new();
    for part in &parts {
        let whole = match (options.has("x"), options.has("w")) {
            (true, _) if extended || fixed => format!("^(?:{part})$"),
            (true, _) => format!("^\\({part}\\)$"),
            (false, true) if extended || fixed => format!("\\b(?:{part})\\b"),
            (false, true) => format!("\\b{part}\\b"),
            (false, false) => part.clone(),
        };
        match regex_of(&whole, extended || fixed, options.any("iy")) {
            Some(regex) => regexes.push(regex),
            None => return call.fail(format!("bad REGEX: {pattern}"), 2).await,
        }
    }
    let stdin = vec!["-".to_owned()];
    let files = if options.rest.is_empty() {
        &stdin
    } else {
        &options.rest
    };
    let most: usize = options.number("m").unwrap_or(usize::MAX);
    let named = (files.len() > 1 || options.has("H")) && !options.has("h");
    let mut found_any = false;
    for file in files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        let (mut number, mut found) = (0_usize, 0_usize);
        while let Some(line) = input.line().await {
            number += 1;
            let text = String::from_utf8_lossy(&line).into_owned();
            let hit = regexes.iter().any(|r| r.is_match(&text)) != options.has("v");
            if !hit {
                continue;
            }
            found += 1;
            found_any = true;
            if options.has("q") {
                return Ok(0);
            }
            if !options.any("cl") {
                let mut head = if named {
                    format!("{file}:")
                } else {
                    String::new()
                };
                if options.has("n") {
                    head.push_str(&format!("{number}:"));
                }
                let lines: String = if options.has("o") {
                    let parts = regexes.iter().flat_map(|r| r.find_iter(&text));
                    parts
                        .map(|part| format!("{head}{}\n", part.as_str()))
                        .collect()
                } else {
                    format!("{head}{text}\n")
                };
                call.out(lines).await?;
            }
            if found >= most {
                break;
            }
        }
        if options.has("c") {
            let head = if named {
                format!("{file}:")
            } else {
                String::new()
            };
            call.out(format!("{head}{found}\n")).await?;
        } else if options.has("l") && found > 0 {
            call.out(format!("{file}\n")).await?;
        }
    }
    Ok(i32::from(!found_any))
}

/// `-5` is an old way to write `-n 5`.
fn count_of(args: &[String]) -> (Vec<String>, Option<String>) {
    let mut number = None;
    let rest = (args.iter())
        .filter(|arg| {
            let digits = arg.strip_prefix('-').unwrap_or("");
            let old = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if old {
                number = Some(digits.to_owned());
            }
            !old
        })
        .cloned()
        .collect();
    (rest, number)
}

async fn head(call: &mut Call<'_>) -> CommandResult {
    let (args, old) = count_of(call.rest());
    let mut options = Options::of(&args, &["n", "c"]);
    if options.rest.is_empty() {
        options.rest.push("-".to_owned());
    }
    let lines: usize = old
        .and_then(|n| n.parse().ok())
        .or(options.number("n"))
        .unwrap_or(10);
    for file in &options.rest {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        if let Some(bytes) = options.number::<usize>("c") {
            call.out(input.all(bytes.min(MAX_INPUT)).await).await?;
            continue;
        }
        for _ in 0..lines {
            let Some(mut line) = input.line().await else {
                break;
            };
            line.push(b'\n');
            call.out(line).await?;
        }
    }
    Ok(0)
}

async fn tail(call: &mut Call<'_>) -> CommandResult {
    let (args, old) = count_of(call.rest());
    let options = Options::of(&args, &["n", "c"]);
    if let Some(bytes) = options.number::<usize>("c") {
        let text = lines_of(call, &options.rest).await?.join("\n") + "\n";
        let start = text.len().saturating_sub(bytes);
        call.out(text.into_bytes().split_off(start)).await?;
        return Ok(0);
    }
    let count = old.unwrap_or_else(|| options.value("n").unwrap_or("10").to_owned());
    let lines = lines_of(call, &options.rest).await?;
    let start = match count.strip_prefix('+') {
        Some(from) => from
            .parse::<usize>()
            .unwrap_or(1)
            .saturating_sub(1)
            .min(lines.len()),
        None => lines.len().saturating_sub(count.parse().unwrap_or(10)),
    };
    print(call, &lines[start..]).await
}

async fn wc(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let stdin = vec!["-".to_owned()];
    let files = if options.rest.is_empty() {
        &stdin
    } else {
        &options.rest
    };
    for file in files {
        let Some(input) = open(call, file).await? else {
            continue;
        };
        let (mut lines, mut words, mut bytes, mut in_word) = (0_u64, 0_u64, 0_u64, false);
        while let Some(block) = input.block().await {
            bytes += block.len() as u64;
            for byte in block {
                lines += u64::from(byte == b'\n');
                let space = byte.is_ascii_whitespace();
                words += u64::from(in_word && space);
                in_word = !space;
            }
        }
        words += u64::from(in_word);
        let all = !options.any("lwcm");
        let shown: Vec<String> = [("l", lines), ("w", words), ("c", bytes), ("m", bytes)]
            .into_iter()
            .filter(|(letter, _)| options.has(letter) || (all && *letter != "m"))
            .map(|(_, number)| number.to_string())
            .collect();
        let name = if file == "-" {
            String::new()
        } else {
            format!(" {file}")
        };
        call.out(format!("{}{name}\n", shown.join(" "))).await?;
    }
    Ok(0)
}

async fn sort(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["k", "t", "o"]);
    let mut lines = lines_of(call, &options.rest).await?;
    let field = options
        .value("k")
        .and_then(|k| k.split(',').next()?.parse::<usize>().ok());
    let separator = options.value("t").and_then(|t| t.chars().next());
    let key = |line: &str| -> String {
        let Some(field) = field else {
            return line.to_owned();
        };
        let part = match separator {
            Some(c) => line.split(c).nth(field.saturating_sub(1)),
            None => line.split_whitespace().nth(field.saturating_sub(1)),
        };
        part.unwrap_or("").to_owned()
    };
    if options.has("n") {
        let number = |line: &str| {
            let text = key(line);
            let text = text.trim_start();
            let end = text.find(|c: char| !(c.is_ascii_digit() || c == '-' || c == '.'));
            text[..end.unwrap_or(text.len())]
                .parse::<f64>()
                .unwrap_or(0.0)
        };
        lines.sort_by(|a, b| number(a).total_cmp(&number(b)));
    } else {
        lines.sort_by_key(|line| key(line));
    }
    if options.has("r") {
        lines.reverse();
    }
    if options.has("u") {
        lines.dedup();
    }
    print(call, &lines).await
}

async fn uniq(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let lines = lines_of(call, &options.rest).await?;
    let mut groups: Vec<(usize, String)> = Vec::new();
    for line in lines {
        match groups.last_mut() {
            Some((count, last)) if *last == line => *count += 1,
            _ => groups.push((1, line)),
        }
    }
    let shown: Vec<String> = (groups.into_iter())
        .filter(|(count, _)| !(options.has("d") && *count < 2 || options.has("u") && *count > 1))
        .map(|(count, line)| {
            if options.has("c") {
                format!("{count:7} {line}")
            } else {
                line
            }
        })
        .collect();
    print(call, &shown).await
}

/// `a-z`, `\n` and `[:upper:]` in the sets of `tr`.
fn set_of(text: &str) -> Vec<char> {
    let text = text
        .replace("[:upper:]", "A-Z")
        .replace("[:lower:]", "a-z")
        .replace("[:digit:]", "0-9")
        .replace("[:space:]", " \t\n\r")
        .replace("\\n", "\n")
        .replace("\\r", "\r")
        .replace("\\t", "\t");
    let chars: Vec<char> = text.chars().collect();
    let mut set = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match (chars.get(i + 1), chars.get(i + 2)) {
            (Some('-'), Some(to)) if *to >= chars[i] && set.len() < 4096 => {
                set.extend((chars[i]..=*to).take(4096));
                i += 3;
            }
            _ => {
                set.push(chars[i]);
                i += 1;
            }
        }
    }
    set
}

async fn tr(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let from = set_of(options.rest.first().map_or("", String::as_str));
    let to = set_of(options.rest.get(1).map_or("", String::as_str));
    let (delete, squeeze, other) = (options.has("d"), options.has("s"), options.any("cC"));
    let squeezed = if to.is_empty() {
        from.clone()
    } else {
        to.clone()
    };
    let mut last = None;
    while let Some(block) = call.io.stdin.block().await {
        let text = String::from_utf8_lossy(&block).into_owned();
        let mut out = String::new();
        for c in text.chars() {
            let place = from.iter().position(|f| *f == c);
            let hit = place.is_some() != other;
            if hit && delete {
                continue;
            }
            let index = if other {
                usize::MAX
            } else {
                place.unwrap_or(0)
            };
            let new = match to.get(index).or(to.last()) {
                Some(new) if hit => *new,
                _ => c,
            };
            if squeeze && last == Some(new) && squeezed.contains(&new) {
                continue;
            }
            last = Some(new);
            out.push(new);
        }
        call.out(out).await?;
    }
    Ok(0)
}

async fn tee(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let mut outputs = vec![call.io.stdout.clone()];
    for file in &options.rest {
        match call.shell.open_output(file, options.has("a")) {
            Ok(output) => outputs.push(output),
            Err(errno) => {
                call.fail(format!("{file}: {errno}"), 1).await?;
            }
        }
    }
    while let Some(block) = call.io.stdin.block().await {
        for output in &outputs {
            output.write(block.clone()).await?;
        }
    }
    Ok(0)
}

async fn cmp(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let [a, b] = options.rest.as_slice() else {
        return call.fail("needs 2 arguments", 2).await;
    };
    let (first, second) = (
        call.shell.read_file(a, MAX_INPUT),
        call.shell.read_file(b, MAX_INPUT),
    );
    match (first, second) {
        (Ok(first), Ok(second)) if first == second => Ok(0),
        (Ok(first), Ok(second)) => {
            let same = first
                .iter()
                .zip(&second)
                .take_while(|(a, b)| a == b)
                .count();
            if !options.has("s") {
                call.out(format!("{a} {b} differ: char {}\n", same + 1))
                    .await?;
            }
            Ok(1)
        }
        (Err(errno), _) => call.fail(format!("{a}: {errno}"), 2).await,
        (_, Err(errno)) => call.fail(format!("{b}: {errno}"), 2).await,
    }
}

async fn dd(call: &mut Call<'_>) -> CommandResult {
    let value = |name: &str| {
        call.rest()
            .iter()
            .find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='))
    };
    let size = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "" => 1,
            "k" | "K" | "kB" => 1024,
            _ => 1024 * 1024,
        };
        digits.parse::<usize>().unwrap_or(512).saturating_mul(unit)
    };
    let block = value("bs").map_or(512, size);
    let most = value("count").map_or(usize::MAX, |n| size(n).saturating_mul(block));
    let input = match value("if") {
        Some("/dev/zero") => Input::of(vec![0; most.min(MAX_INPUT)]),
        Some(path) => match open(call, path).await? {
            Some(input) => input,
            None => return Ok(1),
        },
        None => call.io.stdin.clone(),
    };
    let output = match value("of") {
        Some(path) => match call.shell.open_output(path, false) {
            Ok(output) => output,
            Err(errno) => return call.fail(format!("{path}: {errno}"), 1).await,
        },
        None => call.io.stdout.clone(),
    };
    let all = input.all(most.min(MAX_INPUT)).await;
    let (length, blocks) = (all.len(), all.len() / block.max(1));
    output.write(all).await?;
    call.err(format!(
        "{blocks}+0 records in\n{blocks}+0 records out\n{length} bytes copied\n"
    ))
    .await?;
    Ok(0)
}
