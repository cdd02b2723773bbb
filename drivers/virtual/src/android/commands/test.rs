//! `test` and `[`.

use crate::android::files::{DEVICE, FinalLink, LINK, Meta, REGULAR, TYPE_BITS};
use crate::android::lock;
use crate::android::shell::Shell;

/// Whether the expression holds.
///
/// # Errors
/// What is wrong with it.
pub(in crate::android) fn holds(shell: &Shell, args: &[String]) -> Result<bool, String> {
    let mut expression = Expression { shell, args };
    if args.is_empty() {
        return Ok(false);
    }
    let result = expression.or()?;
    match expression.args.first() {
        None => Ok(result),
        Some(extra) => Err(format!("{extra}: unexpected operator/operand")),
    }
}

struct Expression<'a> {
    shell: &'a Shell,
    args: &'a [String],
}

impl<'a> Expression<'a> {
    fn next_is(&mut self, word: &str) -> bool {
        match self.args.split_first() {
            Some((first, rest)) if first == word => {
                self.args = rest;
                true
            }
            _ => false,
        }
    }

    fn take(&mut self) -> Result<&'a str, String> {
        let (first, rest) = self.args.split_first().ok_or("expression expected")?;
        self.args = rest;
        Ok(first)
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut result = self.and()?;
        while self.next_is("-o") {
            result |= self.and()?;
        }
        Ok(result)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut result = self.not()?;
        while self.next_is("-a") {
            result &= self.not()?;
        }
        Ok(result)
    }

    fn not(&mut self) -> Result<bool, String> {
        // A lone `!` is a text that is not empty.
        let mut negated = false;
        while self.args.len() > 1 && self.next_is("!") {
            negated = !negated;
        }
        Ok(self.primary()? != negated)
    }

    fn primary(&mut self) -> Result<bool, String> {
        if let [left, operator, right, ..] = self.args
            && let Some(result) = binary(left, operator, right)
        {
            self.args = &self.args[3..];
            return result;
        }
        let first = self.take()?;
        if first == "(" && !self.args.is_empty() {
            let inner = self.or()?;
            return if self.next_is(")") {
                Ok(inner)
            } else {
                Err("missing )".to_owned())
            };
        }
        let mut letters = first.chars();
        let (Some('-'), Some(letter), None) = (letters.next(), letters.next(), letters.next())
        else {
            return Ok(!first.is_empty());
        };
        if self.args.is_empty() {
            return Ok(true);
        }
        let operand = self.take()?;
        Ok(match letter {
            'n' => !operand.is_empty(),
            'z' => operand.is_empty(),
            't' => false,
            _ => self.file(letter, operand),
        })
    }

    fn file(&self, letter: char, path: &str) -> bool {
        let files = lock(&self.shell.android.files);
        let last = if matches!(letter, 'h' | 'L') {
            FinalLink::Keep
        } else {
            FinalLink::Follow
        };
        let Ok(real) = files.resolve(&self.shell.cwd, path, last) else {
            return false;
        };
        let Some(meta) = files.meta(&real) else {
            return false;
        };
        let kind = meta.mode & TYPE_BITS;
        match letter {
            'e' | 'r' => true,
            'f' => kind == REGULAR,
            'd' => meta.is_dir(),
            'h' | 'L' => kind == LINK,
            'c' => kind == DEVICE,
            's' => meta.size > 0 || has_content(&meta),
            'w' => files.may_write(&real, &self.shell.who).is_ok(),
            'x' => meta.mode & 0o111 != 0,
            _ => false,
        }
    }
}

/// A directory, or a file the device makes up when it is read.
const fn has_content(meta: &Meta) -> bool {
    meta.is_dir()
}

fn binary(left: &str, operator: &str, right: &str) -> Option<Result<bool, String>> {
    let texts = match operator {
        "=" | "==" => Some(left == right),
        "!=" => Some(left != right),
        "<" => Some(left < right),
        ">" => Some(left > right),
        _ => None,
    };
    if let Some(result) = texts {
        return Some(Ok(result));
    }
    type Compare = fn(&i64, &i64) -> bool;
    let compare: Compare = match operator {
        "-eq" => i64::eq,
        "-ne" => i64::ne,
        "-lt" => i64::lt,
        "-le" => i64::le,
        "-gt" => i64::gt,
        "-ge" => i64::ge,
        _ => return None,
    };
    let number = |text: &str| match text.trim() {
        "" => Ok(0),
        trimmed => trimmed
            .parse::<i64>()
            .map_err(|_| format!("{text}: bad number")),
    };
    Some(number(left).and_then(|a| Ok(compare(&a, &number(right)?))))
}
