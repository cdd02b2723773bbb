//! From text to tree. The text is hostile until proven otherwise: everything is counted.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle};

use super::syntax;
use super::value::{Entry, Key, Mapping, Meaning, Node, Notation, Scalar, Sequence, Style, Value};
use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Position, Source, Span};

/// Longest text that is read as [`Options::STRICT`] has it, in bytes. The longest real trail has
/// 16 kB.
pub const MAX_BYTES: usize = 1 << 20;
/// Most scalars, lists and mappings in such a text.
pub const MAX_NODES: usize = 50_000;
/// Deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// The most mistakes that are reported; a file with more is not a trail.
const MAX_DIAGNOSTICS: usize = 50;

/// What became of a text.
#[derive(Debug)]
pub struct Read {
    /// The tree; `None` when there is nothing in the text, or no YAML.
    pub value: Option<Value>,
    /// What is wrong with it. When the tree is there too, it is what is left without the mistakes.
    pub problems: Vec<Diagnostic>,
}

/// What a text may hold.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether anchors, aliases and `<<` mean something, tags nothing, and nothing is an empty list
    /// too. Otherwise all of that is a mistake: what programs edit stands where it is read, and a
    /// list that was forgotten verifies nothing.
    pub is_lenient: bool,
    /// Whether there may be several documents.
    pub documents: bool,
    /// The longest text, in bytes.
    pub max_bytes: usize,
    /// Most scalars, lists and mappings; those behind an alias count each time.
    pub max_nodes: usize,
}

impl Options {
    /// One document without aliases.
    pub const STRICT: Self = Self {
        is_lenient: false,
        documents: false,
        max_bytes: MAX_BYTES,
        max_nodes: MAX_NODES,
    };
}

/// Reads one document as [`Options::STRICT`] has it.
pub fn read(source: &Source) -> Read {
    let (values, problems) = read_documents(source, Options::STRICT);
    Read {
        value: values.into_iter().next(),
        problems,
    }
}

/// Reads all documents, and tells what is wrong with them. Duplicate keys are always mistakes.
pub fn read_documents(source: &Source, options: Options) -> (Vec<Value>, Vec<Diagnostic>) {
    let (size, most) = (source.text().len(), options.max_bytes);
    if size > most {
        let message = format!("the file has {size} bytes; the limit is {most}");
        return (Vec::new(), vec![Diagnostic::error(source, None, message)]);
    }
    let events = granit_parser::options! {
        strict_indentation: !options.is_lenient,
        emit_comments: false,
        emit_anchor_events: !options.is_lenient,
        emit_unresolved_aliases: !options.is_lenient,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(source.text(), events),
        source,
        options,
        problems: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        last: Last::default(),
    };
    let values = reader.documents().unwrap_or_default();
    (values, reader.problems)
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    source: &'a Source,
    options: Options,
    problems: Vec<Diagnostic>,
    anchors: HashMap<usize, Value>,
    nodes: usize,
    last: Last,
}

/// The last scalar seen, from which a syntax error is explained.
struct Last {
    span: Span,
    plain: bool,
}

impl Default for Last {
    fn default() -> Self {
        Self {
            span: Span::at(Position::START),
            plain: false,
        }
    }
}

/// The problem has been noted and nothing more can be read.
struct Stop;

