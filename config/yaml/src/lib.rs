//! YAML as a tree that remembers how it was written: places, quotes, order of keys; and types made
//! from that tree, with what is wrong, where, and what was probably meant.
//!
//! Knows nothing of configuration, trails and apps, and uses no crate of ours. A scalar is what the
//! type that is read wants:
//!
//! * Where a text is wanted, `5` and `yes` are texts.
//! * Where true or false is wanted, `true`, `yes`, `y` and `on` are true and `false`, `no`, `n` and
//!   `off` are false, in any case, quoted or not. That holds in every file.
//! * Where a number is wanted, a quoted number is one.
//! * Where nothing is known of what is wanted (arguments of a tool without a schema), a plain scalar
//!   is what [`Scalar::meaning`] says: `yes` is a text there, as it is for Trailblaze.
//! * Nothing is an empty list and an empty mapping too, except in trails ([`Options`]).

mod assign;
mod decode;
pub mod diagnostic;
mod emit;
mod json;
mod map;
mod read;
pub mod source;
pub mod suggest;
mod syntax;
#[cfg(test)]
pub(crate) mod tests;
mod value;

pub use assign::AssignmentError;
pub use decode::{ANY, At, DecodeError, Step};
pub use emit::{block, key_text};
pub use read::{MAX_BYTES, MAX_DEPTH, MAX_NODES, Options, Read, read, read_documents};
pub use source::{Position, Source, Span};
pub use value::{Entry, Key, Mapping, Meaning, Node, Notation, Scalar, Sequence, Style, Value};
