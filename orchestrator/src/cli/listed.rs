//! Lists and data, as people and programs read them.

use serde_json::{Value, json};

use super::Format;
use crate::render;

/// The most of a cell, in characters.
const MOST_OF_A_CELL: usize = 300;

/// Data for programs, with the version of its form.
pub(crate) fn data(mut data: Value) {
    data["schema_version"] = json!(1);
    render::out(&data.to_string());
}

/// A list: as data, as rows below a heading, or in words when there is nothing.
pub(crate) fn list<const N: usize>(
    format: Format,
    listed: Value,
    none: &str,
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) {
    let rows: Vec<_> = rows.into_iter().collect();
    match format {
        Format::Json => data(listed),
        Format::Text if rows.is_empty() => render::say(none),
        Format::Text => render::out(&columns(&heading, &rows)),
    }
}

/// What was done: as data, or in words.
pub(crate) fn done(format: Format, done: Value, words: &str) {
    match format {
        Format::Json => data(done),
        Format::Text => render::say(words),
    }
}

/// Rows below a heading, each column as wide as it must be; one that is called nothing is left out.
pub(crate) fn columns<const N: usize>(heading: &[&str; N], rows: &[[String; N]]) -> String {
    let heading = heading.map(str::to_owned);
    let mut lines = vec![String::new(); rows.len() + 1];
    for column in (0..N).filter(|column| !heading[*column].is_empty()) {
        // Others may have written what is in a cell.
        let cells = [&heading].into_iter().chain(rows).map(|row| {
            let shown = row[column].chars().filter(|letter| !letter.is_control());
            shown.take(MOST_OF_A_CELL).collect::<String>()
        });
        let cells: Vec<_> = cells.collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max();
        for (line, cell) in lines.iter_mut().zip(&cells) {
            line.push_str(&format!("{cell:width$}  ", width = width.unwrap_or(0)));
        }
    }
    let lines = lines.iter().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}