impl<'a> Reader<'a> {
    fn documents(&mut self) -> Result<Vec<Value>, Stop> {
        let mut roots = Vec::new();
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                Event::DocumentStart(..) if !self.options.documents && !roots.is_empty() => {
                    self.problem(
                        Diagnostic::error(self.source, span, "a second document begins here")
                            .hint("one file holds one document".to_owned()),
                    );
                    return Err(Stop);
                }
                Event::DocumentStart(..) => {
                    if let Some((event, span)) = self.next()? {
                        roots.push(self.node(event, span, 0)?);
                    }
                }
                other => return Err(self.unexpected(&other, span)),
            }
        }
        Ok(roots)
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
                    if let Some(tag) = place.tag_span()
                        && !self.options.is_lenient
                    {
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
        self.limit(1, depth, at)?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (self.scalar(&text, style, at), anchor),
            Event::SequenceStart(style, anchor, _) => (self.sequence(style, at, depth)?, anchor),
            Event::MappingStart(style, anchor, _) => (self.mapping(style, at, depth)?, anchor),
            Event::Alias(anchor) if self.options.is_lenient => {
                return self.alias(anchor, at, depth);
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let written = self.source.slice(at).to_owned();
                self.unsupported(at, "aliases", &written);
                let value = Value {
                    span: Some(at),
                    ..Value::null()
                };
                (value, 0)
            }
            other => return Err(self.unexpected(&other, at)),
        };
        if anchor > 0 && self.options.is_lenient {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    /// Counts values, and refuses those that are too many or too deep.
    fn limit(&mut self, nodes: usize, depth: usize, at: Span) -> Result<(), Stop> {
        self.nodes += nodes;
        let message = if self.nodes > self.options.max_nodes {
            format!("more than {} values in one file", self.options.max_nodes)
        } else if depth > MAX_DEPTH {
            format!("nested more than {MAX_DEPTH} deep")
        } else {
            return Ok(());
        };
        self.problem(Diagnostic::error(self.source, at, message));
        Err(Stop)
    }

    /// What an alias stands for, at the place of the alias.
    fn alias(&mut self, anchor: usize, at: Span, depth: usize) -> Result<Value, Stop> {
        let Some(value) = self.anchors.get(&anchor) else {
            let message = "an alias inside its own anchor";
            self.problem(Diagnostic::error(self.source, at, message));
            return Err(Stop);
        };
        let (nodes, height) = extent(value);
        self.limit(nodes - 1, depth + height, at)?;
        let node = self.anchors[&anchor].node.clone();
        Ok(Value {
            node,
            span: Some(at),
        })
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
        let is_empty = self.options.is_lenient && scalar.meaning() == Meaning::Null;
        let style = if is_empty { Style::Empty } else { style };
        Value {
            node: Node::Scalar(Scalar { style, ..scalar }),
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
        let (mut seen, mut merged) = (HashSet::new(), Vec::new());
        let mut end = at.start;
        while let Some((event, span)) = self.next()? {
            if event == Event::MappingEnd {
                if style == StructureStyle::Flow {
                    end = span.end;
                }
                break;
            }
            let merges = self.options.is_lenient
                && matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let key = self.key(event, span, depth)?;
            let Some((event, span)) = self.next()? else {
                break;
            };
            let value = self.node(event, span, depth + 1)?;
            end = value.span.map_or(end, |span| span.end);
            let Some(key) = key else { continue };
            if merges {
                merged.push(value);
            } else if seen.insert(key.text.clone()) {
                entries.push(Entry { key, value });
            } else {
                self.duplicate(&key, &entries);
            }
        }
        for value in merged {
            self.merge(value, &mut seen, &mut entries);
        }
        Ok(Value {
            node: Node::Mapping(Mapping {
                entries,
                notation: notation(style),
            }),
            span: Some(Span::new(at.start, end)),
        })
    }

    /// Adds what stands behind `<<`; keys that are there already count.
    fn merge(&mut self, value: Value, seen: &mut HashSet<String>, entries: &mut Vec<Entry>) {
        match value.node {
            Node::Mapping(mapping) => {
                let is_new = |entry: &Entry| seen.insert(entry.key.text.clone());
                entries.extend(mapping.entries.into_iter().filter(is_new));
            }
            Node::Sequence(sequence) => {
                for item in sequence.items {
                    self.merge(item, seen, entries);
                }
            }
            Node::Scalar(_) => {
                let message = "`<<` takes keys and values";
                self.problem(Diagnostic::error(self.source, value.span, message));
            }
        }
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
            .hint("text that begins with this character needs quotes around it".to_owned()),
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
            problem = Diagnostic::error(self.source, quote, "unclosed quotes")
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

/// How many values there are, and how many levels below the first.
fn extent(value: &Value) -> (usize, usize) {
    let inner: Box<dyn Iterator<Item = &Value>> = match &value.node {
        Node::Scalar(_) => return (1, 0),
        Node::Sequence(sequence) => Box::new(sequence.items.iter()),
        Node::Mapping(mapping) => Box::new(mapping.entries.iter().map(|entry| &entry.value)),
    };
    inner
        .map(extent)
        .fold((1, 0), |(nodes, height), (more, deep)| {
            (nodes + more, height.max(deep + 1))
        })
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
