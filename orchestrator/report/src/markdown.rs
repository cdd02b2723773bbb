//! The summary of a job, as Markdown: the answer, a row for each trail, a line for each problem, and how to run that again.

use packtrain_compare::answer::Comparison;

use crate::again::again;
use crate::facts::{facts, mark, notes};
use crate::mark::Mark;
use crate::problem::{Names, Problem};
use crate::view::{RunView, TrailView};
use crate::wording;

/// How many trails the table has: those that went worst.
const MOST_TRAILS: usize = 200;
/// How many problems are listed.
const MOST_PROBLEMS: usize = 50;
/// How many devices of a problem are named.
const MOST_NAMED: usize = 6;
/// How much of a message is shown.
const MOST_WORDS: usize = 300;

/// Renders a run. It ends with an empty line, so that more may follow.
pub fn markdown(view: &RunView, comparison: &Comparison) -> String {
    let headline = escaped(&comparison.sentence);
    let mut text = format!("## {} {headline}\n\n", mark(view).sign());
    text.push_str(&format!("{}\n\n", escaped(&facts(view).join(" · "))));
    for note in notes(view, false) {
        text.push_str(&format!("> {}\n\n", escaped(&note)));
    }
    let mut trails: Vec<&TrailView> = view.trails.iter().collect();
    trails.sort_by_key(|trail| trail.mark());
    if !trails.is_empty() {
        text.push_str("| trail | outcome |\n|---|---|\n");
        for trail in trails.iter().take(MOST_TRAILS) {
            text.push_str(&row(trail));
        }
        if let Some(more) = wording::more(trails.len(), MOST_TRAILS) {
            text.push_str(&format!("| {more} | |\n"));
        }
        text.push('\n');
    }
    let problems = trails.iter().flat_map(|trail| {
        let own = Problem::of(trail, comparison).into_iter();
        own.map(move |problem| (*trail, problem))
    });
    let problems: Vec<_> = problems.collect();
    let names = Names::of(view, comparison);
    for (trail, problem) in problems.iter().take(MOST_PROBLEMS) {
        text.push_str(&told(view, trail, problem, &names));
    }
    if let Some(more) = wording::more(problems.len(), MOST_PROBLEMS) {
        text.push_str(&format!("- {more} in the report\n"));
    }
    if !problems.is_empty() {
        text.push('\n');
    }
    text
}

fn row(trail: &TrailView) -> String {
    let counts = Mark::counts(Mark::ALL, &trail.sessions);
    let counted = counts.map(|(mark, count)| format!("{} {}", mark.sign(), mark.counted(count)));
    let counted = counted.collect::<Vec<_>>().join(", ");
    format!("| {} | {counted} |\n", escaped(&trail.summary.title))
}

fn told(view: &RunView, trail: &TrailView, problem: &Problem, names: &Names<'_>) -> String {
    let (title, who) = (escaped(&trail.summary.title), escaped(&problem.who(trail)));
    let (sign, what) = (problem.mark.sign(), problem.what());
    let mut text = format!("- **{title}** {sign} {what} {who}");
    text.truncate(text.trim_end().len());
    if let Some(message) = &problem.message {
        let message = wording::one_line(message);
        let message = wording::cut(&message, MOST_WORDS);
        text.push_str(&format!(": {}", escaped(&message)));
    }
    text.push('\n');
    if trail.sessions.len() > 1 {
        let names = names.some(trail, &problem.sessions, MOST_NAMED);
        text.push_str(&format!("  {}\n", escaped(&names.join(", "))));
    }
    if let Some(first) = problem.first(trail) {
        text.push_str(&format!("  {}\n", code(&again(view, trail, first))));
    }
    text
}

/// A foreign text as words and nothing else, on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in wording::one_line(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!'
            | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text as code, with as many backquotes around it as it takes.
fn code(text: &str) -> String {
    let mut fence = "`".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    match fence.len() {
        1 => format!("`{text}`"),
        _ => format!("{fence} {text} {fence}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{code, escaped};

    #[test]
    fn a_foreign_text_is_words_and_nothing_else() {
        assert_eq!(
            escaped("| <script> [x](http://a) *b* `c`\n# d @ada"),
            r"\| &lt;script&gt; \[x\]\(http://a\) \*b\* \`c\` \# d &#64;ada"
        );
        assert_eq!(code("a `b`"), "`` a `b` ``");
    }
}
