//! One HTML file that shows a run: no network, no other file needed, readable without JavaScript.
//!
//! The grid and the problems are rendered here, so that they are there at once; the details of each
//! step travel as JSON and are drawn when somebody asks for them. All of it comes from
//! tested apps and is hostile: the template escapes, the script only ever makes text nodes, and a
//! content security policy forbids loading anything.

mod compared;
mod data;
mod page;
mod pictures;
mod trees;
mod webp;

use minijinja::Environment;
use packtrain_compare::answer::Comparison;
use serde::Serialize;

use self::compared::Compared;
use self::pictures::Pictures;
use self::trees::Trees;
use crate::view::RunView;

/// How the file is made.
#[derive(Debug, Clone)]
pub struct HtmlOptions {
    /// How many bytes of screenshots are put into the file. What does not fit is linked.
    pub inline_limit: u64,
    /// What leads from the HTML file to the run's folder, ending in `/`; empty when the file lies
    /// in it.
    pub artifact_root: String,
    /// Whether the page is served while the run goes on: it then listens to `events` beside it and,
    /// at each message, fetches what [`html_data`] makes from `data.json`. An event `end` has the
    /// same in it, and is the last.
    pub live: bool,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        Self {
            inline_limit: 24 * 1024 * 1024,
            artifact_root: String::new(),
            live: false,
        }
    }
}

/// Why there is no HTML. Neither is the user's fault or the run's.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The template broke.
    #[error("render the HTML report")]
    Template(#[from] minijinja::Error),
    /// The details could not be written as JSON.
    #[error("encode the HTML report's details")]
    Data(#[from] serde_json::Error),
}

/// Renders a run and its comparison. `artifact` gives the content of a file of the run, by the path its
/// event named; `None` when it cannot be had, which the report then says.
///
/// # Errors
/// When the template or the encoder breaks; a run cannot make them.
pub fn html(
    view: &RunView,
    comparison: &Comparison,
    options: &HtmlOptions,
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<String, HtmlError> {
    let compared = Compared::of(view, comparison);
    let pictures = Pictures::collect(view, &compared, options.inline_limit, artifact);
    let trees = Trees::collect(view, &compared, artifact);
    let page = page::Page::new(view, comparison, options.live);
    let (details, texts) = data::details(view, &page, options, &pictures, artifact);

    let mut environment = Environment::new();
    environment.add_filter("code", code);
    environment.add_template("page.html", include_str!("html/page.html"))?;
    let safe = |text: String| minijinja::Value::from_safe_string(text);
    let texts = texts.iter().map(|text| Ok(safe(script_json(text)?)));
    let texts = texts.collect::<Result<Vec<_>, serde_json::Error>>()?;
    let whole = trees.whole.iter();
    let whole = whole.map(|(digest, tree)| Ok((digest.clone(), safe(script_json(tree)?))));
    let whole = whole.collect::<Result<Vec<_>, serde_json::Error>>()?;
    let template = environment.get_template("page.html")?;
    Ok(template.render(minijinja::context! {
        style => safe(include_str!("html/style.css").to_owned()),
        script => safe(include_str!("html/script.js").to_owned()),
        live => options.live,
        data => safe(script_json(&details)?),
        comparison => safe(script_json(comparison)?),
        trees => whole,
        words => safe(script_json(&trees.words)?),
        pictures => pictures.uris().map(|uri| safe(uri.to_owned())).collect::<Vec<_>>(),
        texts => texts,
        ..minijinja::Value::from(minijinja::value::Serde(&page))
    })?)
}

/// What a page that is open is given to show the run as it is now, as JSON: the details, the
/// comparison, and the texts of screens. Pictures and trees are not in it but linked.
///
/// # Errors
/// When the encoder breaks; a run cannot make it.
pub fn html_data(
    view: &RunView,
    comparison: &Comparison,
    options: &HtmlOptions,
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<String, HtmlError> {
    #[derive(Serialize)]
    struct Update<'a> {
        data: data::Details<'a>,
        comparison: &'a Comparison,
        texts: Vec<String>,
        words: trees::Words,
    }
    let nothing = &mut |_: &str| None;
    let pictures = Pictures::collect(view, &Compared::default(), 0, nothing);
    let words = Trees::collect(view, &Compared::default(), artifact).words;
    let page = page::Page::new(view, comparison, options.live);
    let (data, texts) = data::details(view, &page, options, &pictures, artifact);
    Ok(serde_json::to_string(&Update {
        data,
        comparison,
        texts,
        words,
    })?)
}

/// A text in which `` `words` `` stand for code, as HTML.
fn code(text: &str) -> minijinja::Value {
    let mut html = String::new();
    let pieces: Vec<&str> = text.split('`').collect();
    // A backtick without its partner is only a backtick.
    let paired = pieces.len() % 2 == 1;
    for (place, piece) in pieces.iter().enumerate() {
        let piece = minijinja::HtmlEscape(piece);
        html.push_str(&match (paired, place) {
            (true, place) if place % 2 == 1 => format!("<code>{piece}</code>"),
            (false, place) if place > 0 => format!("`{piece}"),
            _ => piece.to_string(),
        });
    }
    minijinja::Value::from_safe_string(html)
}

/// JSON that can stand in a `<script>`: nothing in it can end the element or open a comment.
fn script_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(value)?
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}
