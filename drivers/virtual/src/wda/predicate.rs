//! Predicates over elements: the part of `NSPredicate`'s language with which clients select them.
//!
//! Comparisons (`== != < <= > >= IN BEGINSWITH ENDSWITH CONTAINS LIKE MATCHES` with `[c]` and
//! `[d]`), `AND OR NOT` and their signs, parentheses, lists, attributes and the sides of `rect`
//! (`rect.x`). Left out: arithmetic, ranges, quantifiers, subqueries, functions and variables.
//! Source: Apple, Predicate Programming Guide, "Predicate Format String Syntax".

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::attribute::{Attribute, AttributeValue};
use super::error::WdaError;
use super::tree::ElementTree;

/// The longest predicate a client may send, in bytes.
const MAX_LENGTH: usize = 16 * 1024;
/// How deep parentheses, negations and lists may nest.
const MAX_DEPTH: usize = 64;
/// How large a compiled pattern of a client may get, in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// What stands between the sides of a comparison, and how else it is written.
const OPERATORS: &str = "== = | != <> | < | <= =< | > | >= => | IN | CONTAINS | BEGINSWITH | \
                         ENDSWITH | LIKE | MATCHES";

/// A text, a number, a word or a sign, and what follows.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let token = r#"(?xs)^\s*(?:
        ( '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" ) | (-?\d+(?:\.\d+)?) | \#?([\p{L}_][\p{L}\p{N}_.]*)
        | (&&|\|\||==|!=|<>|<=|=<|>=|=>|[=<>!(){}\[\],])
    )"#;
    Regex::new(token).expect("the tests have compiled it")
});

/// A predicate that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predicate(Condition);

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare(Term, &'static str, Options, Term),
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
    Nil,
    Number(f64),
    Text(String),
    List(Vec<Term>),
    /// An attribute, and behind a point a side of a rectangle.
    Attribute(Attribute, String),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    Number(f64),
    /// A keyword or the name of an attribute.
    Word(String),
    Sign(String),
}

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// When it is none, or names an attribute that elements do not have.
    pub(crate) fn parse(text: &str) -> Result<Self, WdaError> {
        let mut parser = Parser {
            text,
            tokens: Vec::new(),
            at: 0,
            depth: 0,
        };
        parser.read()?;
        let condition = parser.any()?;
        match parser.tokens.get(parser.at) {
            None => Ok(Self(condition)),
            Some(_) => Err(parser.unexpected()),
        }
    }

    /// Whether the element at `at` is one it selects.
    ///
    /// # Errors
    /// When it compares what cannot be compared.
    pub(crate) fn selects(&self, tree: &ElementTree, at: usize) -> Result<bool, WdaError> {
        self.0.holds(tree, at)
    }
}

impl Condition {
    fn holds(&self, tree: &ElementTree, at: usize) -> Result<bool, WdaError> {
        let (parts, settled) = match self {
            Self::Not(inner) => return Ok(!inner.holds(tree, at)?),
            Self::Compare(left, operator, options, right) => {
                let (left, right) = (left.value(tree, at)?, right.value(tree, at)?);
                return compare(&left, operator, *options, &right);
            }
            Self::All(parts) => (parts, false),
            Self::Any(parts) => (parts, true),
        };
        for part in parts {
            if part.holds(tree, at)? == settled {
                return Ok(settled);
            }
        }
        Ok(!settled)
    }
}

impl Term {
    /// What it is for one element.
    fn value(&self, tree: &ElementTree, at: usize) -> Result<Self, WdaError> {
        let Self::Attribute(attribute, path) = self else {
            return Ok(self.clone());
        };
        Ok(match (attribute.of(tree, at), path.as_str()) {
            (AttributeValue::Null, _) => Self::Nil,
            (AttributeValue::Flag(flag), "") => Self::Number(f64::from(u8::from(flag))),
            (AttributeValue::Number(number), "") => Self::Number(number),
            (AttributeValue::Text(text), "") => Self::Text(text),
            (AttributeValue::Rect(rect) | AttributeValue::Frame(rect), side) => {
                Self::Number(match side {
                    "x" => rect.x,
                    "y" => rect.y,
                    "width" => rect.w,
                    "height" => rect.h,
                    _ => return Err(no_key(side)),
                })
            }
            (_, key) => return Err(no_key(key)),
        })
    }

