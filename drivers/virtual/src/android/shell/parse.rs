//! From text to [`List`]. Of a shell's language it knows what clients send; the rest is a syntax
//! error. Text is hostile: its length and nesting are bounded.

use crate::android::shell::syntax::{
    Command, Direction, Item, Join, Kind, List, Piece, PieceKind, Pipeline, Redirect, Word,
};

/// The longest text, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// The deepest nesting of brackets, quotes and keywords.
const MAX_DEPTH: usize = 48;

/// Why a text is no command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// This stands where it cannot.
    #[error("syntax error: unexpected '{0}'")]
    Unexpected(String),
    /// A quote or bracket is not closed.
    #[error("no closing quote")]
    Unclosed,
    /// Too long or nested too deep.
    #[error("syntax error: too complex")]
    TooComplex,
}

impl SyntaxError {
    /// Whether more text could make it a command line.
    pub fn needs_more(&self) -> bool {
        match self {
            Self::Unclosed => true,
            Self::Unexpected(what) => what == "EOF",
            Self::TooComplex => false,
        }
    }
}

type Parsed<T> = Result<T, SyntaxError>;

/// Reads a whole text.
pub fn parse(text: &str) -> Parsed<List> {
    if text.len() > MAX_TEXT {
        return Err(SyntaxError::TooComplex);
    }
    let mut parser = Parser {
        chars: text.chars().collect(),
        at: 0,
        depth: 0,
    };
    let list = parser.list(None)?;
    match parser.peek() {
        Some(c) => Err(SyntaxError::Unexpected(c.to_string())),
        None => Ok(list),
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

/// Words that are no commands where a command begins. The shell of a phone knows them all.
const KEYWORDS: [&str; 15] = [
    "break", "case", "continue", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "select", "then", "}",
];

/// What ends a word.
const ENDS: &str = ";&|()<>";

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let mut chars = text.chars().enumerate();
        let matches = chars.all(|(i, c)| self.peek_at(i) == Some(c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    /// Takes characters for as long as they fit.
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|c| fits(*c)) {
            taken.push(c);
            self.at += 1;
        }
        taken
    }

    /// Spaces, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => drop(self.take_while(|c| c != '\n')),
                _ => return,
            }
        }
    }

    fn newlines(&mut self) {
        self.blanks();
        while self.eat("\n") {
            self.blanks();
        }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(SyntaxError::TooComplex);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Commands up to the end, a closing bracket or the keyword `end`.
    fn list(&mut self, end: Option<&str>) -> Parsed<List> {
        let mut items = Vec::new();
        loop {
            self.newlines();
            if matches!(self.peek(), None | Some(')')) || self.is_keyword(end) {
                return Ok(List(items));
            }
            items.push(self.item()?);
            self.blanks();
            match self.peek() {
                Some(';' | '\n') => self.at += 1,
                None | Some(')') => {}
                // `}` and its like may follow a bracket directly.
                Some(_) if self.is_keyword(end) => {}
                Some(c) => return Err(SyntaxError::Unexpected(c.to_string())),
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                break;
            };
            self.newlines();
            rest.push((join, self.pipeline()?));
        }
        Ok(Item { first, rest })
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.blanks();
        let mut negated = false;
        while self.peek() == Some('!') && self.peek_at(1).is_none_or(char::is_whitespace) {
            self.at += 1;
            negated = !negated;
            self.blanks();
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some('|') || self.peek_at(1) == Some('|') {
                return Ok(Pipeline { negated, commands });
            }
            self.at += 1;
            self.newlines();
            commands.push(self.command()?);
        }
    }

    /// The keyword that begins here, without taking it.
    fn keyword(&self) -> Option<String> {
        let rest = self.chars.get(self.at..).unwrap_or(&[]);
        let word: String = (rest.iter())
            .take_while(|c| c.is_ascii_lowercase() || matches!(c, '{' | '}'))
            .take(8)
            .collect();
        let next = self.peek_at(word.len());
        let ended = next.is_none_or(|c| c.is_whitespace() || ENDS.contains(c));
        (ended && !word.is_empty()).then_some(word)
    }

    fn is_keyword(&self, wanted: Option<&str>) -> bool {
        wanted.is_some() && self.keyword().as_deref() == wanted
    }

    fn expect(&mut self, word: &str) -> Parsed<()> {
        if !self.is_keyword(Some(word)) {
            return Err(self.unexpected());
        }
        self.at += word.len();
        Ok(())
    }

    fn unexpected(&self) -> SyntaxError {
        let next = self.keyword();
        let next = next.or_else(|| self.peek().map(|c| c.to_string()));
        SyntaxError::Unexpected(next.unwrap_or_else(|| "EOF".to_owned()))
    }

    fn command(&mut self) -> Parsed<Command> {
        self.blanks();
        let keyword = self.keyword();
        let kind = match keyword.as_deref() {
            _ if self.eat("(") => Kind::Subshell(self.bracketed()?),
            Some("{") => {
                self.at += 1;
                let list = self.nested(|p| p.list(Some("}")))?;
                self.expect("}")?;
                Kind::Group(list)
            }
            Some(word @ ("while" | "until")) => {
                self.at += word.len();
                let condition = self.nested(|p| p.list(Some("do")))?;
                self.expect("do")?;
                let body = self.nested(|p| p.list(Some("done")))?;
                self.expect("done")?;
                Kind::Loop {
                    condition,
                    body,
                    until: word == "until",
                }
            }
            Some(word) if KEYWORDS.contains(&word) => return Err(self.unexpected()),
            _ => return self.simple(),
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(Command { kind, redirects })
    }

    /// Commands up to the bracket that closes them, which is taken.
    fn bracketed(&mut self) -> Parsed<List> {
        let list = self.nested(|p| p.list(None))?;
        if self.eat(")") {
            Ok(list)
        } else {
            Err(self.unexpected())
        }
    }

    fn name(&mut self) -> String {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return String::new();
        }
        self.take_while(|c| c == '_' || c.is_ascii_alphanumeric())
    }

    fn simple(&mut self) -> Parsed<Command> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty() {
                let start = self.at;
                let name = self.name();
                if !name.is_empty() && self.eat("=") {
                    assignments.push((name, self.word()?.unwrap_or_default()));
                    continue;
                }
                self.at = start;
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Command {
            kind: Kind::Simple { assignments, words },
            redirects,
        })
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        self.blanks();
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        let kinds = [
            (">>", Direction::Append),
            (">&", Direction::CopyOf),
            (">", Direction::Write),
            ("<", Direction::Read),
        ];
        let Some((_, direction)) = kinds.into_iter().find(|(sign, _)| self.eat(sign)) else {
            self.at = start;
            return Ok(None);
        };
        self.blanks();
        let target = self.word()?.ok_or_else(|| self.unexpected())?;
        Ok(Some(Redirect {
            fd: digits.parse().ok(),
            direction,
            target,
        }))
    }

    /// One word; `None` where none begins.
    fn word(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let mut pieces = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() || ENDS.contains(c) => break,
                '\\' => {
                    self.at += 1;
                    if let Some(c) = self.peek().filter(|c| *c != '\n') {
                        pieces.push(text(c, true));
                    }
                    self.at += 1;
                }
                '\'' => {
                    self.at += 1;
                    pieces.push(text(self.take_while(|c| c != '\''), true));
                    if !self.eat("'") {
                        return Err(SyntaxError::Unclosed);
                    }
                }
                '"' => {
                    self.at += 1;
                    self.nested(|p| p.double_quoted(&mut pieces))?;
                }
                '$' | '`' => pieces.push(self.nested(|p| p.expansion(false))?),
                _ => {
                    let plain =
                        |c: char| !(c.is_whitespace() || ENDS.contains(c) || "\\'\"$`".contains(c));
                    pieces.push(text(self.take_while(plain), false));
                }
            }
        }
        Ok((self.at > start).then_some(Word(pieces)))
    }

    /// Up to the closing quote, which is taken.
    fn double_quoted(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        // An empty pair of quotes is a word too.
        pieces.push(text("", true));
        loop {
            match self.peek().ok_or(SyntaxError::Unclosed)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    let next = self.peek_at(1).ok_or(SyntaxError::Unclosed)?;
                    if !"$`\"\\\n".contains(next) {
                        pieces.push(text('\\', true));
                    }
                    if next != '\n' {
                        pieces.push(text(next, true));
                    }
                    self.at += 2;
                }
                '$' | '`' => pieces.push(self.nested(|p| p.expansion(true))?),
                _ => pieces.push(text(self.take_while(|c| !"\"\\$`".contains(c)), true)),
            }
        }
    }

    /// What a `$` or a backtick begins.
    fn expansion(&mut self, quoted: bool) -> Parsed<Piece> {
        let refused = ["$((", "$!", "`"].into_iter().find(|sign| self.eat(sign));
        if let Some(sign) = refused {
            return Err(SyntaxError::Unexpected(sign.to_owned()));
        }
        let kind = if self.eat("$(") {
            PieceKind::Output(self.bracketed()?)
        } else if self.eat("${") {
            let name = self.parameter();
            if name.is_empty() || !self.eat("}") {
                return Err(SyntaxError::Unexpected("${".to_owned()));
            }
            PieceKind::Parameter(name)
        } else {
            self.at += 1;
            match self.parameter() {
                name if name.is_empty() => PieceKind::Text("$".to_owned()),
                name => PieceKind::Parameter(name),
            }
        };
        Ok(Piece { kind, quoted })
    }

    fn parameter(&mut self) -> String {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || "?$#@*".contains(c) => {
                self.at += 1;
                c.to_string()
            }
            _ => self.name(),
        }
    }
}

