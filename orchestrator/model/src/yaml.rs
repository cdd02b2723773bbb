//! YAML as a tree that remembers how it was written: places, quotes, order of keys.
//!
//! Tools decode their arguments from it by the types of their fields, so `text: 5` is a text where
//! a text is wanted. Knows nothing of trails.

mod assign;
mod decode;
mod emit;
mod json;
mod map;
mod read;
mod syntax;
#[cfg(test)]
pub(crate) mod tests;
mod value;

pub use assign::AssignmentError;
pub use decode::DecodeError;
pub(crate) use emit::{block, key_text};
pub use read::{MAX_BYTES, MAX_DEPTH, MAX_NODES, Read, read};
pub use value::{Entry, Key, Mapping, Meaning, Node, Notation, Scalar, Sequence, Style, Value};
