//! Words: quotes, and what is expanded in them.

use crate::android::shell::parse::{Parsed, Parser, SyntaxError, parse};
use crate::android::shell::syntax::{Operation, Piece, Word};

impl Parser {
    /// One word; `None` where none begins.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() || ";&|()<>".contains(c) => break,
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => {}
                        Some(c) => {
                            flush(&mut plain, &mut pieces);
                            pieces.push(literal(&c.to_string(), true));
                        }
                        None => plain.push('\\'),
                    }
                    self.at += 1;
                }
                '\'' => {
                    flush(&mut plain, &mut pieces);
                    self.at += 1;
                    let mut text = String::new();
                    loop {
                        match self.peek() {
                            None => return Err(SyntaxError::Unclosed),
                            Some('\'') => break,
                            Some(c) => text.push(c),
                        }
                        self.at += 1;
                    }
                    self.at += 1;
                    pieces.push(literal(&text, true));
                }
                '"' => {
                    flush(&mut plain, &mut pieces);
                    self.at += 1;
                    let inner = self.nested(|p| p.double_quoted(Some('"')))?;
                    // An empty pair of quotes is a word too.
                    pieces.push(literal("", true));
                    pieces.extend(inner);
                }
                '$' | '`' => {
                    flush(&mut plain, &mut pieces);
                    let piece = self.nested(|p| p.expansion(false))?;
                    pieces.push(piece);
                }
                c => {
                    plain.push(c);
                    self.at += 1;
                }
            }
        }
        flush(&mut plain, &mut pieces);
        Ok((self.at > start).then_some(Word(pieces)))
    }

    /// Up to `end`, which is taken, or to the end of the text.
    pub(super) fn double_quoted(&mut self, end: Option<char>) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            match self.peek() {
                None if end.is_none() => break,
                None => return Err(SyntaxError::Unclosed),
                Some(c) if Some(c) == end => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                        Some('\n') => {}
                        Some(c) => {
                            text.push('\\');
                            text.push(c);
                        }
                        None => text.push('\\'),
                    }
                    self.at += 1;
                }
                Some('$' | '`') => {
                    if !text.is_empty() {
                        pieces.push(literal(&std::mem::take(&mut text), true));
                    }
                    let piece = self.nested(|p| p.expansion(true))?;
                    pieces.push(piece);
                }
                Some(c) => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        if !text.is_empty() {
            pieces.push(literal(&text, true));
        }
        Ok(pieces)
    }

    /// What a `$` or a backtick begins.
    fn expansion(&mut self, quoted: bool) -> Parsed<Piece> {
        if self.eat("`") {
            let mut inner = String::new();
            loop {
                match self.peek() {
                    None => return Err(SyntaxError::Unclosed),
                    Some('`') => break,
                    Some('\\') if self.peek_at(1).is_some_and(|c| "`\\$".contains(c)) => {
                        self.at += 1;
                        inner.extend(self.peek());
                    }
                    Some(c) => inner.push(c),
                }
                self.at += 1;
            }
            self.at += 1;
            let list = parse(&inner)?;
            return Ok(Piece::Command { list, quoted });
        }
        self.at += 1;
        if self.eat("((") {
            return self.arithmetic(quoted);
        }
        if self.eat("(") {
            let list = self.list(&[])?;
            if !self.eat(")") {
                return Err(SyntaxError::Unclosed);
            }
            return Ok(Piece::Command { list, quoted });
        }
        if self.eat("{") {
            return self.braced(quoted);
        }
        let name = match self.peek() {
            Some(c) if c.is_ascii_digit() || "?$!#@*-".contains(c) => {
                self.at += 1;
                c.to_string()
            }
            _ => self.name(),
        };
        if name.is_empty() {
            return Ok(literal("$", quoted));
        }
        Ok(Piece::Parameter {
            name,
            operation: None,
            length: false,
            quoted,
        })
    }

    fn arithmetic(&mut self, quoted: bool) -> Parsed<Piece> {
        let mut open = 0_usize;
        let mut inner = String::new();
        loop {
            match self.peek() {
                None => return Err(SyntaxError::Unclosed),
                Some(')') if open == 0 => break,
                Some(c) => {
                    open += usize::from(c == '(');
                    open -= usize::from(c == ')' && open > 0);
                    inner.push(c);
                }
            }
            self.at += 1;
        }
        if !self.eat("))") {
            return Err(SyntaxError::Unclosed);
        }
        let mut parser = Self {
            chars: inner.chars().collect(),
            at: 0,
            depth: self.depth,
            here: Vec::new(),
            bodies: Vec::new(),
        };
        let expression = Word(parser.nested(|p| p.double_quoted(None))?);
        Ok(Piece::Arithmetic { expression, quoted })
    }

    fn braced(&mut self, quoted: bool) -> Parsed<Piece> {
        let length = self.peek() == Some('#') && self.peek_at(1) != Some('}') && self.eat("#");
        let name = match self.peek() {
            Some(c) if "?$!#@*-".contains(c) => {
                self.at += 1;
                c.to_string()
            }
            Some(c) if c.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(c) = self.peek().filter(char::is_ascii_digit) {
                    digits.push(c);
                    self.at += 1;
                }
                digits
            }
            _ => self.name(),
        };
        if name.is_empty() {
            return Err(SyntaxError::Unexpected("{".to_owned()));
        }
        let operations = [
            (":-", Operation::Default { colon: true }),
            (":=", Operation::Assign { colon: true }),
            (":?", Operation::Error { colon: true }),
            (":+", Operation::Alternative { colon: true }),
            ("-", Operation::Default { colon: false }),
            ("=", Operation::Assign { colon: false }),
            ("?", Operation::Error { colon: false }),
            ("+", Operation::Alternative { colon: false }),
            ("##", Operation::CutPrefix { longest: true }),
            ("#", Operation::CutPrefix { longest: false }),
            ("%%", Operation::CutSuffix { longest: true }),
            ("%", Operation::CutSuffix { longest: false }),
        ];
        let mut operation = None;
        for (sign, kind) in operations {
            if self.eat(sign) {
                operation = Some(kind);
                break;
            }
        }
        let operation = match operation {
            Some(kind) => Some((kind, Word(self.nested(|p| p.double_quoted(Some('}')))?))),
            None if self.eat("}") => None,
            None => return Err(SyntaxError::Unclosed),
        };
        Ok(Piece::Parameter {
            name,
            operation,
            length,
            quoted,
        })
    }
}

fn literal(text: &str, quoted: bool) -> Piece {
    Piece::Literal {
        text: text.to_owned(),
        quoted,
    }
}

pub(super) fn quoted(text: &str) -> Word {
    Word(vec![literal(text, true)])
}

fn flush(plain: &mut String, pieces: &mut Vec<Piece>) {
    if !plain.is_empty() {
        pieces.push(literal(&std::mem::take(plain), false));
    }
}