    fn overlooking(&self, options: Options) -> Self {
        match self {
            Self::Text(text) => {
                let mut text = text.clone();
                if options.marks {
                    let letters = text.nfd().filter(|letter| !is_combining_mark(*letter));
                    text = letters.collect();
                }
                if options.case {
                    text = text.to_lowercase();
                }
                Self::Text(text)
            }
            Self::List(items) => {
                Self::List(items.iter().map(|item| item.overlooking(options)).collect())
            }
            other => other.clone(),
        }
    }
}

fn compare(left: &Term, operator: &str, options: Options, right: &Term) -> Result<bool, WdaError> {
    if operator == "IN" {
        return compare(right, "CONTAINS", options, left);
    }
    // A pattern in small letters would mean something else.
    let case = options.case && !["LIKE", "MATCHES"].contains(&operator);
    let overlooked = Options { case, ..options };
    let (left, right) = (left.overlooking(overlooked), right.overlooking(overlooked));
    Ok(match (operator, &left, &right) {
        // A number is never equal to its digits.
        ("==", left, right) => left == right,
        ("!=", left, right) => left != right,
        ("CONTAINS", Term::List(items), item) => items.contains(item),
        (_, Term::Nil, _) | (_, _, Term::Nil) => false,
        ("CONTAINS", Term::Text(text), Term::Text(part)) => text.contains(part),
        ("BEGINSWITH", Term::Text(text), Term::Text(part)) => text.starts_with(part),
        ("ENDSWITH", Term::Text(text), Term::Text(part)) => text.ends_with(part),
        ("LIKE", Term::Text(text), Term::Text(glob)) => {
            // `*` stands for any text, `?` for one letter.
            let pattern = regex::escape(glob).replace(r"\*", ".*").replace(r"\?", ".");
            is_match(text, &format!("(?s:{pattern})"), options)?
        }
        ("MATCHES", Term::Text(text), Term::Text(pattern)) => is_match(text, pattern, options)?,
        ("<" | "<=" | ">" | ">=", left, right) => {
            let order = match (left, right) {
                (Term::Number(left), Term::Number(right)) => left.partial_cmp(right),
                (Term::Text(left), Term::Text(right)) => Some(left.cmp(right)),
                _ => None,
            };
            order.is_some_and(|order| match operator {
                "<" => order == Ordering::Less,
                "<=" => order != Ordering::Greater,
                ">" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            })
        }
        (operator, left, right) => {
            let message = format!("can't use {operator} with {left:?} and {right:?}");
            return Err(WdaError::unknown(message));
        }
    })
}

fn is_match(text: &str, pattern: &str, options: Options) -> Result<bool, WdaError> {
    let regex = RegexBuilder::new(&format!("^(?:{pattern})$"))
        .case_insensitive(options.case)
        .size_limit(MAX_PATTERN)
        .build();
    let regex = regex.map_err(|error| format!("can't do regex matching: {error}"));
    Ok(regex.map_err(WdaError::unknown)?.is_match(text))
}

