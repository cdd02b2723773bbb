//! From text to tree. The text is hostile until proven otherwise: everything is counted.

use std::collections::HashSet;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle};

use super::syntax;
use super::value::{Entry, Key, Mapping, Node, Notation, Scalar, Sequence, Style, Value};
use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Position, Source, Span};

/// Longest text that is read, in bytes. The longest real trail has 16 kB.
pub const MAX_BYTES: usize = 1 << 20;
/// Most scalars, lists and mappings in one text.
pub const MAX_NODES: usize = 50_000;
/// Deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// Most mistakes that are told; a file with more of them is no trail.
const MAX_DIAGNOSTICS: usize = 50;

/// What became of a text.
#[derive(Debug)]
pub struct Read {
    /// The tree; `None` when there is nothing in the text, or no YAML.
    pub value: Option<Value>,
    /// What is wrong with it. When the tree is there too, it is what is left without the mistakes.
    pub problems: Vec<Diagnostic>,
}

/// Reads one document. Anchors, aliases, tags and duplicate keys are mistakes; so is a second
/// document.
pub fn read(source: &Source) -> Read {
    if source.text().len() > MAX_BYTES {
        let message = format!(
            "the file has {} bytes; {MAX_BYTES} are the most that is read",
            source.text().len()
        );
        return Read {
            value: None,
            problems: vec![Diagnostic::error(source, None, message)],
        };
    }
    let options = granit_parser::options! {
        strict_indentation: true,
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(source.text(), options),
        source,
        problems: Vec::new(),
        nodes: 0,
        last: Last::default(),
    };
    let value = reader.document().ok().flatten();
    Read {
        value,
        problems: reader.problems,
    }
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    source: &'a Source,
    problems: Vec<Diagnostic>,
    nodes: usize,
    last: Last,
}

/// The last scalar seen, from which a syntax error is explained.
#[derive(Default)]
struct Last {
    span: Span,
    plain: bool,
}

