//! Annotations as GitHub's runner reads them from what a step prints: a workflow command on a line of
//! its own for each problem.

use std::borrow::Cow;

use packtrain_compare::answer::Comparison;

use crate::problem::{Names, Problem};
use crate::view::{RunView, TrailView};
use crate::wording;

/// Most annotations; GitHub shows ten errors and ten warnings of a step.
const MOST: usize = 50;
/// How many devices a title names.
const MOST_NAMED: usize = 3;

/// The commands, a line each. `place` makes a path what it is in the repository.
pub fn annotations(
    view: &RunView,
    comparison: &Comparison,
    place: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let mut lines = Vec::new();
    let names = Names::of(view, comparison);
    for trail in &view.trails {
        let problems = Problem::of(trail, comparison).into_iter();
        lines.extend(problems.map(|problem| error(trail, &problem, &names, place)));
    }
    for (trail, session) in view.sessions().filter(|(_, session)| session.flaky) {
        let (attempts, name) = (session.attempts.len(), names.get(session));
        let message = format!("passed on attempt {attempts} on {name}");
        let title = format!("{} is flaky", trail.summary.title);
        let file = place(&trail.summary.path);
        lines.push(command("warning", &file, None, &title, &message));
    }
    lines.truncate(MOST);
    lines
}

fn error(
    trail: &TrailView,
    problem: &Problem,
    names: &Names<'_>,
    place: &dyn Fn(&str) -> String,
) -> String {
    let step = problem.step.and_then(|step| trail.step(step));
    let said = problem.at.as_deref().and_then(file_and_line);
    let (file, line) = said.unwrap_or((&trail.summary.path, step.map_or(1, |step| step.line)));
    let who = names.some(trail, &problem.sessions, MOST_NAMED).join(", ");
    let title = format!("{} {} on {who}", trail.summary.title, problem.what());
    let mut message = step.map_or_else(String::new, |step| format!("{}\n", step.text));
    message.push_str(problem.message.as_deref().unwrap_or(problem.word));
    if let Some(hint) = &problem.hint {
        message.push_str(&format!("\nhint: {hint}"));
    }
    command("error", &place(file), Some(line), &title, &message)
}

/// `trails/login.trail.yaml:12:9` in its parts.
fn file_and_line(at: &str) -> Option<(&str, u32)> {
    let (rest, column) = at.rsplit_once(':')?;
    column.parse::<u32>().ok()?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

fn command(level: &str, file: &str, line: Option<u32>, title: &str, message: &str) -> String {
    let line = line.map_or_else(String::new, |line| format!("line={line},"));
    let message: Vec<_> = wording::lines(message).collect();
    format!(
        "::{level} file={},{line}title={}::{}",
        property(file),
        property(&wording::one_line(title)),
        data(&message.join("\n"))
    )
}

/// A text behind the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A text as the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A text of which no line is a command to the runner: one may stand behind white space, and in the
/// older form anywhere in a line.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##[") {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive(['\n', '\r']).map(|line| {
        let line = line.replace("##[", "#\u{200b}#[");
        let words = line.trim_start();
        match words.strip_prefix("::") {
            Some(rest) => {
                let space = &line[..line.len() - words.len()];
                format!("{space}:\u{200b}:{rest}")
            }
            None => line,
        }
    });
    Cow::Owned(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::{command, file_and_line, harmless};

    #[test]
    fn a_hostile_text_stays_within_its_command() {
        let line = command(
            "error",
            "a,b:c%\n.yaml",
            Some(3),
            "x::y,line=9\r\n::add-mask::z",
            "50% off\r\n::stop-commands::evil\n::error::no\u{2028}::x",
        );
        assert_eq!(line.lines().count(), 1);
        assert!(!line.contains('\r'), "{line}");
        assert!(
            line.starts_with("::error file=a%2Cb%3Ac%25%0A.yaml,line=3,title="),
            "{line}"
        );
        let (properties, _) = line[2..].split_once("::").unwrap();
        assert_eq!(properties.matches("line=").count(), 2, "{properties}");
        assert!(properties.contains("x%3A%3Ay%2Cline=9"), "{properties}");
        assert!(line.contains("50%25 off%0A::stop-commands::evil"), "{line}");
    }

    #[test]
    fn a_place_is_a_file_and_a_line() {
        assert_eq!(file_and_line("t/a.yaml:12:9"), Some(("t/a.yaml", 12)));
        assert_eq!(file_and_line("C:/t/a.yaml:12:9"), Some(("C:/t/a.yaml", 12)));
        assert_eq!(file_and_line("a.yaml"), None);
        assert_eq!(file_and_line("a.yaml:x:9"), None);
    }

    #[test]
    fn a_line_that_would_be_a_command_is_none_afterwards() {
        for text in [
            "::error::x",
            "  ::add-mask::x",
            "fine\n\t::stop-commands::x",
            "\u{a0}::error::x",
            "all ##[error]x",
            "fine\r::error::x",
        ] {
            let shown = harmless(text);
            let is_command = |line: &str| line.trim_start().starts_with("::");
            assert!(!shown.split(['\n', '\r']).any(is_command), "{shown}");
            assert!(!shown.contains("##["), "{shown}");
        }
        assert_eq!(harmless("a::b is fine"), "a::b is fine");
    }
}
