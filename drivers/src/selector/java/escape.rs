//! Backslash sequences.

use super::{Last, Translator, push_literal};

/// What a backslash sequence stands for.
pub(super) enum Escape {
    /// One character.
    Character(char),
    /// A class, usable inside another class.
    Class(String),
    /// A place, not a character.
    Anchor(&'static str),
    /// A back-reference.
    Reference(String),
    /// `\R`, a line end of any kind.
    LineEnd,
    /// `\Q`, text up to `\E` or the end.
    Quote(String),
    /// `\E` without `\Q`, which Java ignores.
    Nothing,
}

const HORIZONTAL: &str = r"\t\x{20}\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";
const VERTICAL: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";

impl Translator<'_> {
    /// A backslash sequence outside a class, with the backslash already read.
    pub(super) fn escape(&mut self) -> Result<(), String> {
        match self.read_escape()? {
            Escape::Character(c) => self.quoted(c),
            Escape::Class(class) => self.operate(&class, Last::Atom),
            Escape::Anchor(anchor) => self.operate(anchor, Last::Atom),
            Escape::LineEnd => {
                self.operate(&format!(r"(?:\r\n|[{VERTICAL}])"), Last::Atom);
            }
            Escape::Reference(reference) => {
                self.backtracks = true;
                self.operate(&reference, Last::Atom);
            }
            Escape::Quote(text) => text.chars().for_each(|c| self.quoted(c)),
            Escape::Nothing => {}
        }
        Ok(())
    }

    /// A character that stands for itself even where white space is ignored.
    pub(super) fn quoted(&mut self, c: char) {
        if c.is_whitespace() || c == '#' {
            self.literal.push(c);
            self.out.push_str(&code_point(c));
            self.last = Last::Atom;
        } else {
            self.text(c);
        }
    }

    pub(super) fn read_escape(&mut self) -> Result<Escape, String> {
        let Some(c) = self.rest.next() else {
            return Err("a backslash ends the pattern".into());
        };
        Ok(match c {
            'Q' => Escape::Quote(self.read_quote()),
            'E' => Escape::Nothing,
            't' => Escape::Character('\t'),
            'n' => Escape::Character('\n'),
            'r' => Escape::Character('\r'),
            'f' => Escape::Character('\u{c}'),
            'a' => Escape::Character('\u{7}'),
            'e' => Escape::Character('\u{1b}'),
            'c' => Escape::Character(self.control()?),
            '0' => Escape::Character(self.octal()?),
            'x' => Escape::Character(self.hexadecimal()?),
            'u' => Escape::Character(self.utf16()?),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Escape::Class(format!("\\{c}")),
            'h' => Escape::Class(format!("[{HORIZONTAL}]")),
            'H' => Escape::Class(format!("[^{HORIZONTAL}]")),
            'v' => Escape::Class(format!("[{VERTICAL}]")),
            'V' => Escape::Class(format!("[^{VERTICAL}]")),
            'p' | 'P' => Escape::Class(self.property(c)?),
            'R' => Escape::LineEnd,
            'b' if self.rest.peek() == Some(&'{') => {
                return Err(r"`\b{` is not supported".into());
            }
            'b' => Escape::Anchor(r"\b"),
            'B' => Escape::Anchor(r"\B"),
            // The whole text is matched at once, so a match begins where the text does.
            'A' | 'G' => Escape::Anchor(r"\A"),
            'z' | 'Z' => Escape::Anchor(r"\z"),
            'k' => Escape::Reference(self.named_reference()?),
            '1'..='9' => Escape::Reference(format!("\\{c}")),
            _ if c.is_ascii_alphabetic() => return Err(format!("`\\{c}` is not supported")),
            _ => Escape::Character(c),
        })
    }

