//! Arithmetic for `assertMath`: numbers, `+ - * / % ^`, parentheses and a few functions. Pure.

/// Nesting accepted; deeper is not arithmetic but an attack on the stack.
const DEPTH: u32 = 64;

/// The value of an expression.
///
/// # Errors
/// A sentence that says what is wrong and where.
pub(crate) fn evaluate(text: &str) -> Result<f64, String> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(c) => Err(format!("unexpected `{c}` at position {}", reader.at + 1)),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let c = self.peek().filter(|c| wanted.contains(c))?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            value = if sign == '+' {
                value + next
            } else {
                value - next
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        while let Some(sign) = self.take(&['*', '/', '%', '×', '÷']) {
            let next = self.signed()?;
            value = match sign {
                '*' | '×' => value * next,
                _ if next == 0.0 => return Err("division by zero".to_owned()),
                '%' => value % next,
                _ => value / next,
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("nested deeper than {DEPTH}"));
        }
        let value = match self.take(&['+', '-']) {
            Some('-') => self.signed().map(|value| -value),
            Some(_) => self.signed(),
            None => self.power(),
        };
        self.depth -= 1;
        value
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        match self.take(&['^']) {
            Some(_) => Ok(base.powf(self.signed()?)),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return match self.take(&[')']) {
                Some(_) => Ok(value),
                None => Err("a `)` is missing".to_owned()),
            };
        }
        let Some(first) = self.peek() else {
            return Err("expected a number at the end of the expression".to_owned());
        };
        let rest = &self.text[self.at..];
        if first.is_ascii_digit() || first == '.' {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            self.at += end;
            let number = &rest[..end];
            return number
                .parse()
                .map_err(|_| format!("`{number}` is not a number"));
        }
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        self.at += end;
        match name {
            "" => Err(format!("unexpected `{first}` at position {}", self.at + 1)),
            "pi" => Ok(std::f64::consts::PI),
            "abs" | "sqrt" | "floor" | "ceil" | "round" => {
                if self.peek() != Some('(') {
                    return Err(format!("`{name}` needs parentheses"));
                }
                let value = self.atom()?;
                Ok(match name {
                    "abs" => value.abs(),
                    "sqrt" => value.sqrt(),
                    "floor" => value.floor(),
                    "ceil" => value.ceil(),
                    _ => value.round(),
                })
            }
            _ => Err(format!("`{name}` is neither a number nor a function")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn arithmetic_follows_school_rules() {
        for (text, value) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("10 % 4 / 2", 1.0),
            ("sqrt(16) - abs(-1.5)", 2.5),
            ("1999 ÷ 100", 19.99),
        ] {
            assert!((evaluate(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn what_is_no_arithmetic_is_said_to_be_none() {
        for text in [
            "",
            "1 +",
            "1 2",
            "(1",
            "1 / 0",
            "x + 1",
            "sqrt 4",
            "1..2",
            "é",
            &"(".repeat(999),
        ] {
            assert!(evaluate(text).is_err(), "{text}");
        }
    }
}