/// The problem has been noted and nothing more can be read.
struct Stop;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Option<Value>, Stop> {
        let mut root = None;
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                Event::DocumentStart(..) if root.is_some() => {
                    self.problem(
                        Diagnostic::error(self.source, span, "a second document begins here")
                            .hint("one file holds one document".to_owned()),
                    );
                    return Err(Stop);
                }
                Event::DocumentStart(..) => {
                    if let Some((event, span)) = self.next()? {
                        root = Some(self.node(event, span, 0)?);
                    }
                }
                other => return Err(self.unexpected(&other, span)),
            }
        }
        Ok(root)
    }

    /// The next event; anchors are complained about on the way.
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, Stop> {
        loop {
            match self.events.next_event() {
                None => return Ok(None),
                Some(Err(error)) => return Err(self.syntax_error(&error)),
                Some(Ok((Event::Anchor(_, name), place))) => {
                    let place = span(place);
                    self.unsupported(place, "anchors", &format!("&{name}"));
                }
                Some(Ok((event, place))) => {
                    if let Some(tag) = place.tag_span() {
                        let tag = span(tag);
                        let written = self.source.slice(tag).to_owned();
                        self.unsupported(tag, "tags", &written);
                    }
                    return Ok(Some((event, span(place))));
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, at: Span, depth: usize) -> Result<Value, Stop> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values in one file");
            self.problem(Diagnostic::error(self.source, at, message));
            return Err(Stop);
        }
        if depth > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep");
            self.problem(Diagnostic::error(self.source, at, message));
            return Err(Stop);
        }
        match event {
            Event::Scalar(text, style, ..) => Ok(self.scalar(&text, style, at)),
            Event::SequenceStart(style, ..) => self.sequence(style, at, depth),
            Event::MappingStart(style, ..) => self.mapping(style, at, depth),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let written = self.source.slice(at).to_owned();
                self.unsupported(at, "aliases", &written);
                Ok(Value {
                    span: Some(at),
                    ..Value::null()
                })
            }
            other => Err(self.unexpected(&other, at)),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Span) -> Value {
        let (style, at) = match style {
            ScalarStyle::Plain => (Style::Plain, at),
            ScalarStyle::SingleQuoted => (Style::SingleQuoted, at),
            ScalarStyle::DoubleQuoted => (Style::DoubleQuoted, at),
            ScalarStyle::Literal => (Style::Literal, self.block_scalar(at, text)),
            ScalarStyle::Folded => (Style::Folded, self.block_scalar(at, text)),
        };
        self.last = Last {
            span: at,
            plain: style == Style::Plain,
        };
        // The parser writes `~` for what is not there.
        let absent = style == Style::Plain && at.start == at.end;
        let scalar = Scalar {
            text: if absent {
                String::new()
            } else {
                text.to_owned()
            },
            style,
        };
        Value {
            node: Node::Scalar(scalar),
            span: Some(at),
        }
    }

    /// The parser's span of a block scalar runs up to the next token. Ours ends with the text; or,
    /// when the empty lines below it belong to it, at the start of the line after them.
    fn block_scalar(&self, at: Span, text: &str) -> Span {
        let written = self.source.slice(at);
        let keeps_empty_lines = text.ends_with("\n\n") || text == "\n";
        let kept = if keeps_empty_lines {
            &written[..written.rfind('\n').map_or(0, |newline| newline + 1)]
        } else {
            written.trim_end()
        };
        let line_start = kept.rfind('\n').map(|newline| newline + 1);
        let end = Position {
            line: at.start.line + count(kept.matches('\n').count()),
            column: match line_start {
                Some(line_start) => 1 + count(kept[line_start..].chars().count()),
                None => at.start.column + count(kept.chars().count()),
            },
            offset: at.start.offset + kept.len(),
        };
        Span::new(at.start, end)
    }

    fn sequence(&mut self, style: StructureStyle, at: Span, depth: usize) -> Result<Value, Stop> {
        let mut items = Vec::new();
        let mut end = at.start;
        while let Some((event, span)) = self.next()? {
            if event == Event::SequenceEnd {
                if style == StructureStyle::Flow {
                    end = span.end;
                }
                break;
            }
            let item = self.node(event, span, depth + 1)?;
            end = item.span.map_or(end, |span| span.end);
            items.push(item);
        }
        Ok(Value {
            node: Node::Sequence(Sequence {
                items,
                notation: notation(style),
            }),
            span: Some(Span::new(at.start, end)),
        })
    }

    fn mapping(&mut self, style: StructureStyle, at: Span, depth: usize) -> Result<Value, Stop> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = HashSet::new();
        let mut end = at.start;
        while let Some((event, span)) = self.next()? {
            if event == Event::MappingEnd {
                if style == StructureStyle::Flow {
                    end = span.end;
                }
                break;
            }
            let key = self.key(event, span, depth)?;
            let Some((event, span)) = self.next()? else {
                break;
            };
            let value = self.node(event, span, depth + 1)?;
            end = value.span.map_or(end, |span| span.end);
            let Some(key) = key else { continue };
            if seen.insert(key.text.clone()) {
                entries.push(Entry { key, value });
            } else {
                self.duplicate(&key, &entries);
            }
        }
        Ok(Value {
            node: Node::Mapping(Mapping {
                entries,
                notation: notation(style),
            }),
            span: Some(Span::new(at.start, end)),
        })
    }

    /// A key; `None` when it is one that cannot be, which has been said.
    fn key(&mut self, event: Event<'a>, at: Span, depth: usize) -> Result<Option<Key>, Stop> {
        let key = self.node(event, at, depth + 1)?;
        match key.node {
            Node::Scalar(scalar) => Ok(Some(Key {
                text: scalar.text,
                span: Some(at),
            })),
            Node::Sequence(_) | Node::Mapping(_) => {
                let written = self.source.slice(at.to(key.span.unwrap_or(at)));
                let template = written.starts_with('{');
                let mut problem =
                    Diagnostic::error(self.source, key.span, "a key must be a single word");
                if template {
                    problem = problem.hint(
                        "a template needs quotes around it, or YAML takes it for a mapping: \
                         \"{{name}}\""
                            .to_owned(),
                    );
                }
                self.problem(problem);
                Ok(None)
            }
        }
    }

    fn duplicate(&mut self, key: &Key, entries: &[Entry]) {
        let first = entries
            .iter()
            .find(|entry| entry.key.text == key.text)
            .and_then(|entry| entry.key.span);
        let mut message = format!("the key {} is given twice", quoted(&key.text));
        if let Some(first) = first {
            message.push_str(&format!(", first on line {}", first.start.line));
        }
        self.problem(Diagnostic::error(self.source, key.span, message));
    }

    fn unsupported(&mut self, at: Span, what: &str, written: &str) {
        self.problem(
            Diagnostic::error(
                self.source,
                at,
                format!("YAML {what} are not supported: {}", quoted(written)),
            )
            .hint("a text that begins with this character needs quotes around it".to_owned()),
        );
    }

    fn problem(&mut self, problem: Diagnostic) {
        if self.problems.len() < MAX_DIAGNOSTICS {
            self.problems.push(problem);
        }
    }

    /// The parser promises not to do this; if it does, the file is refused.
    fn unexpected(&mut self, event: &Event<'_>, at: Span) -> Stop {
        let message = format!("the YAML parser said something unexpected: {event:?}");
        self.problem(Diagnostic::error(self.source, at, message));
        Stop
    }

    fn syntax_error(&mut self, error: &granit_parser::ScanError) -> Stop {
        let at = span(granit_parser::Span::empty(*error.marker()));
        let words = syntax::words(error.kind());
        let mut problem =
            Diagnostic::error(self.source, at, words.message).hint(words.hint.map(str::to_owned));
        if syntax::is_open_quote(error.kind())
            && let Some(quote) = self.open_quote(at)
        {
            problem = Diagnostic::error(self.source, quote, "these quotes are not closed")
                .hint("close them, or is there a quote inside the text?".to_owned());
        } else if matches!(
            error.kind(),
            granit_parser::ErrorKind::MappingValueNotAllowed
        ) && self.last.plain
            && self.last.span.start.line < self.last.span.end.line
        {
            problem.hint = Some(format!(
                "the text that begins on line {} runs on to here; is a `:` missing there?",
                self.last.span.start.line
            ));
        }
        self.problem(problem);
        Stop
    }

    /// The quote behind the last scalar, which the parser found no end for.
    fn open_quote(&self, noticed: Span) -> Option<Span> {
        let from = self.last.span.end;
        let between = self.source.text().get(from.offset..noticed.start.offset)?;
        let (mut line, mut column, mut offset) = (from.line, from.column, from.offset);
        for text in between.split_inclusive('\n') {
            let code = text.split_once(" #").map_or(text, |(code, _comment)| code);
            if let Some(quote) = code.find(['\'', '"']) {
                let place = |width: usize| Position {
                    line,
                    column: column + count(code[..quote].chars().count() + width),
                    offset: offset + quote + width,
                };
                return Some(Span::new(place(0), place(1)));
            }
            (line, column, offset) = (line + 1, 1, offset + text.len());
        }
        None
    }
}

fn notation(style: StructureStyle) -> Notation {
    match style {
        StructureStyle::Block => Notation::Block,
        StructureStyle::Flow => Notation::Flow,
    }
}

fn span(span: granit_parser::Span) -> Span {
    let position = |marker: granit_parser::Marker| Position {
        line: count(marker.line()),
        column: count(marker.col() + 1),
        // A parser that was given a text knows all its offsets.
        offset: marker.byte_offset().unwrap_or_default(),
    };
    let (start, end) = (position(span.start), position(span.end));
    Span::new(start, end.max(start))
}

/// The text has less than [`MAX_BYTES`], so every count fits.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
