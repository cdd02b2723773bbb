//! Words and signs of a predicate.

/// A word or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A keyword or the path of an attribute; `#` before it makes it no keyword.
    Word {
        text: String,
        quoted: bool,
    },
    Text(String),
    Number(f64),
    Sign(&'static str),
}

/// The signs, longer ones before those they begin with.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<>", "<=", "=<", ">=", "=>", "=", "<", ">", "!", "(", ")", "{", "}",
    "[", "]", ",", "+", "-", "*", "/",
];

/// Cuts a text into tokens; what is wrong with it otherwise.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '\'' | '"' => quoted(rest, first)?,
            '0'..='9' => number(rest)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest)?,
            '#' => word(&rest[1..], true)?,
            _ if is_word(first) => word(rest, false)?,
            _ => sign(rest)?,
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn word(rest: &str, quoted: bool) -> Result<(Token, &str), String> {
    let inside = |c: char| is_word(c) || c.is_ascii_digit() || c == '.';
    let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
    let (text, after) = rest.split_at(end);
    if text.is_empty() || text.ends_with('.') {
        return Err(format!("a name was expected at '{rest}'"));
    }
    let text = text.to_owned();
    Ok((Token::Word { text, quoted }, after))
}

fn number(rest: &str) -> Result<(Token, &str), String> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let mut end = rest.find(|c| !digits(c)).unwrap_or(rest.len());
    if let Some(power) = rest[end..].strip_prefix(['e', 'E']) {
        let signless = power.trim_start_matches(['+', '-']);
        let more = signless
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(signless.len());
        if more > 0 {
            end = rest.len() - signless.len() + more;
        }
    }
    let (text, after) = rest.split_at(end);
    let number = text
        .parse()
        .map_err(|_| format!("'{text}' is not a number"))?;
    Ok((Token::Number(number), after))
}

fn sign(rest: &str) -> Result<(Token, &str), String> {
    SIGNS
        .into_iter()
        .find_map(|sign| Some((Token::Sign(sign), rest.strip_prefix(sign)?)))
        .ok_or_else(|| format!("nothing begins with '{rest}'"))
}

fn quoted(rest: &str, quote: char) -> Result<(Token, &str), String> {
    let mut text = String::new();
    let mut letters = rest[1..].char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => text.push(escaped(&mut letters).ok_or("a text ends in a backslash")?),
            _ if letter == quote => {
                let after = &rest[1 + at + letter.len_utf8()..];
                return Ok((Token::Text(text), after));
            }
            _ => text.push(letter),
        }
    }
    Err(format!("a text has no end: {rest}"))
}

fn escaped(letters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, letter) = letters.next()?;
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let hex: String = letters.by_ref().take(4).map(|(_, c)| c).collect();
            let code = u32::from_str_radix(&hex, 16).ok()?;
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        other => other,
    })
}
