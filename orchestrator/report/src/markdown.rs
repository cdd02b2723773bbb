//! The summary of a job, as Markdown: the answer, a row for each trail, a line for each way in which
//! devices left it, and how to run that again.

use crate::again::again;
use crate::compare::{Cluster, Comparison};
use crate::headline::{facts, headline, notes};
use crate::mark::Mark;
use crate::view::{RunView, SessionView, TrailView};
use crate::wording;

/// How many trails the table has: those that went worst.
const MOST_TRAILS: usize = 200;
/// How many clusters are told of.
const MOST_CLUSTERS: usize = 50;
/// How many devices of a cluster are named.
const MOST_NAMED: usize = 6;
/// How much of a message is shown.
const MOST_WORDS: usize = 300;

/// Renders a run. It ends with an empty line, so that more may follow.
pub fn markdown(view: &RunView) -> String {
    let (mark, sentence) = headline(view);
    let mut text = format!("## {} {}\n\n", mark.sign(), escaped(&sentence));
    text.push_str(&format!("{}\n\n", escaped(&facts(view).join(" · "))));
    for note in notes(view) {
        text.push_str(&format!("> {}\n\n", escaped(&note)));
    }
    let mut trails: Vec<&TrailView> = view.trails.iter().collect();
    trails.sort_by_key(|trail| trail.mark());
    if !trails.is_empty() {
        text.push_str("| trail | outcome |\n|---|---|\n");
        for trail in trails.iter().take(MOST_TRAILS) {
            text.push_str(&row(trail));
        }
        if let Some(more) = trails
            .len()
            .checked_sub(MOST_TRAILS)
            .filter(|more| *more > 0)
        {
            text.push_str(&format!("| and {more} more | |\n"));
        }
        text.push('\n');
    }
    let comparisons: Vec<_> = trails.iter().map(|trail| Comparison::of(trail)).collect();
    let clusters = trails
        .iter()
        .zip(&comparisons)
        .flat_map(|(trail, comparison)| {
            comparison
                .divergences()
                .map(move |cluster| (*trail, cluster))
        });
    let clusters: Vec<_> = clusters.collect();
    for (trail, cluster) in clusters.iter().take(MOST_CLUSTERS) {
        text.push_str(&divergence(view, trail, cluster));
    }
    if let Some(more) = clusters
        .len()
        .checked_sub(MOST_CLUSTERS)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("- and {more} more in the report\n"));
    }
    if !clusters.is_empty() {
        text.push('\n');
    }
    text
}

fn row(trail: &TrailView) -> String {
    let counted = Mark::ALL.into_iter().filter_map(|mark| {
        let count = trail
            .sessions
            .iter()
            .filter(|session| session.mark() == mark)
            .count();
        (count > 0).then(|| format!("{} {}", mark.sign(), mark.counted(count)))
    });
    format!(
        "| {} | {} |\n",
        escaped(&trail.summary.title),
        counted.collect::<Vec<_>>().join(", ")
    )
}

fn divergence(view: &RunView, trail: &TrailView, cluster: &Cluster) -> String {
    let mut text = format!(
        "- **{}** {} {} {}",
        escaped(&trail.summary.title),
        cluster.mark.sign(),
        cluster.what(),
        cluster.who(trail)
    );
    let text_end = text.trim_end().len();
    text.truncate(text_end);
    if !cluster.shared.is_empty() {
        text.push_str(&format!(", only {}", escaped(&cluster.shared.join(", "))));
    }
    if let Some(message) = &cluster.message {
        let message = wording::one_line(message);
        text.push_str(&format!(
            ": {}",
            escaped(&wording::cut(&message, MOST_WORDS))
        ));
    }
    text.push('\n');
    let sessions = cluster.sessions.iter();
    let sessions: Vec<_> = sessions.filter_map(|&at| trail.sessions.get(at)).collect();
    if trail.sessions.len() > 1 {
        let named = sessions.iter().take(MOST_NAMED);
        let mut names: Vec<_> = named.map(|session| session.name()).collect();
        if let Some(more) = sessions
            .len()
            .checked_sub(MOST_NAMED)
            .filter(|more| *more > 0)
        {
            names.push(format!("{more} more"));
        }
        text.push_str(&format!("  {}\n", escaped(&names.join(", "))));
    }
    if let Some(first) = sessions.first() {
        let first: &SessionView = first;
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
