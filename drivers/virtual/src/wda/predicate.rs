//! Predicates over elements: the part of `NSPredicate`'s language that selects elements.
//!
//! Comparisons (`== != < <= > >= BETWEEN IN BEGINSWITH ENDSWITH CONTAINS LIKE MATCHES` with `[c]`
//! and `[d]`), `AND OR NOT` and their signs, parentheses, lists, attributes with a path behind
//! them (`rect.x`, `label.length`), and arithmetic. Left out: quantifiers, subqueries, functions
//! and variables. Source: Apple, Predicate Programming Guide, "Predicate Format String Syntax".

mod evaluate;
mod lex;
mod parse;

use super::attribute::{Attribute, UnknownAttribute};
use super::tree::ElementTree;

/// The longest predicate a client may send, in bytes.
const MAX_LENGTH: usize = 16 * 1024;

/// Why a predicate selects nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum PredicateError {
    /// It is none.
    #[error("Unable to parse the format string \"{text}\": {why}")]
    Syntax {
        /// The whole text.
        text: String,
        /// What stands where it should not.
        why: String,
    },
    /// It asks for an attribute that elements do not have.
    #[error(transparent)]
    Attribute(#[from] UnknownAttribute),
    /// It compares what cannot be compared.
    #[error("{0}")]
    Operands(String),
}

/// A predicate that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predicate(Condition);

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Always,
    Never,
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare {
        left: Term,
        operator: Operator,
        options: Options,
        right: Term,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Between,
    In,
    Contains,
    BeginsWith,
    EndsWith,
    Like,
    Matches,
}

/// What a comparison of texts overlooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Options {
    case: bool,
    marks: bool,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    Constant(Constant),
    List(Vec<Term>),
    Path(Attribute, Vec<String>),
    Sum(Box<Term>, Sign, Box<Term>),
}

#[derive(Debug, Clone, PartialEq)]
enum Constant {
    Nil,
    Number(f64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
    Times,
    Over,
}

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// When it is none, or names an attribute that elements do not have.
    pub(crate) fn parse(text: &str) -> Result<Self, PredicateError> {
        if text.len() > MAX_LENGTH {
            return Err(PredicateError::Syntax {
                text: text.chars().take(80).collect(),
                why: format!("it is longer than {MAX_LENGTH} bytes"),
            });
        }
        parse::parse(text).map(Self)
    }

    /// Whether the element at `at` is one it selects.
    ///
    /// # Errors
    /// When it compares what cannot be compared.
    pub(crate) fn selects(&self, tree: &ElementTree, at: usize) -> Result<bool, PredicateError> {
        evaluate::holds(&self.0, tree, at)
    }
}

#[cfg(test)]
mod tests;
