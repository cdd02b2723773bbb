//! `[[ … ]]`, whose words are neither split nor taken for file names.

use crate::android::shell::parse::{Parsed, Parser};
use crate::android::shell::syntax::{ConditionPart, Kind};

impl Parser {
    /// Whether `[[` stands here as a word of its own.
    pub(super) fn begins_condition(&self) -> bool {
        self.peek() == Some('[')
            && self.peek_at(1) == Some('[')
            && self.peek_at(2).is_none_or(char::is_whitespace)
    }

    /// Takes everything up to `]]`.
    pub(super) fn condition(&mut self) -> Parsed<Kind> {
        self.at += 2;
        let mut parts = Vec::new();
        loop {
            self.newlines()?;
            let sign = ["&&", "||", "(", ")", "<", ">"]
                .into_iter()
                .find(|sign| self.eat(sign));
            if let Some(sign) = sign {
                parts.push(ConditionPart::Sign(sign));
                continue;
            }
            let word = self.word()?.ok_or_else(|| self.unexpected())?;
            if word.plain() == Some("]]") {
                return Ok(Kind::Condition(parts));
            }
            parts.push(ConditionPart::Word(word));
        }
    }
}
