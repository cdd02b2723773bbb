//! Functions of XPath 2.0 that WebDriverAgent adds to those of libxml2: `matches`, `ends-with`,
//! `lower-case`, `upper-case` and `replace`. The evaluator has none of them, so each call is taken
//! out of the expression and its result written to the elements as one more attribute. This works
//! where it works on an attribute of the element at hand and texts, as in `matches(@name, '^a')`;
//! elsewhere, and for `tokenize` and `string-join`, the function stays unknown.
//!
//! Source: `FBXPathExtensions.m` of <https://github.com/appium/WebDriverAgent>, 16.7.0.

use regex::{Regex, RegexBuilder};
use xpath_eval::{
    Axis, Expr, FilterExpr, FunctionCall, LocationPath, NodeTest, PathExpr, PrimaryExpr, QName,
    Step,
};

/// The largest program a client's regular expression may become, in bytes.
const MAX_REGEX: usize = 1 << 20;
/// The longest text that is worked on, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// How many calls an expression may have.
const MAX_CALLS: usize = 32;

/// A call whose results stand in attributes.
pub(super) struct Computed {
    /// The attribute; no expression can name it.
    pub(super) attribute: String,
    of: String,
    call: Call,
}

enum Call {
    Matches(Regex),
    EndsWith(String),
    LowerCase,
    UpperCase,
    Replace(Regex, String),
}

/// A result would be longer than any text on a screen.
pub(super) struct TooLong;

impl Computed {
    /// Its result for an element with these attributes: none is false.
    pub(super) fn result(
        &self,
        attributes: &[(String, String)],
    ) -> Result<Option<String>, TooLong> {
        let text = attributes.iter().find(|(name, _)| *name == self.of);
        let text = text.map_or("", |(_, text)| text.as_str());
        if text.len() > MAX_TEXT {
            return Err(TooLong);
        }
        Ok(match &self.call {
            Call::Matches(regex) => regex.is_match(text).then(String::new),
            Call::EndsWith(suffix) => text.ends_with(suffix).then(String::new),
            Call::LowerCase => Some(text.to_lowercase()),
            Call::UpperCase => Some(text.to_uppercase()),
            Call::Replace(regex, by) => {
                // Each letter may stand for a group that is the whole text.
                let each = by.len().saturating_mul(text.len().max(1));
                let longest = regex.find_iter(text).count().saturating_mul(each);
                if longest > MAX_TEXT {
                    return Err(TooLong);
                }
                Some(regex.replace_all(text, by).into_owned())
            }
        })
    }
}

/// Takes the calls out of an expression, inner ones first.
///
/// # Errors
/// What is wrong with a call.
pub(super) fn take_out(expression: &mut Expr) -> Result<Vec<Computed>, String> {
    let mut taken = Vec::new();
    expr(expression, &mut taken)?;
    Ok(taken)
}

fn expr(at: &mut Expr, taken: &mut Vec<Computed>) -> Result<(), String> {
    match at {
        Expr::Or(a, b)
        | Expr::And(a, b)
        | Expr::Equality(a, _, b)
        | Expr::Relational(a, _, b)
        | Expr::Additive(a, _, b)
        | Expr::Multiplicative(a, _, b)
        | Expr::Union(a, b) => {
            expr(a, taken)?;
            expr(b, taken)
        }
        Expr::Negate(a) => expr(a, taken),
        Expr::Path(PathExpr::Location(path)) => location(path, taken),
        Expr::Path(PathExpr::Filter(inner)) => filter(inner, taken),
        Expr::Path(PathExpr::FilterLocation(inner, path)) => {
            filter(inner, taken)?;
            location(path, taken)
        }
    }
}

fn location(path: &mut LocationPath, taken: &mut Vec<Computed>) -> Result<(), String> {
    let mut predicates = path.steps.iter_mut().flat_map(|step| &mut step.predicates);
    predicates.try_for_each(|predicate| expr(predicate, taken))
}

fn filter(at: &mut FilterExpr, taken: &mut Vec<Computed>) -> Result<(), String> {
    match &mut at.primary {
        PrimaryExpr::Parenthesized(inner) => expr(inner, taken)?,
        PrimaryExpr::Function(function) => call(function, taken)?,
        PrimaryExpr::Variable(_) | PrimaryExpr::Literal(_) | PrimaryExpr::Number(_) => {}
    }
    let mut predicates = at.predicates.iter_mut();
    predicates.try_for_each(|predicate| expr(predicate, taken))
}

