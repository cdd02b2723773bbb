//! One line of the journal: an event as JSON and back.

use packtrain_model::Entry;

/// An entry as one line, newline included.
pub(crate) fn encode(entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(entry)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// An entry from one line, with or without its newline.
pub(crate) fn decode(line: &[u8]) -> serde_json::Result<Entry> {
    serde_json::from_slice(line)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::sample;

    #[test]
    fn every_kind_of_event_comes_back_from_its_line_as_it_was() {
        for entry in sample::entries() {
            let line = encode(&entry).unwrap();
            assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
            assert_eq!(decode(&line).unwrap(), entry);
        }
    }

    #[test]
    fn no_key_occurs_twice_in_a_line() {
        for entry in sample::entries() {
            let line = String::from_utf8(encode(&entry).unwrap()).unwrap();
            let mut keys = sample::top_level_keys(&line);
            let all = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all, "{line}");
        }
    }
}
