//! The tree itself.

use crate::source::Span;

/// A node of a document, or of something that came as JSON or from the command line.
///
/// Two values are equal when they mean the same: places, notation and the kind of quotes do not
/// count, but the text `"5"` is not the number `5`.
#[derive(Debug, Clone)]
pub struct Value {
    /// What it is.
    pub node: Node,
    /// Where it was written; `None` when it was not read from a text.
    pub span: Option<Span>,
}

/// What a [`Value`] is.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A single word, number or text.
    Scalar(Scalar),
    /// A list.
    Sequence(Sequence),
    /// Keys and values.
    Mapping(Mapping),
}

/// A scalar as written.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// Its content, escapes and line folding undone.
    pub text: String,
    /// Whether and how it was quoted.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: may be a number, a truth value or nothing.
    Plain,
    /// Nothing, in a file in which that is also an empty list and an empty mapping.
    Empty,
    /// Between `'`.
    SingleQuoted,
    /// Between `"`.
    DoubleQuoted,
    /// A `|` block.
    Literal,
    /// A `>` block.
    Folded,
}

/// How a list or mapping was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// By indentation.
    Block,
    /// Between brackets or braces.
    Flow,
}

/// A list.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// Its items, in order.
    pub items: Vec<Value>,
    /// How it was written.
    pub notation: Notation,
}

/// Keys and values in the order of the file.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// Its entries; no key occurs twice.
    pub entries: Vec<Entry>,
    /// How it was written.
    pub notation: Notation,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Its value.
    pub value: Value,
}

/// A key as written.
#[derive(Debug, Clone)]
pub struct Key {
    /// Its content.
    pub text: String,
    /// Where it was written.
    pub span: Option<Span>,
}

/// What a scalar is taken for where no type says what is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meaning {
    /// Nothing: an empty plain scalar, `~` or `null`.
    Null,
    /// `true` or `false`, in any case.
    Bool(bool),
    /// A whole number that would be written just so.
    Integer(i64),
    /// A number with a fraction that would be written just so.
    Float(f64),
    /// Everything else, and everything quoted.
    Text,
}

impl Scalar {
    /// What it is where true or false is wanted, quoted or not.
    pub fn flag(&self) -> Option<bool> {
        match self.text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "on" => Some(true),
            "false" | "no" | "n" | "off" => Some(false),
            _ => None,
        }
    }

    /// What it is taken for. A number is one only if it would be written just so: `0000` is a PIN
    /// and `1_000` a text. Quoted is always text.
    pub fn meaning(&self) -> Meaning {
        match self.style {
            Style::Plain => {}
            Style::Empty => return Meaning::Null,
            Style::SingleQuoted | Style::DoubleQuoted | Style::Literal | Style::Folded => {
                return Meaning::Text;
            }
        }
        let text = self.text.as_str();
        if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            return Meaning::Null;
        }
        if text.eq_ignore_ascii_case("true") {
            return Meaning::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Meaning::Bool(false);
        }
        if let Ok(number) = text.parse::<i64>()
            && number.to_string() == text
        {
            return Meaning::Integer(number);
        }
        // Rust would also take `inf` and `nan` for numbers.
        if text.ends_with(|c: char| c.is_ascii_digit())
            && let Ok(number) = text.parse::<f64>()
            && format!("{number:?}") == text
        {
            return Meaning::Float(number);
        }
        Meaning::Text
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self.meaning(), other.meaning()) {
            (Meaning::Text, Meaning::Text) => self.text == other.text,
            (mine, theirs) => mine == theirs,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl PartialEq for Mapping {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Mapping {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.text.as_str())
    }
}

impl Value {
    /// A text: stays one whatever it looks like.
    pub fn text(text: impl Into<String>) -> Self {
        Self::scalar(text, Style::DoubleQuoted)
    }

    /// A word as a person types it on a command line: becomes what the tool wants, and where
    /// nobody says, what it looks like. An empty one is an empty text.
    pub fn word(word: impl Into<String>) -> Self {
        let word = word.into();
        let style = if word.is_empty() {
            Style::DoubleQuoted
        } else {
            Style::Plain
        };
        Self::scalar(word, style)
    }

    /// Nothing.
    pub fn null() -> Self {
        Self::scalar("null", Style::Plain)
    }

    /// A list.
    pub fn sequence(items: Vec<Self>) -> Self {
        Self::from(Node::Sequence(Sequence {
            items,
            notation: Notation::Block,
        }))
    }

    /// A mapping. The caller sees to it that no key occurs twice.
    pub fn mapping(entries: impl IntoIterator<Item = (String, Self)>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(text, value)| Entry {
                key: Key { text, span: None },
                value,
            })
            .collect();
        Self::from(Node::Mapping(Mapping {
            entries,
            notation: Notation::Block,
        }))
    }

    /// A scalar in a style.
    pub fn scalar(text: impl Into<String>, style: Style) -> Self {
        Self::from(Node::Scalar(Scalar {
            text: text.into(),
            style,
        }))
    }

    /// The value, when it is a scalar.
    pub const fn as_scalar(&self) -> Option<&Scalar> {
        match &self.node {
            Node::Scalar(scalar) => Some(scalar),
            Node::Sequence(_) | Node::Mapping(_) => None,
        }
    }

    /// The items, when it is a list.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.node {
            Node::Sequence(sequence) => Some(&sequence.items),
            Node::Scalar(_) | Node::Mapping(_) => None,
        }
    }

    /// The value, when it is a mapping.
    pub const fn as_mapping(&self) -> Option<&Mapping> {
        match &self.node {
            Node::Mapping(mapping) => Some(mapping),
            Node::Scalar(_) | Node::Sequence(_) => None,
        }
    }

    /// Whether nothing is written here.
    pub fn is_null(&self) -> bool {
        self.as_scalar()
            .is_some_and(|scalar| scalar.meaning() == Meaning::Null)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.as_scalar()
            .is_some_and(|scalar| scalar.style == Style::Empty)
    }

    /// What it is, for a message: `a list`, `a mapping`, `nothing`, `text`, `a number`.
    pub fn kind(&self) -> &'static str {
        match &self.node {
            Node::Sequence(_) => "a list",
            Node::Mapping(_) => "a mapping",
            Node::Scalar(scalar) => match scalar.meaning() {
                Meaning::Null => "nothing",
                Meaning::Bool(true) => "`true`",
                Meaning::Bool(false) => "`false`",
                Meaning::Integer(_) | Meaning::Float(_) => "a number",
                Meaning::Text => "text",
            },
        }
    }
}

impl From<Node> for Value {
    fn from(node: Node) -> Self {
        Self { node, span: None }
    }
}