    fn read_quote(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                break;
            }
            text.push(c);
        }
        text
    }

    fn control(&mut self) -> Result<char, String> {
        let c = self.rest.next().filter(char::is_ascii);
        let code = c.and_then(|c| u8::try_from(c).ok());
        code.map(|code| char::from(code ^ 64))
            .ok_or_else(|| r"`\c` needs an ASCII character".into())
    }

    /// `\0` with one to three octal digits, at most `\0377`.
    fn octal(&mut self) -> Result<char, String> {
        let mut code = self
            .digit(8)
            .ok_or_else(|| String::from(r"`\0` needs octal digits"))?;
        for _ in 0..2 {
            if code > 0o37 {
                break;
            }
            match self.digit(8) {
                Some(digit) => code = code * 8 + digit,
                None => break,
            }
        }
        character(code)
    }

    /// `\x41` or `\x{1F600}`.
    fn hexadecimal(&mut self) -> Result<char, String> {
        if self.rest.next_if_eq(&'{').is_none() {
            return character(self.hex_digits(2)?);
        }
        let mut code: u32 = 0;
        while let Some(digit) = self.digit(16) {
            code = code.saturating_mul(16).saturating_add(digit);
        }
        match self.rest.next() {
            Some('}') => character(code),
            _ => Err(r"`\x{` is not closed".into()),
        }
    }

    /// `\u0041`; two in a row may form one character, as in Java's strings.
    fn utf16(&mut self) -> Result<char, String> {
        let high = self.hex_digits(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return character(high);
        }
        let follows = self.rest.next_if_eq(&'\\').is_some() && self.rest.next_if_eq(&'u').is_some();
        let low = if follows { self.hex_digits(4)? } else { 0 };
        if !(0xDC00..0xE000).contains(&low) {
            return Err(r"`\u` with half a character".into());
        }
        character(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    }

    fn hex_digits(&mut self, count: usize) -> Result<u32, String> {
        (0..count).try_fold(0, |code, _| {
            self.digit(16)
                .map(|digit| code * 16 + digit)
                .ok_or_else(|| format!("expected {count} hexadecimal digits"))
        })
    }

    fn digit(&mut self, radix: u32) -> Option<u32> {
        self.rest.next_if(|c| c.is_digit(radix))?.to_digit(radix)
    }

    fn named_reference(&mut self) -> Result<String, String> {
        let mut name = String::new();
        if self.rest.next_if_eq(&'<').is_some() {
            while let Some(c) = self.rest.next_if(char::is_ascii_alphanumeric) {
                name.push(c);
            }
            if !name.is_empty() && self.rest.next_if_eq(&'>').is_some() {
                return Ok(format!("\\k<{name}>"));
            }
        }
        Err(r"`\k` needs a group's name".into())
    }

    /// `\p{Lu}`, `\pL`, `\p{IsLatin}`, `\p{Alpha}`. Java's POSIX names mean ASCII.
    fn property(&mut self, p: char) -> Result<String, String> {
        let mut name = String::new();
        match self.rest.next() {
            Some('{') => loop {
                match self.rest.next() {
                    Some('}') => break,
                    Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '=' | ' ' | '-') => {
                        name.push(c);
                    }
                    _ => return Err(format!("`\\{p}{{` is not closed")),
                }
            },
            Some(c) if c.is_ascii_alphabetic() => name.push(c),
            _ => return Err(format!("`\\{p}` needs a name")),
        }
        if let Some(posix) = posix(&name) {
            let not = if p == 'P' { "^" } else { "" };
            return Ok(format!("[[:{not}{posix}:]]"));
        }
        let bare = name.strip_prefix("Is").unwrap_or(&name);
        Ok(format!("\\{p}{{{bare}}}"))
    }
}

fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "Lower" => "lower",
        "Upper" => "upper",
        "ASCII" => "ascii",
        "Alpha" => "alpha",
        "Digit" => "digit",
        "Alnum" => "alnum",
        "Punct" => "punct",
        "Graph" => "graph",
        "Print" => "print",
        "Blank" => "blank",
        "Cntrl" => "cntrl",
        "XDigit" => "xdigit",
        "Space" => "space",
        _ => return None,
    })
}

fn character(code: u32) -> Result<char, String> {
    char::from_u32(code).ok_or_else(|| format!("{code:X} is not a character's number"))
}

/// A character by its number, which is the same everywhere in a pattern.
fn code_point(c: char) -> String {
    format!("\\x{{{:X}}}", u32::from(c))
}

/// Appends an escaped character inside a class.
pub(super) fn push_in_class(out: &mut String, c: char) {
    if c.is_whitespace() || c == '#' {
        out.push_str(&code_point(c));
    } else {
        push_literal(out, c);
    }
}
