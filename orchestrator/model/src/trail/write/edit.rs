//! The surgery: which bytes go and which come. `None` wherever the text is not laid out as
//! expected; the caller proves what comes out.

use std::ops::Range;

use super::{Recording, words};
use crate::source::Span;
use crate::yaml::{self, Entry, Mapping, Node, Notation, Value};

/// The text with the recording written into the step.
pub(super) fn edit(text: &str, step: &Mapping, recording: &Recording<'_>) -> Option<String> {
    let page = Page { text };
    let (range, new) = match (step.notation, step.entry("recording")) {
        (Notation::Block, None) => page.add_recording(step, recording)?,
        (Notation::Block, Some(entry)) => page.change_recording(entry, recording)?,
        (Notation::Flow, None) => {
            let words = &step.entries[words(step)?];
            let recordings =
                Value::mapping([(recording.classifier.to_owned(), recording.value.clone())]);
            add_to_flow(words, "recording", &recordings)?
        }
        (Notation::Flow, Some(entry)) => {
            change_flow(&entry.value, entry.value.as_mapping()?, recording)?
        }
    };
    Some(format!(
        "{}{new}{}",
        text.get(..range.start)?,
        text.get(range.end..)?
    ))
}

type Edit = (Range<usize>, String);

/// A text by its lines.
struct Page<'t> {
    text: &'t str,
}

