//! Numbers with segments, such as `17.4.1`.

/// A version; segments that are left out are 0, so 17 and 17.0 are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u64>);

impl Version {
    /// Reads digits and dots, and nothing else. Numbers that are too big are the biggest.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let segments = text.split('.').map(|segment| {
            let is_number = !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| segment.parse().unwrap_or(u64::MAX))
        });
        let mut segments = segments.collect::<Option<Vec<_>>>()?;
        while segments.last() == Some(&0) {
            segments.pop();
        }
        Some(Self(segments))
    }

    /// The digits of the first number in a text, with its segments: `17.4` of `iOS 17.4 (21E213)`.
    pub(super) fn find(text: &str) -> Option<&str> {
        let rest = &text[text.find(|c: char| c.is_ascii_digit())?..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let digits = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        Self::parse(digits).map(|_| digits)
    }
}
