//! Character classes: `[a-z]`, unions `[a[bc]]`, intersections `[a-z&&[^x]]`.

use super::escape::{Escape, push_in_class};
use super::{Last, Translator};

impl Translator<'_> {
    /// A class, with the opening bracket already read.
    pub(super) fn class(&mut self) -> Result<(), String> {
        self.operate("[", Last::Nothing);
        let mut depth = 1_usize;
        let mut first = self.negation();
        while let Some(c) = self.rest.next() {
            match c {
                ']' if first => self.out.push_str(r"\]"),
                ']' => {
                    self.out.push(']');
                    depth -= 1;
                    if depth == 0 {
                        self.last = Last::Atom;
                        return Ok(());
                    }
                }
                '[' => {
                    self.out.push('[');
                    depth += 1;
                    first = self.negation();
                    continue;
                }
                '\\' => self.escape_in_class()?,
                '&' if self.rest.next_if_eq(&'&').is_some() => self.out.push_str("&&"),
                // Ranges and negation read the same in both; the rest has no meaning in Java.
                '-' | '^' => self.out.push(c),
                _ => push_in_class(&mut self.out, c),
            }
            first = false;
        }
        Err("a class is not closed".into())
    }

    /// Copies the `^` after an opening bracket; what follows is the class's first member.
    fn negation(&mut self) -> bool {
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        true
    }

    fn escape_in_class(&mut self) -> Result<(), String> {
        match self.read_escape()? {
            Escape::Character(c) => push_in_class(&mut self.out, c),
            Escape::Class(class) => self.out.push_str(&class),
            Escape::Quote(text) => {
                for c in text.chars() {
                    push_in_class(&mut self.out, c);
                }
            }
            Escape::Nothing => {}
            Escape::Anchor(_) | Escape::Reference(_) | Escape::LineEnd => {
                return Err("a class holds characters only".into());
            }
        }
        Ok(())
    }
}
