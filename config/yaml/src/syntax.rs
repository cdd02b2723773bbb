//! What the parser found wrong, in words for people.

use granit_parser::ErrorKind;

/// Message, label, hint.
pub(super) struct Words {
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

/// Words for the parser's complaint; the mistakes people make get a hint.
pub(super) fn words(kind: &ErrorKind) -> Words {
    let hint = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => Some("indent with spaces; YAML allows no tabs there"),
        ErrorKind::MappingValueNotAllowed => Some("text with `: ` in it needs quotes around it"),
        ErrorKind::UnexpectedCharacter { .. } => {
            Some("text that begins with this character needs quotes around it")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            Some("inside single quotes write '' for a quote")
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            Some("inside double quotes write \\\" for a quote, or quote the whole text")
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            Some("inside double quotes write \\\\ for a backslash, or use single quotes")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            Some("is a `:` missing after the key?")
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::InvalidBlockScalarIndent => {
            Some("does the line begin in the same column as its siblings?")
        }
        ErrorKind::BlockSequenceEntryNotAllowed => Some("put the `-` on a line of its own"),
        ErrorKind::RecursionLimitExceeded => Some("no file needs to be nested this deep"),
        _ => None,
    };
    let message = match kind {
        ErrorKind::MappingValueNotAllowed => "unexpected `:`".to_owned(),
        ErrorKind::ExpectedBlockMappingKey => "expected a key here".to_owned(),
        ErrorKind::ExpectedBlockSequenceEntry => "expected a `-` here".to_owned(),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "expected a `:` after the key".to_owned()
        }
        ErrorKind::RecursionLimitExceeded => "nested too deep".to_owned(),
        other => other.to_string(),
    };
    Words { message, hint }
}

/// Whether the complaint is about quotes that were opened and not closed; the parser notices far
/// from where they were opened.
pub(super) const fn is_open_quote(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnclosedQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::DocumentIndicatorInQuotedScalar
    )
}