impl Page<'_> {
    /// A step gets its first recording, behind its words.
    fn add_recording(&self, step: &Mapping, recording: &Recording<'_>) -> Option<Edit> {
        let place = words(step)?;
        let words = &step.entries[place];
        let column = column(words.key.span?);
        let mut lines = vec!["recording:".to_owned()];
        lines.extend(slot(recording).into_iter().map(|line| indented(&line, 2)));
        // Comments below the last key of a step belong to the step, those above another key to
        // that key.
        let is_last = place + 1 == step.entries.len();
        self.insert_below(words, column, &lines, is_last.then_some(column))
    }

    /// A step has recordings: this one is replaced, or added behind the others.
    fn change_recording(&self, entry: &Entry, recording: &Recording<'_>) -> Option<Edit> {
        let recordings = entry.value.as_mapping()?;
        match (recordings.notation, recordings.entries.as_slice()) {
            (Notation::Flow, []) => {
                let column = column(entry.key.span?) + 2;
                self.replace_value(entry, "", &placed(&slot(recording), column))
            }
            (Notation::Flow, _) => change_flow(&entry.value, recordings, recording),
            (Notation::Block, []) => None,
            (Notation::Block, [first, ..]) => {
                let column = column(first.key.span?);
                match recordings.entry(recording.classifier) {
                    Some(entry) => {
                        let mut lines = slot(recording);
                        let head = lines.remove(0);
                        let (_, inline) = head.rsplit_once(':')?;
                        self.replace_value(entry, inline, &placed(&lines, column))
                    }
                    None => {
                        let last = recordings.entries.last()?;
                        self.insert_below(last, column, &slot(recording), Some(column))
                    }
                }
            }
        }
    }

    /// New lines below an entry and, with `comments`, below the comments that follow it directly
    /// and begin at that column or further in.
    fn insert_below(
        &self,
        entry: &Entry,
        column: usize,
        lines: &[String],
        comments: Option<usize>,
    ) -> Option<Edit> {
        let mut at = self.below(entry.value.span?.end.offset)?;
        while let Some(comments) = comments
            && self.is_comment(at, comments)
        {
            at = self.next_line(at);
        }
        let mut new = placed(lines, column).join(self.line_break());
        if at > 0 && !self.text[..at].ends_with('\n') {
            new.insert_str(0, self.line_break());
        } else {
            new.push_str(self.line_break());
        }
        Some((at..at, new))
    }

    /// The value of an entry replaced, by something on the line of its key and lines below. A
    /// comment behind the key, or behind a value on the same line, stays.
    fn replace_value(&self, entry: &Entry, inline: &str, lines: &[String]) -> Option<Edit> {
        let (key, value) = (entry.key.span?, entry.value.span?);
        let behind_key = self.text.get(key.end.offset..)?;
        let colon = key.end.offset + behind_key.find(':')?;
        if !behind_key[..colon - key.end.offset].trim().is_empty() {
            return None;
        }
        let (comment, end) = if value.start.line == key.end.line {
            let end = self.line_end(value.end.offset);
            (&self.text[value.end.offset..end], end)
        } else {
            // Empty lines at the end of a `|+` text go with it, the last line break stays.
            let written = &self.text[..value.end.offset];
            let end = match written.strip_suffix('\n') {
                Some(written) => written.strip_suffix('\r').unwrap_or(written).len(),
                None => self.line_end(value.end.offset),
            };
            (&self.text[colon + 1..self.line_end(colon)], end)
        };
        let comment = comment.trim_end();
        if !(comment.is_empty() || comment.trim_start().starts_with('#')) {
            return None;
        }
        let mut new = format!("{inline}{comment}");
        for line in lines {
            new.push_str(self.line_break());
            new.push_str(line);
        }
        Some((colon + 1..end, new))
    }

    /// The start of the line below a value.
    fn below(&self, end: usize) -> Option<usize> {
        if end > 0 && self.text.get(..end)?.ends_with('\n') {
            return Some(end);
        }
        Some(self.next_line(end))
    }

    fn next_line(&self, offset: usize) -> usize {
        self.text[offset..]
            .find('\n')
            .map_or(self.text.len(), |at| offset + at + 1)
    }

    /// Where the line's text ends, before its line break.
    fn line_end(&self, offset: usize) -> usize {
        let line = &self.text[offset..];
        let line = line.split('\n').next().unwrap_or_default();
        offset + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn is_comment(&self, line_start: usize, column: usize) -> bool {
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let content = line.trim_start_matches(' ');
        content.starts_with('#') && line.len() - content.len() >= column
    }

    fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// The lines of a classifier with its recording.
fn slot(recording: &Recording<'_>) -> Vec<String> {
    let key = yaml::key_text(recording.classifier);
    let is_empty = match &recording.value.node {
        Node::Sequence(calls) => calls.items.is_empty(),
        Node::Mapping(call) => call.entries.is_empty(),
        Node::Scalar(_) => true,
    };
    if is_empty {
        return vec![format!("{key}: {}", recording.value)];
    }
    let calls = yaml::block(&recording.value);
    std::iter::once(format!("{key}:"))
        .chain(calls.iter().map(|line| indented(line, 2)))
        .collect()
}

fn placed(lines: &[String], column: usize) -> Vec<String> {
    lines.iter().map(|line| indented(line, column)).collect()
}

/// Empty lines stay empty.
fn indented(line: &str, column: usize) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("{:column$}{line}", "")
    }
}

fn column(key: Span) -> usize {
    key.start.column as usize - 1
}

/// Between braces: the recording replaced or added.
fn change_flow(place: &Value, recordings: &Mapping, recording: &Recording<'_>) -> Option<Edit> {
    if recordings.notation == Notation::Block {
        return None;
    }
    if let Some(entry) = recordings.entry(recording.classifier) {
        let span = entry.value.span?;
        return Some((
            span.start.offset..span.end.offset,
            recording.value.to_string(),
        ));
    }
    match recordings.entries.last() {
        Some(last) => add_to_flow(last, recording.classifier, &recording.value),
        None => {
            let span = place.span?;
            let only = [(recording.classifier.to_owned(), recording.value.clone())];
            let new = Value::mapping(only).to_string();
            Some((span.start.offset..span.end.offset, new))
        }
    }
}

/// Between braces: another entry behind one.
fn add_to_flow(behind: &Entry, key: &str, value: &Value) -> Option<Edit> {
    let end = behind.value.span?.end.offset;
    let entry = Value::mapping([(key.to_owned(), value.clone())]).to_string();
    let entry = entry.strip_prefix('{')?.strip_suffix('}')?;
    Some((end..end, format!(", {entry}")))
}
