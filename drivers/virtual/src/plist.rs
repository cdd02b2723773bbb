//! Property lists as usbmuxd, lockdownd and the services behind it exchange them: XML out, XML or
//! binary in.
//!
//! A client's list is hostile. The parser keeps no limits of its own and a binary list can name
//! one object many times over, so depth, number of values and bytes are counted while reading.

use std::io::Cursor;

use plist::stream::{BinaryReader, Event, XmlReader};
pub use plist::{Dictionary, Value};

/// How deep containers may nest; a request nests two or three.
const MAX_DEPTH: usize = 32;
/// How many values one list may hold once references are followed.
const MAX_VALUES: usize = 16 * 1024;
/// How many bytes of text and data one list may hold once references are followed.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Why bytes are not an acceptable property list.
#[derive(Debug, thiserror::Error)]
pub enum PlistError {
    /// The bytes are not a property list.
    #[error("not a property list: {0}")]
    Malformed(#[from] plist::Error),
    /// It is a property list, but not a dictionary.
    #[error("a dictionary was expected")]
    NotADictionary,
    /// Containers nest deeper than any client nests them.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Read out, it holds more than any client sends.
    #[error("holds more than {MAX_VALUES} values or {MAX_BYTES} bytes")]
    TooLarge,
}

/// Reads a dictionary, XML or binary.
///
/// # Errors
/// When the bytes are no dictionary or exceed what a client may send.
pub fn read_dictionary(bytes: &[u8]) -> Result<Dictionary, PlistError> {
    let cursor = Cursor::new(bytes);
    let value = if bytes.starts_with(b"bplist00") {
        build(BinaryReader::new(cursor))
    } else {
        build(XmlReader::new(cursor))
    }?;
    value.into_dictionary().ok_or(PlistError::NotADictionary)
}

/// Writes a dictionary as XML.
pub fn write_xml(dictionary: Dictionary) -> Vec<u8> {
    let mut out = Vec::new();
    Value::Dictionary(dictionary)
        .to_writer_xml(&mut out)
        .expect(
            "writing to memory cannot fail, and we put no value into lists that XML cannot hold",
        );
    out
}

/// Builds a dictionary from its entries, in their order.
pub fn dictionary<const N: usize>(entries: [(&str, Value); N]) -> Dictionary {
    entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The text under `key`, when it is a text.
pub fn text<'a>(dictionary: &'a Dictionary, key: &str) -> Option<&'a str> {
    dictionary.get(key).and_then(Value::as_string)
}

fn build(
    events: impl Iterator<Item = Result<Event<'static>, plist::Error>>,
) -> Result<Value, PlistError> {
    let mut limits = Limits::default();
    let mut exceeded = None;
    let counted = events.map_while(|event| match &event {
        Ok(known) => match limits.admit(known) {
            Ok(()) => Some(event),
            Err(error) => {
                exceeded = Some(error);
                None
            }
        },
        Err(_) => Some(event),
    });
    let built = Value::from_events(counted);
    match exceeded {
        Some(error) => Err(error),
        None => Ok(built?),
    }
}

#[derive(Default)]
struct Limits {
    depth: usize,
    values: usize,
    bytes: usize,
}

impl Limits {
    fn admit(&mut self, event: &Event<'_>) -> Result<(), PlistError> {
        match event {
            Event::StartArray(_) | Event::StartDictionary(_) => self.depth += 1,
            Event::EndCollection => self.depth = self.depth.saturating_sub(1),
            Event::String(text) => self.bytes += text.len(),
            Event::Data(data) => self.bytes += data.len(),
            // The crate may learn new kinds of values; they count as one value like the others.
            _ => {}
        }
        self.values += 1;
        if self.depth > MAX_DEPTH {
            return Err(PlistError::TooDeep);
        }
        if self.values > MAX_VALUES || self.bytes > MAX_BYTES {
            return Err(PlistError::TooLarge);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn xml_and_binary_read_the_same() {
        let list = dictionary([
            ("MessageType", Value::from("Connect")),
            ("PortNumber", Value::from(7_967_u64)),
        ]);
        let mut binary = Vec::new();
        Value::Dictionary(list.clone())
            .to_writer_binary(&mut binary)
            .unwrap();
        assert_eq!(read_dictionary(&binary).unwrap(), list);
        assert_eq!(read_dictionary(&write_xml(list.clone())).unwrap(), list);
    }

    #[test]
    fn a_list_nested_without_end_is_refused() {
        let bytes = format!("<plist><dict><key>a</key>{}", "<array>".repeat(100_000));
        assert!(matches!(
            read_dictionary(bytes.as_bytes()),
            Err(PlistError::TooDeep)
        ));
    }

    #[test]
    fn a_binary_list_that_multiplies_itself_is_refused() {
        // Thirty arrays, each naming the next one twice: a billion values in 200 bytes.
        let mut bytes = b"bplist00".to_vec();
        let mut offsets = Vec::new();
        for next in 1..=30_u8 {
            offsets.push(u8::try_from(bytes.len()).unwrap());
            bytes.extend([0xa2, next, next]);
        }
        offsets.push(u8::try_from(bytes.len()).unwrap());
        bytes.push(0x09);
        let table = bytes.len();
        bytes.extend(&offsets);
        bytes.extend([0, 0, 0, 0, 0, 0, 1, 1]);
        for number in [offsets.len(), 0, table] {
            bytes.extend((number as u64).to_be_bytes());
        }
        assert!(matches!(read_dictionary(&bytes), Err(PlistError::TooLarge)));
    }

    #[test]
    fn a_list_that_is_no_dictionary_is_refused() {
        assert!(matches!(
            read_dictionary(b"<plist><string>QueryType</string></plist>"),
            Err(PlistError::NotADictionary)
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = read_dictionary(&bytes);
            let mut binary = b"bplist00".to_vec();
            binary.extend(&bytes);
            let _ = read_dictionary(&binary);
            let mut xml = b"<plist><dict>".to_vec();
            xml.extend(&bytes);
            let _ = read_dictionary(&xml);
        }
    }
}
