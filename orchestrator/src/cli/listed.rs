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

/// Rows below a heading, each column as wide as it must be.
pub(crate) fn columns<const N: usize>(heading: &[&str; N], rows: &[[String; N]]) -> String {
    let rows = rows.iter().map(|row| row.each_ref().map(|text| cell(text)));
    let rows: Vec<[String; N]> = rows.collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.fold(heading[column].len(), usize::max)
    });
    let line = |cells: [&str; N]| {
        let padded = cells.iter().zip(&widths);
        let padded: Vec<_> = padded
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let rows = rows
        .iter()
        .map(|row| line(row.each_ref().map(String::as_str)));
    line(*heading) + &rows.collect::<String>()
}

/// What fits into a cell: others may have written it.
fn cell(text: &str) -> String {
    let shown = text.chars().filter(|letter| !letter.is_control());
    shown.take(MOST_OF_A_CELL).collect()
}
