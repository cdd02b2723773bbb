//! From tokens to a condition.

use super::lex::{Token, tokens};
use super::{Condition, Constant, Operator, Options, PredicateError, Sign, Term};
use crate::wda::attribute::Attribute;

/// How deep parentheses, negations and lists may nest.
const MAX_DEPTH: usize = 64;

pub(super) fn parse(text: &str) -> Result<Condition, PredicateError> {
    let tokens = tokens(text).map_err(Failure::Syntax);
    let parsed = tokens.and_then(|tokens| {
        let mut parser = Parser {
            tokens,
            at: 0,
            depth: 0,
        };
        let condition = parser.any()?;
        match parser.peek() {
            None => Ok(condition),
            Some(token) => Err(unexpected(Some(token))),
        }
    });
    parsed.map_err(|failure| match failure {
        Failure::Syntax(why) => PredicateError::Syntax {
            text: text.to_owned(),
            why,
        },
        Failure::Predicate(error) => error,
    })
}

enum Failure {
    Syntax(String),
    Predicate(PredicateError),
}

impl<E: Into<PredicateError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Predicate(error.into())
    }
}

fn unexpected(token: Option<&Token>) -> Failure {
    Failure::Syntax(match token {
        Some(token) => format!("{token:?} was not expected"),
        None => "it ends too early".to_owned(),
    })
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Takes the sign, if it comes next.
    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(found);
        found
    }

    /// Takes the keyword, if it comes next.
    fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.peek_keyword().is_some_and(|word| word == keyword);
        self.at += usize::from(found);
        found
    }

    fn peek_keyword(&self) -> Option<String> {
        match self.peek() {
            Some(Token::Word {
                text,
                quoted: false,
            }) => Some(text.to_ascii_uppercase()),
            _ => None,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), Failure> {
        if self.sign(sign) {
            Ok(())
        } else {
            Err(unexpected(self.peek()))
        }
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            let why = format!("it nests deeper than {MAX_DEPTH} levels");
            return Err(Failure::Syntax(why));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn any(&mut self) -> Result<Condition, Failure> {
        let mut parts = vec![self.all()?];
        while self.keyword("OR") || self.sign("||") {
            parts.push(self.all()?);
        }
        Ok(single(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, Failure> {
        let mut parts = vec![self.not()?];
        while self.keyword("AND") || self.sign("&&") {
            parts.push(self.not()?);
        }
        Ok(single(parts, Condition::All))
    }

    fn not(&mut self) -> Result<Condition, Failure> {
        if self.keyword("NOT") || self.sign("!") {
            let inner = self.nested(Self::not)?;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.keyword("TRUEPREDICATE") {
            return Ok(Condition::Always);
        }
        if self.keyword("FALSEPREDICATE") {
            return Ok(Condition::Never);
        }
        self.group_or_comparison()
    }

    /// A parenthesis opens a condition or a sum; only what follows tells.
    fn group_or_comparison(&mut self) -> Result<Condition, Failure> {
        let (start, depth) = (self.at, self.depth);
        if self.sign("(") {
            let inner = self.nested(|parser| {
                let inner = parser.any()?;
                parser.expect(")")?;
                Ok(inner)
            });
            match inner {
                Ok(condition) => return Ok(condition),
                Err(failure) => {
                    (self.at, self.depth) = (start, depth);
                    return self.comparison().map_err(|_| failure);
                }
            }
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Condition, Failure> {
        let left = self.sum()?;
        let operator = self.operator()?;
        let options = self.options()?;
        let right = self.sum()?;
        Ok(Condition::Compare {
            left,
            operator,
            options,
            right,
        })
    }

    fn operator(&mut self) -> Result<Operator, Failure> {
        let operator = match self.peek() {
            Some(Token::Sign(sign)) => match *sign {
                "=" | "==" => Operator::Equal,
                "!=" | "<>" => Operator::NotEqual,
                "<" => Operator::Less,
                "<=" | "=<" => Operator::LessOrEqual,
                ">" => Operator::Greater,
                ">=" | "=>" => Operator::GreaterOrEqual,
                _ => return Err(unexpected(self.peek())),
            },
            _ => match self.peek_keyword().as_deref() {
                Some("BETWEEN") => Operator::Between,
                Some("IN") => Operator::In,
                Some("CONTAINS") => Operator::Contains,
                Some("BEGINSWITH") => Operator::BeginsWith,
                Some("ENDSWITH") => Operator::EndsWith,
                Some("LIKE") => Operator::Like,
                Some("MATCHES") => Operator::Matches,
                _ => return Err(unexpected(self.peek())),
            },
        };
        self.at += 1;
        Ok(operator)
    }

    fn options(&mut self) -> Result<Options, Failure> {
        let mut options = Options::default();
        if !self.sign("[") {
            return Ok(options);
        }
        let Some(Token::Word { text, .. }) = self.next() else {
            return Err(Failure::Syntax("[c], [d] or [cd] was expected".to_owned()));
        };
        for letter in text.chars() {
            match letter {
                'c' | 'C' => options.case = true,
                'd' | 'D' => options.marks = true,
                // Normalised already, and the order of this machine's locale: no difference here.
                'n' | 'N' | 'l' | 'L' => {}
                _ => return Err(Failure::Syntax(format!("[{text}] is no option"))),
            }
        }
        self.expect("]")?;
        Ok(options)
    }

    fn sum(&mut self) -> Result<Term, Failure> {
        let mut sum = self.product()?;
        loop {
            let sign = if self.sign("+") {
                Sign::Plus
            } else if self.sign("-") {
                Sign::Minus
            } else {
                return Ok(sum);
            };
            sum = self.chain(sum, sign, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Term, Failure> {
        let mut product = self.term()?;
        loop {
            let sign = if self.sign("*") {
                Sign::Times
            } else if self.sign("/") {
                Sign::Over
            } else {
                return Ok(product);
            };
            product = self.chain(product, sign, Self::term)?;
        }
    }

    /// A chain nests to the left as deep as it is long, so its links count as levels.
    fn chain(
        &mut self,
        left: Term,
        sign: Sign,
        right: impl FnOnce(&mut Self) -> Result<Term, Failure>,
    ) -> Result<Term, Failure> {
        let right = self.nested(right)?;
        self.depth += 1;
        Ok(Term::Sum(Box::new(left), sign, Box::new(right)))
    }

    fn term(&mut self) -> Result<Term, Failure> {
        if self.sign("-") {
            let zero = Term::Constant(Constant::Number(0.0));
            return self.chain(zero, Sign::Minus, Self::term);
        }
        if self.sign("(") {
            let inner = self.nested(Self::sum)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.sign("{") {
            return self.nested(Self::list);
        }
        match self.next() {
            Some(Token::Text(text)) => Ok(Term::Constant(Constant::Text(text))),
            Some(Token::Number(number)) => Ok(Term::Constant(Constant::Number(number))),
            Some(Token::Word { text, quoted }) => word(&text, quoted),
            token @ (Some(Token::Sign(_)) | None) => Err(unexpected(token.as_ref())),
        }
    }

    fn list(&mut self) -> Result<Term, Failure> {
        let mut items = Vec::new();
        if self.sign("}") {
            return Ok(Term::List(items));
        }
        loop {
            items.push(self.sum()?);
            if self.sign("}") {
                return Ok(Term::List(items));
            }
            self.expect(",")?;
        }
    }
}

fn word(text: &str, quoted: bool) -> Result<Term, Failure> {
    if !quoted {
        match text.to_ascii_uppercase().as_str() {
            "NIL" | "NULL" => return Ok(Term::Constant(Constant::Nil)),
            "TRUE" | "YES" => return Ok(Term::Constant(Constant::Number(1.0))),
            "FALSE" | "NO" => return Ok(Term::Constant(Constant::Number(0.0))),
            _ => {}
        }
    }
    let mut path = text.split('.').map(str::to_owned);
    let attribute = Attribute::named(&path.next().unwrap_or_default())?;
    Ok(Term::Path(attribute, path.collect()))
}

fn single(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}
