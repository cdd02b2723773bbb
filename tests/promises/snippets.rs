//! Pages and recipes as tests see them: fenced blocks, shell lines, calls of the program in them.

use std::path::{Path, PathBuf};

use packtrain_tests::{Ended, Lab, repository};

/// A fenced block of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The words behind the fence: the language, then whatever follows it.
    pub info: Vec<String>,
    /// What is inside.
    pub text: String,
    /// The line its text begins on, from 1.
    pub line: usize,
}

impl Block {
    /// The language; empty when there is none.
    pub fn language(&self) -> &str {
        self.info.first().map_or("", String::as_str)
    }
}

/// A line for a shell and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLine {
    /// The command, continuations joined, the comment behind it cut off.
    pub command: String,
    /// The exit code that `# exit N` behind it promises; 0 without.
    pub exit: i32,
    /// From 1.
    pub line: usize,
}

/// The pages people read: those at the top, in `docs` and in `deploy`.
pub fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/decisions", "deploy"] {
        for entry in std::fs::read_dir(repository().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as messages show it.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(repository())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// The fenced blocks of a page, in order.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(markdown.lines()) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block {
                    info: info.split_whitespace().map(str::to_owned).collect(),
                    text: String::new(),
                    line: number + 1,
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed: {open:?}");
    blocks
}

/// The commands of a shell block whose text begins on `first`.
pub fn shell_lines(text: &str, first: usize) -> Vec<ShellLine> {
    let mut lines = Vec::new();
    let mut begun: Option<(usize, String)> = None;
    for (number, line) in (first..).zip(text.lines()) {
        let (at, mut command) = begun.take().unwrap_or((number, String::new()));
        match line.strip_suffix('\\') {
            Some(part) => {
                command.push_str(part);
                begun = Some((at, command));
            }
            None => {
                command.push_str(line);
                lines.extend(shell_line(&command, at));
            }
        }
    }
    assert!(
        begun.is_none(),
        "the last line ends in a backslash:\n{text}"
    );
    lines
}

fn shell_line(text: &str, line: usize) -> Option<ShellLine> {
    let (command, comment) = match text.rfind(" # ") {
        Some(at) => (&text[..at], text[at + 3..].trim()),
        None => (text, ""),
    };
    let command = command.trim();
    let exit = comment
        .strip_prefix("exit ")
        .map_or(0, |code| code.trim().parse().unwrap());
    (!command.is_empty() && !command.starts_with('#')).then(|| ShellLine {
        command: command.to_owned(),
        exit,
        line,
    })
}

/// The arguments of every call of the program in a piece of shell.
pub fn calls(shell: &str) -> Vec<Vec<String>> {
    let joined = shell.replace("\\\n", " ");
    joined.lines().flat_map(calls_in).collect()
}

fn calls_in(line: &str) -> Vec<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    if line.starts_with('#') || !line.contains("packtrain") {
        return Vec::new();
    }
    // A substitution is a command of its own; what it stands for is one word to the one around it.
    if let Some((before, rest)) = line.split_once("$(")
        && let Some((inside, after)) = rest.split_once(')')
    {
        let mut found = calls_in(inside);
        found.extend(calls_in(&format!("{before}SUBSTITUTED{after}")));
        return found;
    }
    let Some(words) = shlex::split(line) else {
        panic!("unbalanced quotes: {line}");
    };
    // `;` needs no blank before it.
    let parted = words.iter().flat_map(|word| match word.strip_suffix(';') {
        Some(word) => vec![word.to_owned(), ";".to_owned()],
        None => vec![word.clone()],
    });
    let parted: Vec<_> = parted.collect();
    let is_end = |word: &String| {
        ["&&", "||", "|", ";", "&", "{", "}", "do", "then", "!"].contains(&word.as_str())
    };
    parted.split(is_end).filter_map(call).collect()
}

/// The arguments, when the words call the program.
fn call(words: &[String]) -> Option<Vec<String>> {
    let is_setting = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let first = words.iter().position(|word| !is_setting(word))?;
    if words[first].rsplit('/').next() != Some("packtrain") {
        return None;
    }
    let mut arguments = Vec::new();
    let mut rest = words[first + 1..].iter();
    while let Some(word) = rest.next() {
        let redirection = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        match redirection.trim_start_matches(['>', '<']) {
            _ if !redirection.starts_with(['>', '<']) || is_placeholder(word) => {
                arguments.push(word.clone())
            }
            // `> file`: the file is the next word.
            "" => drop(rest.next()),
            _ => {}
        }
    }
    Some(arguments)
}

/// Why the program does not understand a call, if so; found out without making it.
pub fn misunderstood(lab: &Lab, call: &[String]) -> Option<String> {
    let mut arguments = call.to_vec();
    arguments.push("--help".to_owned());
    let mut command = lab.command(&arguments);
    // `--secret NAME` takes its value from the environment while it is being parsed.
    for pair in call
        .windows(2)
        .filter(|pair| pair[0] == "--secret" && !pair[1].contains('='))
    {
        command.env(&pair[1], "x");
    }
    let ended = Ended::from(command.output().unwrap());
    let understood = ended.code == 0 && ended.stdout.contains("Usage: packtrain");
    (!understood).then(|| {
        format!(
            "`packtrain {}` is not understood:\n{}",
            call.join(" "),
            ended.stderr
        )
    })
}

/// `<RUN>`, as pages write what readers have to fill in.
fn is_placeholder(word: &str) -> bool {
    word.starts_with('<') && word.ends_with('>')
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[test]
fn fenced_blocks_are_found_with_their_lines() {
    let page = "# A\n\n```sh\npacktrain runs\n```\n\n```yaml loose\na: 1\nb: 2\n```\n";
    let found = blocks(page);
    assert_eq!(found[0].text, "packtrain runs\n");
    assert_eq!((found[0].language(), found[0].line), ("sh", 4));
    assert_eq!(
        (found[1].info.as_slice(), found[1].line),
        (["yaml".into(), "loose".into()].as_slice(), 8)
    );
}

#[test]
fn shell_lines_are_joined_and_know_the_exit_code_they_promise() {
    let lines = shell_lines(
        "# words\npacktrain run a \\\n  -d web/a # exit 1\n\npacktrain runs # newest first\n",
        10,
    );
    assert_eq!(lines[0].command, "packtrain run a   -d web/a");
    assert_eq!((lines[0].exit, lines[0].line), (1, 11));
    assert_eq!(
        (lines[1].command.as_str(), lines[1].exit, lines[1].line),
        ("packtrain runs", 0, 14)
    );
}

#[test]
fn calls_are_found_wherever_a_shell_would_make_them() {
    let shell = "$ A=b packtrain run x -d 'web/a b' > out 2>&1 && packtrain runs | head\n\
                 ls packtrain\nif true; then packtrain doctor; fi\n\
                 packtrain report \"$(packtrain runs --format json | tail -1)\" --junit <FILE>\n";
    let found = calls(shell);
    let expected: [&[&str]; 5] = [
        &["run", "x", "-d", "web/a b"],
        &["runs"],
        &["doctor"],
        &["runs", "--format", "json"],
        &["report", "SUBSTITUTED", "--junit", "<FILE>"],
    ];
    assert_eq!(found, expected);
}
