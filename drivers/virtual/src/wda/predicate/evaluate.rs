//! Whether an element meets a condition.

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Condition, Constant, Operator, Options, PredicateError, Sign, Term};
use crate::geometry::Rect;
use crate::wda::attribute::AttributeValue;
use crate::wda::tree::ElementTree;

/// How large a compiled pattern of a client may get, in bytes.
const MAX_PATTERN: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Nil,
    Number(f64),
    Text(String),
    Rect(Rect),
    List(Vec<Value>),
}

pub(super) fn holds(
    condition: &Condition,
    tree: &ElementTree,
    at: usize,
) -> Result<bool, PredicateError> {
    match condition {
        Condition::Always => Ok(true),
        Condition::Never => Ok(false),
        Condition::Not(inner) => Ok(!holds(inner, tree, at)?),
        Condition::All(parts) => {
            for part in parts {
                if !holds(part, tree, at)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Condition::Any(parts) => {
            for part in parts {
                if holds(part, tree, at)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Condition::Compare {
            left,
            operator,
            options,
            right,
        } => compare(
            &value(left, tree, at)?,
            *operator,
            *options,
            &value(right, tree, at)?,
        ),
    }
}

fn value(term: &Term, tree: &ElementTree, at: usize) -> Result<Value, PredicateError> {
    match term {
        Term::Constant(Constant::Nil) => Ok(Value::Nil),
        Term::Constant(Constant::Number(number)) => Ok(Value::Number(*number)),
        Term::Constant(Constant::Text(text)) => Ok(Value::Text(text.clone())),
        Term::List(items) => items
            .iter()
            .map(|item| value(item, tree, at))
            .collect::<Result<_, _>>()
            .map(Value::List),
        Term::Path(attribute, path) => {
            let start = match attribute.of(tree, at) {
                AttributeValue::Null => Value::Nil,
                AttributeValue::Flag(flag) => Value::Number(f64::from(u8::from(flag))),
                AttributeValue::Number(number) => Value::Number(number),
                AttributeValue::Text(text) => Value::Text(text),
                AttributeValue::Rect(rect) | AttributeValue::Frame(rect) => Value::Rect(rect),
            };
            path.iter().try_fold(start, |value, key| part(value, key))
        }
        Term::Sum(left, sign, right) => {
            let (left, right) = (value(left, tree, at)?, value(right, tree, at)?);
            let (Value::Number(left), Value::Number(right)) = (&left, &right) else {
                return Err(PredicateError::Operands(format!(
                    "cannot calculate with {left:?} and {right:?}"
                )));
            };
            Ok(Value::Number(match sign {
                Sign::Plus => left + right,
                Sign::Minus => left - right,
                Sign::Times => left * right,
                Sign::Over => left / right,
            }))
        }
    }
}

/// A key behind a point, as key-value coding of Foundation's classes answers it.
fn part(value: Value, key: &str) -> Result<Value, PredicateError> {
    let number = |text: &str| {
        let digits = |c: char| c.is_ascii_digit() || "+-.".contains(c);
        let end = text.trim_start().find(|c| !digits(c)).unwrap_or(text.len());
        text.trim_start()[..end].parse().unwrap_or(0.0)
    };
    Ok(match (value, key) {
        (Value::Nil, _) => Value::Nil,
        (Value::Rect(rect), "x") => Value::Number(rect.x),
        (Value::Rect(rect), "y") => Value::Number(rect.y),
        (Value::Rect(rect), "width") => Value::Number(rect.w),
        (Value::Rect(rect), "height") => Value::Number(rect.h),
        (Value::Text(text), "length") => Value::Number(text.encode_utf16().count() as f64),
        (Value::Text(text), "lowercaseString") => Value::Text(text.to_lowercase()),
        (Value::Text(text), "uppercaseString") => Value::Text(text.to_uppercase()),
        (Value::Text(text), "doubleValue" | "floatValue") => Value::Number(number(&text)),
        (Value::Text(text), "intValue" | "integerValue" | "longLongValue") => {
            let whole: f64 = number(&text);
            Value::Number(whole.trunc())
        }
        (other, _) => {
            return Err(PredicateError::Operands(format!(
                "{other:?} is not key value coding-compliant for the key {key}"
            )));
        }
    })
}

fn compare(
    left: &Value,
    operator: Operator,
    options: Options,
    right: &Value,
) -> Result<bool, PredicateError> {
    let ordered = |wanted: &[Ordering]| {
        order(left, right, options).is_some_and(|order| wanted.contains(&order))
    };
    match operator {
        Operator::Equal => Ok(equal(left, right, options)),
        Operator::NotEqual => Ok(!equal(left, right, options)),
        Operator::Less => Ok(ordered(&[Ordering::Less])),
        Operator::LessOrEqual => Ok(ordered(&[Ordering::Less, Ordering::Equal])),
        Operator::Greater => Ok(ordered(&[Ordering::Greater])),
        Operator::GreaterOrEqual => Ok(ordered(&[Ordering::Greater, Ordering::Equal])),
        Operator::Between => between(left, right, options),
        Operator::In => contains(right, left, options),
        Operator::Contains => contains(left, right, options),
        Operator::BeginsWith => texts(left, right, options, |text, part| text.starts_with(part)),
        Operator::EndsWith => texts(left, right, options, |text, part| text.ends_with(part)),
        Operator::Like => pattern(left, right, options, &glob),
        Operator::Matches => pattern(left, right, options, &str::to_owned),
    }
}

fn equal(left: &Value, right: &Value, options: Options) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => {
            overlook(left, options) == overlook(right, options)
        }
        // A number is never equal to its digits.
        _ => left == right,
    }
}

fn order(left: &Value, right: &Value, options: Options) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(right),
        (Value::Text(left), Value::Text(right)) => {
            Some(overlook(left, options).cmp(&overlook(right, options)))
        }
        _ => None,
    }
}

