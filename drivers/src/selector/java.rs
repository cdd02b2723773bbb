//! Java's regular expressions in the words of the regex crate.
//!
//! Trails were recorded by a program that uses `java.util.regex`. This pass rewrites what the
//! two syntaxes spell differently, refuses what Java refuses, and says whether a pattern needs
//! a backtracking matcher. It knows nothing of dialects, nodes or matching.

mod class;
mod escape;

/// A pattern, rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Translated {
    /// The pattern in the regex crate's syntax, not anchored.
    pub regex: String,
    /// The text it stands for, when it has no operators at all.
    pub literal: Option<String>,
    /// Whether it has look-around, back-references, or atomic or possessive parts.
    pub backtracks: bool,
}

/// Rewrites a Java pattern; the error says in a few words why Java or we cannot read it.
pub(super) fn translate(pattern: &str) -> Result<Translated, String> {
    let mut translator = Translator::new(pattern);
    translator.run()?;
    let Translator {
        out,
        literal,
        plain,
        backtracks,
        ..
    } = translator;
    Ok(Translated {
        regex: out,
        literal: plain.then_some(literal),
        backtracks,
    })
}

/// What the next quantifier would apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing: a pattern, group or branch begins here.
    Nothing,
    /// A character, class or group.
    Atom,
    /// Something that has its quantifier already.
    Quantified,
    /// A quantifier with its `?` or `+` suffix.
    Finished,
}

struct Translator<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    out: String,
    literal: String,
    /// Whether only literal text was seen so far.
    plain: bool,
    backtracks: bool,
    open_groups: usize,
    /// Whether the pattern may end in a comment.
    comments: bool,
    last: Last,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p str) -> Self {
        Self {
            rest: pattern.chars().peekable(),
            out: String::with_capacity(pattern.len() + 8),
            literal: String::with_capacity(pattern.len()),
            plain: true,
            backtracks: false,
            open_groups: 0,
            comments: false,
            last: Last::Nothing,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '|' => self.operator(c, Last::Nothing),
                '^' | '$' | '.' => self.operator(c, Last::Atom),
                '*' | '+' | '?' => self.quantifier(c)?,
                '{' => self.counted()?,
                _ => self.text(c),
            }
        }
        if self.open_groups > 0 {
            return Err("a group is not closed".into());
        }
        if self.comments {
            self.out.push('\n');
        }
        Ok(())
    }

    /// A character that stands for itself.
    fn text(&mut self, c: char) {
        self.literal.push(c);
        push_literal(&mut self.out, c);
        self.last = Last::Atom;
    }

    /// Something that is not literal text, in the regex crate's words.
    fn operate(&mut self, regex: &str, last: Last) {
        self.plain = false;
        self.out.push_str(regex);
        self.last = last;
    }

    fn operator(&mut self, c: char, last: Last) {
        self.operate(c.encode_utf8(&mut [0; 4]), last);
    }

    fn quantifier(&mut self, c: char) -> Result<(), String> {
        self.last = match (self.last, c) {
            (Last::Atom, _) => Last::Quantified,
            (Last::Quantified, '?') => Last::Finished,
            (Last::Quantified, '+') => {
                self.backtracks = true;
                Last::Finished
            }
            _ => return Err(format!("`{c}` has nothing to repeat")),
        };
        self.plain = false;
        self.out.push(c);
        Ok(())
    }

    /// `{2}`, `{2,}` or `{2,5}`, with the opening brace already read.
    fn counted(&mut self) -> Result<(), String> {
        let mut count = String::from("{");
        loop {
            match self.rest.next() {
                Some(c) if c.is_ascii_digit() => count.push(c),
                Some(',') if count.len() > 1 && !count.contains(',') => count.push(','),
                Some('}') if count.len() > 1 => break,
                _ => return Err("`{` does not begin a count".into()),
            }
        }
        count.push('}');
        // Where there is nothing to repeat, Java repeats the empty text.
        let applies = self.last == Last::Atom;
        self.operate(if applies { &count } else { "" }, Last::Quantified);
        Ok(())
    }

    fn close_group(&mut self) -> Result<(), String> {
        self.open_groups = self
            .open_groups
            .checked_sub(1)
            .ok_or("`)` closes no group")?;
        self.operate(")", Last::Atom);
        Ok(())
    }

    /// A group, a look-around or inline flags, with the parenthesis already read.
    fn open_group(&mut self) -> Result<(), String> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.open_groups += 1;
            self.operate("(", Last::Nothing);
            return Ok(());
        }
        let opening = match self.rest.next() {
            Some(':') => "(?:",
            Some('=') => self.backtracking("(?="),
            Some('!') => self.backtracking("(?!"),
            Some('>') => self.backtracking("(?>"),
            Some('<') if self.rest.next_if_eq(&'=').is_some() => self.backtracking("(?<="),
            Some('<') if self.rest.next_if_eq(&'!').is_some() => self.backtracking("(?<!"),
            Some('<') => "(?<",
            Some(first) => return self.flags(first),
            None => return Err("`(?` is not finished".into()),
        };
        self.open_groups += 1;
        self.operate(opening, Last::Nothing);
        if opening == "(?<" {
            self.group_name()?;
        }
        Ok(())
    }

    fn backtracking(&mut self, opening: &'static str) -> &'static str {
        self.backtracks = true;
        opening
    }

    fn group_name(&mut self) -> Result<(), String> {
        for c in self.rest.by_ref() {
            match c {
                '>' => {
                    self.out.push('>');
                    return Ok(());
                }
                _ if c.is_ascii_alphanumeric() => self.out.push(c),
                _ => break,
            }
        }
        Err("a group's name is letters and digits".into())
    }

    /// `(?i)` or `(?i:`. The flags for Unicode and for line ends have no counterpart here and
    /// are dropped.
    fn flags(&mut self, first: char) -> Result<(), String> {
        let mut flags = String::new();
        let mut next = Some(first);
        loop {
            match next {
                Some(c @ ('i' | 'm' | 's' | 'x')) => flags.push(c),
                Some('d' | 'u' | 'U') => {}
                Some('-') if !flags.contains('-') => flags.push('-'),
                Some(end @ (')' | ':')) => {
                    self.finish_flags(flags.trim_end_matches('-'), end);
                    return Ok(());
                }
                Some(c) => return Err(format!("`{c}` is not a flag")),
                None => return Err("inline flags are not closed".into()),
            }
            next = self.rest.next();
        }
    }

    fn finish_flags(&mut self, flags: &str, end: char) {
        if end == ':' {
            self.open_groups += 1;
            self.operate(&format!("(?{flags}:"), Last::Nothing);
        } else if flags.is_empty() {
            self.operate("", Last::Nothing);
        } else {
            self.operate(&format!("(?{flags})"), Last::Nothing);
            if self.open_groups == 0 {
                let (on, _off) = flags.split_once('-').unwrap_or((flags, ""));
                self.comments |= on.contains('x');
            }
        }
    }
}

/// Appends a character that stands for itself, inside or outside a class, unless the pattern
/// ignores white space.
fn push_literal(out: &mut String, c: char) {
    match c {
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$'
        | '&' | '-' | '~' => {
            out.push('\\');
            out.push(c);
        }
        _ => out.push(c),
    }
}
