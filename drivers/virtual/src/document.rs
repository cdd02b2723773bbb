//! Reading the YAML files of this crate: values that remember where they were written, and one
//! error that shows file, line, column, the source line and a caret.
//!
//! Knows nothing of what the files mean.

mod tree;
mod typed;

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};

pub(crate) use typed::ANY;

/// The longest file that is read, in bytes.
const MAX_FILE: usize = 4 * 1024 * 1024;

/// A place in a file, both counted from 1; 0 when unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub place: SourcePosition,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(typed::AT, AtVisitor(PhantomData))
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(typed::AT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<At<T>, A::Error> {
        let place = map.next_key()?.ok_or_else(|| A::Error::custom(typed::AT))?;
        let value = map.next_value()?;
        Ok(At { value, place })
    }
}

impl<'de> Deserialize<'de> for SourcePosition {
    /// As the line times 2^32 and the column.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let packed = u64::deserialize(deserializer)?;
        let [line, column] = [packed >> 32, packed & u64::from(u32::MAX)];
        let half = |half: u64| u32::try_from(half).unwrap_or_default();
        Ok(Self {
            line: half(line),
            column: half(column),
        })
    }
}

/// What is wrong with a file, and where. `Display` is the whole picture with the caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentError {
    /// The name the caller gave the text, usually its path.
    pub source_name: String,
    /// Where; line 0 when the file as a whole is meant.
    pub place: SourcePosition,
    /// What is wrong, in lower case, without a full stop.
    pub message: String,
    /// What may help, when there is something.
    pub hint: Option<String>,
    /// The line that is wrong, as it stands in the file.
    pub source_line: String,
}

impl std::error::Error for DocumentError {}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourcePosition { line, column } = self.place;
        if line == 0 {
            write!(f, "{}: {}", self.source_name, self.message)?;
        } else {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            let before = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
            // A tab in the source must stay a tab in front of the caret, or it points elsewhere.
            let indent: String = (self.source_line.chars().chain(std::iter::repeat(' ')))
                .take(before.min(4096))
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            writeln!(f, "{}:{line}:{column}: {}", self.source_name, self.message)?;
            writeln!(f, "{margin} |")?;
            writeln!(f, "{number} | {}", self.source_line)?;
            write!(f, "{margin} | {indent}^")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// A text with the name it goes by, from which errors are made.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

impl Source<'_> {
    /// Reads every YAML document of the text.
    ///
    /// # Errors
    /// The first thing that is not well formed or not of the expected shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, DocumentError> {
        if self.text.len() > MAX_FILE {
            return Err(self.error(
                SourcePosition::default(),
                "the file is larger than 4 MiB",
                None,
            ));
        }
        let documents =
            tree::read(self.text).map_err(|(place, message)| self.error(place, message, None))?;
        let typed = documents.iter().map(|document| {
            T::deserialize(document).map_err(|mistake| {
                let place = mistake.place.unwrap_or(document.place);
                self.error(place, mistake.message, mistake.hint)
            })
        });
        typed.collect()
    }

    /// An error at `place`.
    pub fn error(
        &self,
        place: SourcePosition,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> DocumentError {
        let index = usize::try_from(place.line).unwrap_or(0).wrapping_sub(1);
        DocumentError {
            source_name: self.name.to_owned(),
            place,
            message: message.into(),
            hint,
            source_line: self.text.lines().nth(index).unwrap_or("").to_owned(),
        }
    }
}

/// "did you mean" for a name that is not among `known`.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let (score, best) = (known.into_iter())
        .map(|k| (strsim::jaro_winkler(name, k), k))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 0.75).then(|| format!("did you mean `{best}`?"))
}
