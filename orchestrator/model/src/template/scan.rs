//! Where the templates are in a text.

/// Longer than this, something between braces is not a name.
const LONGEST_BODY: usize = 200;

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Text that stays.
    Text(&'t str),
    /// Something that may be filled in.
    Token(Token<'t>),
}

/// `{{body}}` or `${body}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    /// As written, with the braces.
    pub(super) raw: &'t str,
    /// What is between the braces, without the blanks around it; never empty.
    pub(super) body: &'t str,
    /// Which braces.
    pub(super) spelling: Spelling,
}

/// The two ways to write a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `{{x}}`.
    Braces,
    /// `${x}`.
    Dollar,
}

impl<'t> Piece<'t> {
    /// As written.
    pub(super) const fn raw(&self) -> &'t str {
        match self {
            Self::Text(text) => text,
            Self::Token(token) => token.raw,
        }
    }
}

/// The text in pieces; put together they are the text again.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, width) = match next_token(rest) {
            Some((0, token)) => (Piece::Token(token), token.raw.len()),
            Some((start, _)) => (Piece::Text(&rest[..start]), start),
            None => (Piece::Text(rest), rest.len()),
        };
        rest = &rest[width..];
        Some(piece)
    })
}

/// The token that makes up all of the text.
pub(super) fn whole(text: &str) -> Option<Token<'_>> {
    match next_token(text) {
        Some((0, token)) if token.raw.len() == text.len() => Some(token),
        Some(_) | None => None,
    }
}

fn next_token(text: &str) -> Option<(usize, Token<'_>)> {
    text.match_indices(['{', '$'])
        .find_map(|(start, _)| Some((start, token_at(&text[start..])?)))
}

fn token_at(text: &str) -> Option<Token<'_>> {
    let (spelling, inner, closing) = if let Some(inner) = text.strip_prefix("{{") {
        (Spelling::Braces, inner, "}}")
    } else {
        (Spelling::Dollar, text.strip_prefix("${")?, "}")
    };
    let end = inner.find(['{', '}', '\n', '\r'])?;
    let body = inner[..end].trim();
    if body.is_empty() || body.len() > LONGEST_BODY || !inner[end..].starts_with(closing) {
        return None;
    }
    Some(Token {
        raw: &text[..2 + end + closing.len()],
        body,
        spelling,
    })
}

/// `name.field.field` in its first part and the rest; `None` when a part is not a name.
pub(super) fn dotted(path: &str) -> Option<(&str, &str)> {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    path.split('.')
        .all(is_name)
        .then(|| path.split_once('.').unwrap_or((path, "")))
}