fn between(value: &Value, bounds: &Value, options: Options) -> Result<bool, PredicateError> {
    let Value::List(bounds) = bounds else {
        return Err(not_usable("BETWEEN", bounds));
    };
    let [low, high] = bounds.as_slice() else {
        return Err(PredicateError::Operands(
            "BETWEEN takes a list of two".to_owned(),
        ));
    };
    Ok(order(low, value, options).is_some_and(Ordering::is_le)
        && order(value, high, options).is_some_and(Ordering::is_le))
}

fn contains(whole: &Value, part: &Value, options: Options) -> Result<bool, PredicateError> {
    match (whole, part) {
        (Value::Nil, _) => Ok(false),
        (Value::List(items), part) => Ok(items.iter().any(|item| equal(item, part, options))),
        (Value::Text(_), Value::Nil) => Ok(false),
        (Value::Text(whole), Value::Text(part)) => {
            let (whole, part) = (overlook(whole, options), overlook(part, options));
            Ok(whole.contains(part.as_ref()))
        }
        (Value::Text(_), other) | (other, _) => Err(not_usable("IN or CONTAINS", other)),
    }
}

fn texts(
    left: &Value,
    right: &Value,
    options: Options,
    test: impl Fn(&str, &str) -> bool,
) -> Result<bool, PredicateError> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => {
            Ok(test(&overlook(left, options), &overlook(right, options)))
        }
        (Value::Nil, _) | (_, Value::Nil) => Ok(false),
        (Value::Text(_), other) | (other, _) => Err(not_usable("a comparison of texts", other)),
    }
}

fn pattern(
    left: &Value,
    right: &Value,
    options: Options,
    to_regex: &dyn Fn(&str) -> String,
) -> Result<bool, PredicateError> {
    let test = |text: &str, pattern: &str| {
        whole_match(&to_regex(pattern), options).map(|regex| regex.is_match(text))
    };
    match (left, right) {
        (Value::Text(text), Value::Text(pattern)) if options.marks => {
            test(&without_marks(text), &without_marks(pattern))
        }
        (Value::Text(text), Value::Text(pattern)) => test(text, pattern),
        (Value::Nil, _) | (_, Value::Nil) => Ok(false),
        (Value::Text(_), other) | (other, _) => Err(not_usable("LIKE or MATCHES", other)),
    }
}

fn whole_match(pattern: &str, options: Options) -> Result<Regex, PredicateError> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .case_insensitive(options.case)
        .size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| PredicateError::Operands(format!("can't do regex matching: {error}")))
}

/// `*` stands for any text, `?` for one letter, `\` takes their meaning away.
fn glob(pattern: &str) -> String {
    let mut regex = "(?s:".to_owned();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '\\' => {
                let literal = letters.next().unwrap_or('\\');
                regex.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
            }
            _ => regex.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push(')');
    regex
}

fn overlook(text: &str, options: Options) -> Cow<'_, str> {
    let text = if options.marks {
        Cow::Owned(without_marks(text))
    } else {
        Cow::Borrowed(text)
    };
    if options.case {
        Cow::Owned(text.to_lowercase())
    } else {
        text
    }
}

fn without_marks(text: &str) -> String {
    text.nfd()
        .filter(|letter| !is_combining_mark(*letter))
        .collect()
}

fn not_usable(operator: &str, value: &Value) -> PredicateError {
    PredicateError::Operands(format!("can't use {operator} with {value:?}"))
}
