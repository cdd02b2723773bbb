//! Numbers with segments, such as `17.4.1`.

/// A version; segments that are left out are 0, so 17 and 17.0 are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u64>);

impl Version {
    /// Without the last segments that are 0.
    fn new(mut segments: Vec<u64>) -> Self {
        while segments.last() == Some(&0) {
            segments.pop();
        }
        Self(segments)
    }

    /// Reads digits and dots, and nothing else. Numbers that are too big are the biggest.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.split('.')
            .map(|segment| {
                let is_number = !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit());
                is_number.then(|| segment.parse().unwrap_or(u64::MAX))
            })
            .collect::<Option<_>>()
            .map(Self::new)
    }

    /// The first number in a text, with its segments: `17.4` of `iOS 17.4 (21E213)`.
    pub(super) fn find(text: &str) -> Option<(Self, &str)> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let rest = &text[start..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let digits = rest[..end].trim_end_matches('.');
        Self::parse(digits).map(|version| (version, digits))
    }
}

impl From<u32> for Version {
    fn from(number: u32) -> Self {
        Self::new(vec![number.into()])
    }
}
