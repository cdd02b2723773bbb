//! What steps and cells are called among baselines: names that stay when steps are added, and that
//! every file system takes.

use std::collections::BTreeSet;

use packtrain_drivers::known_axis;

use crate::input::Cell;
use crate::words::digest;

/// The longest name of a step, in characters.
const MAX_STEP: usize = 48;
/// The longest name of a cell, in characters.
const MAX_KEY: usize = 140;

/// The names of a trail's steps: their words, and a number where they are repeated.
pub fn step_ids<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |text: &str| {
        let slug = slug(text);
        let mut id = slug.clone();
        let mut number = 1;
        while !taken.insert(id.clone()) {
            number += 1;
            id = format!("{slug}-{number}");
        }
        id
    };
    texts.into_iter().map(&mut name).collect()
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        return format!("step-{}", hash(text));
    }
    if slug.chars().count() <= MAX_STEP {
        return slug.to_owned();
    }
    let cut: String = slug.chars().take(MAX_STEP).collect();
    format!("{}-{}", cut.trim_end_matches('-'), hash(text))
}

/// What a cell's screens are called: what draws them without its version, the size, every setting.
/// Empty when no picture says of what size the screen is.
pub fn key(cell: &Cell) -> String {
    if cell.visual_key.is_empty() {
        return String::new();
    }
    let (name, _) = engine(&cell.engine);
    let mut key = match cell.engine.as_str() {
        "" => cell.visual_key.clone(),
        engine => cell.visual_key.replacen(engine, name, 1),
    };
    // Builds and flags are no matter of drawing, but what is approved for one is not for another.
    for (axis, value) in &cell.values {
        if known_axis(axis).is_none() {
            key.push_str(&format!("-{axis}={value}"));
        }
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@=+".contains(c);
    if key.len() <= MAX_KEY && key.chars().all(is_plain) && !key.starts_with('.') {
        return key;
    }
    let plain = key.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(MAX_KEY).collect();
    format!("{}-{}", plain.trim_start_matches('.'), hash(&key))
}

/// The name of what draws, and its major version.
pub fn engine(engine: &str) -> (&str, Option<u32>) {
    let digit = engine.find(|c: char| c.is_ascii_digit());
    let Some(digit) = digit else {
        return (engine.trim(), None);
    };
    let (name, version) = engine.split_at(digit);
    let major = version.split(|c: char| !c.is_ascii_digit()).next();
    (name.trim(), major.and_then(|major| major.parse().ok()))
}

/// Whether both are known to be the same program in different major versions.
pub fn is_another_major(was: &str, is: &str) -> bool {
    let ((one, was), (other, is)) = (engine(was), engine(is));
    one == other && was.is_some() && is.is_some() && was != is
}

fn hash(text: &str) -> String {
    digest(text, 3)
}
