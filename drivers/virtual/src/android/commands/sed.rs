//! `sed`: substitution, deletion, printing, quitting, with line numbers and patterns.

use regex::Regex;

use crate::android::commands::filter::regex_of;
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::shell::io::Input;

enum Address {
    Line(usize),
    FinalLink,
    Like(Regex),
}

enum Action {
    Substitute {
        pattern: Regex,
        with: String,
        all: bool,
        print: bool,
    },
    Delete,
    Print,
    Quit,
}

struct Step {
    from: Option<Address>,
    to: Option<Address>,
    action: Action,
    /// Whether the range was entered and not left.
    inside: bool,
}

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let mut options = Options::of(call.rest(), &["e", "f"]);
    let script = match options.value("e") {
        Some(script) => script.to_owned(),
        None if options.rest.is_empty() => return call.fail("no pattern", 1).await,
        None => options.rest.remove(0),
    };
    let extended = options.any("rE");
    let steps: Option<Vec<Step>> = (split_steps(&script).iter())
        .map(|text| step(text, extended))
        .collect();
    let Some(mut steps) = steps else {
        call.unhandled();
        return call.fail(format!("bad pattern '{script}'"), 1).await;
    };
    let files = options.rest.clone();
    let in_place = options.has("i");
    if files.is_empty() {
        let text = edit(&mut steps, &call.io.stdin.clone(), options.has("n")).await;
        call.out(text).await?;
        return Ok(0);
    }
    for file in &files {
        let input = match call.shell.open_input(file).await {
            Ok(input) => input,
            Err(errno) => return call.fail(format!("{file}: {errno}"), 1).await,
        };
        let text = edit(&mut steps, &input, options.has("n")).await;
        if in_place {
            match call.shell.open_output(file, false) {
                Ok(output) => output.write(text).await?,
                Err(errno) => return call.fail(format!("{file}: {errno}"), 1).await,
            }
        } else {
            call.out(text).await?;
        }
    }
    Ok(0)
}

/// Steps are separated by `;` and line ends outside of their patterns.
fn split_steps(script: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let (mut delimiter, mut seen, mut escaped) = (None, 0, false);
    for c in script.chars() {
        let open = delimiter.is_some() && seen < 3;
        if !open && matches!(c, ';' | '\n') {
            steps.push(String::new());
            (delimiter, seen) = (None, 0);
            continue;
        }
        if let Some(last) = steps.last_mut() {
            match delimiter {
                None if last.ends_with('s') && !c.is_alphanumeric() && !c.is_whitespace() => {
                    delimiter = Some(c);
                    seen = 1;
                }
                Some(d) if c == d && !escaped => seen += 1,
                _ => {}
            }
            last.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    steps.retain(|step| !step.trim().is_empty());
    steps
}

fn step(text: &str, extended: bool) -> Option<Step> {
    let (from, rest) = address(text.trim_start(), extended)?;
    let (to, rest) = match rest.strip_prefix(',') {
        Some(rest) => address(rest, extended)?,
        None => (None, rest),
    };
    let rest = rest.trim();
    let action = match rest.chars().next()? {
        'd' => Action::Delete,
        'p' => Action::Print,
        'q' => Action::Quit,
        's' => substitution(&rest[1..], extended)?,
        _ => return None,
    };
    Some(Step {
        from,
        to,
        action,
        inside: false,
    })
}

fn address(text: &str, extended: bool) -> Option<(Option<Address>, &str)> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some((Some(Address::FinalLink), rest));
    }
    if let Some(rest) = text.strip_prefix('/') {
        let end = rest.find('/')?;
        let regex = regex_of(&rest[..end], extended, false)?;
        return Some((Some(Address::Like(regex)), &rest[end + 1..]));
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 {
        return Some((None, text));
    }
    Some((Some(Address::Line(text[..end].parse().ok()?)), &text[end..]))
}

fn substitution(text: &str, extended: bool) -> Option<Action> {
    let delimiter = text.chars().next()?;
    let mut parts = vec![String::new()];
    let mut chars = text[delimiter.len_utf8()..].chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let next = chars.next()?;
            let last = parts.last_mut()?;
            if next != delimiter {
                last.push('\\');
            }
            last.push(next);
        } else if c == delimiter {
            parts.push(String::new());
        } else {
            parts.last_mut()?.push(c);
        }
    }
    let [pattern, with, flags] = parts.as_slice() else {
        return None;
    };
    Some(Action::Substitute {
        pattern: regex_of(pattern, extended, flags.contains(['i', 'I']))?,
        with: replacement(with),
        all: flags.contains('g'),
        print: flags.contains('p'),
    })
}

/// `\1` and `&` as the regex crate writes them.
fn replacement(with: &str) -> String {
    let mut out = String::new();
    let mut chars = with.chars();
    while let Some(c) = chars.next() {
        match c {
            '$' => out.push_str("$$"),
            '&' => out.push_str("${0}"),
            '\\' => match chars.next() {
                Some(d) if d.is_ascii_digit() => out.push_str(&format!("${{{d}}}")),
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

async fn edit(steps: &mut [Step], input: &Input, quiet: bool) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut next = input.line().await;
    while let Some(line) = next {
        next = input.line().await;
        number += 1;
        let last = next.is_none();
        let mut line = String::from_utf8_lossy(&line).into_owned();
        let (mut deleted, mut quits) = (false, false);
        for step in steps.iter_mut() {
            if !applies(step, number, last, &line) {
                continue;
            }
            match &step.action {
                Action::Delete => {
                    deleted = true;
                    break;
                }
                Action::Print => {
                    out.push_str(&line);
                    out.push('\n');
                }
                Action::Quit => {
                    quits = true;
                    break;
                }
                Action::Substitute {
                    pattern,
                    with,
                    all,
                    print,
                } => {
                    let hit = pattern.is_match(&line);
                    let limit = usize::from(!all);
                    line = pattern.replacen(&line, limit, with.as_str()).into_owned();
                    if hit && *print {
                        out.push_str(&line);
                        out.push('\n');
                    }
                }
            }
        }
        if !deleted && !quiet {
            out.push_str(&line);
            out.push('\n');
        }
        if quits || out.len() > 16 * 1024 * 1024 {
            break;
        }
    }
    out
}

fn applies(step: &mut Step, number: usize, last: bool, line: &str) -> bool {
    let meets = |address: &Address| match address {
        Address::Line(n) => *n == number,
        Address::FinalLink => last,
        Address::Like(regex) => regex.is_match(line),
    };
    match (&step.from, &step.to) {
        (None, _) => true,
        (Some(from), None) => meets(from),
        (Some(from), Some(to)) => {
            if step.inside {
                step.inside = !meets(to);
                return true;
            }
            let enters = meets(from);
            step.inside = enters && !matches!(to, Address::Line(n) if *n <= number);
            enters
        }
    }
}