fn no_key(key: &str) -> WdaError {
    WdaError::unknown(format!(
        "an element is not key value coding-compliant for the key {key}"
    ))
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, why: &str) -> WdaError {
        let text: String = self.text.chars().take(200).collect();
        WdaError::unknown(format!(
            "Unable to parse the format string \"{text}\": {why}"
        ))
    }

    fn unexpected(&self) -> WdaError {
        match self.tokens.get(self.at) {
            Some(token) => self.error(&format!("{token:?} was not expected")),
            None => self.error("it ends too early"),
        }
    }

    /// Cuts the text into tokens.
    fn read(&mut self) -> Result<(), WdaError> {
        if self.text.len() > MAX_LENGTH {
            return Err(self.error(&format!("it is longer than {MAX_LENGTH} bytes")));
        }
        let mut rest = self.text.trim_end();
        while !rest.is_empty() {
            let Some(found) = TOKEN.captures(rest) else {
                return Err(self.error(&format!("nothing begins with '{rest}'")));
            };
            let part = |at| found.get(at).map(|part| part.as_str().to_owned());
            let text = part(1).map(|text| Token::Text(unquoted(&text)));
            let number = part(2).and_then(|number| number.parse().ok());
            self.tokens.extend(text);
            self.tokens.extend(number.map(Token::Number));
            self.tokens.extend(part(3).map(Token::Word));
            self.tokens.extend(part(4).map(Token::Sign));
            rest = &rest[found[0].len()..];
        }
        Ok(())
    }

    /// Takes a keyword or sign, if one of these comes next.
    fn take(&mut self, wanted: &[&str]) -> bool {
        let found = match self.tokens.get(self.at) {
            Some(Token::Word(word)) => wanted
                .iter()
                .any(|wanted| wanted.eq_ignore_ascii_case(word)),
            Some(Token::Sign(sign)) => wanted.contains(&sign.as_str()),
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), WdaError> {
        let taken = self.take(&[sign]).then_some(());
        taken.ok_or_else(|| self.unexpected())
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, WdaError>,
    ) -> Result<T, WdaError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(&format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn any(&mut self) -> Result<Condition, WdaError> {
        let mut parts = vec![self.all()?];
        while self.take(&["OR", "||"]) {
            parts.push(self.all()?);
        }
        Ok(Condition::Any(parts))
    }

    fn all(&mut self) -> Result<Condition, WdaError> {
        let mut parts = vec![self.one()?];
        while self.take(&["AND", "&&"]) {
            parts.push(self.one()?);
        }
        Ok(Condition::All(parts))
    }

    fn one(&mut self) -> Result<Condition, WdaError> {
        if self.take(&["NOT", "!"]) {
            return Ok(Condition::Not(Box::new(self.nested(Self::one)?)));
        }
        if self.take(&["("]) {
            let inner = self.nested(Self::any)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let left = self.nested(Self::term)?;
        let mut operators = OPERATORS.split(" | ");
        let operator = operators.find(|written| written.split(' ').any(|one| self.take(&[one])));
        let operator = operator.ok_or_else(|| self.unexpected())?;
        let operator = operator.split(' ').next().unwrap_or(operator);
        let options = self.options()?;
        let right = self.nested(Self::term)?;
        Ok(Condition::Compare(left, operator, options, right))
    }

    fn options(&mut self) -> Result<Options, WdaError> {
        let mut options = Options::default();
        if self.take(&["["]) {
            options.case = self.take(&["c", "cd", "dc"]);
            let letter = self.tokens.get(self.at.saturating_sub(1));
            let both = matches!(letter, Some(Token::Word(word)) if word.len() == 2);
            options.marks = both || self.take(&["d"]);
            self.expect("]")?;
        }
        Ok(options)
    }

    fn term(&mut self) -> Result<Term, WdaError> {
        for (words, term) in [
            (["NIL", "NULL"], Term::Nil),
            (["TRUE", "YES"], Term::Number(1.0)),
            (["FALSE", "NO"], Term::Number(0.0)),
        ] {
            if self.take(&words) {
                return Ok(term);
            }
        }
        if self.take(&["{"]) {
            let mut items = Vec::new();
            while !self.take(&["}"]) {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.nested(Self::term)?);
            }
            return Ok(Term::List(items));
        }
        let term = match self.tokens.get(self.at) {
            Some(Token::Text(text)) => Term::Text(text.clone()),
            Some(Token::Number(number)) => Term::Number(*number),
            Some(Token::Word(word)) => {
                let (name, path) = word.split_once('.').unwrap_or((word, ""));
                Term::Attribute(Attribute::named(name)?, path.to_owned())
            }
            Some(Token::Sign(_)) | None => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(term)
    }
}

/// A text without its quotes; a backslash stands before a letter that means itself.
fn unquoted(text: &str) -> String {
    static ESCAPED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)\\(.)").expect("the tests have compiled it"));
    let inside = text.get(1..text.len() - 1).unwrap_or_default();
    ESCAPED.replace_all(inside, "$1").into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wda::tree::tests::{form, rows};

    /// What finds which elements of the form.
    const FOUND: &str = r#"
name == 'sign_in' -> sign_in
label = "Buy 'now'" -> buy
label == 'Buy \'now\'' -> buy
label BEGINSWITH 'T' -> Two, Three
label ENDSWITH[c] 'E' -> One, Three
label CONTAINS[cd] 'ÓNE' -> One
label CONTAINS[d] 'ÓNE' ->
label CONTAINS 'ign' -> sign_in
label LIKE '?wo' -> Two
label LIKE[c] 't*' -> Two, Three
label MATCHES 'T(wo|hree)' -> Two, Three
label MATCHES[c] 't\\S+' -> Two, Three
label MATCHES 'T' ->
label > 'S' AND type == 'XCUIElementTypeStaticText' -> Two, Three
name == 'c1' OR name == 'c3' -> c1, c3
name == 'c1' || name == 'buy' && enabled == 0 -> c1
(name == 'c1' || name == 'buy') and enabled == YES -> c1, buy
NOT (label != nil) AND NOT name != NULL -> Window, Other
!(visible == 1) ->
((((name == 'c1')))) -> c1
name IN {'c1', 'buy', 'none'} -> c1, buy
name IN[c] {'C1'} -> c1
'wo' IN label -> Two
rect.y >= 300 AND rect.y <= 400 AND rect.height < 40 -> notify
index == 2 -> notify, c3
selected == true -> sign_in
selected == 'true' ->
type == 'XCUIElementTypeSwitch' AND value == '1' -> notify
type == 'XCUIElementTypeSwitch' AND value == 1 ->
wdVisible == 1 AND wdName == 'buy' -> buy
placeholderValue CONTAINS 'mail' -> email
placeholderValue MATCHES '.*' -> email
placeholderValue < 'Z' -> email
"#;

    fn select(text: &str) -> Result<Vec<String>, WdaError> {
        let tree = form();
        let predicate = Predicate::parse(text)?;
        let mut found = Vec::new();
        for (at, _) in tree.iter() {
            if predicate.selects(&tree, at)? {
                found.push(at);
            }
        }
        Ok(tree.names(&found))
    }

    #[test]
    fn what_clients_write_selects_what_foundation_selects() {
        for (text, names) in rows(FOUND) {
            assert_eq!(select(text).unwrap(), names, "{text}");
        }
    }

    #[test]
    fn what_is_no_predicate_or_compares_what_cannot_be_compared_is_refused() {
        for text in [
            "",
            "name",
            "name ==",
            "== 'x'",
            "name == 'x",
            "name == 'a' 'b'",
            "(name == 'a'",
            "name == 'a')",
            "name CONTAINS[x] 'a'",
            "name ~ 'a'",
            "name == 'a' AND",
            "{1, 2",
            "1 +",
            "'abc\\",
            "enabled CONTAINS 'a'",
            "index MATCHES 'a'",
            "rect.z == 1",
            "label MATCHES '('",
        ] {
            assert!(select(text).is_err(), "{text}");
        }
        let error = select("hasKeyboardFocus == 1").unwrap_err().message;
        assert!(error.contains("'hasKeyboardFocus' is unknown"), "{error}");
    }

    #[test]
    fn endless_nesting_is_refused() {
        for text in [
            "(".repeat(8_000),
            "NOT ".repeat(4_000),
            "{".repeat(8_000),
            format!("name == '{}'", "x".repeat(20_000)),
        ] {
            assert!(select(&text).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_panic(text in "\\PC{0,60}") {
            let _ = select(&text);
        }

        #[test]
        fn any_tokens_are_answered_without_panic(
            words in proptest::collection::vec(
                prop_oneof![
                    Just("name"), Just("rect.x"), Just("'a'"), Just("1.5"), Just("nil"), Just("=="), Just("CONTAINS"),
                    Just("[cd]"), Just("MATCHES"), Just("IN"), Just("AND"), Just("OR"), Just("NOT"), Just("("),
                    Just(")"), Just("{"), Just("}"), Just(","),
                ],
                0..12,
            ),
        ) {
            let _ = select(&words.join(" "));
        }

        #[test]
        fn any_text_can_be_quoted(text in "\\PC{0,20}") {
            let quoted = text.replace('\\', "\\\\").replace('\'', "\\'");
            let found = select(&format!("name == '{quoted}' OR name != '{quoted}'"));
            prop_assert_eq!(found.map(|names| names.len()), Ok(14));
        }
    }
}
