//! What `[[ … ]]` means. Source: mksh(1).

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::android::commands::holds;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::Io;
use crate::android::shell::pattern;
use crate::android::shell::run::Flow;
use crate::android::shell::syntax::{ConditionPart, Word};

/// The deepest brackets in a condition.
const MAX_DEPTH: u32 = 48;

/// Whether it holds, or that it is no condition.
type ConditionResult = Result<Option<bool>, Flow>;

struct Reader<'a> {
    parts: &'a [ConditionPart],
    io: &'a Io,
    depth: u32,
}

impl Shell {
    /// The exit code of `[[ parts ]]`: 0, 1, or 2 for what is no condition.
    pub(super) async fn run_condition(
        &mut self,
        parts: &[ConditionPart],
        io: &Io,
    ) -> Result<i32, Flow> {
        let depth = 0;
        let mut reader = Reader { parts, io, depth };
        match reader.or(self).await? {
            Some(held) if reader.parts.is_empty() => Ok(i32::from(!held)),
            _ => {
                self.complain(io, "[[: syntax error").await?;
                Ok(2)
            }
        }
    }
}

impl<'a> Reader<'a> {
    fn eat(&mut self, sign: &str) -> bool {
        match self.parts.split_first() {
            Some((ConditionPart::Sign(next), rest)) if *next == sign => {
                self.parts = rest;
                true
            }
            _ => false,
        }
    }

    fn word(&mut self) -> Option<&'a Word> {
        match self.parts.split_first() {
            Some((ConditionPart::Word(word), rest)) => {
                self.parts = rest;
                Some(word)
            }
            _ => None,
        }
    }

    fn or<'b>(&'b mut self, shell: &'b mut Shell) -> BoxFuture<'b, ConditionResult> {
        async move {
            let mut held = self.and(shell).await?;
            while held.is_some() && self.eat("||") {
                let right = self.and(shell).await?;
                held = held.zip(right).map(|(a, b)| a || b);
            }
            Ok(held)
        }
        .boxed()
    }

    async fn and(&mut self, shell: &mut Shell) -> ConditionResult {
        let mut held = self.not(shell).await?;
        while held.is_some() && self.eat("&&") {
            let right = self.not(shell).await?;
            held = held.zip(right).map(|(a, b)| a && b);
        }
        Ok(held)
    }

    async fn not(&mut self, shell: &mut Shell) -> ConditionResult {
        let mut negated = false;
        while let [ConditionPart::Word(word), _, ..] = self.parts
            && word.plain() == Some("!")
        {
            self.parts = &self.parts[1..];
            negated = !negated;
        }
        let held = self.primary(shell).await?;
        Ok(held.map(|held| held != negated))
    }

    async fn primary(&mut self, shell: &mut Shell) -> ConditionResult {
        if self.eat("(") {
            if self.depth >= MAX_DEPTH {
                return Ok(None);
            }
            self.depth += 1;
            let held = self.or(shell).await?;
            self.depth -= 1;
            return Ok(held.filter(|_| self.eat(")")));
        }
        let Some(left) = self.word() else {
            return Ok(None);
        };
        let first = shell.text_of(left, self.io).await?;
        for sign in ["<", ">"] {
            if self.eat(sign) {
                let Some(right) = self.word() else {
                    return Ok(None);
                };
                let right = shell.text_of(right, self.io).await?;
                return Ok(Some(if sign == "<" {
                    first < right
                } else {
                    first > right
                }));
            }
        }
        let Some(second) = self.word() else {
            return Ok(Some(!first.is_empty()));
        };
        // `-f FILE` and its like, where no operator follows.
        if left.plain().is_some_and(|word| word.starts_with('-')) {
            let operand = shell.text_of(second, self.io).await?;
            return Ok(holds(shell, &[first, operand]).ok());
        }
        let Some(operator) = second.plain() else {
            return Ok(None);
        };
        let Some(right) = self.word() else {
            return Ok(None);
        };
        if matches!(operator, "=" | "==" | "!=") {
            let right = shell.pattern_of(right, self.io).await?;
            return Ok(Some(pattern::matches(&right, &first) == (operator != "!=")));
        }
        let right = shell.text_of(right, self.io).await?;
        Ok(holds(shell, &[first, operator.to_owned(), right]).ok())
    }
}
