//! The one file through which people see errors and the program prints at all.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use console::measure_text_width;
use packtrain_model::Exit;
use packtrain_model::diagnostic::Diagnostic;

use crate::exit::CliError;

/// How long a terminal or a pipe may take nothing of what is printed at the end.
const PRINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Says that GitHub's runner reads what is printed.
const RUNNER_VARIABLE: &str = "GITHUB_ACTIONS";

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn wanted(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }

    /// Whether standard error is coloured.
    pub fn on_stderr(self) -> bool {
        self.wanted(std::io::stderr().is_terminal())
    }
}

/// How data is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Human-readable.
    #[default]
    Text,
    /// Machine-readable.
    Json,
}

/// Whether standard output took less than it was given.
static IS_CUT: AtomicBool = AtomicBool::new(false);

/// Data, to standard output. A reader that has gone away is not an error of ours.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(stdout, "{text}{end}").and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !IS_CUT.swap(true, Ordering::Relaxed)
    {
        say(&format!("error: standard output: {error}"));
    }
}

/// How a program ends that has written all; one whose output is cut has not done what it was for.
pub fn ended(exit: Exit) -> Exit {
    match exit {
        Exit::Passed if IS_CUT.load(Ordering::Relaxed) => Exit::Infrastructure,
        exit => exit,
    }
}

/// A command to the runner of a CI: on standard output, unless that is data.
pub fn annotation(line: &str, format: Format) {
    match format {
        Format::Text => out(line),
        Format::Json => {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

/// Whether what is printed is read by GitHub's runner, which takes some lines for commands.
pub fn is_runner_reading() -> bool {
    std::env::var_os(RUNNER_VARIABLE).is_some_and(|value| value == "true")
}

/// Words, to standard error.
pub fn say(text: &str) {
    let text = wrapped(text.trim_end_matches('\n'), columns());
    let mut stderr = std::io::stderr().lock();
    let _ = if is_runner_reading() {
        // What an app shows must not be a command to the runner.
        writeln!(stderr, "{}", packtrain_report::harmless(&text))
    } else {
        writeln!(stderr, "{text}")
    };
}

/// How many columns the terminal has that is standard error.
pub fn columns() -> usize {
    let size = console::Term::stderr().size_checked();
    size.map_or(usize::MAX, |(_, columns)| columns.into())
}

/// Long lines broken between words, where a terminal would break them within one. Commands stay whole, to
/// be copied.
pub fn wrapped(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if measure_text_width(line) <= columns
            || line.contains("packtrain ")
            || indent * 2 > columns
        {
            return line.to_owned();
        }
        let (mut broken, mut taken) = (String::new(), 0);
        for word in line.split_inclusive(' ') {
            let wide = measure_text_width(word);
            if taken > indent && taken + measure_text_width(word.trim_end()) > columns {
                broken.truncate(broken.trim_end().len());
                broken.push('\n');
                broken.push_str(&line[..indent]);
                taken = indent;
            }
            broken.push_str(word);
            taken += wide;
        }
        broken
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The same when standard error may be stalled and there is something else to do.
pub fn say_without_waiting(text: &str) {
    let text = text.to_owned();
    in_background(move || say(&text));
}

/// Prints, but does not wait for ever for a terminal or a pipe that takes nothing.
pub fn in_time(print: impl FnOnce() + Send + 'static) {
    let (printed, waiting) = mpsc::channel::<()>();
    in_background(move || {
        print();
        drop(printed);
    });
    // Ends with the other end, or too late.
    let _ = waiting.recv_timeout(PRINT_TIMEOUT);
}

/// Prints on a thread of its own, which is not joined: it may be stuck for ever.
pub fn in_background(print: impl FnOnce() + Send + 'static) {
    let printing = std::thread::Builder::new().name("printing".to_owned());
    // Without a thread to spare nothing is said.
    let _ = printing.spawn(print);
}

/// An error, to standard error: what happened, cause chain, hint.
pub fn error(error: &CliError, color: Color) {
    let color = color.on_stderr();
    diagnostics(&error.explanation.diagnostics, color);
    say(&format!(
        "{} {}",
        label("error:", "31", color),
        error.explanation.message
    ));
    for cause in &error.explanation.causes {
        say(&format!("  caused by: {cause}"));
    }
    if let Some(text) = &error.explanation.hint {
        say(&format!("{} {text}", label("hint:", "36", color)));
    }
}

/// Mistakes in files, to standard error.
pub fn diagnostics(diagnostics: &[Diagnostic], color: bool) {
    for diagnostic in diagnostics {
        say(&diagnostic.render(color));
    }
}

/// A warning, to standard error.
pub fn warning(text: &str, color: Color) {
    say(&format!(
        "{} {text}",
        label("warning:", "33", color.on_stderr())
    ));
}

fn label(text: &str, code: &str, color: bool) -> String {
    if color {
        format!("\u{1b}[1;{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words() {
        let shown = |text: &str| wrapped(text, 12);
        assert_eq!(shown("  a word or two more"), "  a word or\n  two more");
        assert_eq!(shown("one two"), "one two");
        assert_eq!(shown("/a/path/that/is/long x"), "/a/path/that/is/long\nx");
        let bold = "\u{1b}[1mabc\u{1b}[0m def ghi";
        assert_eq!(shown(bold), bold);
        let command = "  packtrain run a.trail.yaml";
        assert_eq!(shown(command), command);
        assert_eq!(wrapped("a b c", usize::MAX), "a b c");
    }
}