fn text(text: impl Into<String>, quoted: bool) -> Piece {
    Piece {
        kind: PieceKind::Text(text.into()),
        quoted,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-a-z \"'`$(){}|&;<>#!=\\\\\n\\[\\]*?0-9]{0,120}") {
            let _ = parse(&text);
        }

        #[test]
        fn quoted_text_is_one_word(quoted in "[^'\u{0}]{0,60}") {
            let list = parse(&format!("echo '{quoted}'")).expect("parsed");
            let Kind::Simple { words, .. } = &list.0[0].first.commands[0].kind else {
                panic!("a simple command");
            };
            prop_assert_eq!(words.len(), 2);
            prop_assert_eq!(&words[1], &Word(vec![text(quoted, true)]));
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        for open in ["(", "$(", "\"$(", "{ ", "while "] {
            assert!(parse(&open.repeat(40_000)).is_err());
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(parse("echo 'a"), Err(SyntaxError::Unclosed));
        assert_eq!(
            parse("a; ) b"),
            Err(SyntaxError::Unexpected(")".to_owned()))
        );
        for (line, sign) in [
            ("echo $((6*7))", "$(("),
            ("echo $!", "$!"),
            ("sleep 1 & echo", "&"),
            ("ls &>/sdcard/x", "&"),
            ("echo \"`id`\"", "`"),
            ("while true; do break; done", "break"),
        ] {
            assert_eq!(parse(line), Err(SyntaxError::Unexpected(sign.to_owned())));
        }
        assert_eq!(parse("fi"), Err(SyntaxError::Unexpected("fi".to_owned())));
        assert_eq!(
            parse("while true; do"),
            Err(SyntaxError::Unexpected("EOF".to_owned()))
        );
    }
}
