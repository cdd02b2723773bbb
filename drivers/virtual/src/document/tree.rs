//! A YAML file as trees of values with their places. Every type is read from a tree (`typed.rs`): a
//! deserializer that parses as it goes is compiled anew for each type, and was a fifth of this crate.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::SourcePosition;

/// Most values in a file; those behind an alias count each time.
const MAX_NODES: usize = 100_000;
/// Deepest nesting of lists and keys.
const MAX_DEPTH: usize = 64;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub place: SourcePosition,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Null,
    /// Without quotes: may be a number, or true or false.
    Plain(String),
    Quoted(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: String,
    /// Where the key stands.
    pub place: SourcePosition,
    pub value: Node,
}

/// Why a text cannot be read as YAML, and where.
pub(super) type SyntaxError = (SourcePosition, String);

/// Reads every document of a text.
pub(super) fn read(text: &str) -> Result<Vec<Node>, SyntaxError> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        nodes: 0,
    };
    let mut documents = Vec::new();
    loop {
        let (event, place) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(documents),
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => documents.push(reader.node(event, place)?),
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, SourcePosition), SyntaxError> {
        match self.events.next_event() {
            None => Ok((Event::StreamEnd, SourcePosition::default())),
            Some(Ok((event, span))) => Ok((event, span.start.into())),
            Some(Err(error)) => Err(((*error.marker()).into(), error.info())),
        }
    }

    fn node(&mut self, event: Event<'a>, place: SourcePosition) -> Result<Node, SyntaxError> {
        self.nodes += 1;
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(text.into_owned(), style), anchor),
            Event::SequenceStart(_, anchor, _) => (self.list()?, anchor),
            Event::MappingStart(_, anchor, _) => (self.map()?, anchor),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor);
                let node = node.ok_or((place, "an alias inside what it stands for".to_owned()))?;
                self.nodes += node.count();
                (node.content.clone(), 0)
            }
            _ => return Err((place, "a value was expected".to_owned())),
        };
        if self.nodes > MAX_NODES {
            return Err((place, format!("more than {MAX_NODES} values")));
        }
        let node = Node { place, content };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self) -> Result<Content, SyntaxError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Content::List(items)),
                (event, place) => items.push(self.node(event, place)?),
            }
        }
    }

    fn map(&mut self) -> Result<Content, SyntaxError> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, place) = self.next()?;
            let key = match event {
                Event::MappingEnd => return Ok(Content::Map(entries)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err((place, "a key must be a single word".to_owned())),
            };
            if entries.iter().any(|other| other.key == key) {
                return Err((place, format!("duplicate key `{key}`")));
            }
            let (event, value_place) = self.next()?;
            let value = self.node(event, value_place)?;
            entries.push(Entry { key, place, value });
        }
    }
}

impl Node {
    fn count(&self) -> usize {
        1 + match &self.content {
            Content::Null | Content::Plain(_) | Content::Quoted(_) => 0,
            Content::List(items) => items.iter().map(Self::count).sum(),
            Content::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
        }
    }
}

impl From<Marker> for SourcePosition {
    fn from(marker: Marker) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            line: number(marker.line()),
            column: number(marker.col() + 1),
        }
    }
}

fn scalar(text: String, style: ScalarStyle) -> Content {
    match style {
        ScalarStyle::Plain if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") => {
            Content::Null
        }
        ScalarStyle::Plain => Content::Plain(text),
        _ => Content::Quoted(text),
    }
}
