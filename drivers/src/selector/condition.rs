//! One condition on one element: a field of a block, what it asks for, and where to read it.
//!
//! Each block has a table of its fields, from which matching, describing and explaining are
//! all derived.

mod android;
mod ios;
mod web;

use std::borrow::Cow;

use super::NodeSelector;
use super::pattern::{Dialect, Pattern};
use crate::tree::NodeDetail;

pub(super) use ios::{identifier, own_value};
pub(super) use web::descriptor;

/// Reads a text of an element; `None` when it has none or is of another platform.
pub(super) type ReadText = for<'a> fn(&'a NodeDetail) -> Option<Cow<'a, str>>;
type ReadFlag = fn(&NodeDetail) -> Option<bool>;
type ReadNumber = fn(&NodeDetail) -> Option<i64>;
type ReadList = for<'a> fn(&'a NodeDetail) -> Option<&'a [String]>;

/// A field of the block `B`.
enum Field<B> {
    Pattern(fn(&B) -> &Option<String>, ReadText),
    Equals(fn(&B) -> &Option<String>, ReadText),
    Contains(fn(&B) -> &Option<String>, ReadList),
    Flag(fn(&B) -> Option<bool>, ReadFlag),
    Number(fn(&B) -> Option<i64>, ReadNumber),
    /// How many equal ones come before it.
    Nth(fn(&B) -> Option<u32>),
}

/// A block's fields with their names, in the order in which they are described.
type Fields<B> = [(&'static str, Field<B>)];

/// A condition; `P` is a pattern's text, or the compiled pattern.
#[derive(Debug)]
pub(super) struct Condition<P> {
    pub field: &'static str,
    pub check: Check<P>,
}

#[derive(Debug)]
pub(super) enum Check<P> {
    Pattern(P, ReadText),
    Equals(String, ReadText),
    Contains(String, ReadList),
    Flag(bool, ReadFlag),
    Number(i64, ReadNumber),
    Nth(u32),
}

/// The platform whose elements a block can match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Android,
    Ios,
    Web,
    /// Compose windows, which no driver of ours has.
    Compose,
}

/// A selector's driver block as conditions.
#[derive(Debug)]
pub(super) struct Block<P> {
    pub name: &'static str,
    pub family: Family,
    pub dialect: Dialect,
    pub conditions: Vec<Condition<P>>,
    /// All texts the block has patterns for.
    pub texts: Vec<(&'static str, ReadText)>,
}

impl Family {
    pub(super) const fn of(detail: &NodeDetail) -> Self {
        match detail {
            NodeDetail::Android(_) => Self::Android,
            NodeDetail::Ios(_) => Self::Ios,
            NodeDetail::Web(_) => Self::Web,
        }
    }
}

impl NodeSelector {
    /// The selector's block; the first one, should there be several.
    pub(super) fn block(&self) -> Option<Block<String>> {
        use Dialect::{Maestro, Native};
        if let Some(block) = self.android_accessibility.as_deref() {
            let name = "androidAccessibility";
            return Some(table(
                name,
                Family::Android,
                Native,
                android::ACCESSIBILITY,
                block,
            ));
        }
        if let Some(block) = self.android_maestro.as_deref() {
            return Some(table(
                "androidMaestro",
                Family::Android,
                Maestro,
                android::MAESTRO,
                block,
            ));
        }
        if let Some(block) = self.ios_maestro.as_deref() {
            return Some(table(
                "iosMaestro",
                Family::Ios,
                Maestro,
                ios::MAESTRO,
                block,
            ));
        }
        if let Some(block) = self.ios_axe.as_deref() {
            return Some(table("iosAxe", Family::Ios, Native, ios::AXE, block));
        }
        if let Some(block) = &self.web {
            return Some(table("web", Family::Web, Native, web::WEB, block));
        }
        let block = self.compose.as_deref()?;
        Some(table(
            "compose",
            Family::Compose,
            Native,
            web::COMPOSE,
            block,
        ))
    }
}

fn table<B>(
    name: &'static str,
    family: Family,
    dialect: Dialect,
    fields: &Fields<B>,
    block: &B,
) -> Block<String> {
    let texts = fields.iter().filter_map(|(field, how)| match how {
        Field::Pattern(_, read) | Field::Equals(_, read) => Some((*field, *read)),
        Field::Contains(..) | Field::Flag(..) | Field::Number(..) | Field::Nth(_) => None,
    });
    let conditions = fields.iter().filter_map(|(field, how)| {
        let check = match how {
            Field::Pattern(want, read) => Check::Pattern(want(block).clone()?, *read),
            Field::Equals(want, read) => Check::Equals(want(block).clone()?, *read),
            Field::Contains(want, read) => Check::Contains(want(block).clone()?, *read),
            Field::Flag(want, read) => Check::Flag(want(block)?, *read),
            Field::Number(want, read) => Check::Number(want(block)?, *read),
            Field::Nth(want) => Check::Nth(want(block)?),
        };
        Some(Condition { field, check })
    });
    Block {
        name,
        family,
        dialect,
        conditions: conditions.collect(),
        texts: texts.collect(),
    }
}

impl Block<String> {
    /// The block with its patterns compiled.
    pub(super) fn compile(self) -> Block<Pattern> {
        let dialect = self.dialect;
        let compile = |condition: Condition<String>| Condition {
            field: condition.field,
            check: match condition.check {
                Check::Pattern(source, read) => {
                    Check::Pattern(Pattern::new(&source, dialect), read)
                }
                Check::Equals(want, read) => Check::Equals(want, read),
                Check::Contains(want, read) => Check::Contains(want, read),
                Check::Flag(want, read) => Check::Flag(want, read),
                Check::Number(want, read) => Check::Number(want, read),
                Check::Nth(want) => Check::Nth(want),
            },
        };
        Block {
            name: self.name,
            family: self.family,
            dialect,
            conditions: self.conditions.into_iter().map(compile).collect(),
            texts: self.texts,
        }
    }
}

impl Condition<Pattern> {
    /// Whether an element fulfils it; `nth` tells how many equal ones come before the element.
    pub(super) fn holds(&self, detail: &NodeDetail, nth: impl FnOnce() -> u32) -> bool {
        match &self.check {
            Check::Pattern(pattern, read) => {
                read(detail).is_some_and(|text| pattern.matches(&text))
            }
            Check::Equals(want, read) => read(detail).is_some_and(|text| text == want.as_str()),
            Check::Contains(want, read) => read(detail).is_some_and(|list| list.contains(want)),
            Check::Flag(want, read) => read(detail) == Some(*want),
            Check::Number(want, read) => read(detail) == Some(*want),
            Check::Nth(want) => nth() == *want,
        }
    }
}

fn text(value: &Option<String>) -> Option<Cow<'_, str>> {
    value.as_deref().map(Cow::Borrowed)
}
