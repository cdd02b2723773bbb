//! What a command line consists of.

/// Commands one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct List(pub Vec<Item>);

/// Pipelines joined by `&&` and `||`, and whether they run in the background.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
    pub background: bool,
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
    /// Whether it is told how long it took.
    pub timed: bool,
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
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    Loop {
        condition: List,
        body: List,
        /// Whether it runs until the condition holds.
        until: bool,
    },
    For {
        variable: String,
        /// The positional parameters when there are none.
        words: Option<Vec<Word>>,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    /// `[[ … ]]`
    Condition(Vec<ConditionPart>),
}

/// A part of what stands in `[[ … ]]`.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionPart {
    Word(Word),
    /// `&&`, `||`, a bracket, `<` or `>`.
    Sign(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    /// The descriptor; the direction's own when `None`.
    pub fd: Option<u32>,
    pub target: Target,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Read(Word),
    Write(Word),
    Append(Word),
    /// `>&1`, `2>&1`
    CopyOf(Word),
    /// `&>file`
    Both(Word),
    /// `<<END`
    Here(Word),
    /// `<<<word`
    HereText(Word),
}

/// A word before it is expanded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Word(pub Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Literal {
        text: String,
        quoted: bool,
    },
    Parameter {
        name: String,
        operation: Option<(Operation, Word)>,
        length: bool,
        quoted: bool,
    },
    Command {
        list: List,
        quoted: bool,
    },
    Arithmetic {
        expression: Word,
        quoted: bool,
    },
}

/// `${name-word}` and its like; `colon` is whether an empty value counts as none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Default { colon: bool },
    Assign { colon: bool },
    Error { colon: bool },
    Alternative { colon: bool },
    CutPrefix { longest: bool },
    CutSuffix { longest: bool },
}

impl Word {
    /// The text when it is a plain, unquoted one.
    pub fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [
                Piece::Literal {
                    text,
                    quoted: false,
                },
            ] => Some(text),
            _ => None,
        }
    }
}
