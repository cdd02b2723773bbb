//! The picture a person sees: source line, caret, hint.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Severity, printable};
use crate::source::{Source, Span};

/// Wider than this, source lines are cut around the caret.
const WIDTH: usize = 120;
/// So many bytes before and behind the caret are looked at; several times what is shown.
const NEAR: usize = 1000;

pub(super) fn render(diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let name = printable(diagnostic.source.name());
    let label = diagnostic.label.as_deref().map(printable);
    let mut report = Group::with_title(level.primary_title(printable(&diagnostic.message)));
    report = match diagnostic.span {
        Some(span) => {
            let window = window(&diagnostic.source, span);
            let line = span.start.line as usize;
            let mut snippet = Snippet::source(window.text)
                .line_start(line)
                .annotation(AnnotationKind::Primary.span(window.marked).label(label));
            match window.cut_at_column {
                // A snippet with a path counts columns from where it begins.
                None => snippet = snippet.path(name),
                Some(column) => {
                    let origin = Origin::path(name).line(line).char_column(column);
                    report = report.element(origin);
                }
            }
            report.element(snippet)
        }
        None => report.element(Origin::path(name)),
    };
    if let Some(hint) = &diagnostic.hint {
        report = report.element(Level::HELP.with_name("hint").message(printable(hint)));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.term_width(WIDTH).render(&[report])
}

/// The part of a line a caret is drawn under.
struct Window<'a> {
    text: &'a str,
    marked: Range<usize>,
    /// Column of the caret in the whole line, from 1, when the line does not begin here.
    cut_at_column: Option<usize>,
}

/// Only the first line of the span: a caret under a whole block says less than one at its start.
/// And of an endless line only what is near, since all of it would have to be measured.
fn window(source: &Source, span: Span) -> Window<'_> {
    let text = source.text();
    let start = boundary(text, span.start.offset);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line_end = line_start + text[line_start..line_end].trim_end_matches('\r').len();
    let start = start.min(line_end);
    let from = boundary(text, start.saturating_sub(NEAR).max(line_start));
    let to = boundary(text, line_end.min(start + NEAR));
    let end = boundary(text, span.end.offset).clamp(start, to);
    Window {
        text: &text[from..to],
        marked: start - from..end - from,
        cut_at_column: (from > line_start).then(|| text[line_start..start].chars().count() + 1),
    }
}

/// The offset, moved back into the text and off the inside of a character.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
