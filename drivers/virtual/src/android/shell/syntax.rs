//! What a command line consists of.

/// Commands one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct List(pub Vec<Item>);

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
}

/// What stands between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
}

/// Commands whose outputs are the next one's inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    pub negated: bool,
    pub commands: Vec<Command>,
}

/// One command with its redirections.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Simple {
        assignments: Vec<(String, Word)>,
        words: Vec<Word>,
    },
    /// `( … )`
    Subshell(List),
    /// `{ …; }`
    Group(List),
    /// `while`, and `until` the condition holds.
    Loop {
        condition: List,
        body: List,
        until: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    /// The descriptor; the direction's own when `None`.
    pub fd: Option<u32>,
    pub direction: Direction,
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
    Append,
    /// `>&1`, `2>&1`
    CopyOf,
}

/// A word before it is expanded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Word(pub Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub kind: PieceKind,
    pub quoted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PieceKind {
    Text(String),
    Parameter(String),
    /// What a command prints.
    Output(List),
}
