//! `$((…))`: whole numbers, variables, and C's operators.

/// What an expression comes to; `None` when it is none.
pub fn evaluate(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> Option<i64> {
    let mut parser = Parser {
        rest: text.trim(),
        value_of,
        depth: 0,
    };
    let value = parser.binary(0)?;
    parser.rest.trim().is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    value_of: &'a dyn Fn(&str) -> Option<String>,
    depth: usize,
}

/// The operators, those that bind loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_> {
    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            self.rest = self.rest.trim_start();
            let found = operators.iter().find(|sign| self.is_operator(sign));
            let Some(sign) = found else {
                return Some(left);
            };
            self.rest = &self.rest[sign.len()..];
            let right = self.binary(level + 1)?;
            left = apply(sign, left, right)?;
        }
    }

    /// Whether this operator begins here and not a longer one.
    fn is_operator(&self, sign: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(sign) else {
            return false;
        };
        match sign {
            "|" | "&" => !after.starts_with(sign),
            "<" | ">" => !after.starts_with(['<', '>', '=']),
            _ => true,
        }
    }

    fn unary(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let first = self.rest.chars().next()?;
        let value = match first {
            '-' => {
                self.rest = &self.rest[1..];
                self.unary()?.checked_neg()
            }
            '+' => {
                self.rest = &self.rest[1..];
                self.unary()
            }
            '!' => {
                self.rest = &self.rest[1..];
                Some(i64::from(self.unary()? == 0))
            }
            '~' => {
                self.rest = &self.rest[1..];
                Some(!self.unary()?)
            }
            '(' => {
                self.rest = &self.rest[1..];
                let inner = self.binary(0)?;
                self.rest = self.rest.trim_start().strip_prefix(')')?;
                Some(inner)
            }
            _ => self.operand(),
        };
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Option<i64> {
        let end = (self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word);
        }
        if word.is_empty() {
            return None;
        }
        let value = (self.value_of)(word).unwrap_or_default();
        if value.is_empty() {
            Some(0)
        } else {
            number(value.trim())
        }
    }
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn apply(sign: &str, a: i64, b: i64) -> Option<i64> {
    Some(match sign {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
        ">>" => a.checked_shr(u32::try_from(b).ok()?)?,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Option<i64> {
        evaluate(text, &|name| (name == "x").then(|| "7".to_owned()))
    }

    #[test]
    fn operators_bind_as_in_c() {
        assert_eq!(value("1 + 2 * 3"), Some(7));
        assert_eq!(value("(1+2)*x"), Some(21));
        assert_eq!(value("10 % 4 == 2 && !0"), Some(1));
        assert_eq!(value("1 << 4 | 1"), Some(17));
        assert_eq!(value("-x + missing"), Some(-7));
        assert_eq!(value("1 / 0"), None);
        assert_eq!(value("1 +"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[-+*/%<>=!&|^~() x0-9]{0,40}") {
            let _ = value(&text);
        }
    }
}