fn call(function: &mut FunctionCall, taken: &mut Vec<Computed>) -> Result<(), String> {
    for argument in &mut function.args {
        expr(argument, taken)?;
    }
    let Some((first, more)) = function.args.split_first() else {
        return Ok(());
    };
    let texts: Option<Vec<&str>> = more.iter().map(literal).collect();
    // What is left here the evaluator calls unknown.
    let (Some(of), Some(texts)) = (attribute(first), texts) else {
        return Ok(());
    };
    let name = function.name.local.as_str();
    let (call, becomes) = match (name, texts.as_slice()) {
        ("matches", [pattern]) => (Call::Matches(regex(pattern, "", "imsx")?), "boolean"),
        ("matches", [pattern, flags]) => (Call::Matches(regex(pattern, flags, "imsx")?), "boolean"),
        ("ends-with", [suffix]) => (Call::EndsWith((*suffix).to_owned()), "boolean"),
        ("lower-case", []) => (Call::LowerCase, "string"),
        ("upper-case", []) => (Call::UpperCase, "string"),
        ("replace", [pattern, by]) => {
            let regex = regex(pattern, "", "imsxq")?;
            (Call::Replace(regex, template(by)), "string")
        }
        ("replace", [pattern, by, flags]) => {
            let regex = regex(pattern, flags, "imsxq")?;
            (Call::Replace(regex, template(by)), "string")
        }
        _ => return Ok(()),
    };
    if taken.len() == MAX_CALLS {
        return Err(format!("it has more than {MAX_CALLS} calls"));
    }
    let computed = Computed {
        attribute: format!("\u{1}{}", taken.len()),
        of,
        call,
    };
    let step = Step {
        axis: Axis::Attribute,
        node_test: NodeTest::QName(QName {
            prefix: None,
            local: computed.attribute.clone(),
        }),
        predicates: Vec::new(),
    };
    let path = LocationPath {
        is_absolute: false,
        steps: vec![step],
    };
    becomes.clone_into(&mut function.name.local);
    function.args = vec![Expr::Path(PathExpr::Location(path))];
    taken.push(computed);
    Ok(())
}

fn literal(argument: &Expr) -> Option<&str> {
    match argument {
        Expr::Path(PathExpr::Filter(FilterExpr {
            primary: PrimaryExpr::Literal(text),
            predicates,
        })) if predicates.is_empty() => Some(text),
        _ => None,
    }
}

/// The attribute of the element at hand that an argument is, also as a text.
fn attribute(argument: &Expr) -> Option<String> {
    match argument {
        Expr::Path(PathExpr::Location(path)) => match path.steps.as_slice() {
            [
                Step {
                    axis: Axis::Attribute,
                    node_test:
                        NodeTest::QName(QName {
                            prefix: None,
                            local,
                        }),
                    predicates,
                },
            ] if predicates.is_empty() && !path.is_absolute => Some(local.clone()),
            _ => None,
        },
        Expr::Path(PathExpr::Filter(FilterExpr {
            primary: PrimaryExpr::Function(FunctionCall { name, args }),
            predicates,
        })) if name.local == "string" && predicates.is_empty() => match args.as_slice() {
            [inner] => attribute(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Of the flags only `i` has a meaning to WebDriverAgent.
fn regex(pattern: &str, flags: &str, known: &str) -> Result<Regex, String> {
    if flags.chars().any(|flag| !known.contains(flag)) {
        return Err("Invalid regular expression flags".to_owned());
    }
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .size_limit(MAX_REGEX)
        .build()
        .map_err(|_| format!("The value “{pattern}” is invalid."))
}

/// A replacement as Foundation reads it, for the `regex` crate: `$1` is a group, a backslash takes
/// the meaning from what follows.
fn template(by: &str) -> String {
    let mut letters = by.chars().peekable();
    let mut template = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '$' => match letters.next_if(char::is_ascii_digit) {
                Some(group) => template.push_str(&format!("${{{group}}}")),
                None => template.push_str("$$"),
            },
            '\\' => match letters.next() {
                Some('$') => template.push_str("$$"),
                Some(next) => template.push(next),
                None => {}
            },
            _ => template.push(letter),
        }
    }
    template
}
