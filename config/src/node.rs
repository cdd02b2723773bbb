//! A YAML file as a tree of values with their places. Every type is read from the tree (`typed.rs`):
//! a deserializer that parses as it goes is compiled anew for each type, and was half of this crate.

mod typed;

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde_json::Value;

pub(crate) use typed::Wrong;

use crate::origin::Position;

/// Most values in a file; those behind an alias count each time.
const MAX_NODES: usize = 20_000;
/// Deepest nesting of lists and keys.
const MAX_DEPTH: usize = 64;

/// A value and where it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// The default where no file says it.
    pub at: Position,
    pub content: Content,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Content {
    #[default]
    Null,
    /// As written, quotes and escapes undone; the type that is read decides what it is.
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the file; a key may be given twice.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    pub value: Node,
}

/// Why a text cannot be read as YAML.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub at: Position,
    pub message: String,
}

impl Node {
    /// Reads one document.
    pub(crate) fn read(text: &str) -> Result<Self, SyntaxError> {
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
        let mut root = None;
        loop {
            let (event, at) = reader.next()?;
            match event {
                Event::StreamEnd => return Ok(root.unwrap_or_default()),
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                _ if root.is_some() => return Err(at.error("one file holds one document")),
                event => root = Some(reader.node(event, at)?),
            }
        }
    }

    fn count(&self) -> usize {
        1 + match &self.content {
            Content::Null | Content::Scalar(_) => 0,
            Content::List(items) => items.iter().map(Self::count).sum(),
            Content::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
        }
    }
}

impl Position {
    fn error(self, message: impl Into<String>) -> SyntaxError {
        SyntaxError {
            at: self,
            message: message.into(),
        }
    }
}

impl From<Marker> for Position {
    fn from(marker: Marker) -> Self {
        Self {
            line: marker.line() as u64,
            column: marker.col() as u64 + 1,
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Position), SyntaxError> {
        match self.events.next_event() {
            None => Ok((Event::StreamEnd, Position::default())),
            Some(Ok((event, span))) => Ok((event, span.start.into())),
            Some(Err(error)) => Err(Position::from(*error.marker()).error(error.info())),
        }
    }

    fn node(&mut self, event: Event<'a>, at: Position) -> Result<Node, SyntaxError> {
        self.nodes += 1;
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(text.into_owned(), style), anchor),
            Event::SequenceStart(_, anchor, _) => (self.list()?, anchor),
            Event::MappingStart(_, anchor, _) => (self.map()?, anchor),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor);
                let node = node.ok_or_else(|| at.error("an alias inside what it stands for"))?;
                self.nodes += node.count();
                (node.content.clone(), 0)
            }
            _ => return Err(at.error("a value was expected")),
        };
        if self.nodes > MAX_NODES {
            return Err(at.error(format!("more than {MAX_NODES} values")));
        }
        let node = Node { at, content };
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
                (event, at) => items.push(self.node(event, at)?),
            }
        }
    }

    fn map(&mut self) -> Result<Content, SyntaxError> {
        let (mut entries, mut merged) = (Vec::new(), Vec::new());
        loop {
            let (event, at) = self.next()?;
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, style, ..) => (text.into_owned(), style),
                _ => return Err(at.error("a key must be a single word")),
            };
            let (event, value_at) = self.next()?;
            let value = self.node(event, value_at)?;
            match key {
                (key, ScalarStyle::Plain) if key == "<<" => merged.push(value),
                (key, _) => entries.push(Entry { key, at, value }),
            }
        }
        for node in merged {
            merge(node, &mut entries)?;
        }
        Ok(Content::Map(entries))
    }
}

fn scalar(text: String, style: ScalarStyle) -> Content {
    if style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
        Content::Null
    } else {
        Content::Scalar(text)
    }
}

/// Adds what stands behind `<<`; keys that are there already count.
fn merge(node: Node, entries: &mut Vec<Entry>) -> Result<(), SyntaxError> {
    match node.content {
        Content::Map(merged) => {
            for entry in merged {
                if !entries.iter().any(|other| other.key == entry.key) {
                    entries.push(entry);
                }
            }
            Ok(())
        }
        Content::List(nodes) => nodes.into_iter().try_for_each(|node| merge(node, entries)),
        Content::Null | Content::Scalar(_) => Err(node.at.error("`<<` takes keys and values")),
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let content = match value {
            Value::Null => Content::Null,
            Value::Bool(value) => Content::Scalar(value.to_string()),
            Value::Number(value) => Content::Scalar(value.to_string()),
            Value::String(text) => Content::Scalar(text),
            Value::Array(items) => Content::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| Entry {
                    key,
                    at: Position::default(),
                    value: Self::from(value),
                });
                Content::Map(entries.collect())
            }
        };
        Self {
            at: Position::default(),
            content,
        }
    }
}
